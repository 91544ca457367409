// The memory of a scope: text, versions, history and notes. It can be searched, edited, restored and forgotten.

import {get, post, put, query, segment} from "/page/api.js";
import {ago, count, counted, empty, fill, h, short, toast, when} from "/page/dom.js";
import {go} from "/page/app.js";
import {body as prose} from "/page/message.js";
import {View, once, plain, press, sure, tabs, toSession} from "/page/views.js";
import {parts, t, term} from "/page/words.js";

const TABS = {text: t("Text"), versions: t("Versions"), history: t("History"), notes: t("Notes"), search: t("Search"), forget: t("Forget")};
/** Unchanged lines shown around a change. */
const AROUND = 2;
/** Delay between a key press and reading the list. */
const TYPING_MS = 200;
const PAGE = 50;
const SCORE_FULL = 1;

/** `pond:person:web:alice` → its kind and its readable name. */
function nameOf(scope) {
  const [bot, kind, ...rest] = scope.split(":");
  return {bot, kind: kind ?? "", name: rest.length ? rest.slice(1).map(plain).join(" · ") : bot, channel: rest[0] ?? ""};
}

const page = (scope, more = {}) => `/memory/${segment(scope)}${query(more)}`;
const api = (scope, rest = "", more = {}) => `/api/memory/${segment(scope)}${rest}${query(more)}`;

export class Memory extends View {
  /** The unsaved text of a person, with its scope. */
  #draft = null;

  changed() {
    const {scope, version} = this.params;
    this.classList.add("view");
    if (!scope) return this.showScopes();
    const tab = version === undefined ? (this.asked.get("tab") in TABS ? this.asked.get("tab") : "text") : "versions";
    const {bot, kind, name, channel} = nameOf(scope);
    const body = h("section", {"aria-label": TABS[tab]});
    fill(this, h("div.page", null,
      h("header", null,
        h("p.small", null, h("a", {href: "/memory"}, t("Memory"))),
        h("div.page-head", null,
          h("h1", {title: scope}, name),
          h("p.row.wrap", null, [term(kind), channel, bot].filter(Boolean).map((each) => h("span.badge", null, each))))),
      tabs(t("Sections of this memory"), Object.entries(TABS).map(([key, label]) =>
        [page(scope, {tab: key === "text" ? "" : key}), label, key === tab])),
      body));
    if (version !== undefined) return this.showVersion(body, scope, version);
    return this[tab](body, scope);
  }

  // All scopes

  showScopes() {
    const list = h("section", {"aria-label": t("Memories")});
    const field = h("input", {type: "search", placeholder: t("Filter memories by name"), "aria-label": t("Filter memories by name"), value: this.asked.get("q") ?? ""});
    const read = () => this.into(list, (signal) => get(`/api/memory${query({q: field.value.trim(), limit: 200})}`, signal),
      ({scopes, more}) => (scopes.length ? [h("ul.lines.card", null, scopes.map(lineOf)),
        more ? h("p.soft.small", null, t("Not all memories are listed. To find another memory, enter part of its name above.")) : null]
        : field.value ? h("p.soft", null, t("No memory matches this name.")) : nothingYet()));
    let waiting = 0;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(read, TYPING_MS);
    });
    fill(this, h("div.page", null,
      h("div.page-head", null, h("h1", null, t("Memory")), h("p.soft", null, t("Memory by owner"))),
      field, list));
    read();
  }

  // The text

  text(body, scope) {
    this.into(body, (signal) => get(api(scope), signal), (memory) => {
      if (this.#draft?.scope === scope) return this.editor(body, memory);
      return [
        h("div.page-head", null,
          h("p.soft.small", null, memory.version ? parts("Version {version} ({cause}): {time}, {n} tokens", {version: memory.version, cause: term(memory.cause), time: when(memory.time), n: count(memory.tokens)}) : t("No saved version yet")),
          h("div.row", null,
            press(t("Edit"), () => { this.#draft = {scope, text: memory.text, expect: memory.version}; fill(body, this.editor(body, memory)); body.querySelector("textarea").focus(); }))),
        memory.text.trim() ? h("article.card", null, prose(memory.text))
          : empty(t("MEMORY.md is empty"), h("p", null, t("Millpond writes MEMORY.md when it consolidates older messages. To consolidate older messages now, send /compact in the conversation. You can also write MEMORY.md yourself."))),
      ];
    });
  }

  editor(body, memory) {
    const draft = this.#draft;
    const leave = () => { this.#draft = null; this.text(body, draft.scope); };
    const save = async () => {
      try {
        await put(api(draft.scope), {text: field.value, expect: draft.expect}, this.signal);
      } catch (error) {
        if (error.status !== 409) throw error;
        const now = await get(api(draft.scope), this.signal);
        draft.expect = now.version;
        fill(note, h("div.notice-line", {role: "alert"},
          h("p", null, t("Version {version} was saved while you were editing. Your unsaved text is still in the editor. To replace version {version} with your text, save again.", now)),
          h("p", null, h("a", {href: `/memory/${segment(draft.scope)}/versions/${now.version}`}, t("Changes in version {version}", now)))));
        return;
      }
      toast(t("The memory was saved as a new version"));
      leave();
    };
    const field = h("textarea.memory-text", {"aria-label": "MEMORY.md", spellcheck: "true", rows: 24,
      oninput: () => { draft.text = field.value; },
      onkeydown: (event) => {
        if (event.key === "Escape") leave();
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) once(button, save);
      }});
    field.value = draft.text;
    const button = press(t("Save"), save, {kind: "primary"});
    const note = h("div", null);
    return h("div.stack", null,
      h("p.soft.small", null, memory.version ? t("Saving creates a new version that replaces version {version}. All earlier versions are kept.", memory) : t("Saving creates the first version of this memory.")),
      note, field, h("div.row", null, button, press(t("Cancel"), leave), h("span.soft.small", null, t("Press Ctrl+Enter to save."))));
  }

  // Versions

  versions(body, scope) {
    this.into(body, (signal) => get(api(scope, "/versions", {limit: PAGE}), signal), (found) => {
      const versions = found.versions ?? found;
      if (!versions.length) return nothingYet();
      return h("ol.lines.card", null, versions.map((each) => h("li", null,
        h("a", {href: `/memory/${segment(scope)}/versions/${each.version}`},
          h("span.name", null, t("Version {version}", each)),
          h("span.row.wrap", null, h("span.badge", {class: each.cause === "rejected" && "bad"}, term(each.cause)), each.current && h("span.badge.good", null, t("current"))),
          h("span.soft.small.grow", null, each.reason),
          h("span.number.small", null, h("span.came", null, `+${count(each.added)}`), " ", h("span.went", null, `−${count(each.removed)}`)),
          h("span.soft.small", null, when(each.time))))));
    });
  }

  showVersion(body, scope, number) {
    const how = this.asked.get("with") ?? "before";
    this.into(body, async (signal) => {
      const [version, current] = await Promise.all([get(api(scope, `/versions/${number}`), signal), get(api(scope), signal)]);
      const sides = how === "current" ? {from: number, to: current.version} : {from: Math.max(0, number - 1), to: number};
      const {lines} = how === "text" ? {lines: []} : await get(api(scope, "/diff", sides), signal);
      return {version, current, lines};
    }, ({version, current, lines}) => {
      const here = `/memory/${segment(scope)}/versions/`;
      const isCurrent = version.current ?? version.version === current.version;
      return [
        h("div.page-head", null,
          h("div", null, h("h2", null, t("Version {version}", version)),
            h("p.soft.small", null, term(version.cause), t(", "), when(version.time), version.by && t(", by {person}", {person: version.by}),
              version.reason && `: ${version.reason}`,
              version.session && parts(", from {session}", {session: toSession(version.session, plain(version.session), version.first ?? null)}))),
          h("div.row.wrap", null,
            number > 1 && h("a.button", {href: `${here}${number - 1}`}, t("‹ Older")),
            number < current.version && h("a.button", {href: `${here}${number + 1}`}, t("Newer ›")),
            isCurrent ? h("span.badge.good", null, t("current"))
              : sure(t("Restore"), t("Restore this version?"), () => this.restore(scope, number, current.version), {kind: "primary"}))),
        tabs(t("Comparison"), [
          [`${here}${number}`, t("Changes"), how === "before"],
          !isCurrent && [`${here}${number}?with=current`, t("Changes since version {version}", current), how === "current"],
          [`${here}${number}?with=text`, t("Full text"), how === "text"],
        ].filter(Boolean)),
        how === "text" ? h("article.card", null, prose(version.text || t("*Empty*"))) : diff(lines),
      ];
    });
  }

  async restore(scope, version, expect) {
    await post(api(scope, "/restore"), {version, expect}, this.signal);
    toast(t("Version {version} was restored as a new version", {version}));
    go(page(scope));
  }

  // History and notes

  history(body, scope) {
    const list = h("ol.entries", null);
    const more = press(t("Show older entries"), () => read(Number(list.lastElementChild.dataset.index)), {hidden: true});
    const read = async (before) => {
      const {entries} = await get(api(scope, "/history", {before, limit: PAGE}), this.signal);
      list.append(...entries.map((entry) => entryOf(entry)));
      more.hidden = entries.length < PAGE || !entries.at(-1).index;
      return entries;
    };
    this.into(body, () => read(), (entries) => (entries.length ? [list, more]
      : empty(t("No history yet"), h("p", null, t("As a conversation grows, its older messages are summarized. Each summary appears here as an entry.")))));
  }

  notes(body, scope) {
    const asked = this.asked.get("day");
    this.into(body, (signal) => get(api(scope, "/notes", {day: asked}), signal), ({days = [], day, notes}) => {
      if (!days.length && !notes.length) return empty(t("No notes yet"), h("p", null, t("Before older messages are summarized, the bot saves important facts to its daily notes.")));
      return h("div.stack", null,
        h("nav.row.wrap", {"aria-label": t("Days")}, days.map((each) =>
          h("a.chip", {href: page(scope, {tab: "notes", day: each}), "aria-current": each === day && "date"}, each))),
        h("ol.entries", null, notes.map((note) => h("li.card", null,
          h("p.soft.small", null, when(note.time), note.session && [" · ", toSession(note.session, plain(note.session))]),
          prose(note.text)))));
    });
  }

  // Search and forget

  search(body, scope) {
    const words = this.asked.get("q") ?? "";
    const hits = h("div.stack", {"aria-live": "polite"});
    fill(body, h("div.stack", null, wordsForm(t("Search terms"), t("Search"), words, (text) => go(page(scope, {tab: "search", q: text}))), hits));
    if (!words) {
      fill(hits, h("p.soft", null, t("The search covers MEMORY.md, the history and the notes. The best match is listed first.")));
      return;
    }
    this.into(hits, (signal) => get(api(scope, "/search", {q: words}), signal), (found) => (found.hits.length
      ? h("ol.entries", null, found.hits.map((hit) => hitOf(scope, hit, Math.max(SCORE_FULL, ...found.hits.map((each) => each.score)))))
      : h("p.soft", null, t("No matches were found in MEMORY.md, the history or the notes."))));
  }

  forget(body, scope) {
    const found = h("div.stack", {"aria-live": "polite"});
    const look = async (text) => {
      const list = await post(api(scope, "/forget"), {words: text}, this.signal);
      fill(found, this.choices(scope, list, () => fill(found)));
    };
    const form = wordsForm(t("Text to forget"), t("Find"), "", look);
    fill(body, h("div.stack", null,
      h("p", null, t("This search covers all stored data: messages, every version of MEMORY.md, history and notes. Nothing is deleted until you select entries and confirm.")),
      form, found));
  }

  choices(scope, list, close) {
    const items = list.found ?? list.list ?? [];
    const unsearched = list.waits && h("p.soft", null, t("The message archive is currently unavailable, so archived messages are not listed."));
    if (!items.length) return h("div.stack", null, h("p.soft", null, t("No stored data contains this text.")), unsearched);
    const form = h("form.stack", {onsubmit: (event) => event.preventDefault()});
    const forget = async (choose) => {
      const done = await post(api(scope, "/forget"), {token: list.token, choose}, this.signal);
      toast(done.reason ? t("Some passages could not be deleted: {reason}", done) : t("Deleting the selected passages…"));
      close();
    };
    const chosen = () => [...form.querySelectorAll("input:checked")].map((box) => Number(box.value));
    const some = sure(t("Forget the selected passages"), t("Permanently delete the selected passages?"), () => (chosen().length ? forget(chosen()) : toast(t("Select at least one entry to forget"))), {kind: "danger"});
    return fill(form, unsearched,
      h("ol.lines.card", null, items.map((item, at) => h("li", null, h("label", null,
        h("input", {type: "checkbox", value: item.number ?? at + 1}),
        h("span.grow", null, item.text ?? item.line ?? String(item)),
        item.where && h("span.badge", null, term(item.where)))))),
      h("div.row.wrap", null, some, sure(t("Forget all listed passages"), t("Permanently delete all listed passages?"), () => forget("all"), {kind: "danger"})));
  }
}

const nothingYet = () => empty(t("No memories yet"),
  h("p", null, t("When a conversation approaches its token limit, older messages are summarized, and important facts are saved to memory.")),
  h("p", null, h("a", {href: "/"}, t("To summarize older messages now, open a conversation and send /compact."))));

function lineOf({scope, version, time, tokens, entries, notes}) {
  const {kind, name, channel} = nameOf(scope);
  return h("li", null, h("a", {href: page(scope)},
    h("span.name", {title: scope}, name),
    h("span.row.wrap", null, h("span.badge", null, term(kind)), channel && h("span.badge", null, channel)),
    h("span.soft.small.grow", null, [version ? t("version {version}", {version}) : t("no saved version yet"), t("{n} tokens", {n: short(tokens)}),
      counted(entries, "history entry", "history entries"), counted(notes, "note")].join(" · ")),
    h("span.soft.small", null, time && ago(time))));
}

function entryOf(entry) {
  const range = entry.upto > entry.first && toSession(entry.session, t("messages {first}–{last}", {first: entry.first, last: entry.upto - 1}), entry.first);
  return h("li.card", {"data-index": entry.index, id: `entry-${entry.index}`},
    h("p.soft.small.row.wrap", null, h("span.badge.accent", null, t("Entry {index}", entry)),
      h("span.badge", {class: entry.kind === "raw" && "warn"}, entry.kind === "raw" ? t("verbatim") : term(entry.kind)),
      entry.lost && h("span.badge.bad", null, t("The messages that this entry summarizes were lost in a Redis failover.")),
      when(entry.time), entry.session && h("span", null, plain(entry.session)), range),
    prose(entry.text));
}

function hitOf(scope, hit, most) {
  const where = {memory: page(scope), history: page(scope, {tab: "history"}), notes: page(scope, {tab: "notes", day: (hit.time ?? "").slice(0, 10)})};
  const bar = h("span.score", {role: "img", "aria-label": t("relevance score {n}", {n: hit.score.toFixed(2)}), title: t("relevance score {n}", {n: hit.score.toFixed(2)})}, h("span", null));
  bar.firstChild.style.width = `${Math.round((100 * hit.score) / most)}%`;
  return h("li.card", null,
    h("p.soft.small.row.wrap", null, h("a.badge.accent", {href: where[hit.source]}, term(hit.source)), bar,
      h("span.number", {"aria-hidden": "true"}, hit.score.toFixed(2)), hit.time && when(hit.time)),
    h("pre.wrap.plain", null, hit.text));
}

/** A field and a button that calls `submit` with the words. */
function wordsForm(label, action, value, submit) {
  const field = h("input", {type: "search", "aria-label": label, placeholder: label, value, autocomplete: "off"});
  const button = h("button.button.primary", {type: "submit"}, action);
  return h("form.row", {role: "search", onsubmit: (event) => {
    event.preventDefault();
    if (field.value.trim()) once(button, async () => submit(field.value.trim()));
  }}, field, button);
}

/** The lines of a comparison; long unchanged passages are folded. */
export function diff(lines) {
  const marked = lines.map((line) => line.some(([mark, text]) => mark !== "same" && text !== ""));
  if (!marked.includes(true)) return h("p.soft", null, t("The two versions are identical."));
  const near = (at) => marked.slice(Math.max(0, at - AROUND), at + AROUND + 1).includes(true);
  const shown = [];
  let folded = [];
  const unfold = () => {
    if (folded.length > 1) shown.push(fold(folded));
    else shown.push(...folded.map(lineOfDiff));
    folded = [];
  };
  lines.forEach((line, at) => {
    if (near(at)) {
      unfold();
      shown.push(lineOfDiff(line));
    } else {
      folded.push(line);
    }
  });
  unfold();
  return h("div.card.diff", {tabindex: 0, role: "region", "aria-label": t("Differences")}, shown);
}

function fold(lines) {
  const button = h("button.quiet", {type: "button", onclick: () => button.replaceWith(...lines.map(lineOfDiff))}, t("Show {n} unchanged lines", {n: lines.length}));
  return button;
}

function lineOfDiff(line) {
  const kinds = new Set(line.filter(([, text]) => text.trim()).map(([mark]) => mark));
  const kind = kinds.size === 1 ? [...kinds][0] : kinds.size ? "changed" : "same";
  return h(`p.${kind}`, null, line.map(([mark, text]) => (mark === "same" ? text : h(mark === "new" ? "ins" : "del", null, text))));
}

customElements.define("mp-memory", Memory);
