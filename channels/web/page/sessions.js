// The list of conversations of this channel and of others, with a field that searches names and messages.

import {get, ofSession, query} from "/page/api.js";
import {ago, counted, fill, h} from "/page/dom.js";
import {go, nameOf} from "/page/app.js";

/** How often the visible list is read, and how many seconds old it may be: all viewers share one result. */
const EVERY_MS = 15_000;
const AGE_S = 5;
/** Delay between a key press and the search. */
const TYPING_MS = 200;
const HOW = "calm clear cool deep early gentle green high late long mossy quiet slow still warm wide".split(" ");
const WHAT = "alder brook dipper eddy fern heron lily mill otter reed river rush sluice stone trout wheel".split(" ");
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";

/** The key of a new conversation. */
export function newSession(channel) {
  const [how, what, ...rest] = crypto.getRandomValues(new Uint8Array(8));
  return `${channel}:${HOW[how % 16]}-${WHAT[what % 16]}-${rest.map((n) => LETTERS[n % LETTERS.length]).join("")}`;
}

/** The conversation of this channel that was open last; a new one on the first visit. */
export function ownSession(channel) {
  let kept = null;
  try {
    kept = localStorage.getItem("session");
  } catch { /* no storage */ }
  return kept?.startsWith(`${channel}:`) ? kept : newSession(channel);
}

/** Remember the conversation as the one that was open last. */
export function keepSession(session) {
  try {
    localStorage.setItem("session", session);
  } catch { /* no storage: "/" leads to a new one */ }
}

export class Sessions extends HTMLElement {
  #me = null;
  #current = "";
  #found = [];
  #channels = new Set();
  #hits = null;

  connectedCallback() {
    this.controller = new AbortController();
    this.field = h("input", {type: "search", placeholder: "Search", "aria-label": "Search conversations and messages",
      autocomplete: "off", spellcheck: "false", oninput: () => this.typed(), onkeydown: (event) => this.key(event)});
    this.channel = h("select", {"aria-label": "Filter conversations by channel", hidden: true, onchange: () => this.read()});
    this.list = h("nav.session-list", {"aria-label": "Conversations", onkeydown: (event) => this.key(event)});
    fill(this, h("div.find", null,
      h("div.find-field", null, this.field, h("kbd", {"aria-hidden": "true"}, "/")),
      h("button.button", {type: "button", onclick: () => this.begin()}, "New conversation"), this.channel), this.list);
    this.timer = setInterval(() => { if (!document.hidden) this.read(AGE_S); }, EVERY_MS);
    const signal = this.controller.signal;
    addEventListener("mp-said", () => this.read(), {signal});
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.read(AGE_S); }, {signal});
    this.read();
  }

  disconnectedCallback() {
    this.controller.abort();
    clearInterval(this.timer);
    clearTimeout(this.waiting);
  }

  set me(me) { this.#me = me; this.show(); }

  get me() { return this.#me; }

  set current(session) {
    if (session === this.#current) return;
    this.#current = session;
    this.#hits = null;
    if (this.field?.value) this.typed();
    this.show();
  }

  /** Focus the search field. */
  search() {
    this.field.focus();
    this.field.select();
  }

  begin() {
    if (!this.#me) return;
    go(`/s/${encodeURIComponent(newSession(this.#me.channel))}`);
    document.querySelector("mp-chat textarea")?.focus();
  }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.read(), TYPING_MS);
  }

  async read(age = 0) {
    if (!this.isConnected) return;
    const text = this.field.value.trim();
    const channel = this.channel.value;
    try {
      const [named, said] = await Promise.all([
        get(`/api/sessions${query({limit: 100, q: text, channel, age: age || ""})}`, this.controller.signal),
        text.length > 1 && this.#current ? this.lookFor(text) : null,
      ]);
      if (text !== this.field.value.trim() || channel !== this.channel.value) return;
      this.#found = named.sessions;
      this.#hits = said;
      this.offer();
      this.show();
    } catch (error) {
      if (error.name !== "AbortError" && error.status && error.status !== 401) fill(this.list, h("p", {role: "alert"}, error.message));
    }
  }

  /** Offer all channels that were seen. */
  offer() {
    const before = this.#channels.size;
    for (const each of this.#found) this.#channels.add(channelOf(each));
    if (this.#channels.size === before) return;
    const chosen = this.channel.value;
    fill(this.channel, h("option", {value: ""}, "All channels"), [...this.#channels].sort().map((name) => h("option", {value: name}, name)));
    this.channel.value = chosen;
    this.channel.hidden = this.#channels.size < 2;
  }

  async lookFor(text) {
    try {
      return (await get(ofSession(this.#current, `/search${query({q: text, limit: 20})}`), this.controller.signal)).hits;
    } catch (error) {
      if (error.name === "AbortError") throw error;
      return [];
    }
  }

  show() {
    if (!this.list) return;
    const focused = this.list.querySelector("a:focus")?.getAttribute("href");
    const channel = this.#me?.channel;
    const own = this.#found.filter((each) => channelOf(each) === channel);
    const others = this.#found.filter((each) => channelOf(each) !== channel);
    const open = this.#current;
    if (open && !this.field.value && !this.channel?.value && channelOf({session: open}) === channel && !own.some((each) => each.session === open)) {
      own.unshift({session: open, head: 0, waiting: 0, last_activity: ""});
    }
    const group = (title, lines) => [h("h2", null, title), h("ul", null, lines)];
    const made = h("div", null,
      this.#hits?.length > 0 && group("Messages in this conversation", this.#hits.map((hit) => this.hit(hit))),
      own.length > 0 && group("Your conversations", own.map((each) => this.line(each))),
      others.length > 0 && group("Conversations on other channels", others.map((each) => this.line(each))),
      !own.length && !others.length && !this.#hits?.length && h("p", null,
        this.field.value ? "The search found no conversation with this name and no message in the open conversation." : "No conversations yet. Write a message to start the first conversation."));
    // An unchanged list stays: a line that is replaced between press and release would miss the click.
    const before = this.list.children;
    if (made.children.length === before.length && [...made.children].every((each, at) => each.isEqualNode(before[at]))) return;
    fill(this.list, [...made.children]);
    // If the focused line is gone, focus moves to the field, so that the next key still has an effect.
    if (focused) ([...this.list.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused) ?? this.field).focus();
  }

  line(each) {
    const state = each.parked ? "parked" : each.busy || each.waiting ? "busy" : "";
    const more = [
      channelOf(each) !== this.#me?.channel && channelOf(each),
      each.head ? counted(each.head, "message") : "no messages",
      each.parked ? "waiting for a retry after a failure" : each.waiting ? counted(each.waiting, "unanswered message") : "",
    ].filter(Boolean);
    return h("li", null, h("a", {href: `/s/${encodeURIComponent(each.session)}`, "aria-current": each.session === this.#current && "page"},
      h("span.name", {title: each.session}, state && h(`span.dot.${state}`, null), nameOf(each.session)),
      h("span.age", null, each.last_activity && ago(each.last_activity)),
      h("span.more", null, more.join(" · "))));
  }

  hit(hit) {
    return h("li.hit", null, h("a", {href: `/s/${encodeURIComponent(this.#current)}/m/${hit.index}`},
      h("span.name", null, hit.role === "user" ? "message" : hit.role === "tool" ? "tool result" : "answer"),
      h("span.age", null, ago(hit.time)),
      h("span.more", null, hit.excerpt)));
  }

  /** The arrow keys move from the field through the list. */
  key(event) {
    if (event.key === "Escape" && event.target === this.field && this.field.value) {
      event.stopPropagation();
      this.field.value = "";
      this.read();
      return;
    }
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step) {
      if (event.key === "Enter" && event.target === this.field) this.list.querySelector("a")?.click();
      return;
    }
    const links = [...this.list.querySelectorAll("a")];
    const at = links.indexOf(event.target) + step;
    event.preventDefault();
    (at < 0 ? this.field : links[Math.min(at, links.length - 1)])?.focus();
  }
}

const channelOf = (each) => each.channel ?? each.session.split(":")[0];

customElements.define("mp-sessions", Sessions);
