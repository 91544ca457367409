// Settings: the first setup with a trial of the model, bots and their limits, channels, and people.

import {get, post, put} from "/page/api.js";
import {empty, fill, h, toast} from "/page/dom.js";
import {showChannels} from "/page/settings-channels.js";
import {deleteBot, newBot} from "/page/settings-bots.js";
import {Form, choice, field} from "/page/settings-form.js";
import {showPeople} from "/page/settings-people.js";
import {View, press, tabs} from "/page/views.js";
import {parts, t} from "/page/words.js";

const TABS = {model: t("Model"), bots: t("Bots and limits"), channels: t("Channels"), people: t("People")};
/** How long the page waits for the end of a restart, and how often it looks. */
const RESTART_MS = 90_000;
const LOOK_MS = 400;

export class SettingsView extends View {
  changed() {
    const tab = this.params.tab ?? "model";
    this.classList.add("view");
    this.bar = h("div.settings-bar", {role: "status"});
    this.body = h("section.stack", {"aria-label": TABS[tab] ?? t("Settings")});
    fill(this, h("div.page", null, h("h1", null, t("Settings")),
      tabs(t("Settings"), Object.entries(TABS).map(([name, label]) => [name === "model" ? "/settings" : `/settings/${name}`, label, name === tab])),
      this.bar, this.body));
    this.querySelector(".tabs [aria-current]")?.scrollIntoView({block: "nearest", inline: "nearest"});
    if (tab === "people") showPeople(this, this.body);
    else if (TABS[tab]) this.load(tab);
    else fill(this.body, empty(t("Page not found"), h("p", null, h("a", {href: "/settings"}, t("Back to settings")))));
  }

  /** Read the settings, and show a tab of them. */
  load(tab) {
    const show = {model: showModel, bots: showBots, channels: showChannels}[tab];
    this.into(this.body, (signal) => get("/api/settings", signal), (settings) => {
      this.settings = settings;
      this.tell();
      return show(this, settings);
    });
  }

  /** Read the settings again after a change, without drawing the forms again. */
  async renew() {
    this.settings = await get("/api/settings", this.signal);
    this.tell();
  }

  /** Above the forms: whether a restart is needed. */
  tell() {
    const {in_use: used, others} = this.settings;
    fill(this.bar, !used && h("div.notice-line.stack", null,
      h("p", null, t("Your saved settings are not in effect yet. Restart Millpond to apply the settings. Millpond finishes answers in progress before it restarts.")),
      others.length > 0 && h("p", null, parts("Restart these processes manually: {names}", {names: h("code", null, others.join(", "))})),
      h("div.row.wrap", null, press(t("Restart now"), () => this.restart(), {kind: "primary"}))));
  }

  /** Restart this process, and wait until the settings are in use; whether that worked. */
  async restart() {
    await post("/api/settings/restart", {}, this.signal);
    fill(this.bar, h("p.notice-line", null, t("Millpond is restarting…")));
    const until = Date.now() + RESTART_MS;
    while (Date.now() < until) {
      await new Promise((done) => setTimeout(done, LOOK_MS));
      const settings = await get("/api/settings", this.signal).catch(() => null);
      if (this.signal.aborted) return false;
      if (!settings?.in_use) continue;
      this.settings = settings;
      fill(this.bar);
      dispatchEvent(new Event("mp-restarted"));
      toast(t("Millpond has restarted. The settings are now in effect."));
      return true;
    }
    fill(this.bar, h("p.problem", {role: "alert"}, t("Millpond could not restart. Check the output of `millpond run`.")));
    return false;
  }
}

/** The choice of a bot, if there are several. */
export const botChoice = (settings, chosen) => field("bot", t("Bot"), choice(Object.keys(settings.bots).map((name) => [name, name]), chosen),
  {hidden: Object.keys(settings.bots).length < 2});

// The model

function showModel(view, settings) {
  const name = view.asked.get("bot") ?? Object.keys(settings.bots)[0];
  const bot = settings.bots[name] ?? Object.values(settings.bots)[0];
  const apis = settings.apis;
  const known = h("datalist", {id: "models"});
  const api = choice([["openai", t("OpenAI and compatible servers (Chat Completions API)")], ["anthropic", t("Anthropic and compatible servers (Messages API)")]], bot.api);
  const url = h("input", {type: "url", required: true, spellcheck: "false", value: bot.url || (bot.offline ? apis[bot.api].url : "")});
  const key = h("input", {type: "password", autocomplete: "off"});
  const model = h("input", {required: true, spellcheck: "false", autocomplete: "off", list: "models", value: bot.name || ""});
  const result = h("div.stack", {role: "status"});
  const answers = () => ({bot: name, api: api.value, url: url.value.trim(), name: model.value.trim(), key: typed(key, bot.key_set)});
  const list = async () => {
    const {models} = await post("/api/settings/model/names", answers(), view.signal);
    fill(known, models.map((each) => h("option", {value: each})));
    toast(models.length ? t("Available models: {models}", {models: models.slice(0, 12).join(", ")}) : t("The server did not return a list of models. Enter a model name."));
    if (models.length === 1 && !model.value) model.value = models[0];
  };
  api.addEventListener("change", () => {
    if (Object.values(apis).some((each) => each.url === url.value)) url.value = apis[api.value].url;
  });

  const save = async (given) => {
    await post("/api/settings/model", {...given, digest: view.settings.digest}, view.signal);
    key.value = "";
    await view.renew();
    if (view.settings.in_use || !(await view.restart())) return;
    fill(view.body, h("div.card.stack", {role: "status"}, h("h2", null, t("{bot} is ready", {bot: name})),
      h("p", null, given.url === "-" ? t("The offline mock model is in use.") : t("{model} answers.", {model: given.name})),
      h("div.row.wrap", null, h("a.button.primary", {href: "/"}, t("Start a conversation")), h("a.button", {href: "/settings/channels"}, t("Connect a chat platform")))));
  };
  const form = new Form([
    field("api", t("Model API"), api, {name: "model-api", wide: true}),
    field("url", t("Server address"), url, {name: "model-url", hint: t("The server can also be on this machine or on your local network.")}),
    field("key", t("API key"), key, {name: "model-key", hint: bot.key_set ? t("A key is already set. To keep the key, leave this field empty. To remove the key, enter a hyphen (-).") : t("Leave this field empty if the server does not require a key.")}),
    field("model", t("Model name"), model, {name: "model", hint: press(t("List available models"), () => form.run(list))}),
  ], {
    submit: t("Test and save"),
    more: !bot.offline && press(t("Use the offline mock model"), () => form.run(() => save({bot: name, url: "-"}))),
    async onsubmit() {
      const given = answers();
      fill(result, h("p.soft", null, t("Testing {model}…", {model: given.name})));
      const tried = await tested(form, result, () => post("/api/settings/model", given, view.signal), () => save(given));
      url.value = tried.url;
      fill(result, h("p.good", null, t("The model responded to the test message.")), findings(tried.findings));
      await save({...given, url: tried.url});
    },
  });
  return [
    bot.offline && h("div.card.stack", null, h("h2", null, t("Set up a model")),
      h("p", null, t("No language model is set up, so the offline mock model answers all messages. Enter the address of a model server. Millpond then tests the model, saves the settings and restarts.")),
      h("ol.steps", null, h("li", null, t("Choose a model and test it.")), h("li", null, parts("Optional: Connect {a_chat_platform}.", {a_chat_platform: h("a", {href: "/settings/channels"}, t("Telegram, Slack or another platform"))})),
        h("li", null, t("Start a conversation.")))),
    h("div.card.stack", null,
      h("h2", null, t("Model used by {bot}", {bot: name})),
      Object.keys(settings.bots).length > 1 && tabs(t("Bots"), Object.keys(settings.bots).map((each) => [`/settings?bot=${each}`, each, each === name])),
      bot.fallbacks.length > 0 && h("p.soft.small", null, t("Fallback models are set in the configuration file: {models}", {models: bot.fallbacks.join(", ")})),
      form.element, known, result),
    h("p.soft.small", null, parts("Your settings are saved in {file}. A backup of the previous version is kept in the same folder. Keys are saved in separate files and are never displayed.", {file: h("code", null, settings.file)})),
  ];
}

/** The codes of a test in which a server failed. */
const FAILED = new Set(["model_failed", "search_failed"]);

/** The result of a test. If the server fails, a button below the form saves the settings all the same. */
async function tested(form, result, test, save) {
  try {
    const found = await test();
    fill(result);
    return found;
  } catch (error) {
    const anyway = async () => {
      await save();
      fill(result);
    };
    fill(result, FAILED.has(error.code) && press(t("Save anyway"), () => form.run(anyway)));
    throw error;
  }
}

/** The value of a field for a secret: null keeps the one that is set. */
export function typed(input, isSet) {
  const value = input.value.trim();
  if (value === "-") return "";
  return value || (isSet ? null : "");
}

/** Findings of a test, which the server words in English. */
export const findings = (found) => found.length > 0 && h("ul.small", {lang: "en"}, found.map((each) => h("li", null, each)));

// Bots and limits

const LIMITS = [["tokens_per_day", t("Tokens per day")], ["cost_per_day", t("Cost per day")], ["messages_per_minute", t("Messages per minute")]];
const WHOSE = [["person", t("per person")], ["chat", t("per conversation")], ["bot", t("for the whole bot")]];

function showBots(view, settings) {
  return [...Object.keys(settings.bots).map((bot) => {
    const at = (key) => `bots.${bot}.${key}`;
    const make = (key, label, kind, more) => settingField(settings, at(key), label, kind, more);
    const fields = [
      h("h3", null, t("General")),
      make("language", t("Language of the bot's built-in messages"), [["en", "English"], ["zh", "中文"]]),
      make("time_zone", t("Time zone"), "text", {hint: t("An IANA time zone, such as Europe/Berlin.")}),
      make("titles", t("Conversation titles"), [["auto", t("automatic")], ["words", t("first words of the conversation")], ["model", t("written by the model")]]),
      make("admins", t("Administrators"), "lines", {hint: t("Enter one ID per line, in the form <channel>:<sender>. People can find out their ID by sending /whoami to the bot.")}),
      make("tools", t("Tools"), "lines", {hint: t("Enter one tool per line.")}),
      h("h3", null, t("Limits")),
      h("p.soft.small", null, t("Enter 0 for no limit. Costs are calculated from the prices below.")),
      ...LIMITS.flatMap(([limit, label]) => WHOSE.map(([whose, of]) => make(`limits.${limit}.${whose}`, t("{limit}, {whose}", {limit: label, whose: of}), "number"))),
      make("limits.reserved_for_memory", t("Fraction of the daily usage limits to reserve for updating the bot's memory (0 to 0.9)"), "number"),
      h("h3", null, t("Model")),
      make("model.context_window_tokens", t("Context window in tokens"), "number"),
      make("model.max_completion_tokens", t("Maximum answer length, in tokens"), "number"),
      make("context_budget_tokens", t("Maximum conversation history in later model calls, in tokens"), "number", {hint: t("The bot can call the model several times per answer. This limit applies from the second call on. Enter 0 for no limit.")}),
      make("model.vision", t("The model supports images"), "flag"),
      make("model.prices.input", t("Price per million input tokens"), "number"),
      make("model.prices.cached_input", t("Price per million cached input tokens"), "number"),
      make("model.prices.output", t("Price per million output tokens"), "number"),
      make("model.prices.currency", t("Currency"), "text"),
    ];
    return h("div.card.stack", null, h("h2", null, bot), settingsForm(view, fields).element,
      h("h3", null, t("Web search")), webForm(view, bot, settings.bots[bot].web),
      h("h3", null, t("Voice messages")), voiceForm(view, bot, settings.bots[bot].voice), deleteBot(view, settings, bot));
  }), newBot(view, settings)];
}

/** The form for web search and for reading pages. */
function webForm(view, bot, web) {
  const search = choice([["none", t("no web search")], ["brave", "Brave"], ["tavily", "Tavily"], ["searxng", "SearXNG"]], web.search);
  const url = h("input", {type: "url", spellcheck: "false", value: web.url});
  const key = h("input", {type: "password", autocomplete: "off"});
  const fetch = h("input", {type: "checkbox", checked: web.fetch});
  const form = new Form([
    field("search", t("Provider"), search, {name: "web-search"}),
    field("search-url", t("Your SearXNG server address"), url, {name: "web-url"}),
    field("search-key", t("Provider API key"), key, {name: "web-key", hint: web.key_set && t("A key is already set. To keep the key, leave this field empty. To remove the key, enter a hyphen (-).")}),
    field("fetch", t("The bot can read public web pages"), fetch),
  ], {
    submit: t("Test and save"),
    async onsubmit() {
      const given = {bot, search: search.value, url: url.value.trim(), key: typed(key, web.key_set), fetch: fetch.checked};
      const save = () => saved(view, "/api/settings/web", given, key);
      await tested(form, result, () => post("/api/settings/web", given, view.signal), save);
      await save();
    },
  });
  const result = h("div.stack", {"aria-live": "polite"});
  return [form.element, result];
}

/** The form for the server that transcribes voice messages and speaks answers. */
function voiceForm(view, bot, voice) {
  const input = (value) => h("input", {spellcheck: "false", value});
  const url = h("input", {type: "url", spellcheck: "false", value: voice.url});
  const key = h("input", {type: "password", autocomplete: "off"});
  const [transcription, speech, name] = [voice.transcription, voice.speech, voice.voice].map(input);
  const form = new Form([
    field("voice-url", t("Address of a server with an OpenAI-compatible audio API"), url, {name: "voice-url", hint: t("Leave this field empty if the bot does not use voice messages.")}),
    field("voice-key", t("API key"), key, {name: "voice-key", hint: voice.key_set && t("A key is already set. To keep the key, leave this field empty. To remove the key, enter a hyphen (-).")}),
    field("transcription", t("Speech-to-text model for voice messages"), transcription, {name: "transcription-model"}),
    field("speech", t("Text-to-speech model for spoken answers"), speech, {name: "speech-model", hint: t("Leave this field empty if the bot should answer voice messages only with text.")}),
    field("voice", t("Voice"), name, {name: "voice"}),
  ], {
    submit: t("Test and save"),
    async onsubmit() {
      const given = {bot, url: url.value.trim() || "-", key: typed(key, voice.key_set), transcription: transcription.value, speech: speech.value, voice: name.value};
      const save = () => saved(view, "/api/settings/voice", given, key);
      const tried = await tested(form, result, () => post("/api/settings/voice", given, view.signal), save);
      for (const each of tried.findings) toast(each);
      await save();
    },
  });
  const result = h("div.stack", {"aria-live": "polite"});
  return [form.element, result];
}

/** Save the answers of a form without another test. */
async function saved(view, path, given, key) {
  await post(path, {...given, digest: view.settings.digest}, view.signal);
  key.value = "";
  toast(t("The settings were saved."));
  await view.renew();
}

/** A field of `PUT /api/settings`; `kind` is a list of choices, or "text", "number", "flag" or "lines". */
export function settingField(settings, path, label, kind, {hint, wide} = {}) {
  const value = settings.values[path];
  const locked = settings.locked[path];
  const input = inputFor(kind, value);
  input.disabled = Boolean(locked);
  const made = field(path.replaceAll(".", "-"), label, input, {name: path, hint: locked ? t("This value is set by the {name} environment variable.", {name: locked}) : hint, wide});
  made.read = () => readFrom(kind, input);
  made.path = path;
  made.before = JSON.stringify(made.read());
  return made;
}

function inputFor(kind, value) {
  if (Array.isArray(kind)) return choice(kind, value ?? "");
  if (kind === "flag") return h("input", {type: "checkbox", checked: value});
  if (kind === "number") return h("input", {type: "number", min: 0, step: "any", value});
  if (kind === "lines") {
    const area = h("textarea", {rows: Math.min(8, Math.max(2, value.length + 1)), spellcheck: "false"});
    area.value = value.join("\n");
    return area;
  }
  return h("input", {spellcheck: "false", value});
}

function readFrom(kind, input) {
  if (kind === "flag") return input.checked;
  if (kind === "lines") return input.value.split("\n").map((line) => line.trim()).filter(Boolean);
  const text = input.value.trim();
  if (kind === "number") return text === "" ? null : Number(text);
  return text === "" && Array.isArray(kind) ? null : text;
}

/** A form that saves the changed ones of its fields. */
export function settingsForm(view, fields) {
  return new Form(fields, {
    submit: t("Save"),
    async onsubmit() {
      const changed = fields.filter((each) => each.path && JSON.stringify(each.read()) !== each.before);
      if (!changed.length) return toast(t("Nothing was changed."));
      const changes = Object.fromEntries(changed.map((each) => [each.path, each.read()]));
      const request = {digest: view.settings.digest, changes};
      await put("/api/settings", request, view.signal);
      for (const each of changed) each.before = JSON.stringify(each.read());
      toast(t("The settings were saved."));
      return view.renew();
    },
  });
}

customElements.define("mp-settings", SettingsView);
