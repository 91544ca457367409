// The only code of this page that makes elements. Text becomes text nodes, never markup. An address that could run a
// script is left out. Handlers are functions.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "path", "rect", "circle", "line", "g"]);
const SAFE = /^(https?:|mailto:|\/(?!\/)|#|\?)/i;

/**
 * Characters that nobody sees, or that change the direction of a line: a name that contains them looks like another one.
 * Joiners stay, for emoji and words of Persian contain them. daemon/printable.py lists the same characters.
 */
const INVISIBLE = new RegExp(
  "[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200e\\u200f" +
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]", "gu");

/** A text in which each such character is shown as �. */
export const visible = (text) => text.replace(INVISIBLE, "\ufffd");

/** Whether an address is allowed in a link: of this page, of the web, or of mail. */
export const isSafe = (address) => SAFE.test(address) && !/[\u0000-\u0020]/.test(address[0]);

/**
 * An element: `h("a.button", {href: "/", onclick: go}, "text", [more])`. Attributes that are null or false are left out,
 * `dataset` is an object, functions become listeners; children are texts, nodes, lists of these, or nothing.
 * Every text becomes `visible`.
 */
export function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.replace(/^on/, ""), value);
    else if (/^on|^srcdoc$|^style$/i.test(key)) throw new TypeError(`The attribute ${key} was set to a string instead of a function.`);
    else if (key === "dataset") Object.assign(element.dataset, value);
    else if ((key === "href" || key === "src") && !isSafe(String(value))) continue;
    else if (key === "class") element.setAttribute("class", [...classes, value].join(" "));
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

/** Append `children` as `h` does. */
export function add(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : visible(String(child)));
  }
  return element;
}

/** Replace the content of `element` with `children`. */
export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, ...children);
}

const NUMBER = new Intl.NumberFormat("en");
const CLOCK = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit"});
const DAY = new Intl.DateTimeFormat(undefined, {day: "numeric", month: "short"});
const FULL = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "medium"});

/** 12345 → "12,345" */
export const count = (n) => NUMBER.format(n);

/** 0.834 → "83 %" */
export const percent = (share) => `${Math.round(100 * share)} %`;

/** 1, "note" → "1 note"; 2, "note" → "2 notes" */
export const counted = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

/** 12345 → "12.3k" */
export function short(n) {
  if (n < 1000) return String(n);
  const thousands = n / 1000;
  return thousands < 999.5 ? `${thousands.toFixed(thousands < 99.5 ? 1 : 0).replace(/\.0$/, "")}k` : `${(n / 1e6).toFixed(1)}M`;
}

/** Milliseconds → "120 ms", "1.4 s", "3 min" */
export function took(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

/** A `<time>`: the clock time for today, else with the day; the full date as its title. */
export function when(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const today = at.toDateString() === new Date().toDateString();
  return h("time", {datetime: iso, title: FULL.format(at)}, today ? CLOCK.format(at) : `${DAY.format(at)}, ${CLOCK.format(at)}`);
}

/** "now", "5 min", "3 h", "2 d": how long ago `iso` was. */
export function ago(iso) {
  const seconds = (Date.now() - new Date(iso).getTime()) / 1000;
  if (!(seconds >= 0)) return "now";
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** Show a short message at the foot of the page; screen readers read it out. */
export function toast(text, kind = "") {
  const shown = h("p.toast", {class: kind}, text);
  document.getElementById("toasts")?.append(shown);
  setTimeout(() => shown.remove(), 6000);
}

/** An empty state: a title and the next step. */
export const empty = (title, ...children) => h("div.empty", null, h("h2", null, title), ...children);

/** A failed request: the error message, and a button to try again. */
export const failed = (error, again) =>
  h("div.empty", {role: "alert"}, h("h2", null, "The data could not be loaded"), h("p", null, error.message),
    again && h("button.button", {type: "button", onclick: again}, "Try again"));
