// The menu of a conversation: rename, pin, archive, delete. Each answer of the server is told to all that show titles.

import {ofSession, request} from "/page/api.js";
import {add, fill, h, toast} from "/page/dom.js";
import {close, fitsBeside, openBeside} from "/page/app.js";
import {keepSession} from "/page/sessions.js";
import {t} from "/page/words.js";

/** Open the menu of `line`, a line of /api/sessions, below `button`. */
export function openMenu(button, line, name) {
  document.querySelector(".menu")?.remove();
  const item = (label, action, kind = "") => h("button", {type: "button", role: "menuitem", class: kind, onclick: () => {
    menu.hidePopover();
    action();
  }}, label);
  const menu = h("div.menu", {role: "menu", popover: "auto", "aria-label": t("Actions for {name}", {name}), onkeydown: (event) => move(event, menu)},
    fitsBeside(line.session) && item(t("Open beside"), () => openBeside(line.session)),
    item(t("Rename"), () => rename(line, name)),
    item(line.pinned ? t("Unpin") : t("Pin"), () => change(line, {pinned: !line.pinned})),
    item(line.archived ? t("Move back to the conversation list") : t("Archive"), () => change(line, {archived: !line.archived})),
    line.joins && item(t("Merge with my memory"), () => join(line)),
    item(t("Delete"), () => remove(line, name), "bad"));
  menu.addEventListener("toggle", ({newState}) => {
    button.setAttribute("aria-expanded", String(newState === "open"));
    if (newState === "open") return;
    menu.remove();
    if (document.activeElement === document.body) button.focus();
  });
  document.body.append(menu);
  menu.showPopover();
  const {right, bottom, top} = button.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(right - menu.offsetWidth, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${bottom + menu.offsetHeight + 8 < innerHeight ? bottom + 4 : Math.max(8, top - menu.offsetHeight - 4)}px`;
  menu.querySelector("button").focus();
}

function move(event, menu) {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (!step) return;
  event.preventDefault();
  const items = [...menu.querySelectorAll("button")];
  items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
}

async function change(line, fields) {
  try {
    await request("PATCH", ofSession(line.session), {body: fields});
    dispatchEvent(new Event("mp-labels"));
  } catch (error) {
    toast(error.message, "bad");
  }
}

function rename(line, name) {
  const field = h("input", {name: "title", value: line.title || name, maxlength: 200, "aria-label": t("Title")});
  ask(t("Rename the conversation"), [field], t("Rename"), () => change(line, {title: field.value}));
  field.select();
}

function remove(line, name) {
  const says = t("All messages in “{name}”, and everything saved to memory from them, will be deleted. This cannot be undone.", {name});
  ask(t("Delete the conversation?"), [h("p", null, says)], t("Delete"), async () => {
    try {
      const {done} = await request("DELETE", ofSession(line.session));
      toast(done ? t("The conversation was deleted.") : t("Deleting the conversation…"));
    } catch (error) {
      toast(error.message, "bad");
      return;
    }
    keepSession(null);
    dispatchEvent(new CustomEvent("mp-deleted", {detail: line.session}));
    close(line.session);
  }, "danger");
}

function join(line) {
  const says = t("This conversation has its own memory, separate from your other conversations. After merging, all your conversations share one memory.");
  ask(t("Merge the memories?"), [h("p", null, says)], t("Merge with my memory"), async () => {
    try {
      const {done} = await request("POST", ofSession(line.session, "/join"), {body: {}});
      toast(done ? t("This conversation now shares your memory.") : t("Merging the memories…"));
      dispatchEvent(new Event("mp-labels"));
    } catch (error) {
      toast(error.message, "bad");
    }
  });
}

/** A dialog with a button that runs `action`, and one that closes it. */
function ask(title, content, label, action, kind = "primary") {
  const submit = (event) => {
    event.preventDefault();
    dialog.close();
    action();
  };
  const dialog = h("dialog", {"aria-labelledby": "dialog-title", onclose: () => dialog.remove()},
    add(h("form", {onsubmit: submit}, h("h2", {id: "dialog-title"}, title)), content,
      h("div.row", null, h("button.button", {type: "button", onclick: () => dialog.close()}, t("Cancel")),
        h(`button.button.${kind}`, {type: "submit"}, label))));
  fill(document.getElementById("dialogs"), dialog);
  dialog.showModal();
}
