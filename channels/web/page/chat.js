// The messages of a conversation and the field to write in. Messages are loaded as needed: the newest first, older and
// newer ones on scrolling. Messages that are added above do not move the ones in view.

import {counted, failed, fill, h} from "/page/dom.js";
import {PAGE} from "/page/feed.js";
import {Calls, ToolLine, ending, messageElement, noticeElement, textOf} from "/page/message.js";
import {Outbox, pendingElement} from "/page/composer.js";
import {sentBy} from "/page/files.js";
import {firstScreen} from "/page/first.js";
import {show} from "/page/markdown.js";
import {firstBelow, keeping, shorten} from "/page/window.js";
import {t} from "/page/words.js";

/** Pixels from an end at which more messages are loaded, and new ones followed. */
const NEAR = 800;
const ALONG = 48;
/** Messages shown before a message that was linked to. */
const BEFORE = 30;
/** Characters of an answer for screen readers. */
const SPOKEN = 600;

export class Chat extends HTMLElement {
  #me = null;

  connectedCallback() {
    this.calls = new Calls();
    this.first = this.upto = 0;
    this.atEnd = true;
    Object.assign(this, {along: true, top: 0, unread: 0});
    this.target = null;
    this.preview = null;
    this.older = h("p.edge", {hidden: true}, t("Loading older messages…"));
    this.list = h("div.messages", null);
    this.tail = h("div.messages.tail", null);
    this.flow = h("div.flow", null, this.older, this.list, this.tail);
    this.scroller = h("section.scroller", {tabindex: 0, "aria-label": t("Messages"), onscroll: () => this.scrolled()}, this.flow);
    this.newest = h("button.button.newest", {type: "button", hidden: true, onclick: () => this.toEnd()}, t("Newest ↓"));
    this.spoken = h("div.unseen", {"aria-live": "polite"});
    this.writer = h("div.writer", null);
    fill(this, this.scroller, this.newest, this.writer, this.spoken);
    this.growth = new ResizeObserver(() => { if (this.along) this.scroller.scrollTop = this.scroller.scrollHeight; });
    this.growth.observe(this.flow);
    this.growth.observe(this.scroller);
    const on = (name, then) => this.feed.addEventListener(name, (event) => then.call(this, event.detail), {signal: this.feed.signal});
    on("message", this.said);
    on("delta", this.piece);
    on("tool", this.tool);
    on("notice", this.notice);
    on("missing", this.missing);
    on("models", (models) => { this.models = models; this.composer?.choose(models); });
    this.showWriter();
  }

  disconnectedCallback() {
    this.growth.disconnect();
    cancelAnimationFrame(this.frame);
  }

  set me(me) {
    this.#me = me;
    this.showWriter();
  }

  get foreign() {
    return Boolean(this.#me) && this.feed.session.split(":")[0] !== this.#me.channel;
  }

  showWriter() {
    if (!this.writer || !this.#me) return;
    if (this.foreign) {
      fill(this.writer, h("p.notice-line", null, t("This conversation belongs to the {channel} channel. You can read the conversation here, but you cannot reply.", {channel: this.feed.session.split(":")[0]})));
    } else if (!this.composer) {
      this.outbox = new Outbox(this.feed.session, this.feed.signal);
      this.outbox.addEventListener("change", () => this.showPending(), {signal: this.feed.signal});
      this.composer = document.createElement("mp-composer");
      this.composer.session = this.feed.session;
      this.composer.outbox = this.outbox;
      this.composer.commands = this.#me.commands;
      this.composer.addEventListener("mp-sent", () => this.toEnd());
      fill(this.writer, this.composer);
      this.composer.limits = this.#me.files;
      this.composer.files.dropOn(this);
      if (this.models) this.composer.choose(this.models);
      this.showPending();
      if (matchMedia("(pointer: fine)").matches && document.activeElement === document.body) this.composer.field.focus({preventScroll: true});
    }
    this.showEmpty();
  }

  // Reading

  async start() {
    try {
      const messages = await this.feed.start();
      this.put(messages);
      this.ready = true;
      requestAnimationFrame(() => performance.mark("mp-first-messages"));
      if (this.target !== null) this.jump(this.target);
      this.showEmpty();
    } catch (error) {
      if (error.name !== "AbortError") fill(this.tail, failed(error, () => { fill(this.tail); this.start(); }));
    }
  }

  /** Show only `messages`. */
  put(messages) {
    this.calls.clear();
    this.first = messages[0]?.index ?? 0;
    this.upto = (messages.at(-1)?.index ?? -1) + 1;
    fill(this.list, this.drawn(messages));
    for (const each of messages) if (each.id) this.outbox?.settle(each.id);
  }

  drawn(messages) {
    return messages.map((each) => messageElement(each, {
      calls: this.calls, session: this.feed.session, foreign: this.foreign,
      retry: async (message) => (await import("/page/answers.js")).retry(this, message),
      branch: async (message) => (await import("/page/answers.js")).branch(this, message),
    }));
  }

  async readOlder() {
    if (this.reading || !this.ready || this.first <= 0 || this.noOlder) return;
    this.reading = true;
    this.older.hidden = false;
    try {
      const messages = (await this.feed.before(this.first)).filter((each) => each.index < this.first);
      this.noOlder = !messages.length;
      keeping(this.scroller, this.list, () => {
        this.older.hidden = true;
        if (!messages.length) return;
        this.first = messages[0].index;
        this.list.prepend(...this.drawn(messages));
        this.shorten("end");
      });
    } catch (error) {
      if (error.name !== "AbortError") this.older.textContent = error.message;
    }
    this.reading = false;
  }

  async readNewer() {
    if (this.reading || this.atEnd) return;
    this.reading = true;
    try {
      const messages = (await this.feed.after(this.upto - 1)).filter((each) => each.index >= this.upto);
      this.list.append(...this.drawn(messages));
      this.upto = (messages.at(-1)?.index ?? this.upto - 1) + 1;
      this.setEnd(messages.length < PAGE || this.upto > this.feed.last);
      keeping(this.scroller, this.list, () => this.shorten("start"));
    } catch { /* the next scroll tries again */ }
    this.reading = false;
  }

  /** Drop messages that are far from the view, at the start or at the end. */
  shorten(side) {
    const index = shorten(this.list, side);
    if (index === null) return;
    if (side === "start") Object.assign(this, {first: index, noOlder: false});
    else if ((this.upto = index + 1) && this.atEnd) this.setEnd(false);
  }

  setEnd(atEnd) {
    this.atEnd = atEnd;
    this.tail.hidden = !atEnd;
    if (atEnd) this.unread = 0;
    this.showNewest();
  }

  /** Go to the message at `index`; null: back to the end if a message was targeted. */
  async jump(index) {
    const before = this.target;
    this.target = index;
    if (!this.ready) return;
    if (index === null) {
      if (before !== null) this.toEnd();
      return;
    }
    this.along = false;
    if (index < this.first || index >= this.upto) {
      try {
        const messages = await this.feed.after(Math.max(-1, index - BEFORE - 1));
        if (this.target !== index) return;
        this.noOlder = false;
        this.put(messages);
        this.setEnd(!messages.length || this.upto > this.feed.last);
      } catch (error) {
        if (error.name !== "AbortError") fill(this.list, failed(error, () => this.jump(index)));
        return;
      }
    }
    const found = this.find(index);
    if (!found) return;
    this.list.querySelector(".target")?.classList.remove("target");
    found.classList.add("target");
    const show = () => found.scrollIntoView({block: found.clientHeight > this.scroller.clientHeight / 2 ? "start" : "center"});
    show();
    // Once more: elements get their real height when they come into view.
    requestAnimationFrame(show);
  }

  find(index) {
    const found = this.list.querySelector(`[data-index="${index}"]`);
    if (!found?.classList.contains("tool-place")) return found;
    let before = found;
    while (before && !before.matches("article")) before = before.previousElementSibling;
    return before ?? found;
  }

  async toEnd() {
    if (!this.atEnd) {
      try {
        this.put(await this.feed.before(this.feed.last + 1));
        this.noOlder = false;
      } catch {
        return;
      }
      this.setEnd(true);
    }
    this.along = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.showNewest();
  }

  scrolled() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const {scrollTop, scrollHeight, clientHeight} = this.scroller;
      // A message may have grown since: only scrolling up stops the view from following.
      this.along = this.atEnd && (scrollHeight - clientHeight - scrollTop < ALONG || (this.along && scrollTop >= this.top));
      this.top = scrollTop;
      if (scrollTop < NEAR) this.readOlder();
      if (scrollHeight - clientHeight - scrollTop < NEAR) this.readNewer();
      if (this.along) this.unread = 0;
      this.showNewest();
      this.tellSeen();
    });
  }

  /** Tell the timeline which messages are in view. */
  tellSeen() {
    const {top, bottom, width} = this.scroller.getBoundingClientRect();
    if (!width) return;
    const first = firstBelow(this.list, top + 24);
    const last = firstBelow(this.list, bottom - 24);
    const detail = {first: first ? Number(first.dataset.index) : this.first, last: last ? Number(last.dataset.index) : this.upto - 1};
    if (detail.last >= 0) this.dispatchEvent(new CustomEvent("mp-seen", {detail}));
  }

  showNewest() {
    this.newest.hidden = this.along || (this.atEnd && !this.list.children.length);
    this.newest.textContent = this.unread ? `${counted(this.unread, "new message")} ↓` : t("Newest ↓");
  }

  // New messages

  said(message) {
    if (message.id) this.outbox?.settle(message.id);
    for (const id of [...(message.answers ?? []), ...(message.dead ?? [])]) this.outbox?.settle(id);
    if (this.preview && message.index >= this.preview.turn) this.dropPreview();
    if (!this.ready || !this.atEnd) {
      this.unread += 1;
      this.showNewest();
      return;
    }
    this.dropSent(message);
    const had = this.list.querySelector(`[data-index="${message.index}"]`);
    for (const notice of this.tail.querySelectorAll(".notice")) {
      if (notice.dataset.time >= message.time) continue;
      if (notice.matches(".message[data-notice]")) this.choices(({close}) => close(notice)); // its turn is over
      this.list.append(notice);
    }
    const [made] = this.drawn([message]);
    had ? had.replaceWith(made) : this.list.append(made);
    if (!this.list.children.length || this.upto === 0) this.first = Math.min(this.first, message.index);
    this.upto = Math.max(this.upto, message.index + 1);
    if (this.along) this.shorten("start");
    else this.unread += 1;
    if (message.role === "assistant" && message.answers?.length) {
      this.spoken.textContent = textOf(message.content).slice(0, SPOKEN);
      dispatchEvent(new Event("mp-said"));
    }
    this.showEmpty();
    this.showBusy();
    this.showNewest();
    this.scrolled();
  }

  piece({turn, fence, offset, text}) {
    const live = this.live(turn, fence);
    live.text = offset === 0 ? text : live.text + text;
    // Drawn at most once per frame, and less often if drawing is slow.
    live.timer ??= setTimeout(() => requestAnimationFrame(() => {
      live.timer = null;
      const began = performance.now();
      show(live.body, ending(live.text));
      live.rest = 3 * (performance.now() - began);
    }), live.rest);
  }

  tool({turn, fence, call, name, state}) {
    const live = this.live(turn, fence);
    let line = live.lines.get(call);
    if (!line) {
      live.lines.set(call, (line = new ToolLine()));
      live.tools.append(line.element);
    }
    line.running(name, state);
  }

  live(turn, fence) {
    if (this.preview?.turn === turn && this.preview.fence === fence) return this.preview;
    this.dropPreview();
    const tools = h("div.tools", null);
    const body = h("div.markdown.writing", null);
    const element = h("article.message.assistant.live", {"aria-busy": "true"}, h("h3.speaker", null, t("The bot is writing")), tools, body);
    this.preview = {turn, fence, text: "", tools, body, element, lines: new Map(), timer: null, rest: 0, asked: new Set(this.outbox?.list.filter((each) => each.state === "accepted").map((each) => each.id))};
    this.tail.append(element);
    if (this.outbox) this.showPending();
    this.showEmpty();
    this.showBusy();
    return this.preview;
  }

  /** A message that the bot sent before its answer is in the log now: its notice goes. */
  dropSent({tool_calls: calls = []}) {
    const texts = new Set(calls.map((call) => sentBy(call)?.text));
    for (const notice of this.querySelectorAll(".notice.message")) if (texts.has(notice.said)) notice.remove();
  }

  dropPreview() {
    clearTimeout(this.preview?.timer);
    this.preview?.element.remove();
    this.preview = null;
    this.showBusy();
  }

  notice({notice, kind, text, time, message_id: id, attachments = [], choices = []}) {
    const asked = id ? this.outbox?.settle(id) : null;
    if (id?.startsWith("choice-")) this.choices(({settle}) => settle(this, id));
    if (kind === "message" && [...this.list.querySelectorAll(".sent")].some((each) => each.said === text)) return;
    const element = noticeElement({kind, text, time, attachments}, asked, this.feed.session);
    this.tail.insertBefore(element, this.preview?.element ?? null);
    this.spoken.textContent = text.slice(0, SPOKEN);
    if (choices.length && !this.foreign) this.choices(({offer}) => offer(this, element, {notice, choices}));
    this.showEmpty();
    this.showBusy();
  }

  /** Act on the choices of a question, in order; without them, its text names the commands. */
  choices(act) {
    import("/page/choices.js").then(act, console.warn);
  }

  missing({first, upto, reason}) {
    this.list.append(h("p.edge.bad", {role: "status"}, t("Messages {first} to {last} cannot be shown because the message archive is currently unavailable: {reason}", {first, last: upto - 1, reason})));
    this.upto = Math.max(this.upto, upto);
  }

  showPending() {
    for (const each of this.tail.querySelectorAll("[data-pending]")) each.remove();
    const shown = this.outbox.list.filter((each) => !each.silent).map((each, at) => this.pending(each, this.preview && at === 0));
    const answered = ({dataset}) => this.preview?.asked.has(dataset.pending); // all others stand below the answer in progress
    for (const each of shown) this.tail.insertBefore(each, answered(each) ? this.preview.element : null);
    this.showEmpty();
    this.showBusy();
  }

  pending(each, live) {
    const again = () => this.composer.write(each.text, this.outbox.settle(each.id));
    const edit = each.state === "refused" ? again : each === this.outbox.waiting && !live ? () => this.composer.edit(each) : null;
    return pendingElement(each, {live, edit, session: this.feed.session});
  }

  showBusy() {
    const waits = this.outbox?.list.some((each) => each.state === "accepted" && !each.silent && !each.text.startsWith("/"));
    if (this.composer) this.composer.busy = Boolean(this.preview || waits);
    this.classList.toggle("thinking", Boolean(waits && !this.preview));
  }

  showEmpty() {
    const nothing = this.ready && !this.list.children.length && this.tail.querySelectorAll(":scope > :not(.empty)").length === 0;
    this.tail.querySelector(".empty.first")?.remove();
    this.closest("mp-conversation")?.classList.toggle("blank", Boolean(nothing) && !this.foreign);
    if (!nothing) return;
    const first = firstScreen(this.#me?.bot ?? t("the bot"), this.foreign ? null : (text) => this.composer?.write(text), this.#me?.offline);
    this.tail.prepend(first);
  }
}

customElements.define("mp-chat", Chat);
