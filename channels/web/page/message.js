// One message of a conversation as elements: its text, and its tool calls, each folded to one line.

import {add, count, counted, fill, h, took, when} from "/page/dom.js";
import {filesElement, partsOf, sentBy} from "/page/files.js";
import {copyButton, show} from "/page/markdown.js";
import {t} from "/page/words.js";

/** Messages above `FOLD` characters are folded to `SHOWN` characters. */
const FOLD = 20_000;
const SHOWN = 6_000;
/** Minimum number of characters shown of an answer in progress. */
const ENDING = 10_000;
/** Characters shown of a tool's arguments or result before they are unfolded. */
const TOOL_SHOWN = 20_000;

/** Matches tool calls with their results, in whichever order they are loaded. */
export class Calls {
  constructor() {
    this.lines = new Map();
  }

  line(turn, call) {
    const key = `${turn}/${call}`;
    let line = this.lines.get(key);
    if (!line) this.lines.set(key, (line = new ToolLine()));
    return line;
  }

  clear() {
    this.lines.clear();
  }
}

/** A line `▸ read_file · 120 ms` that opens to show the arguments and the result. */
export class ToolLine {
  constructor() {
    this.name = h("code", null, t("tool"));
    this.more = h("span.tool-more", null, "");
    this.arguments = h("div.tool-part", {hidden: true});
    this.result = h("div.tool-part", {hidden: true});
    this.element = h("details.tool", null, h("summary", null, this.name, this.more), this.arguments, this.result);
  }

  call(name, text, iso) {
    this.began = new Date(iso).getTime();
    this.name.textContent = name;
    this.part(this.arguments, t("Arguments"), pretty(text));
    this.time();
    return this;
  }

  done(text, iso) {
    this.ended = new Date(iso).getTime();
    this.part(this.result, t("Result"), text);
    this.time();
    return this;
  }

  /** Show the state of a running call: "started", "done" or "failed". */
  running(name, state) {
    this.name.textContent = name;
    this.began ??= Date.now();
    if (state !== "started") this.ended ??= Date.now();
    this.element.classList.toggle("running", state === "started");
    this.element.classList.toggle("failed", state === "failed");
    this.time(state === "started" ? t("running…") : state === "failed" ? t("failed") : "");
    return this;
  }

  time(word = "") {
    const ms = this.ended - this.began;
    this.more.textContent = [word, ms >= 0 ? took(ms) : ""].filter(Boolean).map((each) => ` · ${each}`).join("");
  }

  part(holder, title, text) {
    holder.hidden = false;
    fill(holder, h("h4", null, title), text ? folded(text, TOOL_SHOWN, TOOL_SHOWN, (shown) => h("pre.wrap", {tabindex: 0}, shown)) : h("p.soft.small", null, t("empty")));
  }
}

/**
 * A message → the element that stands for its index. `retry(message)` asks for another answer, `branch(message)` for a new
 * conversation that begins with the messages up to this answer.
 */
export function messageElement(message, {calls, session, foreign, retry, branch}) {
  if (message.role === "tool") {
    const line = calls.line(message.turn, message.tool_call_id).done(textOf(message.content), message.time);
    const known = line.element.isConnected || line.element.parentNode;
    if (known) return place(h("span.tool-place", {"aria-hidden": "true"}), message);
    return place(h("article.message.assistant", null, line.element), message);
  }
  const own = message.role === "user";
  const element = place(h(`article.message.${own ? "user" : "assistant"}`, {class: message.overheard ? "overheard" : ""}), message);
  const whole = textOf(message.content);
  const {text, files, retry: again} = own ? partsOf(whole) : {text: whole, files: [], retry: false};
  if (own && (foreign || message.overheard) && message.sender) add(element, h("p.who", null, message.sender, message.overheard && ` · ${t("not addressed to the bot")}`));
  if (!own) add(element, h("h3.speaker", null, t("The bot")));
  if (again) add(element, h("p.remark", null, t("A new answer was requested.")));
  add(element, filesElement(files, session));
  if (text) add(element, body(text));
  if (message.speech) add(element, filesElement([{kind: "speech", path: message.speech}], session));
  for (const call of message.tool_calls ?? []) add(element, callElement(call, message, {calls, session}));
  if (message.stopped) add(element, h("p.remark", null, t("stopped")));
  if (message.silent) add(element, h("p.remark", null, t("The bot had nothing to report for this reminder.")));
  if (message.dead?.length) add(element, h("p.remark.bad", null, t("This message could not be answered."), " ", h("a", {href: "/system/dead"}, t("Show failed messages"))));
  if (text || own || message.answers?.length) add(element, foot(message, {session, own, text, ...(foreign ? {} : {retry, branch})}));
  return element;
}

/** A tool call as a line, after the message that it sent to this chat. */
function callElement(call, message, {calls, session}) {
  const line = calls.line(message.turn, call.id).call(call.function?.name ?? t("tool"), call.function?.arguments ?? "", message.time);
  // The result was loaded before its call, and had an element of its own until now.
  line.element.closest("article")?.replaceWith(place(h("span.tool-place", null), line.element.closest("article").dataset));
  const sent = sentBy(call);
  const shown = sent && Object.assign(h("div.sent", null, body(sent.text), filesElement(sent.files, session)), {said: sent.text});
  return [shown, line.element];
}

function place(element, {index}) {
  element.dataset.index = index;
  return element;
}

function foot(message, {session, own, text, retry, branch}) {
  const at = encodeURIComponent(session);
  const last = message.answers?.length || message.stopped;
  const link = h("a", {href: `/s/${at}/m/${message.index}`}, when(message.time));
  link.ariaLabel = t("Message {index} · ", {index: message.index}) + link.textContent;
  return h("footer", null,
    link,
    message.tokens ? h("span", null, counted(message.tokens, "token")) : null,
    !own && last && h("a", {href: `/s/${at}/turns/${message.turn}`}, t("Trace")),
    text && copyButton(text),
    !own && last && retry && h("button.action", {type: "button", onclick: () => retry(message)}, t("Retry")),
    !own && last && branch && h("button.action", {type: "button", title: t("Branch a new conversation from this message"), onclick: () => branch(message)}, t("Branch")));
}

/** A message outside the log: a reply to a command, or one that the bot sends before its answer. */
export function noticeElement({kind, text, time, attachments = []}, asked, session) {
  const content = h("div.markdown", null);
  show(content, text);
  const element = h(`aside.notice.${kind}`, {dataset: {time}}, asked && h("p.who", null, asked.text), content, filesElement(attachments, session));
  return Object.assign(element, {said: text});
}

/** The visible part of a text in progress: the whole text, or the end of a very long one, which advances in steps. */
export function ending(text) {
  if (text.length < 2 * ENDING) return text;
  const from = Math.floor(text.length / ENDING - 1) * ENDING;
  const line = text.indexOf("\n\n", from);
  return `…${text.slice(line > 0 && line < from + ENDING / 2 ? line : from)}`;
}

/** The Markdown of a text, long ones folded. */
export function body(text) {
  return folded(text, FOLD, SHOWN, (shown) => {
    const element = h("div.markdown", null);
    show(element, shown);
    return element;
  });
}

function folded(text, most, shown, make) {
  if (text.length <= most) return make(text);
  const end = text.lastIndexOf("\n", shown);
  const short = make(text.slice(0, end > shown / 2 ? end : shown));
  const more = h("button.button.show-all", {type: "button", onclick: () => {
    short.replaceWith(make(text));
    more.remove();
  }}, t("Show all {n} characters", {n: count(text.length)}));
  return [short, more];
}

/** The text of a message's content, which may be parts. */
export function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part.type === "text" ? part.text : `[${String(part.type ?? "part").replace(/_url$/, "")}]`)).join("\n\n");
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
