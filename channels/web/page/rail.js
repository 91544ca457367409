// The timeline: a tick for each message, with a length by its tokens; the cursor, up to which messages are consolidated;
// and the history entries made from the older messages.

import {get, ofSession} from "/page/api.js";
import {count, fill, h, percent} from "/page/dom.js";
import {go} from "/page/app.js";
import {t} from "/page/words.js";

/** Pixels of a message, if there is room. */
const ROW = 10;
const WIDTH = 64;
/** Pixels of the label of an entry. */
const LABEL = 54;
const NAMES = {u: t("a person"), a: t("the bot"), t: t("a tool")};
const CLASSES = {u: "user", a: "assistant", t: "tool"};
const CALM_MS = 400;
/** Messages that the result of an audit names. */
const LOST_SHOWN = 5;
const SETTLED = t("Messages above this line are saved to memory");

export class Rail extends HTMLElement {
  connectedCallback() {
    this.data = null;
    this.ticks = h("svg", {"aria-hidden": "true", preserveAspectRatio: "none"});
    this.view = h("div.rail-view", {"aria-hidden": "true"});
    this.says = h("span", {role: "status"}, SETTLED);
    this.cursor = h("div.rail-cursor", {hidden: true}, this.says);
    this.labels = h("div.rail-labels", null);
    this.tip = h("div.rail-tip", {hidden: true});
    this.track = h("div.rail-track", {
      role: "slider", tabindex: 0, "aria-orientation": "vertical", "aria-label": t("Timeline of messages"),
      onclick: (event) => this.open(this.at(event)), onkeydown: (event) => this.key(event),
      onpointermove: (event) => this.hint(event), onpointerleave: () => { this.tip.hidden = true; },
    }, this.ticks, this.view);
    this.stage = h("div.rail-stage", null, this.track, this.labels, this.cursor, this.tip);
    fill(this, h("h2", null, t("Timeline")), this.stage);
    const on = (name, then) => this.feed.addEventListener(name, then, {signal: this.feed.signal});
    on("message", (event) => this.longer(event.detail));
    on("cursor", (event) => this.moved(event.detail));
    on("settling", (event) => this.work(event.detail));
    on("back", () => this.soon());
    this.chat.addEventListener("mp-seen", (event) => this.seen(event.detail));
    this.size = new ResizeObserver(() => this.draw());
    this.size.observe(this.stage);
    // The messages come first.
    this.feed.ready.then(() => this.read());
  }

  disconnectedCallback() {
    this.size.disconnect();
    clearTimeout(this.waiting);
  }

  soon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.read(), CALM_MS);
  }

  async read() {
    try {
      this.data = await get(ofSession(this.feed.session, "/timeline"), this.feed.signal);
      // An entry begins with its time, which its position on the timeline shows already.
      for (const entry of this.data.entries) entry.title = entry.title.replace(/^\[[^\]]{0,40}\] ?/, "");
      for (const entry of this.data.entries) entry.kept = kept(entry.audit);
      this.draw();
    } catch (error) {
      if (error.name !== "AbortError") this.classList.toggle("unknown", !this.data);
    }
  }

  longer(message) {
    if (!this.data) return;
    const at = message.index - this.data.first;
    if (at !== this.data.tokens.length) {
      // A message in the middle is one that was had already; one far ahead has others before it.
      if (at > this.data.tokens.length) this.soon();
      return;
    }
    this.data.tokens.push(message.tokens ?? 1);
    this.data.roles += message.role[0];
    this.data.head = message.index + 1;
    this.drawSoon();
  }

  moved({cursor}) {
    if (!this.data) return;
    if (cursor > this.data.cursor) {
      this.data.cursor = cursor;
      this.classList.add("settling");
      setTimeout(() => this.classList.remove("settling"), 2500);
    }
    this.drawSoon();
    // The entry is written before the cursor moves.
    this.soon();
  }

  /** A consolidation goes on, or does no more. */
  work(goesOn) {
    if (this.classList.toggle("at-work", goesOn) === this.working) return;
    this.working = goesOn;
    this.says.textContent = goesOn ? t("summarizing…") : SETTLED;
    this.drawSoon();
  }

  drawSoon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (!this.data || !this.isConnected) return;
    const {tokens, roles, first, cursor} = this.data;
    const height = this.stage.clientHeight;
    const messages = tokens.length;
    this.classList.toggle("nothing", !messages);
    this.row = messages ? Math.min(ROW, height / messages) : ROW;
    this.ticks.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
    const paths = {};
    const most = Math.sqrt(Math.max(64, ...sample(tokens)));
    // If there are more messages than pixels, only the longest message of each pixel is drawn.
    const step = Math.max(1, Math.ceil(1.5 / this.row));
    const thick = Math.max(1, Math.min(this.row - 2, 5));
    for (let at = 0; at < messages; at += step) {
      let best = at;
      for (let other = at + 1; other < Math.min(at + step, messages); other++) if (tokens[other] > tokens[best]) best = other;
      const past = first + best < cursor;
      const length = Math.max(4, (WIDTH * Math.sqrt(tokens[best])) / most);
      const name = `${CLASSES[roles[best]] ?? "tool"}${past ? " past" : ""}`;
      (paths[name] ??= []).push(`M0 ${(at * this.row + 1).toFixed(1)}h${Math.min(WIDTH, length).toFixed(1)}v${thick.toFixed(1)}H0z`);
    }
    fill(this.ticks, Object.entries(paths).map(([name, parts]) => h("path", {class: name, d: parts.join("")})));
    this.cursor.hidden = cursor <= first && !this.working;
    this.cursor.style.top = `${(cursor - first) * this.row}px`;
    this.drawEntries(height);
    this.drawSeen();
    this.track.setAttribute("aria-valuemin", first);
    this.track.setAttribute("aria-valuemax", Math.max(first, first + messages - 1));
    this.say();
  }

  drawEntries(height) {
    const {entries, first, cursor} = this.data;
    const end = Math.min(height, Math.max((cursor - first) * this.row, LABEL));
    let free = 0;
    const shown = [];
    for (const entry of entries) {
      const top = Math.max((entry.first - first) * this.row, 0);
      const bottom = Math.max((Math.min(entry.upto, cursor) - first) * this.row, top + 2);
      const hint = entry.kept ? `${entry.title}\n${entry.kept}` : entry.title;
      const bracket = h("div.rail-entry", {title: hint});
      bracket.style.top = `${top}px`;
      bracket.style.height = `${Math.max(2, bottom - top - 2)}px`;
      shown.push(bracket);
      const at = Math.max(top, free);
      if (at > bottom && bottom - top < LABEL / 2 && at - bottom > LABEL) continue;
      if (at + LABEL > end + 4) continue;
      free = at + LABEL;
      const label = h("a.rail-label", {href: `/s/${encodeURIComponent(this.feed.session)}/m/${Math.max(entry.first, first)}`, title: hint},
        h("span.rail-title", null, entry.title || t("(untitled entry)")),
        h("span.rail-range", null, `${count(entry.first)}–${count(entry.upto - 1)}`));
      label.style.top = `${at}px`;
      // Otherwise the line of the cursor would cross the label.
      label.classList.toggle("brief", at + LABEL > (cursor - first) * this.row);
      shown.push(label);
    }
    fill(this.labels, shown);
  }

  /** Set the range of messages that the chat shows: {first, last}. */
  seen(range) {
    this.range = range;
    this.drawSeen();
    this.say();
  }

  drawSeen() {
    const shown = Boolean(this.range && this.data?.tokens.length);
    this.view.hidden = !shown;
    if (!shown) return;
    const top = (this.range.first - this.data.first) * this.row;
    this.view.style.top = `${Math.max(0, top)}px`;
    this.view.style.height = `${Math.max(4, (this.range.last - this.range.first + 1) * this.row)}px`;
  }

  say() {
    const {first, tokens} = this.data ?? {first: 0, tokens: []};
    const now = Math.min(Math.max(this.range?.last ?? first + tokens.length - 1, first), Math.max(first, first + tokens.length - 1));
    this.track.setAttribute("aria-valuenow", now);
    this.track.setAttribute("aria-valuetext", tokens.length ? this.told(now) : t("no messages yet"));
  }

  told(index) {
    const {first, tokens, roles, cursor, entries} = this.data;
    const entry = entries.find((each) => each.first <= index && index < each.upto);
    const said = t("message {index} from {name}, {n} tokens", {index: count(index), name: NAMES[roles[index - first]] ?? NAMES.t, n: count(tokens[index - first] ?? 0)});
    if (index >= cursor) return said;
    if (!entry) return t("{message}, summarized in memory", {message: said});
    return [t("{message}, summarized in the entry “{title}”", {message: said, title: entry.title}), entry.kept].filter(Boolean).join(t(", "));
  }

  at(event) {
    if (!this.data?.tokens.length) return null;
    const row = Math.floor((event.clientY - this.track.getBoundingClientRect().top) / this.row);
    return this.data.first + Math.max(0, Math.min(row, this.data.tokens.length - 1));
  }

  hint(event) {
    const index = this.at(event);
    this.tip.hidden = index === null;
    if (index === null) return;
    this.tip.textContent = this.told(index);
    this.tip.style.top = `${Math.min(event.clientY - this.stage.getBoundingClientRect().top, this.stage.clientHeight - 48)}px`;
  }

  open(index, options) {
    if (index !== null) go(`/s/${encodeURIComponent(this.feed.session)}/m/${index}`, {...options, from: this});
  }

  key(event) {
    if (!this.data?.tokens.length) return;
    const now = Number(this.track.getAttribute("aria-valuenow"));
    const last = this.data.first + this.data.tokens.length - 1;
    const to = {
      ArrowUp: now - 1, ArrowLeft: now - 1, ArrowDown: now + 1, ArrowRight: now + 1,
      PageUp: now - 50, PageDown: now + 50, Home: this.data.first, End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.open(Math.min(Math.max(to, this.data.first), last), {replace: true});
  }
}

/** The result of an audit: the share of facts that are kept, the messages whose facts only the archive contains, a quiz. */
function kept(audit) {
  const told = [];
  if (audit && audit.score !== null) told.push(t("{share} of the facts were saved to memory", {share: percent(Math.floor(100 * audit.score) / 100)}));
  if (audit && audit.archive) {
    const numbers = [...new Set(audit.lost.map((each) => count(each.message)))].slice(0, LOST_SHOWN).join(t(", "));
    told.push(t("facts found only in the message archive: {n} (messages {numbers})", {n: count(audit.archive), numbers}));
  }
  if (audit && audit.questions) told.push(t("memory test: {correct} of {n} answers correct", {correct: count(audit.correct), n: count(audit.questions)}));
  return told.join(t("; "));
}

/** At most 5,000 values, so that they fit into the arguments of one call. The largest value is among them. */
function sample(tokens) {
  if (tokens.length <= 5000) return tokens;
  return [tokens.reduce((most, each) => Math.max(most, each), 0)];
}

customElements.define("mp-rail", Rail);
