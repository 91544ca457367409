// One conversation: its name and context bar, then the chat, the exact prompt or a turn, with the timeline beside it.

import {add, empty, fill, h, toast} from "/page/dom.js";
import {get, ofSession, post} from "/page/api.js";
import {Feed} from "/page/feed.js";
import {entitle, go} from "/page/app.js";
import {keepSession, menuButton, ownSession, titleOf} from "/page/sessions.js";
import {t} from "/page/words.js";
import "/page/chat.js";
import "/page/context.js";
import "/page/rail.js";
import "/page/waiting.js";

const STATES = {loading: t("loading…"), live: t("live"), away: t("connecting…")};

export class Conversation extends HTMLElement {
  #me = null;
  #params = {};
  #session = "";

  connectedCallback() {
    this.keys = (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && this.chat?.hidden) go(`/s/${encodeURIComponent(this.#session)}`);
    };
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
      this.offer();
    }
    if (this.isConnected) this.show();
  }

  get me() { return this.#me; }

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
    if (this.#me && session.startsWith(`${this.#me.channel}:`)) keepSession(session);
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
      fill(holder, empty(t("This part of the page could not be loaded"), h("p", null, t("Reload the page to try again."))));
      return;
    }
    if (!holder.isConnected) return;
    add(holder, Object.assign(document.createElement(name), given));
  }

  enter(session) {
    this.leave();
    this.#session = session;
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
    this.menu = h("span", null, "");
    this.apart = h("div", {hidden: true});
    this.waiting = Object.assign(document.createElement("mp-waiting"), {feed: this.feed});
    fill(this,
      h("div.conversation", null,
        h("header.conversation-head", null,
          this.name, h("span.badge", null, session.split(":")[0]), this.menu, this.bar.sum, this.state, this.bar),
        this.apart, this.waiting, this.body),
      this.rail);
    this.feed.addEventListener("state", (event) => this.tell(event.detail));
    this.tell("loading");
    this.line = null;
    this.entitle();
    this.chat.start();
    // The title follows from the first message, a rename, or the bot.
    const again = () => this.identify();
    this.feed.ready.then(again);
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
    this.offer();
  }

  entitle() {
    const session = this.#session;
    const line = this.line ?? {session, title: "", head: 0, waiting: 0};
    const title = titleOf(line, session.startsWith(`${this.#me?.channel}:`) && this.feed.last < 0);
    fill(this.name, h("a", {href: `/s/${encodeURIComponent(session)}`}, title));
    fill(this.menu, (line.head > 0 || line.waiting > 0) && menuButton(line, title));
    entitle(title);
  }

  /** Offer to join the memory of an older conversation with the memory of all others. */
  offer() {
    const {line} = this;
    const mine = this.#me?.memory;
    this.apart.hidden = !line || !mine || line.channel !== this.#me.channel || !line.memory.includes(":person:") || line.memory === mine;
    if (this.apart.hidden || this.apart.firstChild) return;
    const join = h("button.button", {type: "button", onclick: async () => {
      join.disabled = true;
      try {
        const {done} = await post(ofSession(line.session, "/join"), {}, this.feed.signal);
        toast(done ? t("This conversation now shares your memory.") : t("The memories are being joined."));
        this.identify();
      } catch (error) {
        if (error.name !== "AbortError") toast(error.message, "bad");
      }
      join.disabled = false;
    }}, t("Join with my memory"));
    fill(this.apart, h("p.notice-line.row.wrap", null, h("span.grow", null, t("This conversation has a memory of its own. Your other conversations do not know its facts.")), join));
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
