// Usage: what is left of the limits of today, and tokens and costs of the last days.

import {get, query} from "/page/api.js";
import {count, empty, h, percent} from "/page/dom.js";
import {lasting, plain, table, tabs, toSession} from "/page/views.js";

const BY = [["day", "Days"], ["bot", "Bots"], ["model", "Models"], ["person", "People"], ["session", "Conversations"]];
const DAYS = [1, 7, 30];

/** Fill `holder` of `view` with the usage by `?by=` of the last `?days=`. */
export function showUsage(view, holder) {
  const by = view.asked.get("by") ?? "day";
  const days = Number(view.asked.get("days") ?? 7);
  view.into(holder, (signal) => get(`/api/usage${query({by, days})}`, signal), ({usage, more, limits}) => [
    limits.length > 0 && h("section.card", null, h("h2", null, "Today's limits"), limitsOf(limits)),
    h("section.card", null, h("h2", null, "Usage"),
      tabs("Group usage by", BY.map(([name, label]) => [`/system/usage${query({by: name, days})}`, label, name === by])),
      tabs("Period", DAYS.map((n) => [`/system/usage${query({by, days: n})}`, n === 1 ? "Today" : `${n} days`, n === days])),
      usage.length ? usageOf(by, usage) : empty("No usage in this period", h("p", null, "The tokens and the cost of model calls are listed here.")),
      more > 0 && h("p.soft.small", null, `The command millpond usage lists ${count(more)} more rows with fewer tokens.`)),
  ]);
}

function usageOf(by, usage) {
  const numbers = ["Messages", "Model calls", "Input tokens", "Cached", "Output tokens"].map((text) => ({text, number: true}));
  return table("Usage", [BY.find(([name]) => name === by)[1], ...numbers, "Cost", "Cost of cached input"], usage.map((each) => [
    by === "session" ? toSession(each.name, plain(each.name)) : plain(each.name), count(each.messages), count(each.calls),
    count(each.tokens_in), each.cached_share === null ? "" : percent(each.cached_share), count(each.tokens_out), each.cost, each.cached_cost,
  ]));
}

function limitsOf(limits) {
  const heads = ["Bot", "Limit", "Person or conversation", {text: "Used", number: true}, {text: "Left", number: true}, "Lasts for"];
  return table("Today's limits", heads, limits.map((each) => [
    each.bot, h("code", null, each.limit), each.limit.endsWith(".bot") ? "" : plain(each.name),
    h("span.badge", {class: each.used >= 0.8 * each.of && "warn"}, percent(each.used / each.of)),
    `${number(each, each.left)} of ${amount(each, each.of)}`, lasts(each),
  ]));
}

const number = ({currency}, n) => (currency === null ? count(n) : n.toFixed(4).replace(/00$/, ""));
const amount = (limit, n) => `${number(limit, n)} ${limit.currency ?? "tokens"}`.trim();

function lasts({left, lasts_s: seconds, lasts_all_day: allDay}) {
  if (!left) return "limit used up";
  if (seconds === null) return "not used today";
  return allDay ? "until the end of the day" : `about ${lasting(seconds)}`;
}
