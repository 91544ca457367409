// Colours of code. highlight.js finds the parts of a code, and the elements are made here: it is given no document.

import {fill, h} from "/page/dom.js";
import library from "/page/highlight.min.js";
import {fileOf} from "/page/languages.js";

/** Longer code stays plain, so that it never keeps the page busy. */
const CHARS_MAX = 50_000;

/** Collects what the library finds, as children of `h`: texts, and elements whose class is the kind of the part. */
class Emitter {
  constructor() {
    this.children = [];
    this.open = [this.children];
  }

  addText(text) { this.open.at(-1).push(text); }

  openNode(scope) {
    const inner = [];
    this.open.at(-1).push([scope, inner]);
    this.open.push(inner);
  }

  closeNode() { this.open.pop(); }

  startScope(scope) { this.openNode(scope); }

  endScope() { this.closeNode(); }

  __addSublanguage(other) { this.open.at(-1).push(...other.children); }

  finalize() {}

  toHTML() { return ""; }
}

library.configure({__emitter: Emitter});

/** Colour the text of a `code` element in a language that is known. */
export async function highlight(element, language) {
  const text = element.textContent;
  const file = library.getLanguage(language) ? "" : fileOf(language);
  if (text.length > CHARS_MAX || file === undefined) return;
  if (file) library.registerLanguage(file, (await import(`/page/languages/${file}.min.js`)).default);
  const {_emitter: found, errorRaised} = library.highlight(text, {language, ignoreIllegals: true});
  if (!errorRaised) fill(element, drawn(found.children));
}

const drawn = (children) => children.map((each) => (typeof each === "string" ? each : h(`span.hl-${each[0].split(".")[0]}`, null, drawn(each[1]))));
