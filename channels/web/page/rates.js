// History: what Millpond did in the last hour or day, as small charts, and as a table of the same numbers.

import {get, query} from "/page/api.js";
import {count, empty, fill, h, percent, short, took, when} from "/page/dom.js";
import {t} from "/page/words.js";
import {table, tabs} from "/page/views.js";

const PERIODS = {hour: t("Last hour"), day: t("Last day")};
const REFRESH_MS = 15_000;
/** Height of the drawing in its own units; each step is one unit wide. */
const HIGH = 100;

const seconds = (value) => took(1000 * value);
const money = (value) => value.toFixed(4).replace(/00$/, "");

/** The charts: a title, the form of a number, and series `{name, of, kind}`. Bars are stacked, lines are not. */
const CHARTS = [
  {title: t("Messages"), form: count, bars: [{name: t("accepted"), of: (step) => step.messages, kind: "main"}]},
  {title: t("Turns"), form: count, bars: [
    {name: t("answered"), of: (step) => step.answered, kind: "main"},
    {name: t("failed attempts"), of: (step) => step.failed, kind: "failed"}]},
  {title: t("Turn duration"), form: seconds, lines: [
    {name: t("median"), of: (step) => step.turn_s?.[0], kind: "main"},
    {name: t("95th percentile"), of: (step) => step.turn_s?.[1], kind: "other"}]},
  {title: t("Message waiting time"), form: seconds, lines: [
    {name: t("median"), of: (step) => step.waited_s?.[0], kind: "main"},
    {name: t("95th percentile"), of: (step) => step.waited_s?.[1], kind: "other"}]},
  {title: t("Tokens"), form: short, bars: [
    {name: t("cached input"), of: (step) => step.cached_in, kind: "third"},
    {name: t("uncached input"), of: (step) => step.tokens_in - step.cached_in, kind: "main"},
    {name: t("output"), of: (step) => step.tokens_out, kind: "other"}]},
  {title: t("Cached share of input tokens"), form: percent, most: 1, lines: [{name: t("cached share"), of: (step) => step.cached_share, kind: "third"}]},
];

/** A chart for each currency, because amounts of different currencies cannot be added. */
const costs = (total) => Object.keys(total.costs).map((currency) => ({
  title: currency ? t("Cost in {currency}", {currency}) : t("Cost"), form: money,
  bars: [{name: t("cost"), of: (step) => step.costs[currency] ?? 0, kind: "main"}],
}));

/** Fill `holder` of `view` with the charts of `?period=`, again every few seconds until `signal` is aborted. */
export function showRates(view, holder, signal) {
  const period = view.asked.get("period") === "day" ? "day" : "hour";
  const shown = h("div.stack", null);
  fill(holder, tabs(t("Period"), Object.entries(PERIODS).map(([name, label]) => [`/system/history${query({period: name})}`, label, name === period])), shown);
  const read = () => view.into(shown, (ended) => get(`/api/system/history${query({period})}`, ended), charts);
  const timer = setInterval(() => {
    // Numbers that somebody is reading do not move.
    if (!document.hidden && ![":hover", ":focus", "[open]"].some((busy) => shown.querySelector(busy))) read();
  }, REFRESH_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
  read();
}

function charts({steps, total, step_s: step}) {
  if (!total.messages && !total.answered && !total.failed && !total.tokens_in) {
    return empty(t("No activity in this period"), h("p", null, t("Charts of messages, turns, tokens and costs appear here.")));
  }
  const all = [...CHARTS, ...costs(total)];
  return [
    h("div.charts", null, all.map((chart) => card(chart, steps, total))),
    h("p.soft.small", null, step === 60 ? t("Each data point covers one minute. The newest data point is not complete yet.") : t("Each data point covers {n} minutes. The newest data point is not complete yet.", {n: step / 60})),
    h("details", null, h("summary", null, t("Show the data as a table")), numbers(all, steps)),
  ];
}

function card(chart, steps, total) {
  const {title, form, bars, lines} = chart;
  const series = bars ?? lines;
  const most = chart.most ?? Math.max(...steps.map((step) => (bars ? sum(bars, step) : Math.max(...lines.map((each) => each.of(step) ?? 0)))));
  const legend = (step) => series.map((each) => h("li", null, h(`span.swatch.${each.kind}`, null), `${each.name}: `, h("strong", null, shown(each, step, form))));
  const at = h("span", null, t("Total"));
  const list = h("ul.series.small", null, legend(total));
  const drawing = h("svg", {viewBox: `0 0 ${steps.length} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}: ${series.map((each) => `${each.name} ${shown(each, total, form)}`).join(", ")}`},
    bars ? steps.map((step, x) => stack(bars, step, x, most)) : lines.map((each) => line(each, steps, most)));
  const point = ({clientX}) => {
    const {left, width} = drawing.getBoundingClientRect();
    const step = steps[Math.min(steps.length - 1, Math.max(0, Math.floor((steps.length * (clientX - left)) / width)))];
    fill(at, when(step.at));
    fill(list, legend(step));
  };
  const leave = () => {
    fill(at, t("Total"));
    fill(list, legend(total));
  };
  return h("section.card.chart", null,
    h("header", null, h("h2", null, title), h("span.soft.small", null, at)), list,
    h("p.soft.tiny", null, t("up to {most}", {most: form(most)})),
    h("div.drawing", {onpointermove: point, onpointerdown: point, onpointerleave: leave}, drawing),
    h("p.axis.soft.tiny", null, when(steps[0].at), h("span", null, t("now"))));
}

const sum = (bars, step) => bars.reduce((all, each) => all + each.of(step), 0);

function shown({of}, step, form) {
  const value = of(step);
  return value === null || value === undefined ? "–" : form(value);
}

/** The bars of a step, one above the other. */
function stack(bars, step, x, most) {
  let y = HIGH;
  return bars.filter((each) => each.of(step) > 0).map((each) => {
    const height = (HIGH * each.of(step)) / most;
    y -= height;
    return h(`rect.${each.kind}`, {x: x + 0.1, y, width: 0.8, height});
  });
}

/** A line through the steps that have a value; a step without neighbours is a dash. */
function line({of, kind}, steps, most) {
  let path = "";
  let drawn = false;
  steps.forEach((step, x) => {
    const value = of(step);
    const has = value !== null && value !== undefined;
    if (has) path += `${drawn ? "L" : "M"}${x + 0.2} ${HIGH - (HIGH * value) / (most || 1)}h0.6`;
    drawn = has;
  });
  return h(`path.${kind}`, {d: path});
}

function numbers(all, steps) {
  const series = all.flatMap(({title, form, bars, lines}) => (bars ?? lines).map((each) => ({...each, form, head: `${title}: ${each.name}`})));
  const some = steps.filter((step) => series.some((each) => each.of(step))).reverse();
  return table(t("History"), [t("Time"), ...series.map((each) => ({text: each.head, number: true}))],
    some.map((step) => [when(step.at), ...series.map((each) => shown(each, step, each.form))]));
}
