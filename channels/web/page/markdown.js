// Markdown → DOM nodes, all made by `h`: text is shown, never run. Every pass over a text is linear, and nesting is
// bounded, so that no text keeps the page busy.

import {add, h, isSafe} from "/page/dom.js";
import {otherTarget} from "/page/links.js";
import {t} from "/page/words.js";

const DEPTH_MAX = 8;
const COLUMNS_MAX = 40;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]{0,40})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const ROW_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** The beginning and the end of a formula that stands alone, and of one in a line; longer ones stay text. */
const DISPLAYS = [["$$", "$$"], ["\\[", "\\]"]];
const FORMULA = /\\\((?<round>[^\n]{1,500}?)\\\)|\$(?<dollar>(?![\s$])(?:\\.|[^\\$\n`]){0,500}?[^\s\\$`]|[^\s$])\$(?![\d$])/y;
const FORMULA_MAX = 5_000;
const FORMULA_LINES = 100;

/**
 * Show `text` in `element`. A later call with a longer text changes only the blocks that differ, so that an answer in
 * progress is drawn as it arrives.
 */
export function show(element, text) {
  const blocks = split(text.replace(/\r\n?/g, "\n").split("\n"));
  const had = element.blocks ?? [];
  blocks.forEach((block, at) => {
    if (had[at] === block.source) return;
    const node = draw(block, 0);
    const old = element.children[at];
    if (old) old.replaceWith(node);
    else element.append(node);
  });
  while (element.children.length > blocks.length) element.lastElementChild.remove();
  element.blocks = blocks.map((block) => block.source);
}

/** The lines of a text → its top-level blocks, each with the `source` it was made of. */
function split(lines) {
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const [block, upto] = next(lines, at);
    block.source = `${block.kind}${lines.slice(at, upto).join("\n")}`;
    blocks.push(block);
    at = upto;
  }
  return blocks;
}

function next(lines, at) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return fenced(lines, at, fence);
  const display = DISPLAYS.find(([mark]) => line.trimStart().startsWith(mark)) && displayed(lines, at);
  if (display) return display;
  const heading = HEADING.exec(line);
  if (heading) return [{kind: "heading", level: heading[1].length, text: (heading[2] ?? "").replace(/[ \t]+#+[ \t]*$/, "")}, at + 1];
  if (RULE.test(line)) return [{kind: "rule"}, at + 1];
  if (QUOTE.test(line)) return quoted(lines, at);
  if (ITEM.test(line)) return listed(lines, at);
  if (line.includes("|") && ROW_RULE.test(lines[at + 1] ?? "") && lines[at + 1].includes("-")) {
    const found = tabled(lines, at);
    if (found) return found;
  }
  return paragraph(lines, at);
}

function fenced(lines, at, [, marks, language]) {
  let upto = at + 1;
  const end = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}[ \\t]*$`);
  while (upto < lines.length && !end.test(lines[upto])) upto += 1;
  return [{kind: "code", language, text: lines.slice(at + 1, upto).join("\n")}, Math.min(upto + 1, lines.length)];
}

/** A formula of one or more lines, if it has an end. */
function displayed(lines, at) {
  const [mark, end] = DISPLAYS.find(([each]) => lines[at].trimStart().startsWith(each));
  const whole = [];
  for (let upto = at; upto < lines.length && whole.length < FORMULA_LINES; upto += 1) {
    const line = upto === at ? lines[at].trimStart().slice(mark.length) : lines[upto];
    const last = line.trimEnd();
    if (last.endsWith(end)) {
      const text = [...whole, last.slice(0, -end.length)].join("\n").trim();
      return text && text.length < FORMULA_MAX ? [{kind: "formula", text}, upto + 1] : null;
    }
    if (line.includes(end) || (upto > at && !line.trim())) return null;
    whole.push(line);
  }
  return null;
}

function quoted(lines, at) {
  const inner = [];
  let upto = at;
  while (upto < lines.length && QUOTE.test(lines[upto])) inner.push(lines[upto++].replace(QUOTE, ""));
  return [{kind: "quote", lines: inner}, upto];
}

function listed(lines, at) {
  const ordered = /\d/.test(ITEM.exec(lines[at])[2]);
  const items = [];
  let upto = at;
  while (upto < lines.length) {
    const item = ITEM.exec(lines[upto]);
    if (!item || /\d/.test(item[2]) !== ordered || RULE.test(lines[upto])) break;
    const indent = Math.min(item[0].length, item[1].length + item[2].length + 4);
    const inner = [lines[upto].slice(item[0].length)];
    upto += 1;
    while (upto < lines.length) {
      const line = lines[upto];
      if (!line.trim()) {
        // A blank line belongs to the item if the next line is indented.
        if (indentOf(lines[upto + 1] ?? "") < Math.min(indent, 2) || !(lines[upto + 1] ?? "").trim()) break;
        inner.push("");
      } else if (indentOf(line) >= Math.min(indent, 2)) inner.push(line.slice(Math.min(indent, indentOf(line))));
      else if (inner.at(-1).trim() && !starts(line)) inner.push(line);
      else break;
      upto += 1;
    }
    items.push(inner);
    // A blank line between two items is allowed.
    if (upto + 1 < lines.length && !lines[upto].trim() && ITEM.test(lines[upto + 1])) upto += 1;
  }
  return [{kind: "list", ordered, start: parseInt(ITEM.exec(lines[at])[2], 10) || 0, items}, upto];
}

const indentOf = (line) => line.length - line.trimStart().length;
const starts = (line) => DISPLAYS.some(([mark]) => line.trimStart().startsWith(mark)) || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);

function tabled(lines, at) {
  const head = cells(lines[at]);
  const rule = cells(lines[at + 1]);
  if (head.length !== rule.length || head.length > COLUMNS_MAX) return null;
  const aligned = rule.map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : ""));
  const rows = [];
  let upto = at + 2;
  while (upto < lines.length && lines[upto].trim() && lines[upto].includes("|")) rows.push(cells(lines[upto++]));
  return [{kind: "table", head, aligned, rows}, upto];
}

function cells(line) {
  const found = [""];
  const text = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\" && text[at + 1] === "|") found[found.length - 1] += text[++at];
    else if (text[at] === "|") found.push("");
    else found[found.length - 1] += text[at];
  }
  return found.map((cell) => cell.trim());
}

function paragraph(lines, at) {
  let upto = at + 1;
  while (upto < lines.length && lines[upto].trim() && !starts(lines[upto])) {
    if (lines[upto].includes("|") && ROW_RULE.test(lines[upto + 1] ?? "")) break;
    upto += 1;
  }
  return [{kind: "paragraph", text: lines.slice(at, upto).join("\n").trim()}, upto];
}

function draw(block, depth) {
  switch (block.kind) {
    case "heading": return h(`h${Math.min(block.level + 2, 6)}`, null, inline(block.text));
    case "rule": return h("hr", null);
    case "code": return code(block);
    case "formula": return formulaOf(block.text, `$$${block.text}$$`, true);
    case "quote": return h("blockquote", null, inner(block.lines, depth));
    case "list": return list(block, depth);
    case "table": return table(block);
    default: return h("p", null, inline(block.text));
  }
}

function inner(lines, depth) {
  if (depth >= DEPTH_MAX) return h("p", null, lines.join("\n"));
  return split(lines).map((block) => draw(block, depth + 1));
}

function list({ordered, start, items}, depth) {
  return h(ordered ? "ol" : "ul", {start: ordered && start !== 1 ? start : null}, items.map((lines) => {
    const task = /^\[([ xX])\][ \t]+/.exec(lines[0]);
    if (task) lines = [lines[0].slice(task[0].length), ...lines.slice(1)];
    const parts = inner(lines, depth);
    const only = Array.isArray(parts) && parts[0]?.localName === "p" ? [...parts[0].childNodes] : null;
    return h("li", {class: task && "task"},
      task && h("input", {type: "checkbox", disabled: true, checked: task[1] !== " ", "aria-label": task[1] === " " ? t("open") : t("done")}),
      only ? [only, parts.slice(1)] : parts);
  }));
}

function table({head, aligned, rows}) {
  const row = (name, texts) => h("tr", null, head.map((_, at) => h(name, {class: aligned[at], scope: name === "th" && "col"}, inline(texts[at] ?? ""))));
  return h("div.scroll-x", {tabindex: 0, role: "group", "aria-label": t("Table")},
    h("table", null, h("thead", null, row("th", head)), h("tbody", null, rows.map((texts) => row("td", texts)))));
}

/** A button that copies a text. */
export function copyButton(text) {
  if (!navigator.clipboard) return null;
  const button = h("button.action", {type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = t("Copied");
    } catch {
      button.textContent = t("Could not copy the text");
    }
    setTimeout(() => { button.textContent = t("Copy"); }, 1500);
  }}, t("Copy"));
  return button;
}

function code({language, text}) {
  const body = h("code", null, text);
  const lines = text.split("\n").length;
  if (language) later(body, async () => (await import("/page/highlight.js")).highlight(body, language.toLowerCase()));
  return h("div.code", null,
    h("div.code-head", null, h("span", null, language || t("text")), copyButton(text)),
    h("pre", {tabindex: 0}, lines > 1 ? h("span.numbered", null, h("span.line-numbers", {dataset: {lines: numbers(lines)}}), body) : body));
}

/** The numbers of lines, which are drawn by the style: selecting or copying the code leaves them out. */
const numbers = (count) => Array.from({length: count}, (_, at) => at + 1).join("\n");

/** A formula, which is shown as its `source` until it is drawn, and if it cannot be read. */
function formulaOf(tex, source, alone) {
  const element = h(alone ? "p.formula.scroll-x" : "span.formula", alone ? {tabindex: 0} : null, source);
  later(element, async () => (await import("/page/formula.js")).formula(element, tex, alone));
  return element;
}

/** Improve an element once it is shown; an answer in progress is drawn too often for that. */
function later(element, improve) {
  requestAnimationFrame(async () => {
    if (!element.isConnected || element.closest(".writing")) return;
    try {
      await improve();
    } catch (error) {
      console.warn(error); // the text stays as it is
    }
  });
}

const PLAIN = /[^\\`*_~[!<hw$]+|[\\`*_~[!<hw$]/y;
const LINK = /!?\[([^[\]]{0,1000})\]\([ \t]*<?([^\s<>()]{0,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500}){0,8})>?(?:[ \t]+"[^"\n]{0,300}")?[ \t]*\)/y;
const ANGLE = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y;
const BARE = /(?:https?:\/\/|www\.)[^\s<>"'`*|\\^{}]{2,2000}/y;
const MARKS = {"**": "strong", "__": "strong", "*": "em", _: "em", "~~": "del"};

/** Text with emphasis, code, links → nodes and strings. */
function inline(text) {
  const root = {mark: "", parts: []};
  const open = [root];
  const missing = new Set();
  const say = (part) => open.at(-1).parts.push(part);
  let at = 0;
  const match = (pattern) => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  while (at < text.length) {
    const char = text[at];
    let found;
    if ((char === "$" || (char === "\\" && text[at + 1] === "(")) && (found = match(FORMULA))) {
      say(formulaOf((found.groups.round ?? found.groups.dollar).trim(), found[0], false));
      at += found[0].length;
    } else if (char === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) {
      say(text[at + 1]);
      at += 2;
    } else if (char === "`") {
      const run = /`+/y;
      const marks = match(run)[0];
      const end = missing.has(marks.length) ? -1 : closing(text, marks, at + marks.length);
      if (end < 0) missing.add(marks.length);
      say(end < 0 ? marks : h("code", null, text.slice(at + marks.length, end).replace(/\n/g, " ").replace(/^ (.*\S.*) $/, "$1")));
      at = end < 0 ? at + marks.length : end + marks.length;
    } else if ((char === "[" || (char === "!" && text[at + 1] === "[")) && (found = match(LINK))) {
      say(link(found[2], inline(found[1] || found[2]), found[0]));
      at += found[0].length;
    } else if (char === "<" && (found = match(ANGLE))) {
      say(link(found[1], [found[1]], found[0]));
      at += found[0].length;
    } else if ((char === "h" || char === "w") && !/\w/.test(text[at - 1] ?? "") && (found = match(BARE))) {
      const address = trimmed(found[0]);
      say(link(address.startsWith("w") ? `https://${address}` : address, [address], address));
      at += address.length;
    } else if ("*_~".includes(char)) {
      at += emphasis(text, at, open, say);
    } else {
      const plain = match(PLAIN)[0];
      say(plain);
      at += plain.length;
    }
  }
  while (open.length > 1) unclosed(open);
  return root.parts;
}

function closing(text, marks, from) {
  for (let at = text.indexOf(marks, from); at >= 0; at = text.indexOf(marks, at)) {
    let upto = at;
    while (text[upto] === "`") upto += 1;
    if (upto - at === marks.length) return at;
    at = upto;
  }
  return -1;
}

/** Open or close an emphasis at `at` → the number of characters used. */
function emphasis(text, at, open, say) {
  const char = text[at];
  const mark = text[at + 1] === char ? char + char : char;
  if (!(mark in MARKS)) {
    say(mark);
    return mark.length;
  }
  const before = text[at - 1] ?? " ";
  const after = text[at + mark.length] ?? " ";
  const inWord = char === "_" && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after);
  const level = open.findLastIndex((each) => each.mark === mark);
  if (level > 0 && !/\s/.test(before) && !inWord && (level < open.length - 1 || open[level].parts.length)) {
    while (open.length - 1 > level) unclosed(open);
    const {parts} = open.pop();
    open.at(-1).parts.push(h(MARKS[mark], null, parts));
  } else if (!/\s/.test(after) && !inWord && !(char === "_" && /[\p{L}\p{N}]/u.test(before)) && open.length <= DEPTH_MAX) {
    open.push({mark, parts: []});
  } else say(mark);
  return mark.length;
}

function unclosed(open) {
  const {mark, parts} = open.pop();
  add({append: (part) => open.at(-1).parts.push(part)}, mark, parts);
}

/** Closing brackets and full stops at the end of an address belong to the sentence. */
function trimmed(address) {
  let end = address.length;
  while (end > 1) {
    const last = address[end - 1];
    if (/[.,:;!?_~]/.test(last)) end -= 1;
    else if (last === ")" && count(address.slice(0, end), ")") > count(address.slice(0, end), "(")) end -= 1;
    else break;
  }
  return address.slice(0, end);
}

const count = (text, char) => text.split(char).length - 1;

function link(address, parts, source) {
  // An address of this page, or one that could run a script, gets no link: its source is shown instead.
  if (!/^(https?:|mailto:)/i.test(address) || !isSafe(address) || !URL.canParse(address)) return source;
  const shown = h("a", {href: address, target: "_blank", rel: "noopener noreferrer nofollow"}, parts);
  const target = otherTarget(shown.textContent, address);
  return target ? [shown, ` (${target})`] : shown;
}
