// Creating and deleting bots.

import {post} from "/page/api.js";
import {h, toast} from "/page/dom.js";
import {Form, choice, field} from "/page/settings-form.js";
import {sure} from "/page/views.js";
import {t} from "/page/words.js";

/** The form for a new bot. */
export function newBot(view, settings) {
  const names = Object.keys(settings.bots);
  const name = h("input", {required: true, spellcheck: "false", autocomplete: "off", maxlength: 64});
  const like = choice(names.map((each) => [each, each]), names[0]);
  const form = new Form([
    field("new-bot", t("New bot name"), name, {name: "name", hint: t("Use only lowercase letters (a-z), digits, _ and -.")}),
    field("like", t("Copy the model and language from"), like),
  ], {
    submit: t("Create the bot"),
    async onsubmit() {
      await post("/api/settings/bot", {name: name.value.trim(), like: like.value, digest: view.settings.digest}, view.signal);
      toast(t("The bot was created. Next, connect a channel to the bot."));
      view.load("bots");
    },
  });
  return h("details.card", null, h("summary", null, t("Create a bot")), form.element);
}

/** The button that deletes a bot, if there are several. */
export function deleteBot(view, settings, bot) {
  if (Object.keys(settings.bots).length < 2) return null;
  const problem = h("p.problem", {role: "alert"});
  return h("div.stack", null, h("p.soft.small", null, t("Deleting a bot does not delete its files, conversations or memories.")), problem,
    h("div.row", null, sure(t("Delete this bot"), t("Delete {bot}?", {bot}), async () => {
      try {
        await post("/api/settings/bot/delete", {bot, digest: view.settings.digest}, view.signal);
      } catch (error) {
        if (error.name !== "AbortError") problem.textContent = error.detail ?? error.message;
        return;
      }
      toast(t("The bot was deleted."));
      view.load("bots");
    }, {kind: "danger"})));
}
