// Colours of code. highlight.js finds the parts of a code, or Prism in a worker, and the elements are made here.

import {fill, h} from "/page/dom.js";
import library from "/page/highlight.min.js";
import {fileOf, grammarOf} from "/page/code-languages.js";

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

/** Longest time for a text in a language of Prism; a longer one stays plain. */
const GRAMMAR_MS = 5_000;

let worker = null;
let last = Promise.resolve();

/** Ask the worker for the parts of a text, one text after the other; null if that takes too long. */
function grammarParts(file, text) {
  last = last.then(() => new Promise((done) => {
    worker ??= new Worker("/page/grammar-worker.js", {type: "module"});
    const stop = () => {
      worker.terminate();
      worker = null;
      done(null);
    };
    const timer = setTimeout(stop, GRAMMAR_MS);
    worker.onmessage = ({data}) => {
      clearTimeout(timer);
      done(data);
    };
    worker.postMessage({file, text});
  }));
  return last;
}

/** The parts of a text by highlight.js, which has the language built in or in a file. */
async function libraryParts(file, language, text) {
  if (file) library.registerLanguage(file, (await import(`/page/languages/${file}.min.js`)).default);
  const {_emitter: found, errorRaised} = library.highlight(text, {language, ignoreIllegals: true});
  return errorRaised ? null : found.children;
}

/** Colour the text of a `code` element in a language that is known. */
export async function highlight(element, language) {
  const text = element.textContent;
  const file = library.getLanguage(language) ? "" : fileOf(language);
  const grammar = file === undefined && grammarOf(language);
  if (text.length > CHARS_MAX || grammar === undefined) return;
  const found = await (grammar ? grammarParts(grammar, text) : libraryParts(file, language, text));
  if (found) fill(element, drawn(found));
}

const drawn = (children) => children.map((each) => (typeof each === "string" ? each : h("span", {class: `hl-${each[0].split(".")[0]}`}, drawn(each[1]))));
