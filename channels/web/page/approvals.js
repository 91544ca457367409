// The commands that wait for approval, in all conversations: their number beside "System", and the view in which they are decided.

import {get, post, segment} from "/page/api.js";
import {count, empty, fill, h, toast, when} from "/page/dom.js";
import {nameOf} from "/page/app.js";
import {show} from "/page/markdown.js";
import {press, refresh, toSession} from "/page/views.js";
import {parts, t} from "/page/words.js";

const EVERY_MS = 3000;
/** Delay after a decision, until which the bot has carried it out and the server's list is new. */
const DECIDED_MS = 1800;

const news = new EventTarget();
let waiting = [];
let reading = null;
let watched = false;

/** Keep the number beside "System" up to date. */
export function watch() {
  if (watched) return;
  watched = true;
  read();
  refresh(document.body, EVERY_MS, read);
}

async function read() {
  reading ??= get("/api/approvals").finally(() => { reading = null; });
  let found;
  try {
    ({approvals: found} = await reading);
  } catch {
    return; // the next time
  }
  const ids = (list) => list.map((each) => each.id).join();
  const isNews = ids(found) !== ids(waiting);
  waiting = found;
  if (!isNews) return;
  for (const link of document.querySelectorAll("[data-place=system]")) {
    link.querySelector(".count")?.remove();
    const says = waiting.length === 1 ? t("One command is waiting for approval") : t("{n} commands are waiting for approval", {n: count(waiting.length)});
    if (waiting.length) link.append(h("span.count", {title: says}, count(waiting.length), h("span.unseen", null, ` (${says})`)));
  }
  news.dispatchEvent(new Event("change"));
}

/** The waiting commands, each with its buttons, in `body`; until `signal` ends it. */
export function showApprovals(body, signal) {
  const cards = new Map();
  const list = h("div.stack", {"aria-live": "polite"});
  const none = empty(t("No commands are waiting for approval"), h("p", null, t("Commands from any conversation that are waiting for an administrator's approval are shown here.")));
  const draw = () => {
    for (const [id, card] of cards) {
      if (waiting.some((each) => each.id === id)) continue;
      card.remove();
      cards.delete(id);
    }
    for (const each of waiting) {
      if (cards.has(each.id)) continue;
      cards.set(each.id, cardOf(each));
      list.append(cards.get(each.id));
    }
    none.hidden = cards.size > 0;
  };
  fill(body, list, none);
  draw();
  news.addEventListener("change", draw, {signal});
  read();
}

function cardOf({id, session, time, text, left_s: left}) {
  const question = h("div.markdown", null);
  show(question, text);
  const until = when(new Date(Date.now() + 1000 * left).toISOString());
  const decide = async (decision) => {
    const {status} = await post(`/api/approvals/${segment(id)}`, {decision});
    toast(status === "accepted" ? t("Your decision was sent to the bot.") : t("A decision about this command has already been made."));
    await new Promise((done) => setTimeout(done, DECIDED_MS));
    await read();
  };
  return h("article.card.stack", null,
    h("h2", null, toSession(session, nameOf(session)), " ", h("span.badge", null, session.split(":")[0])),
    h("p.soft.small", null, parts("Requested at {time}. Expires at {until}.", {time: when(time), until})),
    question,
    h("div.row.wrap", null, press(t("Approve"), () => decide("approve"), {kind: "primary"}), press(t("Deny"), () => decide("deny"), {kind: "danger"})));
}
