// The list of conversations, with a field that searches their titles and everything that was said, remembered and noted.

import {get, query, segment} from "/page/api.js";
import {ago, counted, fill, h, visible} from "/page/dom.js";
import {go, nameOf} from "/page/app.js";
import {Rows} from "/page/rows.js";
import {t} from "/page/words.js";

/** How often the visible list is read, and how many seconds old it may be: all viewers share one result. */
const EVERY_MS = 15_000;
const AGE_S = 5;
/** Conversations per request. */
const PAGE = 100;
/** Delay between a key press and the search. */
const TYPING_MS = 200;
/** A message is in the search index after this time. */
const FRESH_MS = 1500;
/** Pixels of a conversation and of a heading in the list. */
const ROW = 58;
const HEAD = 32;
/** Signs of Markdown in the last message. */
const MARKS = /\*\*|`+|(^| )#{1,6}(?= )/g;
const DAY_MS = 86_400_000;
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

/** Remember the conversation as the one that was open last; null forgets it. */
export function keepSession(session) {
  try {
    if (session) localStorage.setItem("session", session);
    else localStorage.removeItem("session");
  } catch { /* no storage: "/" leads to a new one */ }
}

/** The title of a conversation, or the readable name of its session; "New conversation" where nobody has said anything. */
export function titleOf(line, own) {
  if (line.title) return line.title;
  return own && !line.head && !line.waiting ? t("New conversation") : nameOf(line.session);
}

/** The menu of a conversation: rename, pin, archive, delete. Loaded when it is opened first. */
export function menuButton(line, name) {
  const button = h("button.icon-button.menu-button", {type: "button", "aria-haspopup": "menu", "aria-label": t("Actions for {name}", {name}), onclick: async () => {
    const {openMenu} = await import("/page/labels.js");
    openMenu(button, line, name);
  }});
  return button;
}

export class Sessions extends HTMLElement {
  #me = null;
  #current = [];
  #found = [];
  #next = "";
  #channels = new Set();
  #archived = false;
  #hits = null;
  #begun = "";

  connectedCallback() {
    this.controller = new AbortController();
    this.field = h("input", {type: "search", placeholder: t("Search"), "aria-label": t("Search conversations and messages"),
      autocomplete: "off", spellcheck: "false", oninput: () => this.typed(), onkeydown: (event) => this.key(event)});
    this.channel = h("select", {"aria-label": t("Filter conversations by channel"), hidden: true, onchange: () => this.anew()});
    this.shelf = h("button.quiet.shelf", {type: "button", onclick: () => this.turn()});
    this.list = h("ul", null);
    this.hits = h("div.hits", {hidden: true});
    this.none = h("p", {hidden: true}, "");
    this.nav = h("nav.session-list", {"aria-label": t("Conversations"), onkeydown: (event) => this.key(event)}, this.none, this.list, this.hits);
    fill(this, h("div.find", null,
      h("div.find-field", null, this.field, h("kbd", {"aria-hidden": "true"}, "/")),
      h("button.button", {type: "button", onclick: () => this.begin()}, t("New conversation")), this.channel), this.nav, this.shelf);
    this.rows = new Rows(this.nav, this.list, (row) => (row.line ? this.look(row.line) : headingOf(row.text)), () => this.more());
    this.timer = setInterval(() => { if (!document.hidden) this.read(AGE_S); }, EVERY_MS);
    const signal = this.controller.signal;
    for (const name of ["mp-said", "mp-labels"]) addEventListener(name, () => this.read(), {signal});
    addEventListener("mp-line", ({detail: {session, head, waiting}}) => {
      if (session !== this.#current[0]) return;
      this.#begun = head || waiting ? "" : session;
      this.show();
    }, {signal});
    addEventListener("mp-deleted", ({detail}) => this.remove(detail), {signal});
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.read(AGE_S); }, {signal});
    this.anew();
  }

  disconnectedCallback() {
    this.controller.abort();
    clearInterval(this.timer);
    clearTimeout(this.waiting);
  }

  set me(me) { this.#me = me; this.show(); }

  get me() { return this.#me; }

  /** The sessions that are open: one, or two side by side. */
  set current(sessions) {
    if (sessions.join() === this.#current.join()) return;
    this.#current = sessions;
    this.show();
  }

  /** Focus the search field. */
  search() {
    this.field.focus();
    this.field.select();
  }

  begin() {
    if (!this.#me) return;
    go(`/s/${segment(newSession(this.#me.channel))}`);
    document.querySelector("mp-chat textarea")?.focus();
  }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.anew(), TYPING_MS);
  }

  /** Show the archived conversations, or the others again. */
  turn() {
    this.#archived = !this.#archived;
    this.anew();
  }

  /** The list from its beginning, as for other words or another channel. */
  anew() {
    this.#hits = null;
    this.nav.scrollTop = 0;
    this.read(0, true);
  }

  get asked() {
    return {limit: PAGE, q: this.field.value.trim(), channel: this.channel.value, archived: this.#archived ? 1 : ""};
  }

  /** Read the first page. The conversations below stay, unless the list begins `anew`. */
  async read(age = 0, anew = false) {
    if (!this.isConnected) return;
    const asked = this.asked;
    const same = () => this.isConnected && JSON.stringify(asked) === JSON.stringify(this.asked);
    if (anew && asked.q.length > 1) this.lookFor(asked.q, same);
    try {
      const {sessions, next} = await get(`/api/sessions${query({...asked, age: age || ""})}`, this.controller.signal);
      if (!same()) return;
      const known = new Set(sessions.map((each) => each.session));
      const last = next ? sessions.at(-1)?.last_activity ?? "" : "";
      const below = anew ? [] : this.#found.filter((each) => !each.pinned && !known.has(each.session) && each.last_activity <= last);
      this.#found = [...sessions, ...below];
      if (anew || !below.length) this.#next = next;
      this.offer();
      this.show();
    } catch (error) {
      this.fail(error);
    }
  }

  /** The next page, when the end of the list comes near. */
  async more() {
    if (!this.#next || this.reading) return;
    const [asked, before] = [this.asked, this.#next];
    this.reading = true;
    try {
      const {sessions, next} = await get(`/api/sessions${query({...asked, before})}`, this.controller.signal);
      if (before !== this.#next || JSON.stringify(asked) !== JSON.stringify(this.asked)) return;
      const known = new Set(this.#found.map((each) => each.session));
      this.#found.push(...sessions.filter((each) => !known.has(each.session)));
      this.#next = next;
      this.offer();
    } catch (error) {
      this.fail(error);
      return;
    } finally {
      this.reading = false;
    }
    this.show();
  }

  fail(error) {
    if (error.name === "AbortError" || !error.status || error.status === 401 || this.#found.length) return;
    this.none.hidden = false;
    fill(this.none, error.message);
  }

  /** Offer all channels that were seen. */
  offer() {
    const before = this.#channels.size;
    for (const each of this.#found) this.#channels.add(channelOf(each));
    if (this.#channels.size === before) return;
    const chosen = this.channel.value;
    fill(this.channel, h("option", {value: ""}, t("All channels")), [...this.#channels].sort().map((name) => h("option", {value: name}, name)));
    this.channel.value = chosen;
    this.channel.hidden = this.#channels.size < 2;
  }

  async lookFor(words, same, again = true) {
    try {
      const [{found}, {hits, left}] = await Promise.all([
        import("/page/found.js"), get(`/api/search${query({q: words, limit: 30})}`, this.controller.signal)]);
      if (!same()) return;
      this.#hits = hits.length;
      const sign = JSON.stringify(hits);
      if (again || sign !== this.sign) fill(this.hits, found(hits, words, left));
      this.sign = sign;
      this.show();
      // A message of the last second is not in the index yet.
      if (again) setTimeout(() => { if (same()) this.lookFor(words, same, false); }, FRESH_MS);
    } catch (error) {
      if (error.name !== "AbortError" && same()) fill(this.hits, h("p", {role: "alert"}, error.message));
    }
  }

  remove(session) {
    this.#found = this.#found.filter((each) => each.session !== session);
    this.show();
  }

  show() {
    if (!this.rows) return;
    const words = this.field.value.trim();
    const found = [...this.#found];
    const [open] = this.#current;
    // A conversation that has just begun is in no list yet.
    if (open && open === this.#begun && !words && !this.#archived && !this.channel.value && !found.some((each) => each.session === open)) {
      found.unshift({session: open, title: "", last: "", head: 0, waiting: 0, last_activity: ""});
    }
    const rows = [];
    const groupOf = words || this.#archived ? () => t("Conversations") : grouping();
    let head = "";
    for (const line of found) {
      const text = groupOf(line);
      if (text !== head) rows.push({key: `head ${(head = text)}`, height: HEAD, text});
      rows.push({key: line.session, height: ROW, link: true, line});
    }
    const focused = this.list.contains(document.activeElement);
    this.rows.show(rows);
    // If the focused line is gone, focus moves to the field, so that the next key still has an effect.
    if (focused && !this.list.contains(document.activeElement)) this.field.focus();
    this.hits.hidden = words.length < 2 || !this.hits.firstChild;
    this.none.hidden = found.length > 0 || (words.length > 1 && this.#hits !== 0);
    fill(this.none, words ? t("No results found.") : this.#archived ? t("No archived conversations.")
      : t("No conversations yet. Write a message to start the first conversation."));
    fill(this.shelf, this.#archived ? t("Back to all conversations") : t("Archived conversations"));
    this.shelf.setAttribute("aria-pressed", String(this.#archived));
  }

  /** How a conversation looks in the list. */
  look(each) {
    const own = channelOf(each) === this.#me?.channel;
    const state = each.parked ? "parked" : each.busy || each.waiting ? "busy" : "";
    const status = each.parked ? t("waiting to retry after a failure") : !each.busy && each.waiting ? counted(each.waiting, "unanswered message") : each.last.replace(MARKS, "");
    const title = titleOf(each, own);
    const words = this.field.value.trim().toLowerCase();
    const name = visible(nameOf(each.session));
    const says = words && name.toLowerCase().includes(words) && name !== title ? name : status;
    const here = this.#current.includes(each.session);
    const age = each.last_activity ? ago(each.last_activity) : "";
    const make = () => h("li.session", {class: here && "here"},
      h("a", {href: `/s/${segment(each.session)}`, "aria-current": here && "page", title: name},
        h("span.name", null, state && h(`span.dot.${state}`, null), title), h("span.age", null, age),
        h("span.more", null, !own && h("span.badge", null, channelOf(each)), says)),
      each.head || each.waiting ? menuButton(each, title) : null);
    return {make, sign: JSON.stringify([title, says, age, here, own, each.pinned, each.archived, state])};
  }

  /** The arrow keys move from the field through the list. */
  key(event) {
    if (event.key === "Escape" && event.target === this.field && this.field.value) {
      event.stopPropagation();
      this.field.value = "";
      this.anew();
      return;
    }
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step) {
      if (event.key === "Enter" && event.target === this.field) this.nav.querySelector("a")?.click();
      return;
    }
    event.preventDefault();
    const links = [...this.hits.querySelectorAll("a")];
    const at = links.indexOf(event.target);
    if (at >= 0 && links[at + step]) links[at + step].focus();
    else if (event.target === this.field && step < 0) return;
    else if (at > 0 || !this.rows.focus(step)) (step > 0 ? links[0] ?? event.target : this.field).focus();
  }
}

const channelOf = (each) => each.channel ?? each.session.split(":")[0];

const headingOf = (text) => ({sign: text, make: () => h("li.group", null, h("h2", null, text))});

/** Gives the heading under which a conversation is listed, for many conversations. */
function grouping() {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const [today, yesterday, week] = [0, 1, 7].map((days) => new Date(midnight - days * DAY_MS).toISOString());
  const [pinned, ...names] = [t("Pinned"), t("Today"), t("Yesterday"), t("Last seven days"), t("Earlier")];
  return (line) => {
    if (line.pinned) return pinned;
    const active = line.last_activity || today;
    return active >= today ? names[0] : active >= yesterday ? names[1] : active >= week ? names[2] : names[3];
  };
}

customElements.define("mp-sessions", Sessions);
