// The results of a search in everything that was said, remembered and noted.

import {segment} from "/page/api.js";
import {ago, h} from "/page/dom.js";
import {nameOf} from "/page/app.js";
import {t} from "/page/words.js";

/** Characters of a snippet before its first match. */
const BEFORE = 40;

/** `hits` of /api/search as links to their places; `left` memories were not searched. */
export function found(hits, words, left) {
  return [
    hits.length > 0 && h("h2", null, t("Messages and memories")),
    h("ul", null, hits.map((hit) => one(hit, words))),
    left > 0 && h("p", null, t("The search timed out before it reached the oldest conversations.")),
  ];
}

function one(hit, words) {
  const {kind, scope, session, index} = hit;
  const titles = {message: hit.title || nameOf(session), memory: t("Memory"), history: t("History"), notes: t("Notes")};
  const scopes = `/memory/${segment(scope)}`;
  const places = {
    message: `/s/${segment(session)}/m/${index}`, memory: scopes, history: `${scopes}?tab=history`,
    notes: `${scopes}?tab=notes&day=${(hit.file ?? "").replace(/^memory\/|\.md$/g, "")}`,
  };
  return h("li.hit", null, h("a", {href: places[kind], title: session || scope},
    h("span.name", null, titles[kind]), h("span.age", null, hit.time ? ago(hit.time) : ""), h("span.more", null, marked(hit.snippet, words))));
}

/** A snippet from shortly before the first match on, with each match marked. */
function marked(snippet, words) {
  const escaped = words.split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(${escaped.join("|")})`, "giu");
  const at = snippet.search(pattern);
  const text = at > BEFORE ? `…${snippet.slice(at - BEFORE)}` : snippet;
  return text.split(pattern).map((piece, number) => (number % 2 ? h("mark", null, piece) : piece));
}
