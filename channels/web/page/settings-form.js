// Forms of the settings: fields with labels, hints and errors; one request at a time.

import {add, fill, h} from "/page/dom.js";
import {once} from "/page/views.js";
import {t} from "/page/words.js";

let made = 0;

/** A field with its label; `name` is the field's name in errors of the API, and a `wide` one fills its row. */
export function field(key, label, input, {name = key, hint, hidden, wide} = {}) {
  const id = `field-${key}-${(made += 1)}`;
  input.id = id;
  const problem = h("p.problem.small", {id: `${id}-problem`, hidden: true});
  const said = hint && h("div.soft.small", {id: `${id}-hint`}, hint);
  if (said) input.setAttribute("aria-describedby", `${id}-hint`);
  const isFlag = input.type === "checkbox";
  const element = h("div.field", {class: isFlag ? "flag" : wide && "wide", hidden}, isFlag && input, h("label", {for: id}, label), !isFlag && input, said, problem);
  return Object.assign(element, {input, problem, fieldName: name});
}

/** A `<select>` of `[[value, label], …]`. */
export function choice(options, chosen) {
  const select = h("select", null, options.map(([value, label]) => h("option", {value}, label)));
  select.value = chosen;
  return select;
}

/** A form; an error of its request is shown at the field that it names, or above the buttons. */
export class Form {
  constructor(fields, {submit, onsubmit, more}) {
    this.fields = fields.filter(Boolean);
    this.problem = h("p.problem", {role: "alert", hidden: true});
    this.button = h("button.button.primary", {type: "submit"}, submit);
    this.element = h("form.settings", {onsubmit: (event) => {
      event.preventDefault();
      once(this.button, () => this.run(onsubmit));
    }}, this.fields, this.problem, h("div.row.wrap", null, this.button, more));
  }

  /** Run a request of the form, and show its error. */
  async run(work) {
    this.clear();
    try {
      await work();
    } catch (error) {
      if (error.name !== "AbortError") this.show(error);
    }
  }

  clear() {
    this.problem.hidden = true;
    for (const each of this.fields.filter((one) => one.input)) {
      each.problem.hidden = true;
      each.input.removeAttribute("aria-invalid");
    }
  }

  show(error) {
    const at = this.fields.find((each) => each.fieldName && each.fieldName === error.field);
    const place = at?.problem ?? this.problem;
    fill(place, error.message);
    // The general sentence of a translation does not tell the reason, which the server words in English.
    if (error.detail && error.detail !== error.message) add(place, " ", h("span", {lang: "en"}, error.detail));
    place.hidden = false;
    if (!at) return;
    at.input.setAttribute("aria-invalid", "true");
    at.input.setAttribute("aria-describedby", place.id);
    at.input.focus();
  }
}

/** The choice of the people who may write to a bot. */
export const accessChoice = (chosen) => choice([
  ["pairing", t("you and people you approve (anyone else receives a pairing code)")],
  ["private", t("only you (messages from everyone else are ignored)")],
  ["open", t("anyone who finds the bot (you pay for every answer)")],
], chosen);
