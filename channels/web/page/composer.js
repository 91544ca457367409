// The message field: it grows, completes commands, keeps unsent text, and sends messages.

import {ApiError, post} from "/page/api.js";
import {add, fill, h} from "/page/dom.js";
import {t} from "/page/words.js";

const HEIGHT_MAX = 240;
/** Characters shown of a pending message. */
const SHOWN = 2000;
const RETRY_MS = [1000, 2000, 4000, 8000, 15_000];
/** Statuses after which a message is sent again, with the same id, so that it counts once. */
const AGAIN = new Set([0, 408, 429, 500, 502, 503, 504]);
/** An accepted message without news for this long is no longer shown as pending. */
const FORGET_MS = 3_600_000;

/** Messages of a session that are not seen in its log yet. They survive a reload of the page. */
export class Outbox extends EventTarget {
  constructor(session, signal) {
    super();
    this.session = session;
    this.signal = signal;
    this.key = `pending:${session}`;
    this.list = this.read().filter((each) => each.state !== "accepted" || (!each.text.startsWith("/") && Date.now() - each.at < FORGET_MS));
    this.run();
  }

  read() {
    try {
      return JSON.parse(sessionStorage.getItem(this.key)) ?? [];
    } catch {
      return [];
    }
  }

  keep() {
    try {
      if (this.list.length) sessionStorage.setItem(this.key, JSON.stringify(this.list));
      else sessionStorage.removeItem(this.key);
    } catch { /* storage is full or missing: they last until the page is left */ }
    this.dispatchEvent(new Event("change"));
  }

  send(text, {silent = false} = {}) {
    this.list.push({id: newId(), text, silent, state: "new", at: Date.now()});
    this.keep();
    this.run();
  }

  /** Remove a message that was seen in the log or answered out of band → the message, if it was sent from here. */
  settle(id) {
    const found = this.list.find((each) => each.id === id);
    if (!found) return null;
    this.list = this.list.filter((each) => each !== found);
    this.keep();
    return found;
  }

  /** Send one message after the other, so that they arrive in order. */
  async run() {
    if (this.running) return;
    this.running = true;
    let failures = 0;
    for (let next; (next = this.list.find((each) => each.state === "new" || each.state === "late")) && !this.signal.aborted;) {
      try {
        await post("/api/messages", {session: this.session, text: next.text, id: next.id}, this.signal);
        next.state = "accepted";
        failures = 0;
        dispatchEvent(new Event("mp-said"));
        if (next.silent) this.settle(next.id);
      } catch (error) {
        if (error.name === "AbortError") break;
        next.problem = error.message;
        next.state = error instanceof ApiError && AGAIN.has(error.status) ? "late" : "refused";
        if (next.state === "late") {
          this.keep();
          await new Promise((done) => setTimeout(done, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]));
        }
      }
      this.keep();
    }
    this.running = false;
  }
}

export class Composer extends HTMLElement {
  connectedCallback() {
    this.draft = `draft:${this.session}`;
    this.field = h("textarea", {
      rows: 1, placeholder: t("Write a message"), "aria-label": t("Message"), "aria-autocomplete": "list", "aria-controls": "commands",
      oninput: () => this.changed(), onkeydown: (event) => this.key(event), onblur: () => this.close(),
    });
    this.options = h("ul.commands", {id: "commands", role: "listbox", "aria-label": t("Commands"), hidden: true});
    this.stopper = h("button.button.stop", {type: "button", hidden: true, onclick: () => this.stop()}, t("Stop"));
    this.sender = h("button.button.primary", {type: "submit"}, t("Send"));
    const submit = (event) => {
      event.preventDefault();
      this.send();
    };
    fill(this, h("form", {onsubmit: submit}, this.options, this.field, this.stopper, this.sender));
    this.field.value = this.kept();
    this.grow();
  }

  set commands(commands) {
    this.known = commands ?? [];
  }

  set busy(busy) {
    if (this.stopper && this.stopper.hidden === busy) this.stopper.hidden = !busy;
  }

  kept() {
    try {
      return sessionStorage.getItem(this.draft) ?? "";
    } catch {
      return "";
    }
  }

  changed() {
    try {
      if (this.field.value) sessionStorage.setItem(this.draft, this.field.value);
      else sessionStorage.removeItem(this.draft);
    } catch { /* no storage: the text lasts until the page is left */ }
    this.grow();
    this.complete();
  }

  grow() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight + 2, HEIGHT_MAX)}px`;
    this.sender.disabled = !this.field.value.trim();
  }

  /** Put `text` into the field. */
  write(text) {
    this.field.value = text;
    this.changed();
    this.field.focus();
  }

  send() {
    const text = this.field.value;
    if (!text.trim()) return;
    this.outbox.send(text);
    this.write("");
    this.dispatchEvent(new Event("mp-sent"));
  }

  stop() {
    this.outbox.send("/stop", {silent: true});
    this.field.focus();
  }

  key(event) {
    // While an input method composes, Enter accepts a word and Escape discards it.
    if (event.isComposing || event.keyCode === 229) return;
    if (!this.options.hidden && this.choose(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.send();
    } else if (event.key === "Escape" && !this.stopper.hidden) {
      event.preventDefault();
      this.stop();
    }
  }

  // Commands

  complete() {
    const typed = this.field.value;
    this.matches = /^\/\S*$/.test(typed) ? (this.known ?? []).filter((each) => each.name.startsWith(typed.toLowerCase()) && each.name !== typed) : [];
    this.chosen = 0;
    this.list();
  }

  list() {
    this.options.hidden = !this.matches.length;
    fill(this.options, this.matches.map((each, at) => h("li", {
      id: `command-${at}`, role: "option", "aria-selected": String(at === this.chosen),
      onmousedown: (event) => { event.preventDefault(); this.take(each); },
    }, h("code", null, each.name), h("span.soft", null, each.text))));
    if (this.matches.length) {
      this.field.setAttribute("aria-activedescendant", `command-${this.chosen}`);
      this.options.children[this.chosen]?.scrollIntoView({block: "nearest"});
    } else this.field.removeAttribute("aria-activedescendant");
  }

  close() {
    this.matches = [];
    this.list();
  }

  choose(event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) {
      this.chosen = (this.chosen + step + this.matches.length) % this.matches.length;
      this.list();
    } else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) this.take(this.matches[this.chosen]);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  take(command) {
    this.write(`${command.name} `);
    this.close();
  }
}

/** A message that is not seen in the log yet → its bubble. */
export function pendingElement(each, {edit, live}) {
  const says = {
    new: t("sending…"), late: t("not sent yet, Millpond will retry: {problem}", {problem: each.problem}),
    accepted: live ? t("answer in progress") : t("pending"), refused: t("not sent: {problem}", {problem: each.problem}),
  }[each.state];
  return add(h("article.message.user.pending", {class: each.state, dataset: {pending: each.id}}),
    h("div.markdown", null, h("p", null, each.text.length > SHOWN ? `${each.text.slice(0, SHOWN)}…` : each.text)),
    h("footer", null, h("span", null, says), each.state === "refused" && h("button.quiet", {type: "button", onclick: edit}, t("Edit"))));
}

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

customElements.define("mp-composer", Composer);
