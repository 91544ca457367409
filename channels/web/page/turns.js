// One turn as a waterfall: waiting, claim, model calls, tool calls, commit and delivery, with the duration of each.

import {get, ofSession, segment} from "/page/api.js";
import {count, empty, fill, h, percent, took, when} from "/page/dom.js";
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
    const body = h("section.stack", {"aria-label": `Turn ${turn}`});
    const list = h("section", {"aria-label": "Recent turns"});
    fill(this, h("div.page", null, body, list));
    this.into(body, async (signal) => {
      try {
        return await get(ofSession(session, `/turns/${segment(turn)}`), signal);
      } catch (error) {
        if (error.status === 404) return null;
        throw error;
      }
    }, (trace) => (trace ? waterfall(trace) : empty("No trace of this turn is stored",
      h("p", null, "Millpond keeps the traces of the last 100 turns of each conversation for one week."),
      h("p", null, h("a", {href: `/s/${segment(session)}`}, "Back to the conversation")))));
    this.into(list, (signal) => get(ofSession(session, `/turns?limit=${RECENT}`), signal),
      ({turns}) => turns.length > 0 && recent(session, turns, Number(turn)));
  }
}

function waterfall(trace) {
  const rows = rowsOf(trace);
  const begin = Math.min(...rows.map((row) => row.began));
  const whole = Math.max(1, ...rows.map((row) => row.ended - begin));
  const back = `/s/${segment(trace.session)}/m/${trace.turn}`;
  return [
    h("header.page-head", null,
      h("div", null, h("p.small", null, h("a", {href: back}, "Back to the conversation")), h("h2", null, `Turn ${trace.turn}`),
        h("p.soft.small", null, when(trace.received ?? trace.claimed), " · ", plain(trace.worker ?? ""))),
      h("p.row.wrap", null, h("span.badge", {class: OUTCOMES[trace.outcome]}, trace.outcome), h("span.badge.accent", null, took(whole)))),
    totals(trace.totals),
    h("div.card.scroll-x", {tabindex: 0, role: "region", "aria-label": "Waterfall"},
      h("table.waterfall", null,
        h("thead", null, h("tr", null, ["Step", "Timeline", "Duration", "Details"].map((head) => h("th", {scope: "col", class: head === "Duration" && "number"}, head)))),
        h("tbody", null, rows.map((row) => h("tr", null,
          h("th", {scope: "row"}, h("span.kind", null, row.kind), row.name && h("code", null, row.name)),
          h("td.lane", null, bar(row, begin, whole)),
          h("td.number", null, took(row.ended - row.began)),
          h("td.soft.small", null, moreOf(row))))))),
    (trace.missing_servers ?? []).map((each) => h("p.problem", null, `The tool server ${each.server} is unavailable: ${each.reason}`)),
    trace.left_out > 0 && h("p.soft.small", null, `${trace.left_out} more steps are not included in the trace.`),
    h("p.soft.small", null, "To show this turn in a terminal, run this command: ", h("code", null, `millpond trace '${trace.session}#${trace.turn}'`)),
  ];
}

/** The tokens and the cost of all model calls of the turn. */
function totals({model_calls: calls, prompt_tokens: prompt, completion_tokens: completion, cached_share: share, cost}) {
  return calls > 0 && h("p.soft.small", {"aria-label": "Tokens and cost of this turn"}, [
    `prompt tokens: ${count(prompt)}`,
    share !== null && `cached share of the prompt: ${percent(share)}`,
    `completion tokens: ${count(completion)}`,
    cost && `cost: ${cost}`,
  ].filter(Boolean).join(" · "));
}

function bar(row, begin, whole) {
  const place = (ms) => `${(100 * ms) / whole}%`;
  const node = h(`span.span.${row.kind}`, {title: `${row.name ?? row.kind}: ${took(row.ended - row.began)}`, class: (row.outcome ?? "done") === "done" ? "" : "failed"});
  node.style.left = place(row.began - begin);
  node.style.width = place(row.ended - row.began);
  if (row.first_token_ms) {
    const first = h("span.first", {title: `first token after ${took(row.first_token_ms)}`});
    first.style.width = `${Math.min(100, (100 * row.first_token_ms) / Math.max(1, row.ended - row.began))}%`;
    node.append(first);
  }
  return node;
}

function moreOf(row) {
  return [
    row.part !== undefined && row.part !== null && `part ${row.part} of the reply`,
    row.first_token_ms && `first token after ${took(row.first_token_ms)}`,
    row.prompt_tokens && `prompt tokens: ${count(row.prompt_tokens)}`,
    row.prompt_tokens && row.cached_tokens !== undefined && `cached tokens: ${count(row.cached_tokens)}`,
    row.cached_cost && `cost of cached tokens: ${row.cached_cost}`,
    row.completion_tokens && `completion tokens: ${count(row.completion_tokens)}`,
    row.cost && `cost: ${row.cost}`,
    row.outcome !== "done" && row.outcome,
  ].filter(Boolean).join(" · ");
}

function recent(session, turns, current) {
  return h("div.card", null, h("h2", null, "Recent turns"),
    table("Recent turns", ["Turn", "Time", {text: "Duration", number: true}, {text: "Model calls", number: true}, {text: "Tool calls", number: true}, {text: "Cached", number: true}, "Outcome"],
      turns.map((each) => [
        h("a", {href: `/s/${segment(session)}/turns/${each.turn}`, "aria-current": each.turn === current && "page"}, String(each.turn)),
        when(each.received ?? each.claimed), took(Date.parse(each.committed) - Date.parse(each.received ?? each.claimed)),
        count(each.spans.filter((span) => span.kind === "model").length), count(each.spans.filter((span) => span.kind === "tool").length),
        each.totals.cached_share === null ? "" : percent(each.totals.cached_share),
        h("span.badge", {class: OUTCOMES[each.outcome]}, each.outcome),
      ])));
}

customElements.define("mp-turn", Turn);
