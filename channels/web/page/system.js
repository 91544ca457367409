// The system: usage, workers, active channels, queues, parked and paused chats, model errors, and dead letters with actions.

import {Stream, get, post, query} from "/page/api.js";
import {count, empty, fill, h, toast, when} from "/page/dom.js";
import {parts, t, term} from "/page/words.js";
import {showApprovals} from "/page/approvals.js";
import {showLogs} from "/page/logs.js";
import {QUEUES, showQueue, textOf, toLogs, toQueue} from "/page/queues.js";
import {showRates} from "/page/rates.js";
import {showTools} from "/page/tools.js";
import {showUsage} from "/page/usage.js";
import {View, lasting, plain, sure, table, tabs, toSession} from "/page/views.js";

const TABS = {
  overview: t("Overview"), approvals: t("Approvals"), history: t("History"), queues: t("Queues"), dead: t("Dead letters"), unknown: t("Unknown delivery status"),
  logs: t("Trace and log"), tools: t("Tools"), usage: t("Usage"), audit: t("Audit"),
};
const LIMIT = 200;
const AUDITED = 100;
/** Tasks of a channel's leader, by the name that the API gives them. */
const TASKS = {sends: t("sending"), asks: t("polling")};

export class System extends View {
  changed() {
    const tab = this.params.tab ?? "overview";
    this.classList.add("view");
    this.live?.abort();
    this.live = new AbortController();
    this.body = h("section.stack", {"aria-label": TABS[tab] ?? t("System")});
    fill(this, h("div.page", null, h("h1", null, t("System")),
      tabs(t("System"), Object.entries(TABS).map(([name, label]) => [name === "overview" ? "/system" : `/system/${name}`, label, name === tab])), this.body));
    if (tab === "dead") this.showDead();
    else if (tab === "approvals") showApprovals(this.body, this.live.signal);
    else if (tab === "history") showRates(this, this.body, this.live.signal);
    else if (tab === "queues") showQueue(this, this.body);
    else if (tab === "logs") showLogs(this, this.body);
    else if (tab === "tools") showTools(this, this.body);
    else if (tab === "usage") showUsage(this, this.body);
    else if (tab === "unknown") this.showUnknown();
    else if (tab === "audit") this.showAudit();
    else if (tab === "overview") this.watch();
    else fill(this.body, empty(t("Page not found"), h("p", null, h("a", {href: "/system"}, t("Back to the overview")))));
    this.showTabs();
  }

  // On a narrow screen, the tabs scroll sideways.
  showTabs() {
    for (const here of this.querySelectorAll(".tabs [aria-current]")) here.scrollIntoView({block: "nearest", inline: "center"});
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.live?.abort();
  }

  // The overview, kept up to date

  watch() {
    const state = h("p.soft.small", {role: "status"}, "");
    const shown = h("div.stack", null);
    fill(this.body, state, shown);
    const timer = setInterval(goOn, 1000, shown);
    this.live.signal.addEventListener("abort", () => clearInterval(timer));
    this.into(shown, (signal) => get("/api/system", signal), (system) => overview(system));
    new Stream({
      address: () => "/api/system/events",
      onevent: (name, data) => {
        if (name !== "system" || shown.contains(document.activeElement?.closest("table, .figures"))) return;
        shown.reading = null;
        fill(shown, overview(data));
      },
      onstate: (is) => fill(state, h(`span.dot.${is}`, null), is === "live" ? t("live") : t("connecting…")),
      signal: this.live.signal,
    });
  }

  // Dead letters

  showDead() {
    const chosen = new Set();
    const reason = this.asked.get("reason");
    const act = async (what, letters) => {
      const {done} = await post(`/api/dead/${what}`, letters, this.signal);
      toast(what === "replay" ? t("Replayed: {n}", {n: count(done)}) : t("Dropped: {n}", {n: count(done)}));
      this.changed();
    };
    this.into(this.body, (signal) => get(`/api/dead${query({limit: LIMIT})}`, signal), ({dead}) => {
      if (!dead.length) {
        return empty(t("No dead letters"), h("p", null, t("Messages that could not be answered and replies that could not be delivered are listed here as dead letters. Replay dead letters to process them again. Drop dead letters to delete them permanently.")));
      }
      // Beyond the listed ones the number is unknown; the server replays or drops those as well.
      const all = dead.length >= LIMIT;
      const groups = new Map();
      for (const each of dead) groups.set(kindOf(each.reason), (groups.get(kindOf(each.reason)) ?? 0) + 1);
      const some = dead.filter((each) => !reason || kindOf(each.reason) === reason);
      const buttons = ["replay", "drop"].map((what) => sure(what === "replay" ? t("Replay selected dead letters") : t("Drop selected dead letters"),
        what === "replay" ? t("Replay the selected dead letters?") : t("Delete the selected dead letters permanently?"), () => act(what, {ids: [...chosen]}),
        {kind: what === "drop" ? "danger" : "primary", disabled: true}));
      const choose = (id, is) => {
        if (is) chosen.add(id);
        else chosen.delete(id);
        for (const button of buttons) button.disabled = !chosen.size;
      };
      return [
        h("ul.lines.card", {"aria-label": t("Reasons")}, [...groups].map(([name, n]) => h("li", null, h("div", null,
          h("a.name.grow", {href: `/system/dead${query({reason: name === reason ? "" : name})}`, "aria-current": name === reason && "true"}, term(name)),
          h("span.badge", null, count(n)),
          sure(t("Replay all dead letters"), all ? t("Replay all dead letters?") : t("Replay all {n} dead letters?", {n}), () => act("replay", {reason: name})),
          sure(t("Drop all dead letters"), all ? t("Delete all dead letters permanently?") : t("Delete all {n} dead letters permanently?", {n}), () => act("drop", {reason: name}), {kind: "danger"}))))),
        h("div.row.wrap", null, buttons, reason && h("a", {href: "/system/dead"}, t("Show all dead letters"))),
        table(t("Dead letters"), ["", t("Time"), t("Conversation"), t("Kind"), t("Reason"), {text: t("Attempts"), number: true}, t("Log"), t("Text")], some.map((each) => [
          h("input", {type: "checkbox", "aria-label": t("Select dead letter {id}", {id: each.id}), onchange: (event) => choose(each.id, event.target.checked)}),
          when(each.time), each.session ? toSession(each.session, plain(each.session)) : t("unknown"), term(each.kind), term(each.reason), count(each.attempts), toLogs(each.correlation), textOf(this, "dead", each.id, each.chars),
        ])),
      ];
    });
  }

  // Replies with unknown delivery, audit

  showUnknown() {
    this.into(this.body, (signal) => get("/api/unknown", signal), ({unknown}) => (unknown.length
      ? table(t("Replies with unknown delivery status"), [t("Time"), t("Conversation"), t("Reply"), t("Part"), t("Action")], unknown.map((each) =>
        [when(each.time), each.session ? toSession(each.session, plain(each.session)) : "", h("code", null, each.reply), each.part, term(each.action)]))
      : empty(t("No replies with unknown delivery status"), h("p", null, t("If the connection fails while Millpond is sending a reply, Millpond cannot tell whether the reply was delivered. Replies with an unknown delivery status are listed here.")))));
  }

  showAudit() {
    this.into(this.body, (signal) => get(`/api/audit${query({limit: AUDITED})}`, signal), ({audit}) => (audit.length
      ? table(t("Audit"), [t("Time"), t("Operator"), t("Action"), t("Target"), t("Outcome")], audit.map((each) =>
        [when(each.at), h("code", null, each.who), term(each.action), plain(each.target ?? ""), outcomeOf(each.outcome)]))
      : empty(t("No actions recorded yet"), h("p", null, t("Logins, replays, edits and all other operator actions are recorded here.")))));
  }
}

/** The outcome of an action in the language of the page. */
const outcomeOf = (text) => term(text).replace(/^version (\d+)$/, (_, version) => t("version {version}", {version}))
  .replace(/^(\d+) done, (\d+) refused$/, (_, done, refused) => t("{done} done, {refused} refused", {done, refused}));

const kindOf = (reason) => reason.split(":")[0];

function overview({workers, leaders, leases, queue, parked_chats: paused = [], parked = [], problems = [], model_errors: errors}) {
  return [
    h("div.figures", null, Object.entries(QUEUES).filter(([key]) => key in queue).map(([key, [label, says]]) => figure(label, says, queue[key], toQueue(key),
      key === "backlog" && queue.backlog > 0 && parts("oldest {time}", {time: age(queue.oldest_s, 1)}))),
      Object.entries(queue.out ?? {}).map(([channel, n]) => figure(t("Replies queued for {channel}", {channel}), QUEUES.replies[1], n, toQueue("replies")))),
    h("div.halves", null,
      card(t("Workers"), workers.length ? table(t("Workers"), [t("Name"), t("Role"), t("Host"), {text: t("Sessions"), number: true}, {text: t("Last seen"), number: true}],
        workers.map((each) => [h("code", null, each.name), term(each.role), each.host, count(each.holding ?? 0), age(each.seen_s, 1)]))
        : h("p.problem", null, t("No worker is running. To start a worker, run `millpond run`."))),
      card(t("Model errors in the last 15 minutes"), errorsOf(errors))),
    h("div.halves", null,
      card(t("Conversations in progress"), leases.length ? table(t("Conversations in progress"), [t("Conversation"), t("Worker"), {text: t("Fence"), number: true}, {text: t("Remaining lease time"), number: true}],
        leases.map((each) => [toSession(each.session, plain(each.session)), h("code", null, each.worker), count(each.fence), age(each.left_s, -1)]))
        : h("p.soft", null, t("No conversation is in progress."))),
      card(t("Active channels"), leaders.length ? table(t("Active channels"), [t("Channel"), t("Task"), {text: t("Partition"), number: true}, t("Worker"), {text: t("Remaining lease time"), number: true}],
        leaders.map((each) => [each.channel, TASKS[each.does] ?? each.does, each.partition ?? t("all"), h("code", null, each.worker), age(each.left_s, -1)]))
        : h("p.soft", null, t("No chat platform is connected. To connect a platform, run `millpond init`.")))),
    problems.length > 0 && card(t("Unavailable files and tools"), table(t("Unavailable files and tools"), [t("Bot"), t("File, tool or tool server"), t("Reason")],
      problems.map((each) => [each.bot, h("code", null, each.name), each.reason]))),
    (parked.length > 0 || paused.length > 0) && card(t("Parked conversations (waiting to retry) and paused conversations"), table(t("Parked conversations (waiting to retry) and paused conversations"), [t("Conversation"), t("Since"), t("Until"), t("Reason")], [
      ...parked.map((each) => [toSession(each.session, plain(each.session)), each.since && when(each.since), each.until && when(each.until), term(each.reason ?? "")]),
      ...paused.map((each) => [each.chat ? plain(each.chat) : t("all chats with the {bot} bot", {bot: each.bot}), "", h("code", null, "/resume"), t("paused by an administrator")]),
    ])),
  ];
}

/** Seconds that are counted automatically: up with step 1, down with step -1. */
const age = (seconds, step) => h("span", {dataset: {age: seconds, step, at: Date.now()}}, lasting(seconds));

function goOn(holder) {
  for (const each of holder.querySelectorAll("[data-age]")) {
    const {age: seconds, step, at} = each.dataset;
    each.textContent = lasting(Math.max(0, Number(seconds) + (Number(step) * (Date.now() - Number(at))) / 1000));
  }
}

const card = (title, ...children) => h("section.card", null, h("h2", null, title), children);

const figure = (label, says, n, href, more) => h("a.card.figure", {href}, h("span.name", null, label), h("strong", null, count(n)),
  more && h("span.soft.small", null, more), h("span.soft.says", null, says));

/** One bar per minute, the newest on the right. */
function errorsOf({minutes = [], last = ""} = {}) {
  const sum = minutes.reduce((all, n) => all + n, 0);
  const most = Math.max(1, ...minutes);
  return [
    h("div.bars", {role: "img", "aria-label": t("Model errors in the last 15 minutes: {n}", {n: sum})}, minutes.map((n, at) => {
      const bar = h("span", {title: t("Model errors {minutes} min ago: {n}", {minutes: minutes.length - 1 - at, n}), class: n ? "some" : ""});
      bar.style.height = `${n ? Math.max(12, (100 * n) / most) : 4}%`;
      return bar;
    })),
    h("p.soft.small", null, sum ? totalOf(sum, last) : t("No model call failed in the last 15 minutes.")),
  ];
}

function totalOf(sum, last) {
  const n = count(sum);
  return last ? t("Total errors: {n}. Latest error: {last}", {n, last}) : t("Total errors: {n}", {n});
}

customElements.define("mp-system", System);
