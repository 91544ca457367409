// Runs before the first paint, so that a chosen theme never flashes: a classic script, which blocks.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* no storage: the theme of the system */ }

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
