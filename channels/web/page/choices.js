// The choices below a question of the bot, as buttons. A question accepts one answer, whoever gives it.

import {ofSession, post} from "/page/api.js";
import {h, toast} from "/page/dom.js";
import {t} from "/page/words.js";

/** Begins the ID of a message that answers a question; the ID of the question's notice follows. */
const ANSWER = "choice-";

/** Put buttons for its choices below the question `element` in a chat. */
export function offer(chat, element, {notice, choices}) {
  if (element.matches(".message") && !element.closest(".tail")) return; // its turn has ended meanwhile
  const choose = async ({currentTarget: pressed}, {label, command}) => {
    const byKey = pressed.matches(":focus-visible");
    for (const button of buttons) button.disabled = true;
    try {
      const {status} = await post(ofSession(chat.feed.session, "/choice"), {notice, command}, chat.feed.signal);
      close(element, status === "accepted" && label);
      if (byKey) chat.composer.field.focus();
    } catch (error) {
      if (error.name === "AbortError") return;
      toast(error.message, "bad");
      for (const button of buttons) button.disabled = false;
      pressed.focus();
    }
  };
  const buttons = choices.map((each) => h("button.button", {type: "button", onclick: (event) => choose(event, each)}, each.label));
  element.dataset.notice = notice;
  element.append(h("div.choices", {role: "group", "aria-label": t("Possible answers")}, buttons));
  chat.spoken.textContent += ` ${t("Choices: {choices}", {choices: choices.map((each) => each.label).join(", ")})}`;
}

/** Take the buttons off the question that the message `id` answers. */
export function settle(chat, id) {
  const notice = id?.startsWith(ANSWER) && id.slice(ANSWER.length);
  const element = notice && chat.querySelector(`.notice[data-notice="${CSS.escape(notice)}"]`);
  if (element) close(element);
}

/** Take the buttons off a question that has an answer, or whose turn is over; `own` is the label that was chosen here. */
export function close(element, own) {
  // The event of the answer may come before the response to it.
  const said = own ? t("You chose: {choice}", {choice: own}) : t("This question has been answered.");
  element.querySelector(own ? ".choices, .answered" : ".choices")?.replaceWith(h("p.remark.answered", null, said));
}
