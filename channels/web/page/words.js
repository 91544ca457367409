// The language of the page: its texts, and the form of numbers and dates. The language is fixed until the page is loaded
// again, so that constants may contain texts.

/** The tag of the page's language, such as "zh-TW", chosen by page-language.js. */
export const tag = document.documentElement.lang;

/** The language without its region, such as "zh". */
export const language = tag.slice(0, 2);

/** The browser's own variant of the language, such as "en-GB", for numbers and dates. */
export const locale = language === "zh" ? tag : navigator.languages.find((each) => each.startsWith(language)) ?? tag;

const table = (await window.translation) ?? {};

/** A text with nodes in it, as children of `h`: `parts("by {who}", {who: h("code", null, "ann")})`. */
export const parts = (text, values = {}) =>
  (table[text] ?? text).split(/\{(\w+)\}/).map((piece, at) => (at % 2 ? values[piece] ?? "" : piece));

/** The translation of an English text: `t("by {who}", {who: "ann"})`. A text without a translation stays English. */
export const t = (text, values) => parts(text, values).join("");

/** The translation of a word that the API gave, such as the outcome of a turn; an unknown word stays. */
export const term = (word) => table[word] ?? word;

/** The message of an API error: the server's own in English, a general one by the error's code in other languages. */
export const problemOf = (code, message) => table[`error:${code}`] ?? message;

const NUMBER = new Intl.NumberFormat(locale);

/** 12345 → "12,345" */
export const count = (n) => NUMBER.format(n);

const PLURALS = new Intl.PluralRules(tag);

/** 1, "note" → "1 note"; 2, "note" → "2 notes". The texts are "{n} note", in languages with a singular, and "{n} notes". */
export const counted = (n, one, more = `${one}s`) => t(`{n} ${PLURALS.select(n) === "one" ? one : more}`, {n: count(n)});

/** Translate the document: elements with `data-t` contain a text, elements with `data-t-label` have an `aria-label`. */
export function translate(root) {
  for (const each of root.querySelectorAll("[data-t]")) each.textContent = t(each.textContent);
  for (const each of root.querySelectorAll("[data-t-label]")) each.setAttribute("aria-label", t(each.getAttribute("aria-label")));
  document.documentElement.classList.add("translated");
}

/** The list of languages, each named in itself. Choosing one loads the page in it. */
export function switcher(make) {
  const choose = ({target}) => {
    try {
      localStorage.setItem("language", target.value);
    } catch { /* no storage: the language of the browser */ }
    location.reload();
  };
  // The list opens before an arrow key chooses: each choice loads the page again.
  const open = (event) => {
    if (!/^Arrow/.test(event.key) || !event.target.showPicker) return;
    event.preventDefault();
    event.target.showPicker();
  };
  return make("select.quiet.language", {"aria-label": t("Language"), onchange: choose, onkeydown: open},
    Object.entries(window.languages).map(([value, name]) => make("option", {value, lang: value, selected: value === tag}, name)));
}
