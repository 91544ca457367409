// Runs before the first paint, so that no text appears in another language first: a classic script, which blocks.

// The language: the chosen one, or the first of the browser's that the page has. Each but English has a file of texts.
window.languages = {
  "en": "English", "zh-CN": "简体中文", "zh-TW": "繁體中文", "fr": "Français", "de": "Deutsch", "es": "Español", "pt-BR": "Português (Brasil)",
  "ja": "日本語", "ko": "한국어", "vi": "Tiếng Việt", "id": "Bahasa Indonesia",
};

/** "pt" → "pt-BR", "zh-HK" → "zh-TW": the page's language that a tag means. */
function languageOf(tag) {
  const form = (each) => {
    const {language, script} = new Intl.Locale(each).maximize();
    return `${language}-${script}`;
  };
  try {
    return Object.keys(window.languages).find((each) => form(each) === form(tag));
  } catch { /* not a tag */ }
}

let chosen = null;
try {
  chosen = localStorage.getItem("language");
} catch { /* no storage: the language of the browser */ }
const language = [chosen, ...navigator.languages].map(languageOf).find(Boolean) ?? "en";
document.documentElement.lang = language;
if (language !== "en") {
  // Without its file, as when the server stops right now, the page is in English.
  window.translation = fetch(`/page/translation/${language}.json`).then((answer) => answer.json()).catch(() => ({}));
}
