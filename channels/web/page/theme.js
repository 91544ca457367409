// Runs before the first paint, so that a chosen theme never flashes: a classic script, which blocks.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* no storage: the theme of the system */ }

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

// The newest messages are requested while the rest of the page loads; feed.js uses them once.
const asked = /^\/s\/([^/]+)$/.exec(location.pathname);
if (asked) {
  try {
    const session = decodeURIComponent(asked[1]);
    const address = `/api/sessions/${encodeURIComponent(session)}/messages?before=999999999999999&limit=50`;
    const answer = fetch(address).then((found) => (found.ok ? found.json() : null)).catch(() => null);
    window.early = {session, answer};
  } catch { /* an incomplete escape */ }
}
