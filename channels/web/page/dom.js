// The only code of this page that makes elements. Text becomes text nodes, never markup. An address that could run a
// script is left out. Handlers are functions.

import {count, counted, language, locale, t} from "/page/words.js";

export {count, counted};

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
    else if (/^on|^srcdoc$|^style$/i.test(key)) throw new TypeError(`The attribute ${key} cannot be set to a string.`);
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

/** A button that shows the outline `path`; `label` is its name. */
export const iconButton = (label, path, onclick) => h("button.icon-button", {type: "button", "aria-label": label, title: label, onclick},
  h("svg", {viewBox: "0 0 24 24", "aria-hidden": "true"}, h("path", {d: path})));

const CLOCK = new Intl.DateTimeFormat(locale, {hour: "2-digit", minute: "2-digit", ...(language === "zh" && {hourCycle: "h23"})});
const DAY = new Intl.DateTimeFormat(locale, {day: "numeric", month: "short"});
const FULL = new Intl.DateTimeFormat(locale, {dateStyle: "medium", timeStyle: "medium"});
const COMPACT = new Intl.NumberFormat(locale, {notation: "compact", maximumSignificantDigits: 3});

/** 0.834 → "83 %" */
export const percent = (share) => t("{n} %", {n: count(Math.round(100 * share))});

/** 12345 → "12.3k", in Chinese "1.23万" */
export const short = (n) => COMPACT.format(n).replace("K", "k");

/** Milliseconds → "120 ms", "1.4 s", "3 min" */
export function took(ms) {
  if (ms < 1000) return t("{n} ms", {n: Math.round(ms)});
  return ms < 60_000 ? t("{n} s", {n: (ms / 1000).toFixed(1)}) : t("{n} min", {n: Math.round(ms / 60_000)});
}

/** A `<time>`: the clock time for today, else with the day; the full date as its title. */
export function when(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const today = at.toDateString() === new Date().toDateString();
  const day = t("{day}, {time}", {day: DAY.format(at), time: CLOCK.format(at)});
  return h("time", {datetime: iso, title: FULL.format(at)}, today ? CLOCK.format(at) : day);
}

/** "now", "5 min", "3 h", "2 d": how long ago `iso` was. */
export function ago(iso) {
  const seconds = (Date.now() - new Date(iso).getTime()) / 1000;
  if (!(seconds >= 60)) return t("now");
  if (seconds < 3600) return t("{n} min", {n: Math.floor(seconds / 60)});
  return seconds < 86_400 ? t("{n} h", {n: Math.floor(seconds / 3600)}) : t("{n} d", {n: Math.floor(seconds / 86_400)});
}

/** Show a short message at the foot of the page; screen readers read it out. */
export function toast(text, kind = "") {
  const shown = h("p.toast", {class: kind}, text);
  const toasts = document.getElementById("toasts");
  for (const each of [...toasts?.children ?? []]) if (each.textContent === shown.textContent) each.remove();
  toasts?.append(shown);
  setTimeout(() => shown.remove(), 6000);
}

/** An empty state: a title and the next step. */
export const empty = (title, ...children) => h("div.empty", null, h("h2", null, title), ...children);

/** A failed request: the error message, and a button to try again. */
export const failed = (error, again) =>
  h("div.empty", {role: "alert"}, h("h2", null, t("The data could not be loaded")), h("p", null, error.message),
    again && h("button.button", {type: "button", onclick: again}, t("Try again")));
