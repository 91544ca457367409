// Channels in the settings: Telegram, Slack, Discord, Feishu and webhooks are connected, tested and changed.

import {get, post, query} from "/page/api.js";
import {fill, h, toast} from "/page/dom.js";
import {botChoice, findings, settingField, settingsForm, typed} from "/page/settings.js";
import {Form, accessChoice, field} from "/page/settings-form.js";
import {press} from "/page/views.js";
import {parts, t} from "/page/words.js";

const KINDS = {telegram: "Telegram", slack: "Slack", discord: "Discord", feishu: t("Feishu"), webhook: t("Webhook")};
/** How long the page waits for the message with the owner's code. */
const OWNER_MS = 300_000;
/** The choice of a form for each policy of the configuration. */
const ACCESS = {pairing: "pairing", allow: "private", open: "open"};

export function showChannels(view, settings) {
  const kind = view.asked.get("add");
  const there = Object.entries(settings.channels).filter(([, channel]) => channel.platform);
  return [
    h("div.card.stack", null, h("h2", null, t("Connect a chat platform")),
      h("div.row.wrap", null, Object.entries(KINDS).map(([each, label]) =>
        h("a.button", {href: `/settings/channels${query({add: each})}`, "aria-current": each === kind && "true"}, label))),
      KINDS[kind] && connection(view, kind, settings.free[kind], {bot: Object.keys(settings.bots)[0], set: []})),
    there.map(([name, channel]) => h("details.card", {open: there.length === 1 && !kind}, h("summary", null, h("h2", null, name), " ",
      h("span.soft.small", null, `${KINDS[channel.type] ?? channel.type} · ${channel.bot} · ${channel.enabled ? t("enabled") : t("disabled")}`)),
    h("div.stack", null, access(view, settings, name), KINDS[channel.type] && h("h3", null, t("Connection")), KINDS[channel.type] && connection(view, channel.type, name, channel)))),
    !there.length && h("p.soft", null, t("No chat platform is connected. You can use this page and the terminal without a chat platform.")),
  ];
}

/** The settings of a channel that need no token. */
function access(view, settings, name) {
  const make = (key, label, kind, more) => settingField(settings, `channels.${name}.${key}`, label, kind, more);
  return settingsForm(view, [
    make("enabled", t("Enabled"), "flag"),
    make("access.policy", t("Allowed people"), [["", t("people in the list below")], ["closed", t("administrators only")], ["allow", t("approved people and people in the list below")],
      ["pairing", t("people in the list below (anyone else receives a pairing code)")], ["open", t("everyone")]], {wide: true}),
    make("access.allow", t("Allowed IDs of people and groups"), "lines", {hint: t("Enter one ID per line.")}),
    make("access.groups", t("Answers in groups"), [["mention", t("only answer messages that mention the bot or reply to it")], ["all", t("answer all messages")], ["off", t("answer no messages")]]),
    make("streaming", t("Show each answer while it is being written"), "flag"),
    make("typing", t("Show that the bot is typing"), "flag"),
    ["telegram", "slack", "discord", "feishu"].includes(settings.channels[name].type) && make("hear_reactions", t("Receive reactions to the bot's messages"), "flag",
      {hint: t("The platform may need an additional permission. To find out which permission is missing, press Test.")}),
    make("parts_max", t("Maximum messages per answer (longer answers are sent as a file)"), "number"),
  ].filter(Boolean)).element;
}

const secretHint = (isSet) => (isSet ? t("A value is already set. To keep the value, leave this field empty.") : "");

/** The form that connects a channel of a type; `channel` is what is known of it. */
function connection(view, kind, name, channel) {
  const password = (key) => h("input", {type: "password", autocomplete: "off", required: !channel.set.includes(key)});
  const inputs = {
    bot: botChoice(view.settings, channel.bot),
    channel: h("input", {value: name, required: true, pattern: "[a-z0-9][a-z0-9_\\-]*", spellcheck: "false"}),
    access: accessChoice(ACCESS[view.settings.values[`channels.${name}.access.policy`]] ?? "pairing"),
    url: h("input", {type: "url", spellcheck: "false", value: channel.url ?? ""}),
    owner: h("input", {spellcheck: "false", autocomplete: "off"}),
    token: password("token"),
    bot_token: password("bot_token"),
    app_token: h("input", {type: "password", autocomplete: "off"}),
    signing_secret: h("input", {type: "password", autocomplete: "off"}),
    events_url: h("input", {type: "url", spellcheck: "false", value: channel.events_url ?? ""}),
    secret: password("secret"),
    app_id: h("input", {required: true, pattern: "cli_[A-Za-z0-9]+", spellcheck: "false", autocomplete: "off", value: channel.app_id ?? ""}),
    app_secret: password("app_secret"),
    encrypt_key: h("input", {type: "password", autocomplete: "off"}),
    port: h("input", {type: "number", min: 1, max: 65_535, value: channel.port ?? 8790}),
  };
  const secrets = ["token", "bot_token", "app_token", "signing_secret", "secret", "app_secret", "encrypt_key"];
  const used = {telegram: ["token", "url", "owner", "access"], slack: ["bot_token", "app_token", "signing_secret", "events_url", "url", "owner", "access"],
    discord: ["token", "url", "owner", "access"], feishu: ["app_id", "app_secret", "encrypt_key", "events_url", "url", "owner", "access"], webhook: ["url", "secret", "port", "access"]}[kind];
  const result = h("div.stack", {role: "status"});
  const answers = () => {
    const given = {bot: inputs.bot.input.value, channel: inputs.channel.value.trim()};
    for (const key of used) {
      if (secrets.includes(key)) given[key] = typed(inputs[key], channel.set.includes(key));
      else given[key] = key === "port" ? Number(inputs.port.value) : inputs[key].value.trim();
    }
    return given;
  };
  const named = (key, label, more) => field(key, label, inputs[key], more);
  const advanced = kind !== "webhook" && h("details", null, h("summary", null, t("Advanced")), named("url", t("Platform API address"), {name: `${kind}-url`,
    hint: t("Change this address only if you run your own API server. If you change the address, you must enter the token again.")}));
  const fields = {
    telegram: () => [
      named("token", t("Bot token"), {name: "telegram-token", hint: parts("Open {BotFather} in Telegram, send /newbot, and copy the token. {set}", {BotFather: h("a", {href: "https://t.me/BotFather", target: "_blank", rel: "noopener noreferrer"}, "BotFather"), set: secretHint(channel.set.includes("token"))})}),
      named("owner", t("Your Telegram user ID"), {hint: t("If you leave this field empty, you can identify yourself after the test by sending a message to the bot.")}),
    ],
    slack: () => [
      manifest(view, () => inputs.events_url.value.trim()),
      named("bot_token", t("Bot User OAuth Token (xoxb-…)"), {name: "slack-token", hint: secretHint(channel.set.includes("bot_token"))}),
      named("app_token", t("App-level token for Socket Mode (xapp-…)"), {name: "slack-app-token", hint: secretHint(channel.set.includes("app_token"))}),
      named("events_url", t("URL where Slack sends events"), {name: "slack-events-url", hint: t("Leave this field empty to use Socket Mode, which does not require a public address.")}),
      named("signing_secret", t("Signing secret (only if Slack sends events to a URL)"), {name: "slack-signing-secret", hint: secretHint(channel.set.includes("signing_secret"))}),
      named("owner", t("Your Slack member ID (U…)"), {name: "slack-owner", hint: t("If you leave this field empty, you can identify yourself after the test by sending a message to the bot.")}),
    ],
    feishu: () => [
      permissions(view),
      named("app_id", t("App ID (cli_…)"), {name: "feishu-app-id"}),
      named("app_secret", t("App Secret"), {name: "feishu-app-secret", hint: secretHint(channel.set.includes("app_secret"))}),
      named("events_url", t("URL where Feishu sends events"), {name: "feishu-events-url", hint: t("Leave this field empty to use a long-lived connection, which does not require a public address.")}),
      named("encrypt_key", t("Encrypt Key (only if Feishu sends events to a URL)"), {name: "feishu-encrypt-key", hint: secretHint(channel.set.includes("encrypt_key"))}),
      named("owner", t("Your open_id in the Feishu app (ou_…)"), {name: "feishu-owner", hint: t("If you leave this field empty, you can identify yourself after the test by sending a message to the bot.")}),
    ],
    discord: () => [
      named("token", t("Bot token"), {name: "discord-token", hint: parts("Open {address}, create an app, turn on “Message Content Intent” under “Bot”, and copy the token. {set}", {address: h("a", {href: "https://discord.com/developers/applications", target: "_blank", rel: "noopener noreferrer"}, "discord.com/developers"), set: secretHint(channel.set.includes("token"))})}),
      named("owner", t("Your Discord user ID"), {name: "discord-owner", hint: t("Testing the connection fills in the app owner's ID.")}),
    ],
    webhook: () => [
      named("url", t("Bridge address"), {hint: t("Millpond sends the bot's messages to this URL.")}),
      named("secret", t("Shared secret for signing requests"), {hint: [secretHint(channel.set.includes("secret")), " ", press(t("Generate a secret"), () => generate(inputs.secret))]}),
      named("port", t("Port on which Millpond receives messages"), {hint: t("Millpond listens on 127.0.0.1 only. Put a TLS proxy in front of this port.")}),
    ],
  }[kind]();
  inputs.url.required = kind === "webhook";
  const save = async () => {
    await post(`/api/settings/${kind}`, {...answers(), digest: view.settings.digest}, view.signal);
    for (const key of secrets) inputs[key].value = "";
    toast(t("The channel was saved."));
    await view.renew();
    fill(result, h("p.good", null, t("The channel was saved. Millpond connects the channel after the next restart.")));
  };
  const form = new Form([
    inputs.bot, field("channel", t("Channel name"), inputs.channel), ...fields,
    named("access", t("Allowed people"), {wide: true}), advanced,
  ], {
    submit: t("Test"),
    more: press(t("Save"), () => form.element.reportValidity() && form.run(save)),
    async onsubmit() {
      fill(result, h("p.soft", null, t("Testing…")));
      try {
        const tried = await post(`/api/settings/${kind}`, answers(), view.signal);
        if (tried.owner && !inputs.owner.value) inputs.owner.value = tried.owner;
        fill(result, h("p.good", null, tried.name ? t("The platform accepted the token. The bot's name is {name}.", {name: tried.name}) : t("The settings are correct.")), findings(tried.findings),
          kind === "discord" && h("p", null, parts("To add the bot to a server, open {invitation}.", {invitation: h("a", {href: tried.link, target: "_blank", rel: "noopener noreferrer"}, t("the invitation link"))})),
          tried.code && !inputs.owner.value && pairing(view, kind, answers(), tried, inputs.owner));
      } catch (error) {
        fill(result);
        throw error;
      }
    },
  });
  if (advanced) form.fields.push(advanced.querySelector(".field"));
  return [form.element, result];
}

/** The owner's message with a code, which tells the owner's ID. */
function pairing(view, kind, given, {code, link}, owner) {
  const state = h("p.soft", {role: "status"}, "");
  const wait = async () => {
    fill(state, t("Waiting up to five minutes for your message…"));
    const body = {kind, code, bot: given.bot, channel: given.channel, url: given.url, token: given.token ?? given.bot_token ?? given.app_secret ?? null, app_id: given.app_id ?? "", app_token: given.app_token ?? null};
    const until = Date.now() + OWNER_MS;
    while (Date.now() < until && state.isConnected) {
      const {owner: found} = await post("/api/settings/owner", body, view.signal);
      if (!found) continue;
      owner.value = found.id;
      fill(state, t("Your account is {name} ({id}). You can now save the channel.", {name: found.name || found.id, id: found.id}));
      return;
    }
    fill(state, t("The code did not arrive in time. Enter your ID instead."));
  };
  return h("div.card.stack", null,
    kind === "telegram"
      ? h("p", null, parts("Open {link} in Telegram and press Start so that the bot can identify you as its owner.", {link: h("a", {href: link, target: "_blank", rel: "noopener noreferrer"}, link)}))
      : h("p", null, parts("To identify yourself as the bot's owner, send this code to the app as a direct message: {code}", {code: h("code", null, code)})),
    press(t("Wait for my message"), wait), state);
}

/** The steps that make an app of Slack. */
function manifest(view, url) {
  return h("div.stack", null,
    h("ol.steps.small", null,
      h("li", null, parts("Open {address}, choose Create New App > From a manifest, and paste the app manifest.", {address: outside("https://api.slack.com/apps")})),
      h("li", null, t("Choose Install App > Install to Workspace > Allow. Copy the Bot User OAuth Token.")),
      h("li", null, t("Under Basic Information > App-Level Tokens, generate a token with the connections:write scope."))),
    revealed(t("Show the app manifest"), t("App manifest"),
      async () => (await get(`/api/settings/manifest${query({events_url: url()})}`, view.signal)).manifest));
}

/** The steps that make an app of Feishu. */
function permissions(view) {
  const names = {events: ["im.message.receive_v1", "im.message.recalled_v1"].map((name) => [h("code", null, name), " "]), callback: h("code", null, "card.action.trigger")};
  return h("div.stack", null,
    h("ol.steps.small", null,
      h("li", null, parts("Create a custom app at {address}, and add the bot under Features.", {address: outside("https://open.feishu.cn/app")})),
      h("li", null, t("Under Permissions & Scopes > Batch import/export scopes, paste the app's permissions.")),
      h("li", null, t("Copy the App ID and the App Secret from Credentials & Basic Info, and test the connection below.")),
      h("li", null, parts("While the page is waiting for your message, choose the persistent connection under Events & Callbacks. Add the events {events} and the callback {callback}. Then publish a version of the app.", names))),
    revealed(t("Show the app's permissions"), t("App permissions"),
      async () => (await get("/api/settings/scopes", view.signal)).scopes));
}

/** A link to a platform's console. */
function outside(address) {
  return h("a", {href: address, target: "_blank", rel: "noopener noreferrer"}, new URL(address).host);
}

/** A button that shows a text to be copied. */
function revealed(label, name, text) {
  const shown = h("pre", {tabindex: 0, hidden: true, "aria-label": name});
  return [h("div.row.wrap", null, press(label, async () => {
    fill(shown, await text());
    shown.hidden = false;
  })), shown];
}

/** A random secret of 32 bytes, shown once so that the bridge can get it too. */
function generate(input) {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  input.value = `whsec_${btoa(String.fromCharCode(...bytes))}`;
  input.type = "text";
  input.select();
}
