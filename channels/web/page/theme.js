// Runs before the first paint, so that a chosen theme never flashes: a classic script, which blocks.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* no storage: the theme of the system */ }

// The language: the chosen one, or the first of the browser's that the page has.
let language = null;
try {
  language = localStorage.getItem("language");
} catch { /* no storage: the language of the browser */ }
if (language !== "en" && language !== "zh") language = navigator.languages.map((each) => each.slice(0, 2)).find((each) => each === "en" || each === "zh");
if (language === "zh") {
  document.documentElement.lang = "zh-CN";
  for (const name of ["zh", "zh-chat", "zh-reminders", "zh-settings", "zh-side", "zh-system", "zh-views", "zh-api"]) {
    document.head.append(Object.assign(document.createElement("link"), {rel: "modulepreload", href: `/page/${name}.js`}));
  }
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
