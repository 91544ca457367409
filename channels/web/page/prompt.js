// The exact prompt, word by word; loaded when it is opened.

import {get, ofSession} from "/page/api.js";
import {PARTS, SAYS} from "/page/context.js";
import {add, count, counted, empty, failed, fill, h} from "/page/dom.js";
import {t, term} from "/page/words.js";

/** Smaller differences between the estimate and the exact prompt need no words: tokens, and a share of the prompt. */
const NEAR_TOKENS = 50;
const NEAR = 0.02;

/** The exact prompt: the complete text that the model would receive right now, part by part. */
export class Prompt extends HTMLElement {
  connectedCallback() {
    this.note = h("div", null);
    this.feed.addEventListener("message", () => this.outdated(), {signal: this.feed.signal});
    this.read();
  }

  outdated() {
    if (!this.note.isConnected || this.note.firstChild) return;
    fill(this.note, h("p.notice-line.row.wrap", null, h("span.grow", null, t("New messages have arrived since this prompt was built.")),
      h("button.button", {type: "button", onclick: () => this.read()}, t("Rebuild the prompt"))));
  }

  async read() {
    fill(this, h("p.loading", {role: "status"}, t("Building the prompt…")));
    try {
      await this.feed.ready;
      if (this.feed.last < 0) {
        fill(this, empty(t("No prompt yet"), h("p", null, t("After you send the first message, this view shows exactly what the model receives."))));
        return;
      }
      this.show(await get(ofSession(this.feed.session, "/prompt"), this.feed.signal));
    } catch (error) {
      if (error.name !== "AbortError") fill(this, failed(error, () => this.read()));
    }
  }

  show({parts, tools = [], messages = [], missing_servers: missing = [], unreadable = []}) {
    const sum = parts.reduce((all, part) => all + part.tokens, 0);
    const exact = Object.keys(PARTS).map((name) => ({name, tokens: parts.reduce((all, part) => all + (barPart(part) === name ? part.tokens : 0), 0)}));
    const difference = differenceOf(this.feed.estimate ?? exact, exact);
    this.feed.tell("exact", exact);
    fill(this.note);
    fill(this, h("div.page.prompt", null,
      this.note,
      h("div", null,
        h("div.page-head", null, h("h2", null, t("The exact prompt"), " ", h("span.badge.accent", null, counted(sum, "token"))),
          h("a.quiet", {href: `/s/${encodeURIComponent(this.feed.session)}`}, t("Back to chat"))),
        h("p.soft.small", null, t("This is the complete prompt that the model would receive right now. Your next message will be added at the end.")),
        difference && h("p.soft.small", null, difference)),
      missing.map(({server, reason}) => h("p.problem", null, t("Tool server {server} is unavailable: {reason}", {server, reason}))),
      unreadable.map(({path, reason}) => h("p.problem", null, t("{path} cannot be used: {reason}", {path, reason}))),
      parts.filter((part) => part.tokens).map((part) => this.part(part, tools, messages)),
      h("details.wire", null, h("summary", null, t("Full prompt as JSON ({n} messages)", {n: count(messages.length)})),
        h("pre.wrap", {tabindex: 0}, JSON.stringify({messages, tools}, null, 2)))));
  }

  part({name, tokens, text, first, upto}, tools, messages) {
    const known = name in PARTS;
    const body = name === "tools" ? tools.map(toolOf)
      : upto > first ? messages.slice(first, upto).map(wireOf)
      : h("pre.wrap", {tabindex: 0}, text || t("(empty)"));
    return h("details.card.prompt-part", {open: ["memory", "recalled", "continuity"].includes(name)},
      h("summary", null, h(`i.part-${known ? name : "system"}`, null), h("strong", null, PARTS[name] ?? t("System: {name}", {name: term(name)})),
        h("span.badge", null, counted(tokens, "token")), h("span.soft.small", null, SAYS[name] ?? "")),
      body);
  }
}

/** The part of the context bar that shows a part of the prompt. */
const barPart = ({name}) => (name in PARTS ? name : "system");

/** The difference between the bar's estimate and the exact prompt, in words; empty if they hardly differ. */
function differenceOf(estimate, exact) {
  const tokens = Object.fromEntries(estimate.map((part) => [part.name, part.tokens]));
  const gaps = exact.map((part) => ({...part, estimated: tokens[part.name] ?? 0})).sort((a, b) => Math.abs(b.tokens - b.estimated) - Math.abs(a.tokens - a.estimated));
  const [total, estimated] = [exact, estimate].map((all) => all.reduce((sum, part) => sum + part.tokens, 0));
  if (Math.abs(total - estimated) <= Math.max(NEAR_TOKENS, NEAR * total)) return "";
  return t("The context bar estimated {estimated} tokens. The largest difference is in “{part}”: the estimate was {instead} tokens, and the actual size is {n} tokens. Estimates are based on the full stored messages and the last turn's tools.",
    {estimated: count(estimated), part: PARTS[gaps[0].name], n: count(gaps[0].tokens), instead: count(gaps[0].estimated)});
}

function wireOf({role, content, tool_calls: calls = []}) {
  const text = typeof content === "string" ? content : content ? JSON.stringify(content, null, 2) : "";
  return h("div.wire-message", null, h("h3", null, term(role)), text && h("pre.wrap", {tabindex: 0}, text),
    calls.map((call) => h("pre.wrap", {tabindex: 0}, `${call.function?.name}(${call.function?.arguments})`)));
}

function toolOf(tool) {
  const {name = "", description = "", parameters} = tool.function ?? tool;
  const node = h("details.wire", null, h("summary", null, h("code", null, name), " ", h("span.soft.small", null, description.split("\n")[0])));
  return add(node, h("pre.wrap", {tabindex: 0}, `${description}\n\n${JSON.stringify(parameters ?? {}, null, 2)}`));
}

customElements.define("mp-prompt", Prompt);
