// The queues: the meaning of each, and its messages or conversations. The text of a message is read when it is asked for.

import {get, query, segment} from "/page/api.js";
import {count, empty, fill, h, when} from "/page/dom.js";
import {language, t, term} from "/page/words.js";
import {plain, press, table, tabs, toSession} from "/page/views.js";

const LIMIT = 200;

/** The numbers of the overview: label, meaning, and more about it for the view of the queue. */
export const QUEUES = {
  backlog: [t("Unanswered"), t("Messages that have been accepted but not answered yet.")],
  ready: [t("Ready"), t("Conversations with pending messages, ready for the next free worker.")],
  in_flight: [t("In progress"), t("Conversations that a worker is answering right now.")],
  due: [t("Due"), t("All conversations with pending messages, including conversations in progress and parked conversations."),
    t("If a worker dies while it is answering a conversation, another worker can take over after the deadline.")],
  parked: [t("Parked"), t("Conversations where the last attempt to answer failed. Millpond retries automatically."),
    t("The usual cause is an unavailable model. The conversations resume automatically when the problem is fixed.")],
  unsettled: [t("Not yet in memory"), t("Conversations whose older messages are about to be summarized and saved to memory."),
    t("At the next check, a worker decides whether to summarize messages in the conversation. Answers wait for a summary only if the prompt is full.")],
  replies: [t("Replies to deliver"), t("Replies that have not been delivered to chat platforms yet.")],
  dead: [t("Dead letters"), t("Messages that could not be answered, and replies that could not be delivered.")],
  unknown: [t("Unknown delivery status"), t("Reply parts that may or may not have been delivered.")],
};

const ELSEWHERE = {dead: "/system/dead", unknown: "/system/unknown"};
const MESSAGES = ["backlog", "replies"];
const TIMES = {ready: t("Since"), in_flight: t("Start of the turn"), due: t("Deadline"), parked: t("Next attempt"), unsettled: t("Next check")};

export const toQueue = (queue, more = {}) => ELSEWHERE[queue] ?? `/system/queues${query({queue, ...more})}`;

/** Fill `holder` of `view` with the content of the queue `?queue=`. */
export function showQueue(view, holder) {
  const queue = QUEUES[view.asked.get("queue")] ? view.asked.get("queue") : "backlog";
  const session = view.asked.get("session") ?? "";
  const shown = h("div.stack", null);
  fill(holder,
    tabs(t("Queues"), Object.entries(QUEUES).filter(([name]) => !ELSEWHERE[name]).map(([name, [label]]) => [toQueue(name), label, name === queue])),
    h("div.row.wrap", null, h("p.soft.grow", null, QUEUES[queue].slice(1).join(["zh", "ja"].includes(language) ? "" : " ")), press(t("Refresh"), () => view.changed())),
    session && h("p", null, t("Showing only messages from this conversation:"), " ", toSession(session, plain(session)), " · ", h("a", {href: toQueue(queue)}, t("Show all messages"))),
    shown);
  view.into(shown, (signal) => get(`/api/queues/${segment(queue)}${query({limit: LIMIT, session})}`, signal), ({entries}) => {
    if (!entries.length) return empty(t("This queue is empty"));
    return [
      MESSAGES.includes(queue) ? messages(view, queue, entries) : sessions(queue, entries),
      entries.length >= LIMIT && h("p.soft.small", null, t("Only the first {n} entries are shown.", {n: count(LIMIT)})),
    ];
  });
}

function messages(view, queue, entries) {
  const heads = [t("Time"), t("Conversation"), t("Kind"), t("Sender"), {text: t("Characters"), number: true}, {text: t("Attachments"), number: true}, t("Log"), t("Text")];
  return table(QUEUES[queue][0], heads, entries.map((each) => [
    when(each.time), each.session ? toSession(each.session, plain(each.session)) : "", term(each.kind), each.sender,
    count(each.chars), count(each.attachments), toLogs(each.correlation), textOf(view, queue, each.id, each.chars),
  ]));
}

function sessions(queue, entries) {
  const heads = [t("Conversation"), TIMES[queue], {text: t("Pending messages"), number: true}, {text: t("Messages not yet in memory"), number: true}];
  const more = {in_flight: t("Worker"), parked: t("Reason")}[queue];
  return table(QUEUES[queue][0], more ? [...heads, more] : heads, entries.map((each) => [
    toSession(each.session, plain(each.session)), each.time && when(each.time),
    each.waiting ? h("a", {href: toQueue("backlog", {session: each.session})}, count(each.waiting)) : count(0), count(each.unsettled),
    ...(more ? [queue === "parked" ? each.reason : h("code", null, each.worker)] : []),
  ]));
}

/** A button that reads the text of a message and takes its place; the server records who read it. */
export function textOf(view, queue, id, chars) {
  if (!chars) return t("no text");
  const cell = h("div.text", null);
  return fill(cell, press(t("Show text"), async () => {
    const {text} = await get(`/api/queues/${queue}/${segment(id)}`, view.signal);
    fill(cell, text).setAttribute("tabindex", "-1");
    cell.focus();
  }, {title: t("Showing the text is recorded in the audit log.")}));
}

/** A link to the trace and the log lines of a message. */
export const toLogs = (correlation) => (correlation ? h("a", {href: `/system/logs${query({id: correlation})}`}, t("trace and log")) : "");
