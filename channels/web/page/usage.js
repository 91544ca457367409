// Usage: what is left of the limits of today, and tokens and costs of the last days.

import {get, query} from "/page/api.js";
import {count, counted, empty, h, percent} from "/page/dom.js";
import {t} from "/page/words.js";
import {lasting, plain, table, tabs, toSession} from "/page/views.js";

const BY = [["day", t("Days")], ["bot", t("Bots")], ["model", t("Models")], ["person", t("People")], ["session", t("Conversations")]];
const DAYS = [1, 7, 30];

/** Fill `holder` of `view` with the usage by `?by=` of the last `?days=`. */
export function showUsage(view, holder) {
  const by = view.asked.get("by") ?? "day";
  const days = Number(view.asked.get("days") ?? 7);
  view.into(holder, (signal) => get(`/api/usage${query({by, days})}`, signal), ({usage, more, limits}) => [
    limits.length > 0 && h("section.card", null, h("h2", null, t("Today's limits")), limitsOf(limits)),
    h("section.card", null, h("h2", null, t("Usage")),
      tabs(t("Group usage by"), BY.map(([name, label]) => [`/system/usage${query({by: name, days})}`, label, name === by])),
      tabs(t("Period"), DAYS.map((n) => [`/system/usage${query({by, days: n})}`, n === 1 ? t("Today") : counted(n, "day"), n === days])),
      usage.length ? usageOf(by, usage) : empty(t("No usage in this period"), h("p", null, t("The token usage and cost of model calls appear here."))),
      more > 0 && h("p.soft.small", null, t("{n} more rows with fewer tokens are not shown. To list all rows, run millpond usage.", {n: count(more)}))),
  ]);
}

function usageOf(by, usage) {
  const numbers = [t("Messages"), t("Model calls"), t("Input tokens"), t("Cached"), t("Output tokens")].map((text) => ({text, number: true}));
  return table(t("Usage"), [BY.find(([name]) => name === by)[1], ...numbers, t("Cost"), t("Cost of cached input")], usage.map((each) => [
    by === "session" ? toSession(each.name, plain(each.name)) : plain(each.name), count(each.messages), count(each.calls),
    count(each.tokens_in), each.cached_share === null ? "" : percent(each.cached_share), count(each.tokens_out), each.cost, each.cached_cost,
  ]));
}

function limitsOf(limits) {
  const heads = [t("Bot"), t("Limit"), t("Person or conversation"), {text: t("Used"), number: true}, {text: t("Left"), number: true}, t("Lasts for")];
  return table(t("Today's limits"), heads, limits.map((each) => [
    each.bot, h("code", null, each.limit), each.limit.endsWith(".bot") ? "" : plain(each.name),
    h("span.badge", {class: each.used >= 0.8 * each.of && "warn"}, percent(each.used / each.of)),
    t("{left} of {limit}", {left: number(each, each.left), limit: amount(each, each.of)}), lasts(each),
  ]));
}

const number = ({currency}, n) => (currency === null ? count(n) : n.toFixed(4).replace(/00$/, ""));
const amount = (limit, n) => `${number(limit, n)} ${limit.currency ?? t("tokens")}`.trim();

function lasts({left, lasts_s: seconds, lasts_all_day: allDay}) {
  if (!left) return t("limit reached");
  if (seconds === null) return t("not used today");
  return allDay ? t("until the end of the day") : t("about {time}", {time: lasting(seconds)});
}
