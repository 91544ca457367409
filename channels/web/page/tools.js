// What a bot can use: its built-in tools, its tool servers as the workers see them, and its skills.

import {get, post, query} from "/page/api.js";
import {empty, fill, h, when} from "/page/dom.js";
import {parts, t} from "/page/words.js";
import {press, refresh, table, tabs} from "/page/views.js";

const EVERY_MS = 5000;
const STATES = {available: ["good", t("available")], failing: ["bad", t("unavailable")], unknown: ["", t("not contacted yet")]};

const PURPOSES = {
  time: t("Tells the date and time."), message: t("Sends messages and files before the answer."), read_file: t("Reads text files and pictures."),
  write_file: t("Creates and replaces text files."), edit_file: t("Replaces a passage in a text file."), list_files: t("Lists files."), grep: t("Searches files."),
  compact: t("Summarizes older messages to make room in the context."), memory_search: t("Searches the memory."), memory_get: t("Reads the text around a search result."),
  conversation_search: t("Searches earlier messages word by word."), remind: t("Sets and changes reminders."), web_search: t("Searches the web."),
  web_fetch: t("Reads public web pages."), exec: t("Runs shell commands in a sandbox."),
};

/** Fill `holder` of `view` with the tools of the bot `?bot=`. */
export function showTools(view, holder) {
  const bot = view.asked.get("bot") ?? "";
  const read = (signal) => get(`/api/tools${query({bot})}`, signal);
  view.into(holder, read, (found) => {
    const servers = h("div.stack", null, serversOf(found.servers));
    const again = async () => {
      const news = await read(view.signal).catch(() => null);
      if (news && !servers.contains(document.activeElement)) fill(servers, serversOf(news.servers));
    };
    if (found.servers.length) refresh(servers, EVERY_MS, again);
    return [
      found.bots.length > 1 && tabs(t("Bots"), found.bots.map((each) => [`/system/tools${query({bot: each})}`, each, each === found.bot])),
      h("section.card", null, h("h2", null, t("Built-in tools")), toolsOf(found.builtin)),
      h("section.card.stack", null, h("h2", null, t("Tool servers")), servers, checkOf(view, found)),
      h("section.card", null, h("h2", null, t("Skills")), skillsOf(found.skills)),
    ];
  });
}

const toolsOf = (builtin) => table(t("Built-in tools"), [t("Tool"), t("Purpose"), t("Allowed"), t("Approval")], builtin.map((each) => [
  h("code", null, each.name), PURPOSES[each.name] ?? each.description,
  h("span.badge", {class: each.enabled && "good"}, each.enabled ? (each.admins_only ? t("for administrators") : t("yes")) : t("no")),
  each.enabled && each.approval ? t("required") : "",
]));

function serversOf(servers) {
  if (!servers.length) {
    return empty(t("No tool servers"), h("p", null, parts("To give the bot more tools, add a Model Context Protocol (MCP) server to the {section} section of the configuration file.",
      {section: h("code", null, "[bots.<name>.mcp.<server>]")})));
  }
  return servers.map(({name, state, since, reason, tools}) => h("details.server", {open: state === "failing"},
    h("summary", null, h("code", null, name), " ", h("span.badge", {class: STATES[state][0]}, STATES[state][1]), " ",
      h("span.soft.small", null, state === "unknown" ? t("A worker contacts the server when the bot next answers a message.") : parts("since {time}", {time: when(since)}))),
    reason && h("p.problem", {lang: "en"}, reason),
    Object.keys(tools).length > 0 && table(t("Tools of {server}", {server: name}), [t("Tool"), t("Purpose")],
      Object.entries(tools).map(([tool, text]) => [h("code", null, tool), text]))));
}

/** The button that contacts the servers now, and what was found. */
function checkOf(view, {bot}) {
  const found = h("div", {role: "status"});
  return [h("div.row.wrap", null, press(t("Check now"), async () => {
    fill(found, h("p.soft", null, t("Checking…")));
    try {
      const {findings} = await post("/api/tools/check", {bot}, view.signal);
      fill(found, h("ul.small", {lang: "en"}, findings.map((each) => h("li", {class: each.state === "ok" ? "good" : "problem"}, h("b", null, each.check), ": ", each.text))));
    } catch (error) {
      fill(found);
      throw error;
    }
  }), h("span.soft.small", null, t("Contacts the bot's tool servers and its web search, and tests the sandbox for commands."))), found];
}

const skillsOf = (skills) => (skills.length
  ? table(t("Skills"), [t("Skill"), t("Purpose"), t("Use"), t("Missing")], skills.map((each) => [
    h("code", null, each.name), each.description, each.always ? t("in every prompt") : t("read when needed"),
    each.missing.length > 0 && h("span.badge.warn", null, each.missing.join(", "))]))
  : empty(t("No skills"), h("p", null, parts("To add a skill, create the {file} file in the bot's workspace.", {file: h("code", null, "skills/<name>/SKILL.md")}))));
