// The language of the page: its texts in Chinese, and the form of numbers and dates. The language is fixed until the page
// is loaded again, so that constants may contain texts.

/** "en" or "zh", chosen by theme.js. */
export const language = document.documentElement.lang.slice(0, 2);

/** The browser's own variant of the language, such as "en-GB", for numbers and dates. */
export const locale = language === "zh" ? "zh-CN" : navigator.languages.find((each) => each.startsWith(language)) ?? language;

const table = language === "zh" ? (await import("/page/zh.js")).default : {};

/** A text with nodes in it, as children of `h`: `parts("by {who}", {who: h("code", null, "ann")})`. */
export const parts = (text, values = {}) =>
  (table[text] ?? text).split(/\{(\w+)\}/).map((piece, at) => (at % 2 ? values[piece] ?? "" : piece));

/** The translation of an English text: `t("by {who}", {who: "ann"})`. A text without a translation stays English. */
export const t = (text, values) => parts(text, values).join("");

/** The translation of a word that the API gave, such as the outcome of a turn; an unknown word stays. */
export const term = (word) => table[word] ?? word;

/** The message of an API error: the server's own in English, a general one by the error's code in Chinese. */
export const problemOf = (code, message) => table[`error:${code}`] ?? message;

const NUMBER = new Intl.NumberFormat(locale);

/** 12345 → "12,345" */
export const count = (n) => NUMBER.format(n);

/** 1, "note" → "1 note"; 2, "note" → "2 notes". Only the plural is translated, as "{n} notes". */
export const counted = (n, one, more = `${one}s`) => (n === 1 && language === "en" ? `1 ${one}` : t(`{n} ${more}`, {n: count(n)}));

/** Translate the document: elements with `data-t` contain a text, elements with `data-t-label` have an `aria-label`. */
export function translate(root) {
  for (const each of root.querySelectorAll("[data-t]")) each.textContent = t(each.textContent);
  for (const each of root.querySelectorAll("[data-t-label]")) each.setAttribute("aria-label", t(each.getAttribute("aria-label")));
  document.documentElement.classList.add("translated");
}

/** A button that loads the page in the other language. Its text is in that language. */
export function switcher(make) {
  const [other, name] = language === "zh" ? ["en", "English"] : ["zh", "中文"];
  return make("button.quiet.language", {type: "button", lang: other, onclick: () => {
    try {
      localStorage.setItem("language", other);
    } catch { /* no storage: the language of the browser */ }
    location.reload();
  }}, name);
}
