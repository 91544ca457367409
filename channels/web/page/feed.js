// The live feed of one session: its messages and other events, passed on as DOM events to all elements that show it.
//
// Events: "messages" {first, list, gone} · "delta" · "tool" · "notice" · "cursor" · "missing" (all as in docs/api.md) ·
// "state" ("loading", "live", "away") · "back" (live again). Each message is passed on once: `last` is the index of the newest one.

import {Stream, get, ofSession, query} from "/page/api.js";

/** Messages per request. */
export const PAGE = 50;
/** A tab that is not visible draws nothing, and waits this long instead. */
const HIDDEN_MS = 200;
/** Larger than any index: the messages before it are the newest. */
const END = 999_999_999_999_999;

export class Feed extends EventTarget {
  constructor(session) {
    super();
    this.session = session;
    this.last = -1;
    this.state = "loading";
    this.notices = new Set();
    this.controller = new AbortController();
    /** Resolves once the newest messages are drawn: what waits for this would delay them. */
    this.ready = new Promise((done) => { this.isReady = done; });
  }

  get signal() {
    return this.controller.signal;
  }

  /** The newest messages, then all that follow. */
  async start() {
    const early = window.early;
    window.early = null;
    const found = early?.session === this.session ? await early.answer : null;
    const messages = found?.messages ?? await this.before(END);
    this.last = messages.at(-1)?.index ?? -1;
    requestAnimationFrame(() => setTimeout(this.isReady));
    setTimeout(this.isReady, HIDDEN_MS);
    new Stream({
      address: () => `/api/events${query({session: this.session, after: this.last})}`,
      onevent: (name, data) => this.hear(name, data),
      onstate: (state) => this.turn(state),
      signal: this.signal,
    });
    return messages;
  }

  before(index) {
    return this.page({before: index, limit: PAGE});
  }

  after(index) {
    return this.page({after: index, limit: PAGE});
  }

  async page(values) {
    return (await get(ofSession(this.session, `/messages${query(values)}`), this.signal)).messages;
  }

  hear(name, data) {
    if (name === "message") {
      // If the server lost messages, new ones get the same indexes: they are shown, not skipped.
      this.last = data.index;
    } else if (name === "missing") {
      this.last = Math.max(this.last, data.upto - 1);
    } else if (name === "notice") {
      if (this.notices.has(data.notice)) return;
      this.notices.add(data.notice);
    }
    this.tell(name, data);
  }

  turn(state) {
    if (this.state === state) return;
    const back = this.state === "away";
    this.state = state;
    this.tell("state", state);
    if (back) this.tell("back");
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, {detail}));
  }

  stop() {
    this.controller.abort();
  }
}
