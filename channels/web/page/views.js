// Shared parts of the views of memory, turns and the system: loading, buttons with confirmation, tabs, tables.

import {failed, fill, h, toast} from "/page/dom.js";
import {t} from "/page/words.js";

/** How long a button waits for the second press that confirms the first. */
const ARMED_MS = 5000;

/** The style sheet of these views, loaded with the first of them. */
await new Promise((done) => {
  const link = h("link", {rel: "stylesheet", href: "/page/views.css", onload: done, onerror: done});
  document.head.append(link);
});

/** An element that draws itself from `params` and the address, again whenever they change. */
export class View extends HTMLElement {
  #params = {};

  connectedCallback() {
    this.controller = new AbortController();
    this.changed();
  }

  disconnectedCallback() {
    this.controller.abort();
  }

  set params(params) {
    this.#params = params;
    if (this.isConnected) this.changed();
  }

  get params() { return this.#params; }

  get signal() { return this.controller.signal; }

  /** The query of the address. */
  get asked() { return new URLSearchParams(location.search); }

  /** Fill `holder` with `show(await read())`. If calls overlap, the last one counts. */
  async into(holder, read, show) {
    const mine = (holder.reading = Symbol("reading"));
    if (!holder.firstChild) fill(holder, h("p.soft", {role: "status"}, t("Loading…")));
    try {
      const found = await read(this.signal);
      if (holder.reading === mine) fill(holder, show(found));
    } catch (error) {
      if (error.name === "AbortError" || holder.reading !== mine) return;
      fill(holder, failed(error, () => this.into(holder, read, show)));
    }
  }
}

/** Call `read` every `ms` and when the page becomes visible again, while the page is visible and contains `holder`. */
export function refresh(holder, ms, read) {
  const controller = new AbortController();
  const look = () => {
    if (!holder.isConnected) controller.abort();
    else if (!document.hidden) read();
  };
  const timer = setInterval(look, ms);
  controller.signal.addEventListener("abort", () => clearInterval(timer));
  document.addEventListener("visibilitychange", look, {signal: controller.signal});
}

/** A button that is disabled while its `action` runs. Errors are shown as a toast. */
export function press(label, action, {kind = "", ...more} = {}) {
  const button = h("button.button", {type: "button", class: kind, ...more}, label);
  button.addEventListener("click", () => once(button, action));
  return button;
}

/** The same for an irreversible `action`: it runs when a second press follows within `ARMED_MS`. */
export function sure(label, question, action, {kind = "", ...more} = {}) {
  const button = h("button.button", {type: "button", class: kind, ...more}, label);
  let armed = 0;
  const disarm = () => {
    clearTimeout(armed);
    armed = 0;
    fill(button, label);
    button.classList.remove("armed");
  };
  button.addEventListener("blur", disarm);
  button.addEventListener("click", () => {
    if (armed) {
      disarm();
      once(button, action);
      return;
    }
    fill(button, question);
    button.classList.add("armed");
    armed = setTimeout(disarm, ARMED_MS);
  });
  return button;
}

/** Run `action` with `button` disabled. */
export async function once(button, action) {
  if (button.disabled) return;
  button.disabled = true;
  try {
    await action();
  } catch (error) {
    if (error.name !== "AbortError") toast(error.message, "bad");
  } finally {
    button.disabled = false;
  }
}

/** Links to the parts of a view: `[[address, label, isHere], …]`. */
export const tabs = (label, links) => h("nav.tabs", {"aria-label": label}, links.map(([href, text, here]) =>
  h("a", {href, "aria-current": here && "page"}, text)));

/** A table that scrolls sideways if it is too wide: heads (text, or `{text, number: true}`), rows of cells. */
export function table(label, heads, rows) {
  const cells = heads.map((head) => (typeof head === "string" ? {text: head} : head));
  const row = (each) => h("tr", null, each.map((cell, at) =>
    h("td", {class: cells[at].number && "number", "data-label": cells[at].text}, cell)));
  return h("div.scroll-x", {tabindex: 0, role: "region", "aria-label": label}, h("table.plain", null,
    h("thead", null, h("tr", null, cells.map((each) =>
      h("th", {scope: "col", class: each.number && "number"}, each.text || h("span.unseen", null, t("select")))))),
    h("tbody", null, rows.map(row))));
}

/** Seconds → "4.2 s", "3 min", "2 h", "5 d" */
export function lasting(seconds) {
  if (seconds < 90) return t("{n} s", {n: seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)});
  if (seconds < 5400) return t("{n} min", {n: Math.round(seconds / 60)});
  return seconds < 129_600 ? t("{n} h", {n: Math.round(seconds / 3600)}) : t("{n} d", {n: Math.round(seconds / 86_400)});
}

/** A link to a conversation or to one of its messages. */
export const toSession = (session, label = session, index = null) =>
  h("a", {href: `/s/${encodeURIComponent(session)}${index === null ? "" : `/m/${index}`}`}, label);

/** A text with its percent escapes decoded. */
export function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
