// The message field: it grows, takes files, completes commands, keeps drafts, and sends messages.

import {ApiError, post, put} from "/page/api.js";
import {Attachments} from "/page/attachments.js";
import {add, fill, h, toast} from "/page/dom.js";
import {filesElement} from "/page/files.js";
import {t, term} from "/page/words.js";

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

  /** Send a message; `retryOf` is the id of a message to be answered again. */
  send(text, {id = newId(), files = [], retryOf, silent = false} = {}) {
    this.list.push({id, text, files, retryOf, silent, state: "new", at: Date.now()});
    this.keep();
    this.run();
  }

  /** Remove a message that was seen in the log or answered → the message, if sent from here. */
  settle(id) {
    const found = this.list.find((each) => each.id === id);
    if (!found) return null;
    this.list = this.list.filter((each) => each !== found);
    this.keep();
    return found;
  }

  /** The last message of this page that is accepted and not yet in the log. */
  get waiting() {
    return this.list.findLast((each) => each.state === "accepted" && !each.silent && !each.text.startsWith("/")) ?? null;
  }

  /** Replace a message that waits → whether it still waited. */
  async edit(each, text, files) {
    const {status} = await put("/api/messages", {session: this.session, id: each.id, text, files}, this.signal);
    if (status !== "amended") return false;
    Object.assign(each, {text, files});
    this.keep();
    return true;
  }

  /** Send one message after the other, so that they arrive in order. */
  async run() {
    if (this.running) return;
    this.running = true;
    let failures = 0;
    for (let next; (next = this.list.find((each) => each.state === "new" || each.state === "late")) && !this.signal.aborted;) {
      try {
        await post("/api/messages", bodyOf(this.session, next), this.signal);
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

function bodyOf(session, {id, text, files = [], retryOf}) {
  return {session, text, id, ...(files.length && {files}), ...(retryOf && {retry_of: retryOf})};
}

/** Composers that were made: each list of commands has its own id. */
let composers = 0;

export class Composer extends HTMLElement {
  connectedCallback() {
    this.key = `draft:${this.session}`;
    this.draft = this.kept();
    this.files = new Attachments({session: this.session, id: () => this.draft.id, signal: this.outbox.signal});
    this.files.addEventListener("change", () => this.changed());
    this.files.addEventListener("edit", () => this.release());
    this.files.addEventListener("failed", ({detail: name}) => this.held && this.release(t("The message was not sent because {name} could not be uploaded.", {name})));
    this.options = h("ul.commands", {id: `commands-${++composers}`, role: "listbox", tabindex: 0, "aria-label": t("Commands"), hidden: true});
    this.field = h("textarea", {
      rows: 1, placeholder: t("Write a message"), "aria-label": t("Message"), "aria-autocomplete": "list", "aria-controls": this.options.id,
      oninput: () => { this.release(); this.changed(); }, onkeydown: (event) => this.pressed(event), onblur: () => this.close(), onpaste: (event) => this.paste(event),
    });
    this.stopper = h("button.button.stop", {type: "button", hidden: true, onclick: () => this.stop()}, t("Stop"));
    this.sender = h("button.button.primary", {type: "submit"}, t("Send"));
    this.model = h("select.model", {"aria-label": t("Model"), hidden: true, onchange: () => this.outbox.send(`/model ${this.model.value}`, {silent: true})});
    this.note = h("p.editing", {hidden: true}, t("You are editing a pending message."), " ",
      h("button.quiet", {type: "button", onclick: () => this.leave()}, t("Cancel")));
    this.holding = h("p.editing.holding", {role: "status", hidden: true});
    const submit = (event) => {
      event.preventDefault();
      this.send();
    };
    fill(this, h("form", {onsubmit: submit}, this.options, this.note, this.holding, this.files.list,
      h("div.line", null, this.files.buttons, this.field, this.model, this.stopper, this.sender)));
    addEventListener("storage", (event) => this.sentElsewhere(event), {signal: this.outbox.signal});
    this.outbox.signal.addEventListener("abort", () => this.left());
    this.restore();
  }

  /** The person has left the conversation, which ends its uploads. */
  left() {
    if (!this.held) return;
    this.release();
    toast(t("The message was not sent because you left the conversation during the upload. Its text is kept as a draft."), "bad");
  }

  /** The limits of files, from /api/me. */
  set limits(limits) { this.files.allow(limits); }

  /** The models that this person may choose, and the one in use. */
  choose({model, models = []}) {
    this.model.hidden = !models.length;
    if ([...this.model.options].map((each) => each.value).join() !== models.join()) fill(this.model, models.map((name) => h("option", {value: name}, name)));
    this.model.value = model;
  }

  set commands(commands) {
    this.known = (commands ?? []).map(({name, text}) => ({name, text: term(text)}));
  }

  set busy(busy) {
    if (this.stopper && this.stopper.hidden === busy) this.stopper.hidden = !busy;
  }

  /** Another tab has sent or emptied the draft. */
  sentElsewhere({key, oldValue, newValue}) {
    if (key !== this.key || newValue !== null || this.editing) return;
    const {text} = JSON.parse(oldValue);
    this.draft = {text: this.field.value === text ? "" : this.field.value, id: newId(), files: []};
    this.restore();
  }

  /** The draft: its text, the id of its message, and its files. */
  kept() {
    try {
      const {text = "", id = newId(), files = []} = JSON.parse(localStorage.getItem(this.key)) ?? {};
      return {text, id, files};
    } catch {
      return {text: "", id: newId(), files: []};
    }
  }

  restore() {
    this.release();
    this.field.value = this.draft.text;
    this.files.restore(this.draft.files);
    this.grow();
  }

  changed() {
    Object.assign(this.draft, {text: this.field.value, files: this.files.files});
    if (!this.editing) {
      try {
        if (this.draft.text || this.draft.files.length) localStorage.setItem(this.key, JSON.stringify(this.draft));
        else localStorage.removeItem(this.key);
      } catch { /* no storage: the draft lasts until the page is left */ }
    }
    this.grow();
    this.complete();
    if (this.held && !this.files.busy) {
      this.release();
      this.send();
    }
  }

  grow() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight + 2, HEIGHT_MAX)}px`;
    this.sender.disabled = this.held || !(this.field.value.trim() || this.files.files.length || this.files.busy);
  }

  /** Put a text and files into the field, as the message `id`. */
  write(text, {id = newId(), files = []} = {}) {
    this.draft = {text, id, files};
    this.restore();
    this.changed();
    this.field.focus();
  }

  /** Send the message once its files are uploaded; any change cancels this. */
  hold() {
    this.held = true;
    fill(this.holding, t("The message will be sent when the upload is complete."), " ",
      h("button.quiet", {type: "button", onclick: () => { this.release(); this.field.focus(); }}, t("Cancel")));
    this.holding.hidden = false;
    this.grow();
    this.field.focus();
  }

  /** Wait no longer for the upload, and show `why`. */
  release(why = "") {
    this.held = false;
    fill(this.holding, why);
    this.holding.hidden = !why;
    this.grow();
  }

  async send() {
    if (this.sender.disabled) return;
    if (this.files.busy) {
      this.hold();
      return;
    }
    const {text, id, files} = this.draft;
    if (this.editing) {
      await this.replace(text, files);
      return;
    }
    // Files belong to the id of the draft, which another tab may have too; a text alone needs no such id.
    this.outbox.send(text, files.length ? {id, files} : {});
    this.write("");
    this.dispatchEvent(new Event("mp-sent"));
  }

  /** Put a waiting message into the field, to be sent in its place. */
  edit(each) {
    this.before = this.editing ? this.before : {...this.draft};
    this.editing = each;
    this.note.hidden = false;
    this.write(each.text, {id: each.id, files: each.files ?? []});
  }

  async replace(text, files) {
    const each = this.editing;
    try {
      if (await this.outbox.edit(each, text, files)) {
        this.leave();
        return;
      }
      toast(t("The bot has already started to answer this message, so your edit was not saved. Your text is still in the message field."), "bad");
    } catch (error) {
      if (error.name !== "AbortError") toast(error.message, "bad");
      return;
    }
    // The text is a new message with a new id; its new files belong to the old one.
    this.leave();
    this.write(text);
  }

  /** Leave the editing, and return to the draft. */
  leave() {
    this.editing = null;
    this.note.hidden = true;
    this.write(this.before.text, this.before);
  }

  paste(event) {
    const files = event.clipboardData?.files;
    if (!files?.length) return;
    this.files.add(files);
    // A file brings its name as text.
    const lines = event.clipboardData.getData("text/plain").split(/\r?\n/).filter(Boolean);
    if (lines.every((line) => [...files].some(({name}) => line.endsWith(name)))) event.preventDefault();
  }

  stop() {
    this.outbox.send("/stop", {silent: true});
    this.field.focus();
  }

  pressed(event) {
    // While an input method composes, Enter accepts a word and Escape discards it.
    if (event.isComposing || event.keyCode === 229) return;
    if (!this.options.hidden && this.pick(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.send();
    } else if (event.key === "Escape" && this.held) {
      event.preventDefault();
      this.release();
    } else if (event.key === "Escape" && this.editing) {
      event.preventDefault();
      this.leave();
    } else if (event.key === "ArrowUp" && !this.field.value && !this.editing && this.outbox.waiting) {
      event.preventDefault();
      this.edit(this.outbox.waiting);
    } else if (event.key === "Escape" && !this.stopper.hidden) {
      event.preventDefault();
      this.stop();
    }
  }

  // Commands

  complete() {
    const typed = this.field.value;
    this.offered = /^\/\S*$/.test(typed) ? (this.known ?? []).filter((each) => each.name.startsWith(typed.toLowerCase()) && each.name !== typed) : [];
    this.chosen = 0;
    this.list();
  }

  list() {
    this.options.hidden = !this.offered.length;
    fill(this.options, this.offered.map((each, at) => h("li", {
      id: `${this.options.id}-${at}`, role: "option", "aria-selected": String(at === this.chosen),
      onmousedown: (event) => { event.preventDefault(); this.take(each); },
    }, h("code", null, each.name), h("span.soft", null, each.text))));
    if (this.offered.length) {
      this.field.setAttribute("aria-activedescendant", `${this.options.id}-${this.chosen}`);
      this.options.children[this.chosen]?.scrollIntoView({block: "nearest"});
    } else this.field.removeAttribute("aria-activedescendant");
  }

  close() {
    this.offered = [];
    this.list();
  }

  pick(event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) {
      this.chosen = (this.chosen + step + this.offered.length) % this.offered.length;
      this.list();
    } else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) this.take(this.offered[this.chosen]);
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
export function pendingElement(each, {edit, live, session}) {
  const says = {
    new: t("sending…"), late: t("not sent yet, retrying soon: {problem}", {problem: each.problem}),
    accepted: live ? t("answer in progress") : t("pending"), refused: t("not sent: {problem}", {problem: each.problem}),
  }[each.state];
  return add(h("article.message.user.pending", {class: each.state, dataset: {pending: each.id}}),
    each.text && h("div.markdown", null, h("p", null, each.text.length > SHOWN ? `${each.text.slice(0, SHOWN)}…` : each.text)),
    filesElement(each.files ?? [], session),
    h("footer", null, h("span", null, says), edit && h("button.quiet", {type: "button", onclick: edit}, t("Edit"))));
}

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

customElements.define("mp-composer", Composer);
