// Finds the parts of code in the languages of Prism. A worker of its own: some of its patterns take minutes for a text that
// was made for it, and must not keep the page busy.

import {Prism} from "/page/grammars/prism-core.js";

/** The kinds of highlight.js, which have colours, by the kinds of Prism. */
const SCOPES = {
  boolean: "literal", constant: "literal", builtin: "built_in", "class-name": "type", directive: "meta", annotation: "meta", macro: "meta",
  important: "keyword", atrule: "keyword", char: "string", "attr-value": "string", url: "string", regex: "regexp", inserted: "addition",
  deleted: "deletion", "attr-name": "attr", key: "attr", variable: "property", function: "title", tag: "name", selector: "selector-tag",
  prolog: "comment", doctype: "comment", cdata: "comment",
};

/** The grammars call this for the grammars that they are made of. */
Prism.register = (grammar) => {
  if (!Object.hasOwn(Prism.languages, grammar.displayName)) grammar(Prism);
};

/** A token as a text, or as its kinds and its parts. */
function part(token) {
  if (typeof token === "string") return token;
  const kinds = [token.type, token.alias ?? []].flat().map((kind) => SCOPES[kind] ?? kind);
  return [kinds.join(" hl-"), [token.content].flat().map(part)];
}

addEventListener("message", async ({data: {file, text}}) => {
  Prism.register((await import(`/page/grammars/${file}.js`)).default);
  const found = {code: text, language: file, grammar: Prism.languages[file]};
  Prism.hooks.run("before-tokenize", found);
  found.tokens = Prism.tokenize(found.code, found.grammar);
  Prism.hooks.run("after-tokenize", found);
  postMessage(found.tokens.map(part));
});
