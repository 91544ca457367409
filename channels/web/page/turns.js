// One turn as a waterfall: waiting, claim, model calls, tool calls, commit and delivery, with the duration of each.

import {get, ofSession, query, segment} from "/page/api.js";
import {count, empty, fill, h, percent, took, when} from "/page/dom.js";
import {t, term} from "/page/words.js";
import {View, plain, table} from "/page/views.js";

const RECENT = 20;
const OUTCOMES = {done: "good", stopped: "warn", spent: "warn", dead: "bad"};

/** The rows of a trace: `{kind, name, began, ended}`, ms since 1970, in order of time. Clocks of two machines may differ. */
export function rowsOf(trace) {
  const at = (iso) => (iso ? Date.parse(iso) : NaN);
  const [received, claimed, committed] = [trace.received, trace.claimed, trace.committed].map(at);
  const spans = trace.spans.map((span) => ({...span, began: at(span.began), ended: at(span.began) + span.took_ms}));
  const work = spans.filter((span) => span.kind !== "delivery");
  const first = Math.min(...work.map((span) => span.began), committed);
  const last = Math.max(...work.map((span) => span.ended), claimed);
  return [
    {kind: "waiting", began: received, ended: claimed},
    {kind: "claim", began: claimed, ended: first},
    ...work,
    {kind: "commit", began: last, ended: committed},
    ...spans.filter((span) => span.kind === "delivery"),
  ].filter((row) => row.began > 0).map((row) => ({...row, ended: Math.max(row.began, row.ended)}));
}

export class Turn extends View {
  changed() {
    const {session, turn} = this.params;
    this.classList.add("view");
    const body = h("section.stack", {"aria-label": t("Turn {turn}", {turn})});
    const list = h("section", {"aria-label": t("Recent turns")});
    fill(this, h("div.page", null, body, list));
    this.into(body, async (signal) => {
      try {
        return await get(ofSession(session, `/turns/${segment(turn)}`), signal);
      } catch (error) {
        if (error.status === 404) return null;
        throw error;
      }
    }, (trace) => (trace ? [waterfall(trace), logsOf(trace)] : empty(t("No trace is stored for this turn"),
      h("p", null, t("For each conversation, Millpond keeps the traces of the last 100 turns for one week.")),
      h("p", null, h("a", {href: `/s/${segment(session)}`}, t("Back to the conversation"))))));
    this.into(list, (signal) => get(ofSession(session, `/turns?limit=${RECENT}`), signal),
      ({turns}) => turns.length > 0 && recent(session, turns, Number(turn)));
  }
}

/** A trace as `/api/trace/…` gives it: the header, the totals and the steps. */
export function waterfall(trace) {
  const rows = rowsOf(trace);
  const begin = Math.min(...rows.map((row) => row.began));
  const whole = Math.max(1, ...rows.map((row) => row.ended - begin));
  const back = `/s/${segment(trace.session)}/m/${trace.turn}`;
  return [
    h("header.page-head", null,
      h("div", null, h("p.small", null, h("a", {href: back}, t("Back to the conversation"))), h("h2", null, t("Turn {turn}", {turn: trace.turn})),
        h("p.soft.small", null, when(trace.received ?? trace.claimed), " · ", plain(trace.worker ?? ""))),
      h("p.row.wrap", null, h("span.badge", {class: OUTCOMES[trace.outcome]}, term(trace.outcome)), h("span.badge.accent", null, took(whole)))),
    totals(trace.totals),
    h("div.card.scroll-x", {tabindex: 0, role: "region", "aria-label": t("Waterfall")},
      h("table.waterfall", null,
        h("thead", null, h("tr", null, [t("Step"), t("Timeline"), t("Duration"), t("Details")].map((head, at) => h("th", {scope: "col", class: at === 2 && "number"}, head)))),
        h("tbody", null, rows.map((row) => h("tr", null,
          h("th", {scope: "row"}, h("span.kind", null, term(row.kind)), row.name && h("code", null, row.name)),
          h("td.lane", null, bar(row, begin, whole)),
          h("td.number", null, took(row.ended - row.began)),
          h("td.soft.small", null, moreOf(row))))))),
    (trace.missing_servers ?? []).map((each) => h("p.problem", null, t("Tool server {server} is unavailable: {reason}", each))),
    trace.left_out > 0 && h("p.soft.small", null, t("{n} more steps of this turn are not included in the trace.", {n: trace.left_out})),
    h("p.soft.small", null, t("To show this turn in a terminal, run this command:"), " ", h("code", null, `millpond trace '${trace.session}#${trace.turn}'`)),
  ];
}

const logsOf = ({correlation}) => correlation?.length > 0 &&
  h("p.small", null, h("a", {href: `/system/logs${query({id: correlation[0]})}`}, t("Log lines for this turn")));

/** The tokens and the cost of all model calls of the turn. */
function totals({model_calls: calls, prompt_tokens: prompt, completion_tokens: completion, cached_share: share, cost}) {
  return calls > 0 && h("p.soft.small", {"aria-label": t("Tokens and cost for this turn")}, [
    t("prompt tokens: {n}", {n: count(prompt)}),
    share !== null && t("cached share of the prompt: {share}", {share: percent(share)}),
    t("completion tokens: {n}", {n: count(completion)}),
    cost && t("cost: {cost}", {cost}),
  ].filter(Boolean).join(" · "));
}

function bar(row, begin, whole) {
  const place = (ms) => `${(100 * ms) / whole}%`;
  const node = h(`span.span.${row.kind}`, {title: `${row.name ?? term(row.kind)}: ${took(row.ended - row.began)}`, class: (row.outcome ?? "done") === "done" ? "" : "failed"});
  node.style.left = place(row.began - begin);
  node.style.width = place(row.ended - row.began);
  if (row.first_token_ms) {
    const first = h("span.first", {title: t("first token after {time}", {time: took(row.first_token_ms)})});
    first.style.width = `${Math.min(100, (100 * row.first_token_ms) / Math.max(1, row.ended - row.began))}%`;
    node.append(first);
  }
  return node;
}

function moreOf(row) {
  return [
    row.part !== undefined && row.part !== null && t("part {n} of the reply", {n: row.part}),
    row.first_token_ms && t("first token after {time}", {time: took(row.first_token_ms)}),
    row.prompt_tokens && t("prompt tokens: {n}", {n: count(row.prompt_tokens)}),
    row.prompt_tokens && row.cached_tokens !== undefined && t("cached tokens: {n}", {n: count(row.cached_tokens)}),
    row.cached_cost && t("cost of cached tokens: {cost}", {cost: row.cached_cost}),
    row.completion_tokens && t("completion tokens: {n}", {n: count(row.completion_tokens)}),
    row.cost && t("cost: {cost}", row),
    row.outcome !== "done" && term(row.outcome),
  ].filter(Boolean).join(" · ");
}

function recent(session, turns, current) {
  return h("div.card", null, h("h2", null, t("Recent turns")),
    table(t("Recent turns"), [t("Turn"), t("Time"), ...[t("Duration"), t("Model calls"), t("Tool calls"), t("Cached")].map((text) => ({text, number: true})), t("Outcome")],
      turns.map((each) => [
        h("a", {href: `/s/${segment(session)}/turns/${each.turn}`, "aria-current": each.turn === current && "page"}, String(each.turn)),
        when(each.received ?? each.claimed), took(Date.parse(each.committed) - Date.parse(each.received ?? each.claimed)),
        count(each.spans.filter((span) => span.kind === "model").length), count(each.spans.filter((span) => span.kind === "tool").length),
        each.totals.cached_share === null ? "" : percent(each.totals.cached_share),
        h("span.badge", {class: OUTCOMES[each.outcome]}, term(each.outcome)),
      ])));
}

customElements.define("mp-turn", Turn);
