// The context bar: the parts of the next prompt, with marks for the flush point, the consolidation start and the budget.

import {get, ofSession} from "/page/api.js";
import {count, fill, h, short} from "/page/dom.js";
import {t} from "/page/words.js";

export const PARTS = {
  system: t("System"), tools: t("Tools"), memory: t("Memory"), recalled: t("Recalled"),
  continuity: t("Continuity"), history: t("History"), current: t("Current"),
};
export const SAYS = {
  system: t("The operator's instructions from AGENTS.md, SOUL.md and similar files"),
  identity: t("Millpond's built-in instructions for every bot: environment and rules"),
  tools: t("Definitions of the tools that the model can call"),
  memory: t("MEMORY.md: facts saved from older messages"),
  recalled: t("Memories related to the latest message"),
  continuity: t("Summary of older messages in this conversation"),
  history: t("Messages that have not been summarized yet"),
  current: t("Messages that the bot is answering or will answer next"),
};
const MARKS = {
  flush: t("When the prompt grows past this mark, the bot saves important facts to its daily notes"),
  consolidation: t("When the prompt grows past this mark, older messages are summarized and saved to memory"),
};
const MARK_NAMES = {flush: t("flush"), consolidation: t("consolidation"), budget: t("budget")};
/** Delay before the bar is read again: after a change, and while a consolidation is due or in progress. */
const CALM_MS = 250;
const DUE_MS = 2000;

export class Context extends HTMLElement {
  connectedCallback() {
    this.link = h("a.bar", {href: `/s/${encodeURIComponent(this.feed.session)}/context`});
    this.legend = h("div.legend", {"aria-hidden": "true"});
    fill(this, this.link, this.legend);
    const again = () => {
      this.exact = null;
      this.soon();
    };
    this.feed.addEventListener("exact", ({detail}) => {
      this.exact = detail;
      if (this.estimate) this.show(this.estimate);
    }, {signal: this.feed.signal});
    for (const name of ["message", "cursor", "back"]) this.feed.addEventListener(name, again, {signal: this.feed.signal});
    // The messages come first.
    this.feed.ready.then(() => this.read());
  }

  disconnectedCallback() {
    clearTimeout(this.waiting);
  }

  /** Whether the exact prompt is shown below the bar. */
  set open(open) {
    if (!open && this.exact) {
      this.exact = null;
      this.show(this.estimate);
    }
    if (this.link) this.link.setAttribute("aria-current", open ? "page" : "false");
    this.link?.setAttribute("href", `/s/${encodeURIComponent(this.feed.session)}${open ? "" : "/context"}`);
  }

  soon(after = CALM_MS) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.read(), after);
  }

  async read() {
    try {
      this.estimate = await get(ofSession(this.feed.session, "/context"), this.feed.signal);
      this.feed.estimate = this.estimate.parts;
      this.show(this.estimate);
    } catch (error) {
      if (error.name !== "AbortError") this.classList.add("unknown");
    }
  }

  /** Show an estimate, or the exact sizes of the parts while the exact prompt is shown. */
  show({parts: estimated, budget, trigger, model, models, settling}) {
    this.classList.remove("unknown");
    const parts = this.exact ?? estimated;
    const used = parts.reduce((sum, part) => sum + part.tokens, 0);
    const due = trigger?.consolidation > 0 && used >= trigger.consolidation;
    this.feed.tell("settling", settling);
    this.feed.tell("models", {model, models});
    if (due || settling) this.soon(DUE_MS);
    const whole = Math.max(budget, used, 1);
    const bar = h("span.segments", null);
    for (const part of parts) {
      if (!part.tokens) continue;
      const segment = h(`span.segment.part-${part.name in PARTS ? part.name : "current"}`,
        {title: t("{name}: {n} tokens", {name: PARTS[part.name] ?? part.name, n: count(part.tokens)})});
      segment.style.width = `${(100 * part.tokens) / whole}%`;
      bar.append(segment);
    }
    const ticks = [["flush", trigger?.flush], ["consolidation", trigger?.consolidation], ["budget", budget]].map(([name, at]) => {
      if (!at || at > whole) return null;
      const tick = h(`span.tick.${name}`, {title: t("{name}: {n} tokens", {name: MARK_NAMES[name], n: count(at)})});
      tick.style.left = `${(100 * at) / whole}%`;
      return tick;
    });
    const numbers = {used: short(used), budget: short(budget)};
    const sum = this.exact ? t("{used} of {budget} tokens", numbers) : t("about {used} of {budget} tokens", numbers);
    fill(this.link, bar, ticks);
    this.link.setAttribute("aria-label", t("Next prompt for {model}: {sum}. {parts}. Show the exact prompt", {model, sum,
      parts: parts.filter((part) => part.tokens).map((part) => `${PARTS[part.name] ?? part.name} ${count(part.tokens)}`).join(", ")}));
    fill(this.legend,
      parts.filter((part) => part.tokens).map((part) => h(`span.part-${part.name}`, {title: SAYS[part.name]},
        h("i", null), `${PARTS[part.name] ?? part.name} `, h("b", null, short(part.tokens)))),
      h("span.part-free", null, h("i", null), t("Free"), " ", h("b", null, short(Math.max(0, budget - used)))));
    fill(this.sum, [["flush", trigger?.flush], ["consolidation", trigger?.consolidation]].map(([name, at]) => at > 0
      && h(`span.mark.${name}`, {title: MARKS[name]}, h("i", null), `${MARK_NAMES[name]} ${short(at)}`)),
      h("span", {title: t("{used} of {budget} tokens", {used: count(used), budget: count(budget)})}, sum));
    this.sum.classList.toggle("full", due);
  }
}

customElements.define("mp-context", Context);
