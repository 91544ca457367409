// The messages of a conversation that are accepted and not answered yet, with the reason and since when: also after a
// reload, and from other browsers. The page reads them when something happens, and every few seconds while one waits.

import {get, ofSession} from "/page/api.js";
import {counted, fill, h, when} from "/page/dom.js";
import {parts, t} from "/page/words.js";

const EVERY_MS = 3000;
/** Delay after an event: a message that is answered at once is never shown as waiting. */
const CALM_MS = 1000;
const SHOWN = 300;

const REASONS = {
  parked: (values) => parts("The model cannot be reached. The next attempt is at {until}.", values),
  backing_off: (values) => parts("The last attempt failed. The next attempt is at {until}.", values),
  paused: () => t("The bot is paused in this chat."),
  no_worker: () => t("No worker is running to answer messages. Check whether `millpond run` is still running."),
  queued: () => t("The bot will answer soon. It may be answering other conversations first."),
};

export class Waiting extends HTMLElement {
  connectedCallback() {
    this.hidden = true;
    for (const name of ["message", "notice", "back"]) this.feed.addEventListener(name, () => this.soon(CALM_MS), {signal: this.feed.signal});
    addEventListener("mp-said", () => this.soon(CALM_MS), {signal: this.feed.signal});
    this.feed.ready.then(() => this.soon(CALM_MS));
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
  }

  soon(after) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read(), after);
  }

  async read() {
    try {
      const found = await get(ofSession(this.feed.session, "/waiting"), this.feed.signal);
      this.show(found);
      if (found.count) this.soon(EVERY_MS);
    } catch (error) {
      if (error.name !== "AbortError") this.soon(EVERY_MS);
    }
  }

  /** Nothing while an answer is being written, which the page shows itself. */
  show({count, reason, detail, since, until, messages}) {
    const says = REASONS[reason];
    this.hidden = !count || !says;
    const sign = JSON.stringify([count, reason, until, messages.map((each) => each.id)]);
    if (this.hidden || sign === this.sign) return;
    this.sign = sign;
    fill(this, h("details.waiting", {role: "status"},
      h("summary", null, h("span.dot.away", null), h("strong", null, parts("{messages} since {time}.", {messages: counted(count, "pending message"), time: when(since)})),
        " ", says({until: when(until)})),
      detail && h("p.small", null, detail.replace(/^\w+: /, "")),
      h("ul", null, messages.map((each) => h("li", null, when(each.time), " ", each.text.length > SHOWN ? `${each.text.slice(0, SHOWN)}…` : each.text)))));
  }
}

customElements.define("mp-waiting", Waiting);
