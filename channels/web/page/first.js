// The first screen of a conversation: who answers here, and three examples of a message.

import {fill, h} from "/page/dom.js";
import {t} from "/page/words.js";

const EXAMPLES = [
  [t("Remember something"), t("Remember that my sister's birthday is on May 12 and that she likes tea.")],
  [t("Explain something"), t("Explain how tides work in five sentences.")],
  [t("Write an email"), t("Write a short, polite email that moves a meeting from Thursday to Friday.")],
];

/**
 * The first screen; `write(text)` puts an example into the message field. Without it, nobody can write here. `offline`: the
 * bot has no real model yet.
 */
export function firstScreen(bot, write, offline) {
  const screen = h("div.empty.first", null);
  if (!write) return fill(screen, h("h2", null, t("No messages yet")));
  return fill(screen,
    h("img", {src: "/page/icon.svg", alt: "", width: 48, height: 48}),
    h("h2", null, t("Talk to {bot}", {bot})),
    offline && h("div.card.setup", null, h("p", null, t("No language model is set up yet, so an offline mock model answers all messages.")),
      h("a.button.primary", {href: "/settings"}, t("Set up a model"))),
    h("p", null, t("{bot} remembers important facts, no matter how long the conversation gets.", {bot})),
    h("ul.examples", {"aria-label": t("Examples")}, EXAMPLES.map(([title, text]) =>
      h("li", null, h("button.example", {type: "button", onclick: () => write(text)}, h("strong", null, title), h("span", null, text))))),
    h("p.small", null, t("Type / to see all commands.")));
}
