// Formulas of TeX as MathML, which the browser draws: Temml makes the elements, and a formula cannot name other files.

import {fill, h} from "/page/dom.js";

const LIMITS = {throwOnError: true, trust: false, maxExpand: 500, maxSize: [20, 100]};

document.head.append(h("link", {rel: "stylesheet", href: "/page/Temml-STIX2.css"}));
// Temml is a classic script: it sets a variable of the window.
await new Promise((done, failed) => {
  document.head.append(h("script", {src: "/page/temml.min.js", onload: done, onerror: failed}));
});

/** Draw the formula `tex` in `element`. A formula that cannot be read stays as it is written. */
export function formula(element, tex, displayMode) {
  const drawn = h("span", null);
  try {
    window.temml.render(tex, drawn, {...LIMITS, displayMode});
  } catch {
    return;
  }
  fill(element, ...drawn.childNodes);
}
