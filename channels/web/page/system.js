// What works and what waits: workers, leaders, queues, resting chats, errors of models; dead letters and what to do.

import {Stream, get, post, query} from "/page/api.js";
import {count, empty, fill, h, toast, when} from "/page/dom.js";
import {View, lasting, plain, sure, table, tabs, toSession} from "/page/views.js";

const LIMIT = 200;
const AUDITED = 100;
const QUEUE = {
  backlog: ["Unanswered", "messages accepted and not answered yet"],
  ready: ["Ready", "conversations that a worker may take now"],
  in_flight: ["In work", "conversations that a worker holds"],
  due: ["Due", "conversations with something waiting, by deadline"],
  parked: ["Resting", "conversations put off, since a model is away"],
  unsettled: ["Unsettled", "conversations with older messages to consolidate"],
  dead: ["Dead letters", "what could not be answered or delivered"],
  unknown: ["Unknown", "parts of which nobody knows whether they arrived"],
};
const LINKS = {dead: "/system/dead", unknown: "/system/unknown"};

export class System extends View {
  changed() {
    const tab = this.params.tab ?? "overview";
    this.classList.add("view");
    this.live?.abort();
    this.body = h("section.stack", {"aria-label": tab});
    fill(this, h("div.page", null, h("h1", null, "System"),
      tabs("System", [["/system", "Overview", tab === "overview"], ["/system/dead", "Dead letters", tab === "dead"],
        ["/system/unknown", "Unknown sends", tab === "unknown"], ["/system/audit", "Audit", tab === "audit"]]), this.body));
    if (tab === "dead") this.showDead();
    else if (tab === "unknown") this.showUnknown();
    else if (tab === "audit") this.showAudit();
    else if (tab === "overview") this.watch();
    else fill(this.body, empty("There is nothing here", h("p", null, h("a", {href: "/system"}, "Back to the overview"))));
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
    this.live = new AbortController();
    const timer = setInterval(goOn, 1000, shown);
    this.live.signal.addEventListener("abort", () => clearInterval(timer));
    this.into(shown, (signal) => get("/api/system", signal), (system) => overview(system));
    new Stream({
      address: () => "/api/system/events",
      onevent: (name, data) => {
        if (name !== "system" || shown.contains(document.activeElement?.closest("table"))) return;
        shown.reading = null;
        fill(shown, overview(data));
      },
      onstate: (is) => fill(state, h(`span.dot.${is}`, null), is === "live" ? "live" : "connecting…"),
      signal: this.live.signal,
    });
  }

  // Dead letters

  showDead() {
    const chosen = new Set();
    const reason = this.asked.get("reason");
    const act = async (what, letters) => {
      const {done} = await post(`/api/dead/${what}`, letters, this.signal);
      toast(`${count(done)} ${what === "replay" ? "sent on its way again" : "dropped"}`);
      this.changed();
    };
    this.into(this.body, (signal) => get(`/api/dead${query({limit: LIMIT})}`, signal), ({dead}) => {
      if (!dead.length) {
        return empty("No dead letters", h("p", null, "A message that cannot be answered, or a reply that cannot be delivered, comes here with its reason, to be replayed or dropped."));
      }
      // Of what is not listed any more the number is not known; the server takes those as well.
      const all = (n) => (dead.length < LIMIT ? `All ${n}` : "All there are");
      const groups = new Map();
      for (const each of dead) groups.set(kindOf(each.reason), (groups.get(kindOf(each.reason)) ?? 0) + 1);
      const some = dead.filter((each) => !reason || kindOf(each.reason) === reason);
      const buttons = ["replay", "drop"].map((what) => sure(what === "replay" ? "Replay chosen" : "Drop chosen",
        what === "replay" ? "Send them again?" : "Delete for good?", () => act(what, {ids: [...chosen]}),
        {kind: what === "drop" ? "danger" : "primary", disabled: true}));
      const choose = (id, is) => {
        if (is) chosen.add(id);
        else chosen.delete(id);
        for (const button of buttons) button.disabled = !chosen.size;
      };
      return [
        h("ul.lines.card", {"aria-label": "Reasons"}, [...groups].map(([name, n]) => h("li", null, h("div", null,
          h("a.name.grow", {href: `/system/dead${query({reason: name === reason ? "" : name})}`, "aria-current": name === reason && "true"}, name),
          h("span.badge", null, count(n)),
          sure("Replay all", `${all(n)} again?`, () => act("replay", {reason: name})),
          sure("Drop all", `${all(n)}, for good?`, () => act("drop", {reason: name}), {kind: "danger"}))))),
        h("div.row.wrap", null, buttons, reason && h("a", {href: "/system/dead"}, "Show all reasons")),
        table("Dead letters", ["", "When", "Conversation", "What", "Reason", {text: "Attempts", number: true}, "Text"], some.map((each) => [
          h("input", {type: "checkbox", "aria-label": `Choose ${each.id}`, onchange: (event) => choose(each.id, event.target.checked)}),
          when(each.time), each.session ? toSession(each.session, plain(each.session)) : "unknown", each.kind, each.reason, count(each.attempts), each.excerpt,
        ])),
      ];
    });
  }

  // Unknown sends, audit

  showUnknown() {
    this.into(this.body, (signal) => get("/api/unknown", signal), ({unknown}) => (unknown.length
      ? table("Unknown sends", ["When", "Conversation", "Reply", "Part", "What was done"], unknown.map((each) =>
        [when(each.time), each.session ? toSession(each.session, plain(each.session)) : "", h("code", null, each.reply), each.part, each.action]))
      : empty("No unknown sends", h("p", null, "When a connection is cut while a reply is sent, nobody knows whether it arrived. Those are listed here."))));
  }

  showAudit() {
    this.into(this.body, (signal) => get(`/api/audit${query({limit: AUDITED})}`, signal), ({audit}) => (audit.length
      ? table("Audit", ["When", "Who", "Action", "Of what", "Outcome"], audit.map((each) =>
        [when(each.at), h("code", null, each.who), each.action, plain(each.target ?? ""), each.outcome]))
      : empty("Nothing was done yet", h("p", null, "Log-ins, replays, edits and whatever else is changed from this page are written down here."))));
  }
}

const kindOf = (reason) => reason.split(":")[0];

function overview({workers, leaders, leases, queue, paused = [], parked = [], problems = [], model_errors: errors}) {
  return [
    h("div.figures", null, Object.entries(QUEUE).map(([key, [label, says]]) => figure(label, says, queue[key] ?? 0, LINKS[key],
      key === "backlog" && queue.backlog > 0 && ["oldest ", age(queue.oldest_s, 1)])),
      Object.entries(queue.out ?? {}).map(([channel, n]) => figure(`To ${channel}`, "replies on their way", n))),
    h("div.halves", null,
      card("Workers", workers.length ? table("Workers", ["Name", "Role", "Host", {text: "Holds", number: true}, {text: "Seen", number: true}],
        workers.map((each) => [h("code", null, each.name), each.role, each.host, count(each.holding ?? 0), age(each.seen_s, 1)]))
        : h("p.problem", null, "No worker: ", h("code", null, "millpond run"), " starts one.")),
      card("Errors of models, last 15 minutes", errorsOf(errors))),
    h("div.halves", null,
      card("Conversations in work", leases.length ? table("Conversations in work", ["Conversation", "Worker", {text: "Fence", number: true}, {text: "Lease", number: true}],
        leases.map((each) => [toSession(each.session, plain(each.session)), h("code", null, each.worker), count(each.fence), age(each.left_s, -1)]))
        : h("p.soft", null, "Nobody is being answered just now.")),
      card("Who sends and asks", leaders.length ? table("Who sends and asks", ["Channel", "Does", {text: "Partition", number: true}, "Worker", {text: "Left", number: true}],
        leaders.map((each) => [each.channel, each.does, each.partition ?? "all", h("code", null, each.worker), age(each.left_s, -1)]))
        : h("p.soft", null, "No platform is connected: ", h("code", null, "millpond init"), " sets one up."))),
    problems.length > 0 && card("What bots go without", table("What bots go without", ["Bot", "File, tool or tool server", "Why"],
      problems.map((each) => [each.bot, h("code", null, each.name), each.reason]))),
    (parked.length > 0 || paused.length > 0) && card("Resting", table("Resting", ["Conversation", "Since", "Until"], [
      ...parked.map((each) => [toSession(each.session, plain(each.session)), each.since && when(each.since), each.until && when(each.until)]),
      ...paused.map((each) => [each.chat ? plain(each.chat) : `all of ${each.bot}`, "", h("code", null, "/resume")]),
    ])),
  ];
}

/** Seconds that go on by themselves: up with 1, down with -1. */
const age = (seconds, step) => h("span", {dataset: {age: seconds, step, at: Date.now()}}, lasting(seconds));

function goOn(holder) {
  for (const each of holder.querySelectorAll("[data-age]")) {
    const {age: seconds, step, at} = each.dataset;
    each.textContent = lasting(Math.max(0, Number(seconds) + (Number(step) * (Date.now() - Number(at))) / 1000));
  }
}

const card = (title, ...children) => h("section.card", null, h("h2", null, title), children);

function figure(label, says, n, href, more) {
  const content = [h("span.soft.small", null, label), h("strong", null, count(n)), more && h("span.soft.small", null, more)];
  return href ? h("a.card.figure", {href, title: says}, content) : h("div.card.figure", {title: says}, content);
}

/** A bar a minute, the newest on the right. */
function errorsOf({minutes = [], last = ""} = {}) {
  const sum = minutes.reduce((all, n) => all + n, 0);
  const most = Math.max(1, ...minutes);
  return [
    h("div.bars", {role: "img", "aria-label": `${sum} errors in the last 15 minutes`}, minutes.map((n, at) => {
      const bar = h("span", {title: `${n}, ${minutes.length - 1 - at} min ago`, class: n ? "some" : ""});
      bar.style.height = `${n ? Math.max(12, (100 * n) / most) : 4}%`;
      return bar;
    })),
    h("p.soft.small", null, sum ? `${count(sum)} in all${last ? `; the last: ${last}` : ""}` : "None: every call was answered."),
  ];
}

customElements.define("mp-system", System);
