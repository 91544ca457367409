// One message of a conversation as elements: its text, and its tool calls, each folded to one line.

import {add, count, fill, h, took, when} from "/page/dom.js";
import {show} from "/page/markdown.js";

/** Messages above `FOLD` characters are folded to `SHOWN` characters. */
const FOLD = 20_000;
const SHOWN = 6_000;
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
    this.name = h("code", null, "tool");
    this.more = h("span.tool-more", null, "");
    this.arguments = h("div.tool-part", {hidden: true});
    this.result = h("div.tool-part", {hidden: true});
    this.element = h("details.tool", null, h("summary", null, this.name, this.more), this.arguments, this.result);
  }

  call(name, text, iso) {
    this.began = new Date(iso).getTime();
    this.name.textContent = name;
    this.part(this.arguments, "Arguments", pretty(text));
    this.time();
    return this;
  }

  done(text, iso) {
    this.ended = new Date(iso).getTime();
    this.part(this.result, "Result", text);
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
    this.time(state === "started" ? "running…" : state === "failed" ? "failed" : "");
    return this;
  }

  time(word = "") {
    const ms = this.ended - this.began;
    this.more.textContent = [word, ms >= 0 ? took(ms) : ""].filter(Boolean).map((each) => ` · ${each}`).join("");
  }

  part(holder, title, text) {
    holder.hidden = false;
    fill(holder, h("h4", null, title), text ? folded(text, TOOL_SHOWN, TOOL_SHOWN, (shown) => h("pre.wrap", {tabindex: 0}, shown)) : h("p.soft.small", null, "empty"));
  }
}

/** A message → the element that stands for its index. */
export function messageElement(message, {calls, session, foreign}) {
  if (message.role === "tool") {
    const line = calls.line(message.turn, message.tool_call_id).done(textOf(message.content), message.time);
    const known = line.element.isConnected || line.element.parentNode;
    if (known) return place(h("span.tool-place", {"aria-hidden": "true"}), message);
    return place(h("article.message.assistant", null, line.element), message);
  }
  const own = message.role === "user";
  const element = place(h(`article.message.${own ? "user" : "assistant"}`, {class: message.overheard ? "overheard" : ""}), message);
  const text = textOf(message.content);
  if (own && (foreign || message.overheard) && message.sender) add(element, h("p.who", null, message.sender, message.overheard && " · group message kept as context"));
  if (!own) add(element, h("h3.unseen", null, "The bot"));
  if (text) add(element, body(text));
  for (const call of message.tool_calls ?? []) {
    const line = calls.line(message.turn, call.id).call(call.function?.name ?? "tool", call.function?.arguments ?? "", message.time);
    // The result was loaded before its call, and had an element of its own until now.
    line.element.closest("article")?.replaceWith(place(h("span.tool-place", null), line.element.closest("article").dataset));
    add(element, line.element);
  }
  if (message.stopped) add(element, h("p.remark", null, "stopped"));
  if (message.silent) add(element, h("p.remark", null, "The reminder had nothing to report."));
  if (message.dead?.length) add(element, h("p.remark.bad", null, "This message could not be answered. ", h("a", {href: "/system/dead"}, "Show the list of failed messages")));
  if (text || own || message.answers?.length) add(element, foot(message, session, own));
  return element;
}

function place(element, {index}) {
  element.dataset.index = index;
  return element;
}

function foot(message, session, own) {
  const at = encodeURIComponent(session);
  const last = message.answers?.length || message.stopped;
  return h("footer", null,
    h("a", {href: `/s/${at}/m/${message.index}`}, h("span.unseen", null, `Message ${message.index} · `), when(message.time)),
    message.tokens ? h("span", null, `${count(message.tokens)} tokens`) : null,
    !own && last && h("a", {href: `/s/${at}/turns/${message.turn}`}, "Trace"));
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
  }}, `Show all ${count(text.length)} characters`);
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
