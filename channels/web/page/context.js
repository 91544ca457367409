// What fills the context: a bar of its parts with the marks at which something happens, and the exact prompt by part.

import {get, ofSession} from "/page/api.js";
import {add, count, empty, failed, fill, h, short} from "/page/dom.js";

export const PARTS = {
  system: "System", tools: "Tools", memory: "Memory", recalled: "Recalled",
  continuity: "Continuity", history: "History", current: "Current",
};
const SAYS = {
  system: "The bot's instructions: AGENTS.md, SOUL.md and the other bootstrap files",
  identity: "What every bot is told first: where it is, and its rules",
  tools: "The tools the model may call",
  memory: "MEMORY.md: what settled of older conversations",
  recalled: "What was looked up for this message",
  continuity: "Where it stood when older messages were consolidated",
  history: "The messages after the cursor",
  current: "What was said last",
};
const MARKS = {
  flush: "From here on, what should be kept is written down",
  consolidation: "From here on, older messages settle into memory",
};
/** Rest after a change before the bar is read again. */
const CALM_MS = 250;

export class Context extends HTMLElement {
  connectedCallback() {
    this.link = h("a.bar", {href: `/s/${encodeURIComponent(this.feed.session)}/context`});
    this.legend = h("div.legend", {"aria-hidden": "true"});
    fill(this, this.link, this.legend);
    const again = () => this.soon();
    for (const name of ["message", "cursor", "back"]) this.feed.addEventListener(name, again, {signal: this.feed.signal});
    // The messages come first.
    this.feed.ready.then(() => this.read());
  }

  disconnectedCallback() {
    clearTimeout(this.waiting);
  }

  /** Whether the exact prompt is what is shown below. */
  set open(open) {
    if (this.link) this.link.setAttribute("aria-current", open ? "page" : "false");
    this.link?.setAttribute("href", `/s/${encodeURIComponent(this.feed.session)}${open ? "" : "/context"}`);
  }

  soon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.read(), CALM_MS);
  }

  async read() {
    try {
      this.show(await get(ofSession(this.feed.session, "/context"), this.feed.signal));
    } catch (error) {
      if (error.name !== "AbortError") this.classList.add("unknown");
    }
  }

  show({parts, budget, trigger, model}) {
    this.classList.remove("unknown");
    const used = parts.reduce((sum, part) => sum + part.tokens, 0);
    const whole = Math.max(budget, used, 1);
    const bar = h("span.segments", null);
    for (const part of parts) {
      if (!part.tokens) continue;
      const segment = h(`span.segment.part-${part.name in PARTS ? part.name : "current"}`,
        {title: `${PARTS[part.name] ?? part.name}: ${count(part.tokens)} tokens`});
      segment.style.width = `${(100 * part.tokens) / whole}%`;
      bar.append(segment);
    }
    const ticks = [["flush", trigger?.flush], ["consolidation", trigger?.consolidation], ["budget", budget]].map(([name, at]) => {
      if (!at || at > whole) return null;
      const tick = h(`span.tick.${name}`, {title: `${name}: ${count(at)} tokens`});
      tick.style.left = `${(100 * at) / whole}%`;
      return tick;
    });
    const sum = `${short(used)} of ${short(budget)} tokens`;
    fill(this.link, bar, ticks);
    this.link.setAttribute("aria-label", `The next prompt of ${model}: ${sum}. ${parts.filter((part) => part.tokens)
      .map((part) => `${PARTS[part.name] ?? part.name} ${count(part.tokens)}`).join(", ")}. Show it exactly`);
    fill(this.legend,
      parts.filter((part) => part.tokens).map((part) => h(`span.part-${part.name}`, {title: SAYS[part.name]},
        h("i", null), `${PARTS[part.name] ?? part.name} `, h("b", null, short(part.tokens)))),
      h("span.part-free", null, h("i", null), "Free ", h("b", null, short(Math.max(0, budget - used)))));
    fill(this.sum, [["flush", trigger?.flush], ["consolidation", trigger?.consolidation]].map(([name, at]) => at > 0
      && h(`span.mark.${name}`, {title: MARKS[name]}, h("i", null), `${name} ${short(at)}`)), h("span", null, sum));
    this.sum.classList.toggle("full", trigger?.consolidation > 0 && used >= trigger.consolidation);
  }
}

/** The exact prompt: what the model would be sent now, part by part. */
export class Prompt extends HTMLElement {
  connectedCallback() {
    this.read();
  }

  async read() {
    fill(this, h("p.loading", {role: "status"}, "Putting the prompt together…"));
    try {
      await this.feed.ready;
      if (this.feed.last < 0) {
        fill(this, empty("No prompt yet", h("p", null, "Write the first message; then this shows, word by word, what the model is sent.")));
        return;
      }
      this.show(await get(ofSession(this.feed.session, "/prompt"), this.feed.signal));
    } catch (error) {
      if (error.name !== "AbortError") fill(this, failed(error, () => this.read()));
    }
  }

  show({parts, tools = [], messages = []}) {
    const sum = parts.reduce((all, part) => all + part.tokens, 0);
    fill(this, h("div.page.prompt", null,
      h("div", null,
        h("div.page-head", null, h("h2", null, "The exact prompt ", h("span.badge.accent", null, `${count(sum)} tokens`)),
          h("a.quiet", {href: `/s/${encodeURIComponent(this.feed.session)}`}, "Back to the chat")),
        h("p.soft.small", null, "Every word that the model would be sent now, in its order. What you write next comes at the end.")),
      parts.filter((part) => part.tokens).map((part) => this.part(part, tools, messages)),
      h("details.wire", null, h("summary", null, `All of it as JSON: ${count(messages.length)} messages`),
        h("pre.wrap", {tabindex: 0}, JSON.stringify({messages, tools}, null, 2)))));
  }

  part({name, tokens, text, first, upto}, tools, messages) {
    const known = name in PARTS;
    const body = name === "tools" ? tools.map(toolOf)
      : upto > first ? messages.slice(first, upto).map(wireOf)
      : h("pre.wrap", {tabindex: 0}, text || "(nothing)");
    return h("details.card.prompt-part", {open: ["memory", "recalled", "continuity"].includes(name)},
      h("summary", null, h(`i.part-${known ? name : "system"}`, null), h("strong", null, PARTS[name] ?? `System: ${name}`),
        h("span.badge", null, `${count(tokens)} tokens`), h("span.soft.small", null, SAYS[name] ?? "")),
      body);
  }
}

function wireOf({role, content, tool_calls: calls = []}) {
  const text = typeof content === "string" ? content : content ? JSON.stringify(content, null, 2) : "";
  return h("div.wire-message", null, h("h3", null, role), text && h("pre.wrap", {tabindex: 0}, text),
    calls.map((call) => h("pre.wrap", {tabindex: 0}, `${call.function?.name}(${call.function?.arguments})`)));
}

function toolOf(tool) {
  const {name = "", description = "", parameters} = tool.function ?? tool;
  const node = h("details.wire", null, h("summary", null, h("code", null, name), " ", h("span.soft.small", null, description.split("\n")[0])));
  return add(node, h("pre.wrap", {tabindex: 0}, `${description}\n\n${JSON.stringify(parameters ?? {}, null, 2)}`));
}

customElements.define("mp-context", Context);
customElements.define("mp-prompt", Prompt);
