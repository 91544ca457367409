// Actions on an answer: another answer, and a new conversation that begins with the messages up to this one.

import {ofSession, post, segment} from "/page/api.js";
import {toast} from "/page/dom.js";
import {go} from "/page/app.js";
import {partsOf} from "/page/files.js";
import {textOf} from "/page/message.js";
import {t} from "/page/words.js";

/** Ask for another answer: what was asked in that turn is sent once more, and the log says that it is a retry. */
export async function retry(chat, {turn}) {
  try {
    const asked = (await chat.feed.after(turn - 1)).filter((each) => each.turn === turn && each.role === "user" && each.id);
    const said = asked.map((each) => partsOf(textOf(each.content)));
    const files = said.at(-1)?.files;
    if (asked.length) chat.outbox.send(said.map((each) => each.text).join("\n\n"), {files, retryOf: asked.at(-1).id});
    chat.toEnd();
  } catch (error) {
    if (error.name !== "AbortError") toast(error.message, "bad");
  }
}

/** Make a conversation of the messages up to an answer, and open it. */
export async function branch(chat, {index}) {
  const named = (title) => t("Branch: {title}", {title});
  const title = chat.closest("mp-conversation").line?.title ?? "";
  try {
    const body = {index, title: title.startsWith(named("")) ? title : named(title)};
    const {session} = await post(ofSession(chat.feed.session, "/branch"), body, chat.feed.signal);
    dispatchEvent(new Event("mp-labels"));
    go(`/s/${segment(session)}`, {from: chat});
  } catch (error) {
    if (error.name !== "AbortError") toast(error.message, "bad");
  }
}
