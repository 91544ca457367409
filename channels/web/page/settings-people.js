// People in the settings: approvals, bans and linked identities. A change takes effect at once.

import {get, post} from "/page/api.js";
import {count, fill, h, toast, when} from "/page/dom.js";
import {Form, choice, field} from "/page/settings-form.js";
import {press, refresh, sure, table} from "/page/views.js";
import {t} from "/page/words.js";

const POLICIES = {closed: t("administrators only"), allow: t("approved people"), pairing: t("approved people (anyone else receives a pairing code)"), open: t("everyone")};
/** How often the list is read while it is visible. */
const EVERY_MS = 3000;
const STATES = {paired: t("approved"), banned: t("banned")};

export function showPeople(view, body) {
  const read = (signal) => get("/api/settings/people", signal);
  const act = async (what, request, said) => {
    await post(`/api/settings/people/${what}`, request, view.signal);
    toast(said);
    await renew(true);
  };
  let [begun, drawn] = [0, 0];
  const renew = async (acted) => {
    const mine = ++begun;
    const found = await read(view.signal);
    if (mine < drawn) return; // it is older than what is shown
    drawn = mine;
    for (const each of lists) each.update(found, acted);
  };
  // Only the lists follow the people; the forms keep what is being typed.
  const lists = [
    list(({channels}) => channels.map(({name, asking}) => ({name, asking})), (channels) => channels.map((channel) => channel.asking.length > 0 && asking(channel, act)), {"aria-live": "polite"}),
    list(({channels}) => channels.map(({asking, ...channel}) => channel), (channels) => channels.map((channel) => ofChannel(channel, act))),
    list(({links}) => links, (links) => tableOfLinks(links, act)),
  ];
  const [waiting, decided, links] = lists.map((each) => each.holder);
  view.into(body, read, (found) => {
    for (const each of lists) each.update(found);
    refresh(waiting, EVERY_MS, () => renew(false).catch(() => {})); // after a failure, the next time
    return [
      h("p.soft", null, t("Changes on this page take effect immediately, without a restart. The audit log records each change and who made it."), " ", h("a", {href: "/system/audit"}, t("Audit"))),
      found.channels.length ? approval(found.channels, act) : h("p.soft", null, t("No chat platform is connected, so there are no people to approve.")),
      waiting, decided, linked(links, act),
    ];
  });
}

/** A part of the page that is drawn again when what `choose` takes of the answer has changed. */
function list(choose, draw, attributes = {}) {
  const holder = h("div.stack", attributes);
  let shown = "";
  return {holder, update(found, acted = false) {
    const chosen = choose(found);
    const sign = JSON.stringify(chosen);
    // A button that asks for its second press stays where it is.
    if (sign === shown || (!acted && holder.querySelector(".armed"))) return;
    shown = sign;
    const focused = holder.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    fill(holder, draw(chosen));
    if (focused) holder.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }};
}

function approval(channels, act) {
  const channel = choice(channels.map((each) => [each.name, each.name]), channels[0].name);
  const who = h("input", {required: true, autocomplete: "off", spellcheck: "false"});
  const by = choice([["code", t("pairing code")], ["id", t("ID on the platform")]], "code");
  const send = (what, request, said) => act(what, {channel: channel.value, ...request}, said);
  const form = new Form([
    field("channel", t("Channel"), channel),
    field("by", t("Approve by"), by),
    field("who", t("Code or ID"), who, {hint: t("The bot sends each unknown sender a pairing code. People can find out their ID by sending /whoami to the bot.")}),
  ], {
    submit: t("Approve"),
    more: sure(t("Ban this ID"), t("Ban this ID on this channel?"), () => form.element.reportValidity() && form.run(() => send("ban", {id: who.value.trim()}, t("The person was banned."))), {kind: "danger"}),
    onsubmit: () => send("approve", {[by.value]: who.value.trim()}, t("The person can now talk to the bot.")),
  });
  return h("div.card.stack", null, h("h2", null, t("Approve or ban a person")), form.element);
}

/** The people who have written to the bot and wait for an approval. */
function asking({name, asking: people}, act) {
  const send = (what, id, said) => act(what, {channel: name, id}, said);
  const buttons = ({id}) => h("div.row", null,
    press(t("Approve"), () => send("approve", id, t("The person can now talk to the bot.")), {kind: "primary", dataset: {key: `approve ${name} ${id}`}}),
    sure(t("Ban"), t("Ban this person?"), () => send("ban", id, t("The person was banned.")), {kind: "danger", dataset: {key: `ban ${name} ${id}`}}));
  return h("div.card.stack", null, h("h2", null, t("Waiting for approval on {channel}", {channel: name})),
    h("p.soft.small", null, t("These people have written to the bot in the last hour and received a pairing code. Approve only people you know, because anyone can choose any name.")),
    table(t("Waiting for approval on {channel}", {channel: name}), [t("Person"), t("Action")], people.map((each) => [personOf(each), buttons(each)])));
}

const personOf = ({id, name}) => h("span.stack", null, name && name !== id && h("span", null, name), h("code", null, id));

function ofChannel({name, policy, codes, people}, act) {
  const undo = ({id, state}) => (state === "banned"
    ? sure(t("Lift the ban"), t("Lift this person's ban?"), () => act("unban", {channel: name, id}, t("The ban was lifted.")), {dataset: {key: `ban ${name} ${id}`}})
    : sure(t("Ban"), t("Ban this person?"), () => act("ban", {channel: name, id}, t("The person was banned.")), {kind: "danger", dataset: {key: `ban ${name} ${id}`}}));
  return h("div.card.stack", null, h("h2", null, name),
    h("p.soft.small", null, t("Access policy: {policy}. Unused pairing codes: {n}.", {policy: POLICIES[policy], n: count(codes)})),
    people.length ? table(t("People on {channel}", {channel: name}), [t("Person"), t("State"), t("Decided by"), t("Time"), t("Action")], people.map((each) =>
      [personOf(each), STATES[each.state], h("code", null, each.by), when(each.time), undo(each)]))
      : h("p.soft", null, t("No one has been approved or banned on this channel.")));
}

function linked(known, act) {
  const first = h("input", {required: true, autocomplete: "off", spellcheck: "false"});
  const other = h("input", {required: true, autocomplete: "off", spellcheck: "false"});
  const form = new Form([
    field("person", t("First identity"), first, {hint: t("Use the form <channel>:<sender>. People can find out their ID by sending /whoami to the bot.")}),
    field("other", t("Second identity"), other),
  ], {
    submit: t("Link"),
    onsubmit: () => act("link", {person: first.value.trim(), other: other.value.trim()}, t("Linking the two identities…")),
  });
  return h("div.card.stack", null, h("h2", null, t("Linked identities")),
    h("p.soft.small", null, t("A bot keeps one shared memory for all of a person's linked identities. The second identity's memory is merged into the first identity's memory.")),
    known, form.element);
}

const tableOfLinks = (links, act) => links.length > 0 && table(t("Linked identities"), [t("Memory"), t("Shared by"), t("Linked by"), t("Time"), t("Action")], links.map((each) =>
  [h("code", null, each.home), h("code", null, each.member), h("code", null, each.by), when(each.time),
    sure(t("Unlink"), t("Unlink this identity?"), () => act("unlink", {person: each.member}, t("Unlinking the identity…")), {dataset: {key: each.member}})]));
