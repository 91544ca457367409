// One conversation: its name and context bar, then the chat, the exact prompt or a turn, with the timeline beside it.

import {add, empty, fill, h, iconButton, visible} from "/page/dom.js";
import {get, ofSession} from "/page/api.js";
import {Feed} from "/page/feed.js";
import {close, entitle, go} from "/page/app.js";
import {keepSession, menuButton, ownSession, titleOf} from "/page/sessions.js";
import {t} from "/page/words.js";
import "/page/chat.js";
import "/page/context.js";
import "/page/rail.js";

const STATES = {loading: t("loading…"), live: t("live"), away: t("connecting…")};

/** The conversation that was used last: keys without a focused element are for it. */
let used = null;
const inUse = (view) => (used?.isConnected ? used : document.querySelector("mp-conversation")) === view;

export class Conversation extends HTMLElement {
  #me = null;
  #params = {};
  #session = "";

  connectedCallback() {
    this.keys = (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && this.chat?.hidden && inUse(this)) go(`/s/${encodeURIComponent(this.#session)}`, {from: this});
    };
    for (const name of ["focusin", "pointerdown"]) this.addEventListener(name, () => { used = this; });
    document.addEventListener("keydown", this.keys);
    this.show();
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.keys);
    this.leave();
  }

  set me(me) {
    this.#me = me;
    if (this.chat) {
      this.chat.me = me;
      this.entitle();
    }
    if (this.isConnected) this.show();
  }

  get me() { return this.#me; }

  /** Whether it is the second of two conversations. */
  get isBeside() { return this.classList.contains("beside"); }

  set params(params) {
    this.#params = params;
    if (this.isConnected) this.show();
  }

  show() {
    const {session, index, panel = "chat", turn} = this.#params;
    if (!session) {
      // "/" shows the session that was open last, once /api/me has named the channel.
      if (this.#me) go(`/s/${encodeURIComponent(ownSession(this.#me.channel))}`, {replace: true});
      return;
    }
    if (session !== this.#session) this.enter(session);
    if (this.#me && !this.isBeside && session.startsWith(`${this.#me.channel}:`)) keepSession(session);
    this.dataset.panel = panel;
    this.chat.hidden = panel !== "chat";
    this.bar.open = panel === "context";
    if (panel === "chat") this.chat.jump(index ?? null);
    this.panel?.remove();
    this.panel = null;
    if (panel === "context") this.showPanel(() => import("/page/prompt.js"), "mp-prompt", {feed: this.feed});
    else if (panel === "turn") this.showPanel(() => import("/page/turns.js"), "mp-turn", {me: this.#me, params: {session, turn}});
  }

  async showPanel(load, name, given) {
    const holder = (this.panel = h("div.panel", null));
    this.body.append(holder);
    try {
      await load();
    } catch (error) {
      console.warn(error);
      fill(holder, empty(t("Part of the page could not be loaded"), h("p", null, t("Reload the page to try again."))));
      return;
    }
    if (!holder.isConnected) return;
    add(holder, Object.assign(document.createElement(name), given));
  }

  enter(session) {
    this.leave();
    this.#session = session;
    this.setAttribute("role", "region");
    this.feed = new Feed(session);
    this.state = h("span.state", {role: "status"}, "");
    this.chat = document.createElement("mp-chat");
    this.bar = document.createElement("mp-context");
    this.rail = document.createElement("mp-rail");
    for (const each of [this.chat, this.bar, this.rail]) each.feed = this.feed;
    this.bar.sum = h("span.sum", null, "");
    this.chat.me = this.#me;
    this.rail.chat = this.chat;
    this.body = h("div.conversation-body", null, this.chat);
    this.name = h("h1", {title: session}, "");
    this.menu = h("span.menu-place", null);
    this.waiting = Object.assign(document.createElement("mp-waiting"), {feed: this.feed, hidden: true});
    fill(this,
      h("div.conversation", null,
        h("header.conversation-head", null,
          this.name, h("span.badge", null, session.split(":")[0]), this.menu, this.bar.sum, this.state,
          this.isBeside && iconButton(t("Close this conversation"), "M6 6l12 12M18 6L6 18", () => this.close()), this.bar),
        this.waiting, this.body),
      this.rail);
    this.feed.addEventListener("state", (event) => this.tell(event.detail));
    this.tell("loading");
    this.line = null;
    this.entitle();
    this.chat.start();
    // The title follows from the first message, a rename, or the bot.
    const again = () => this.identify();
    this.feed.ready.then(again);
    this.feed.ready.then(() => import("/page/waiting.js")).catch(console.warn);
    for (const name of ["mp-said", "mp-labels"]) addEventListener(name, again, {signal: this.feed.signal});
  }

  /** Read whose conversation this is, and its title. */
  async identify() {
    const {feed} = this;
    try {
      this.line = await get(ofSession(feed.session), feed.signal);
    } catch {
      return; // the next event tries again
    }
    if (feed !== this.feed) return;
    dispatchEvent(new CustomEvent("mp-line", {detail: this.line}));
    this.entitle();
  }

  entitle() {
    const session = this.#session;
    const line = this.line ?? {session, title: "", head: 0, waiting: 0};
    const title = titleOf(line, session.startsWith(`${this.#me?.channel}:`) && this.feed.last < 0);
    fill(this.name, h("a", {href: `/s/${encodeURIComponent(session)}`}, title));
    // An older conversation has its own memory, which can be joined with that of all others.
    const mine = this.#me?.memory;
    const joins = mine && line.channel === this.#me.channel && line.memory?.includes(":person:") && line.memory !== mine;
    fill(this.menu, (line.head > 0 || line.waiting > 0) && menuButton({...line, joins}, title));
    this.setAttribute("aria-label", visible(title));
    if (!this.isBeside) entitle(title);
  }

  close() {
    close(this.#session);
    document.querySelector("mp-chat textarea")?.focus();
  }

  tell(state) {
    fill(this.state, h(`span.dot.${state}`, null), STATES[state]);
  }

  leave() {
    this.feed?.stop();
    this.feed = null;
    this.#session = "";
  }
}

customElements.define("mp-conversation", Conversation);
