// The shell: routes, the logged-in operator, the theme, and the keys that work everywhere.
//
// A view is a custom element in a module of its own. It gets `me` (the answer of /api/me) and `params` (from its address),
// again whenever the address changes within the view. Links are plain `<a href>`, and `go(address)` follows one.
//
// On a wide screen, a second conversation can stand beside the first. Its address is the query `?beside=` of the first one's.

import {get, post, query, segment} from "/page/api.js";
import {empty, fill, h, toast, visible} from "/page/dom.js";
import {switcher, t, tag, translate} from "/page/words.js";
import "/page/sessions.js";

const ROUTES = [
  [/^\/$/, "chat", "mp-conversation", () => ({})],
  [/^\/s\/([^/]+)$/, "chat", "mp-conversation", (session) => ({session})],
  [/^\/s\/([^/]+)\/m\/(\d+)$/, "chat", "mp-conversation", (session, index) => ({session, index: Number(index)})],
  [/^\/s\/([^/]+)\/context$/, "chat", "mp-conversation", (session) => ({session, panel: "context"})],
  [/^\/s\/([^/]+)\/turns\/([^/]+)$/, "chat", "mp-conversation", (session, turn) => ({session, panel: "turn", turn})],
  [/^\/memory$/, "memory", "mp-memory", () => ({})],
  [/^\/memory\/([^/]+)$/, "memory", "mp-memory", (scope) => ({scope})],
  [/^\/memory\/([^/]+)\/versions\/(\d+)$/, "memory", "mp-memory", (scope, n) => ({scope, version: Number(n)})],
  [/^\/reminders$/, "reminders", "mp-reminders", () => ({})],
  [/^\/system$/, "system", "mp-system", () => ({})],
  [/^\/system\/([a-z]+)$/, "system", "mp-system", (tab) => ({tab})],
  [/^\/settings$/, "settings", "mp-settings", () => ({})],
  [/^\/settings\/([a-z]+)$/, "settings", "mp-settings", (tab) => ({tab})],
  [/^\/login$/, "login", "", () => ({})],
];
const MODULES = {
  "mp-conversation": () => import("/page/conversation.js"),
  "mp-memory": () => import("/page/memory.js"),
  "mp-reminders": () => import("/page/reminders.js"),
  "mp-system": () => import("/page/system.js"),
  "mp-settings": () => import("/page/settings.js"),
};
const TITLES = {
  chat: t("Chat"), memory: t("Memory"), reminders: t("Reminders"), system: t("System"), settings: t("Settings"), login: t("Log in"),
};

const main = document.getElementById("main");
const side = document.getElementById("side");
const sessions = document.createElement("mp-sessions");
let me = null;
let asked = null;

/** From this width on, two conversations fit side by side. */
const wide = matchMedia("(min-width: 1024px)");
wide.addEventListener("change", () => show());

/**
 * Follow an address of this page; `replace` leaves no step in the history. An address that is followed from an element of the
 * conversation beside, or that belongs to it, is opened there.
 */
export function go(address, {replace = false, from = null} = {}) {
  const beside = address.startsWith("/s/") ? besides() : "";
  const isBeside = from?.closest(".beside") || (wide.matches && sessionOf(address) === sessionOf(beside));
  visit(!beside ? address : isBeside ? pair(location.pathname, address) : pair(address, beside), replace);
}

function visit(address, replace = false) {
  if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
  show();
}

/** The address of the conversation beside, also while it is hidden on a narrow screen. */
function besides() {
  const address = new URLSearchParams(location.search).get("beside") ?? "";
  return [undefined, sessionOf(location.pathname)].includes(sessionOf(address)) ? "" : address;
}

const sessionOf = (address) => found(address)[2].session;

/** The address of two conversations; of one, if both are the same. */
const pair = (address, beside) => address + (sessionOf(address) === sessionOf(beside) ? "" : query({beside}));

/** Whether a session can be opened beside the conversation that is open. */
export const fitsBeside = (session) => wide.matches && ![undefined, session].includes(sessionOf(location.pathname)) && sessionOf(besides()) !== session;

/** Open a session beside the conversation that is open. */
export function openBeside(session) {
  visit(pair(location.pathname, `/s/${segment(session)}`));
  main.lastElementChild.querySelector("textarea")?.focus();
}

/** Close a session, where it is open: a conversation beside it takes its place. */
export function close(session) {
  if (sessionOf(besides()) === session) visit(location.pathname);
  else if (sessionOf(location.pathname) === session) visit(besides() || "/", true);
}

async function show() {
  closeSide();
  const [place, name, params] = found(location.pathname);
  for (const link of document.querySelectorAll("[data-place]")) {
    if (link.dataset.place === place) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${params.session ? visible(nameOf(params.session)) : TITLES[place] ?? t("Not found")} · Millpond`;
  const beside = params.session && wide.matches ? found(besides())[2] : {};
  sessions.current = [params.session, beside.session];
  if (place === "login") return logIn();
  if (!name) return fill(main, empty(t("Page not found"), h("p", null, h("a", {href: "/"}, t("Back to chat")))));
  const view = main.firstElementChild;
  if (view?.localName === name) {
    asked = null;
    view.params = params;
    return showBeside(beside);
  }
  // The server checks each request of the view, so the view need not wait for /api/me.
  const mine = (asked = Symbol(name));
  try {
    await MODULES[name]();
  } catch (error) {
    console.warn(error);
    if (asked === mine) fill(main, empty(t("Part of the page could not be loaded"), h("p", null, t("Reload the page to try again."))));
    return undefined;
  }
  if (asked !== mine) return undefined;
  fill(main, viewOf(name, params));
  return showBeside(beside);
}

function viewOf(name, params, kind = "") {
  return Object.assign(document.createElement(name), {me, params, className: kind});
}

function showBeside(params) {
  const view = main.querySelector(".beside");
  if (!params.session) view?.remove();
  else if (view) view.params = params;
  else main.append(viewOf("mp-conversation", params, "beside"));
}

function found(path) {
  for (const [pattern, place, name, params] of ROUTES) {
    const parts = pattern.exec(path);
    if (!parts) continue;
    try {
      return [place, name, params(...parts.slice(1).map(decodeURIComponent))];
    } catch {
      break; // an incomplete escape
    }
  }
  return ["", "", {}];
}

/** Show the title of the open conversation as the title of the window. */
export function entitle(title) {
  document.title = `${visible(title)} · Millpond`;
}

/** The readable name of a session: the parts of its key after the channel, decoded. */
export function nameOf(session) {
  try {
    return session.split(":").slice(1).map(decodeURIComponent).join(" · ") || session;
  } catch {
    return session;
  }
}

// The operator

async function meet() {
  try {
    me = await get(`/api/me${query({language: tag === "zh-CN" ? "zh" : "en"})}`);
  } catch (error) {
    if (error.status !== 401) setTimeout(meet, 3000);
    return;
  }
  sessions.me = me;
  if (me.approves) import("/page/approvals.js").then(({watch}) => watch(), console.warn);
  for (const view of main.children) if ("me" in view) view.me = me;
  fill(document.getElementById("foot"),
    h("span.foot-bot", {title: me.address}, `${me.bot} · ${me.channel}`),
    h("button.quiet", {type: "button", onclick: logOut}, t("Log out")));
}

async function logOut() {
  try {
    await post("/api/logout");
  } catch (error) {
    toast(error.message, "bad");
    return;
  }
  location.assign("/");
}

function logIn() {
  const code = location.hash.slice(1);
  if (code) {
    history.replaceState(null, "", "/login");
    enter(code);
    return fill(main, h("div.empty", {role: "status"}, h("h2", null, t("Logging in…"))));
  }
  document.body.classList.add("locked");
  return fill(main, stranger());
}

async function enter(code) {
  try {
    await post("/api/login", {code});
  } catch (error) {
    fill(main, stranger(error.message));
    return;
  }
  // All requests were refused until now, so start again.
  location.replace("/");
}

/** The page of a visitor who is not logged in: how to log in. */
function stranger(problem = "") {
  const field = h("input", {id: "code", name: "code", autocomplete: "off", spellcheck: "false", required: true});
  const submit = (event) => {
    event.preventDefault();
    enter(field.value.trim().replace(/^.*#/, ""));
  };
  return h("div.empty.stranger", null,
    h("img", {src: "/page/icon.svg", alt: "", width: 56, height: 56}),
    h("h1", null, t("Welcome to Millpond")),
    h("p", null, t("This page is for the bot's operators. To log in, open a login link. Run this command to print a login link:")),
    h("pre", {tabindex: 0}, "millpond page"),
    h("form", {onsubmit: submit},
      h("label", {for: "code"}, t("You can also paste the login link or its code here:")),
      h("div.row", null, field, h("button.button.primary", {type: "submit"}, t("Log in")))),
    problem && h("p.problem", {role: "alert"}, problem),
    switcher(h));
}

addEventListener("mp-unauthorized", () => {
  document.body.classList.add("locked");
  if (location.pathname !== "/login" && !main.querySelector(".stranger")) fill(main, stranger());
});

// The theme

const THEMES = ["system", "light", "dark"];
const LABELS = {system: t("Color theme: system"), light: t("Color theme: light"), dark: t("Color theme: dark")};
const theme = document.getElementById("theme");

function chosenTheme() {
  return document.documentElement.dataset.theme ?? "system";
}

function showTheme() {
  theme.setAttribute("aria-label", LABELS[chosenTheme()]);
  theme.title = LABELS[chosenTheme()];
  theme.dataset.theme = chosenTheme();
}

theme.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(chosenTheme()) + 1) % THEMES.length];
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("theme", next);
  } catch { /* no storage: the theme lasts until the page is left */ }
  showTheme();
});

// Links, keys, the small screen

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.target || link.hasAttribute("download") || link.origin !== location.origin || link.hash) return;
  if (!found(link.pathname)[0]) return;
  event.preventDefault();
  go(link.pathname + link.search, {from: link});
});

addEventListener("popstate", show);
addEventListener("mp-restarted", meet);
addEventListener("hashchange", () => { if (location.pathname === "/login") logIn(); });

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    openSide();
    sessions.search();
  } else if (event.key === "Escape" && document.body.classList.contains("side-open")) {
    closeSide();
    opener.focus();
  }
});

const opener = document.getElementById("open-sessions");

function openSide() {
  document.body.classList.add("side-open");
  opener.setAttribute("aria-expanded", "true");
}

function closeSide() {
  document.body.classList.remove("side-open");
  opener.setAttribute("aria-expanded", "false");
}

opener.addEventListener("click", () => {
  if (document.body.classList.contains("side-open")) closeSide();
  else openSide();
});

document.getElementById("choices").prepend(switcher(h));
translate(document.body);
showTheme();
// Nothing is asked for during a login, because all requests would be refused.
if (location.pathname !== "/login") {
  fill(document.getElementById("sessions"), sessions);
  meet();
}
show();
