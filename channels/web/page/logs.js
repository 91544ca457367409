// The trace and the log lines of a message, found by its ID or its correlation ID.

import {get, query, segment} from "/page/api.js";
import {fill, h, when} from "/page/dom.js";
import {go} from "/page/app.js";
import {t} from "/page/words.js";
import {table} from "/page/views.js";
import {waterfall} from "/page/turns.js";

const LIMIT = 500;
/** Keys of a line that have a column of their own. */
const COLUMNS = new Set(["timestamp", "level", "event"]);
const LEVELS = {warning: "warn", error: "bad", critical: "bad"};

/** Fill `holder` of `view` with a field for an ID, and with the trace and the log lines of `?id=`. */
export function showLogs(view, holder) {
  const id = view.asked.get("id") ?? "";
  const field = h("input", {id: "trace-id", name: "id", value: id, required: true, autocomplete: "off", spellcheck: "false"});
  const submit = (event) => {
    event.preventDefault();
    go(`/system/logs${query({id: field.value.trim()})}`);
  };
  const [trace, lines] = [h("section.stack", {"aria-label": t("Trace")}), h("section.card", {"aria-label": t("Log lines")})];
  fill(holder,
    h("form.stack", {onsubmit: submit}, h("label", {for: "trace-id"}, t("Enter a message ID, a correlation ID or a turn name (SESSION#TURN):")),
      h("div.row", null, field, h("button.button.primary", {type: "submit"}, t("Search")))),
    id ? [trace, lines] : h("p.soft", null, t("Every message has a correlation ID. The ID appears in all log lines about the message and in error messages in the chat.")));
  if (!id) return;
  let found = null;
  const look = () => (found ??= traceOf(id, view.signal).catch((error) => {
    found = null;
    throw error;
  }));
  view.into(trace, look, (turn) => (turn ? waterfall(turn)
    : h("p.soft", null, t("No trace was found. Millpond records a trace at the end of each turn and keeps the trace for one week."))));
  view.into(lines, async (signal) => {
    // All log lines of the turn have its correlation ID, even if the search was for another name of the turn.
    const name = (await look())?.correlation?.[0] ?? id;
    return {...await get(`/api/logs/${segment(name)}${query({limit: LIMIT})}`, signal), name};
  }, ({name, files, lines: some}) => [
    h("h2", null, t("Log lines")),
    some.length > 0 && table(t("Log lines"), [t("Time"), t("Level"), t("Event"), t("Details")], some.map((line) => [
      when(line.timestamp), h("span.badge", {class: LEVELS[line.level]}, line.level), h("code", null, line.event), h("span.small", null, details(line))])),
    files.length > 0 ? h("p.soft.small", null, t("Searched files:"), " ", files.map((file, at) => [at > 0 && ", ", h("code", null, file)]))
      : h("p.soft.small", null, t("No log file was found on this server.")),
    h("p.soft.small", null, t("Processes that were started without a terminal write their logs to standard error. This output is usually collected in the systemd journal or the container log. To find the log lines of such a process, run one of these commands:")),
    h("pre", {tabindex: 0}, ["journalctl -o cat", "docker compose logs"].map((command) => `${command} | grep ${quoted(name)}\n`)),
  ]);
}

async function traceOf(id, signal) {
  try {
    return await get(`/api/trace/${segment(id)}`, signal);
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

const details = (line) => Object.entries(line).filter(([key]) => !COLUMNS.has(key)).map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`).join(" ");

/** A text as one word of a shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
