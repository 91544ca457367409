// The reminders of the operator, or of everybody: add, change, pause and delete them.

import {get, ofSession, query, request, segment} from "/page/api.js";
import {count, empty, fill, h, toast, when} from "/page/dom.js";
import {language, parts, t} from "/page/words.js";
import {nameOf} from "/page/app.js";
import {ownSession, titleOf} from "/page/sessions.js";
import {View, once, press, sure, tabs, toSession} from "/page/views.js";

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const LIMIT = 200;
/** Conversations of the form, the last active one first. */
const CHATS = 100;
const DAY_MS = 86_400_000;
/** The hour of a new reminder: tomorrow at nine. */
const HOUR = 9;
/** On a small screen the list comes first: the form is opened when it is needed. */
const PHONE = "(max-width: 760px)";
const RULES = {
  "": t("once"),
  "FREQ=DAILY": t("every day"),
  "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR": t("every weekday"),
  "FREQ=WEEKLY": t("every week"),
  "FREQ=MONTHLY": t("every month"),
  "FREQ=YEARLY": t("every year"),
};
const KINDS = {text: t("Send the text as is"), prompt: t("Have the bot respond to the text")};
const HELD = {
  quiet: t("delayed until the quiet hours end"),
  person: t("delayed until tomorrow because the person's daily limit has been reached"),
  bot: t("delayed until tomorrow because the bot's daily limit has been reached"),
  silent: t("on hold until someone sends a message in the conversation"),
  access: t("on hold until the bot accepts messages from the conversation again"),
  stopped: t("stopped with /remind stop"),
};

const api = ({session, id}, rest = "") => ofSession(session, `/reminders/${segment(id)}${rest}`);

export class Reminders extends View {
  #me = null;

  set me(me) {
    this.#me = me;
    if (this.isConnected) this.changed();
  }

  get me() { return this.#me; }

  changed() {
    this.classList.add("view");
    if (!this.#me) return fill(this, h("div.page", null, h("h1", null, t("Reminders")), h("p.soft", {role: "status"}, t("Loading…"))));
    const all = this.asked.get("of") === "all";
    const chats = h("section", null);
    this.list = h("section", {"aria-label": t("Reminders")});
    fill(this, h("div.page", null,
      h("div.page-head", null, h("h1", null, t("Reminders")), h("p.soft", null, t("You can also ask the bot to remind you of something."))),
      chats,
      h("div.stack", null, tabs(t("Reminders"), [["/reminders", t("My reminders"), !all], ["/reminders?of=all", t("All reminders"), all]]), this.list)));
    this.into(chats, (signal) => get(`/api/sessions${query({channel: this.#me.channel, limit: CHATS})}`, signal), ({sessions}) => this.adding(sessions));
    return this.read();
  }

  read() {
    const all = this.asked.get("of") === "all";
    this.into(this.list, (signal) => get(`/api/reminders${query({mine: all ? "" : 1, limit: LIMIT})}`, signal), ({reminders, more}) => (reminders.length
      ? [h("ul.lines.card", null, reminders.map((each) => this.line(each))),
        more > 0 && h("p.soft.small", null, t("{n} more reminders are not shown. To see all of them, run millpond reminder list.", {n: count(more)}))]
      : empty(t("No reminders"), h("p", null, t("At the scheduled time, a reminder either sends a fixed message or has the bot respond to a prompt.")))));
  }

  // One reminder

  line(reminder) {
    const item = h("li", null);
    const show = () => fill(item, reminder.readable ? this.shown(reminder, () => fill(item, this.editing(reminder, show)))
      : h("div", null, h("code.grow", null, reminder.id), t("This reminder is corrupted and cannot be shown."), this.deleting(reminder)));
    show();
    return item;
  }

  shown(reminder, edit) {
    const {text, due, zone, rule = "", kind, paused, held, session, title} = reminder;
    const act = async (what) => {
      await request("POST", api(reminder, `/${what}`), {body: {}});
      this.read();
    };
    return h("div", null,
      h("div.grow", null,
        h("p.name", null, text),
        h("p.row.wrap.small.soft", null, h("span", null, when(due), zone !== ZONE && ` (${zone})`), rule && h("span.badge", null, RULES[rule] ?? rule),
          kind === "prompt" && h("span.badge", null, t("answered by the bot")), paused && h("span.badge.warn", null, t("paused")),
          held && h("span.badge", null, HELD[held] ?? held), h("span", null, toSession(session, title || nameOf(session))))),
      h("div.row", null, press(t("Edit"), edit), paused ? press(t("Resume"), () => act("resume")) : press(t("Pause"), () => act("pause")), this.deleting(reminder)));
  }

  deleting(reminder) {
    return sure(t("Delete"), t("Delete the reminder?"), async () => {
      await request("DELETE", api(reminder));
      this.read();
    }, {kind: "danger"});
  }

  // The form

  adding(sessions) {
    const known = sessions.filter((each) => each.head > 0);
    if (!known.length) return h("p.soft.card", null, parts("Each reminder belongs to a conversation. To add a reminder, first {start_a_conversation}.", {start_a_conversation: h("a", {href: "/"}, t("start a conversation"))}));
    const tomorrow = new Date(Date.now() + DAY_MS);
    tomorrow.setHours(HOUR, 0, 0, 0);
    const chat = h("select", null, known.map((each) => h("option", {value: each.session}, titleOf(each))));
    const own = ownSession(this.#me.channel);
    if (known.some((each) => each.session === own)) chat.value = own;
    let id = crypto.randomUUID();
    const save = async (fields) => {
      // Sent again after a failure, the same id sets no second reminder.
      const {said} = await request("POST", `${ofSession(chat.value, "/reminders")}${query({language})}`, {body: {...fields, id}});
      id = crypto.randomUUID();
      toast(said);
      this.changed();
    };
    return h("details.card", {open: !matchMedia(PHONE).matches}, h("summary", null, h("h2", null, t("New reminder"))),
      this.form({text: "", local: stamp(tomorrow), rule: "", kind: "text"}, t("Add reminder"), save, {more: labelled(t("Conversation"), chat)}));
  }

  editing(reminder, leave) {
    const was = {text: reminder.text, local: reminder.local.slice(0, 16), rule: reminder.rule ?? "", kind: reminder.kind ?? "text"};
    return this.form(was, t("Save"), async (fields) => {
      const changed = {};
      if (fields.text !== was.text) changed.text = fields.text;
      if (fields.kind !== was.kind) changed.kind = fields.kind;
      if (fields.when !== was.local) Object.assign(changed, {when: fields.when, repeat: fields.repeat});
      else if (fields.repeat !== was.rule) changed.repeat = fields.repeat;
      if (!Object.keys(changed).length) return leave();
      const {said} = await request("PATCH", `${api(reminder)}${query({language})}`, {body: changed});
      toast(said);
      return this.read();
    }, {leave, zone: reminder.zone});
  }

  /** The fields of a reminder; `save(fields)` is called with all of them. */
  form({text, local, rule, kind}, label, save, {more, leave, zone = ZONE}) {
    const words = h("textarea", {rows: 2, required: true, placeholder: t("Call the dentist")});
    words.value = text;
    const time = h("input", {type: "datetime-local", required: true, value: local});
    const own = h("input", {"aria-label": t("Recurrence rule"), placeholder: "FREQ=WEEKLY;BYDAY=MO,WE", spellcheck: "false", value: rule, hidden: rule in RULES});
    const repeat = h("select", {onchange: () => { own.hidden = repeat.value !== "own"; }},
      Object.entries(RULES).map(([value, says]) => h("option", {value}, says)), h("option", {value: "own"}, t("custom recurrence rule")));
    repeat.value = rule in RULES ? rule : "own";
    const kinds = h("select", null, Object.entries(KINDS).map(([value, says]) => h("option", {value}, says)));
    kinds.value = kind;
    const button = h("button.button.primary", {type: "submit"}, label);
    const submit = (event) => {
      event.preventDefault();
      once(button, () => save({text: words.value, when: time.value, time_zone: zone, repeat: repeat.value === "own" ? own.value : repeat.value, kind: kinds.value}));
    };
    return h("form.fields", {onsubmit: submit, onkeydown: (event) => { if (event.key === "Escape") leave?.(); }},
      h("div.wide", null, labelled(t("Text"), words)),
      labelled(zone === ZONE ? t("Time") : t("Time in {zone}", {zone}), time), h("div", null, labelled(t("Repeat"), repeat), own), labelled(t("When the reminder fires"), kinds), more,
      h("div.row.wide", null, button, leave && press(t("Cancel"), leave)));
  }
}

let labels = 0;

function labelled(label, field) {
  field.id = `field-${labels += 1}`;
  return h("div", null, h("label", {for: field.id}, label), field);
}

/** A date → "2026-11-27T09:00", on the clock of the browser. */
const stamp = (at) => new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

customElements.define("mp-reminders", Reminders);
