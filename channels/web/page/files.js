// Files of messages: pictures are shown, other files are links to download. The bot's log names a file that a person
// sent in a line of its own, and a file that the bot sent in a call of its tool `message`.

import {ofSession, query} from "/page/api.js";
import {h} from "/page/dom.js";
import {locale, t} from "/page/words.js";

const LINE = /^\[(image|document|audio|video|voice message): (.*?), [\d.]+ (?:bytes|kB|MB)(?:, saved as (inbox\/[^\]\s,:]+))?[^\]]*\]\n?/gm;
const PICTURE = /\.(?:png|jpe?g|gif|webp)$/i;
const RETRY = /^\[Retry: [^\]\n]*\]\n?/;

const unit = (name) => new Intl.NumberFormat(locale, {style: "unit", unit: name, maximumFractionDigits: 1});
const KILO = unit("kilobyte");
const MEGA = unit("megabyte");

/** 120_000 → "120 kB" */
export const size = (bytes) => (bytes < 1e6 ? KILO.format(Math.ceil(bytes / 1000)) : MEGA.format(bytes / 1e6));

/** The kind of a file, as the API names it. */
export function kindOf({type}) {
  if (/^image\/(?:jpeg|png|webp|gif)$/.test(type)) return "image";
  return /^(?:audio|video)\//.exec(type)?.[0].slice(0, -1) ?? "document";
}

/** The text of a person's message → its own text, its files, and whether it asks for another answer. */
export function partsOf(text) {
  const files = [];
  const own = text.replace(RETRY, "").replace(LINE, (_, kind, name, path) => {
    files.push({kind: kind === "voice message" ? "voice" : kind, name, path});
    return "";
  });
  return {text: files.length ? own.trimEnd() : own, files, retry: RETRY.test(text)};
}

/** The text and the files of a call of the tool `message` in this chat; null for other calls. */
export function sentBy(call) {
  if (call.function?.name !== "message") return null;
  try {
    const {content, media = [], channel, chat_id: chat} = JSON.parse(call.function.arguments);
    if (channel || chat || typeof content !== "string") return null;
    return {text: content, files: media.map((path) => ({name: path.split("/").at(-1), path: path.replace(/^(?:\.\/)+/, "")}))};
  } catch {
    return null;
  }
}

/** The address of a file of a session; `path` is relative to its files, or to the workspace of the bot. */
export const fileAddress = (session, path) => ofSession(session, `/file${query({path: path.replace(/^files\/[^/]+\//, "")})}`);

/** A list of files: pictures as such, others as links. */
export function filesElement(files, session) {
  return files.length > 0 && h("ul.files", null, files.map((file) => h("li", null, fileElement(file, session))));
}

function fileElement({kind, name, path, size_bytes: bytes}, session) {
  const shown = name || path?.split("/").at(-1) || t("a file");
  if (!path) return h("span.file", null, shown);
  const href = fileAddress(session, path);
  if (kind === "speech") return recording(href, shown);
  if (!PICTURE.test(path)) return h("a.file", {href, download: shown}, shown, bytes > 0 && h("span.soft", null, ` ${size(bytes)}`));
  const picture = h("img", {src: href, alt: shown, loading: "lazy", onerror: () => link.replaceWith(h("span.file", null, t("{name} is no longer available", {name: shown})))});
  const link = h("a.picture", {href, target: "_blank", title: t("Open {name}", {name: shown})}, picture);
  return link;
}

/** A spoken answer, to be played. */
function recording(src, name) {
  const gone = () => player.replaceWith(h("span.file", null, t("{name} is no longer available", {name: t("Spoken answer")})));
  const player = h("audio", {src, controls: true, preload: "none", title: name, "aria-label": t("Spoken answer"), onerror: gone});
  return player;
}
