// Links that show their target: a link whose text names another address gets its target behind it. channels/link_spoofing.py does
// the same for chat platforms.

const WORD = /[^\s<>()[\]{}"',;|]+/g;
/** What stands for a hidden character, and what joins characters or chooses their form. */
const HIDDEN = /[\ufffd\u200c\u200d\ufe00-\ufe0f]/g;
const ORDINARY = /^[.:!?_…*~]+|[.,:;!?_…*~]+$/g;
/** A word that a reader takes for an address: with a scheme, `www.` or `@`, or with letters or numbers behind a dot. */
const NAMES = /:\/\/|^www\.|@|[\p{L}\p{N}]\.(?:\p{L}{2}|xn--)|\d\.\d+\.\d+\.\d/u;
const PLACE = /^(?:(https?):\/\/)?([a-z0-9.-]+(?::\d+)?)([/?#].*)?$/;

/** The target of a link if its text names another address, else an empty text. */
export function otherTarget(label, address) {
  const target = new URL(address);
  const words = label.replace(HIDDEN, "").normalize("NFKC").replace(/\u3002(?=[a-z])/g, ".").toLowerCase().match(WORD) ?? [];
  const named = words.map((word) => word.replace(ORDINARY, "")).filter((word) => NAMES.test(word));
  return named.every((word) => isSame(word, target)) ? "" : target.href;
}

/** Whether a word is the target or its host. A host in other letters is not: these letters look like others. */
function isSame(word, target) {
  if (target.protocol === "mailto:") return word.replace(/^mailto:/, "") === target.pathname.toLowerCase();
  const [, scheme, host, path] = PLACE.exec(word) ?? [];
  if (!host || (scheme && `${scheme}:` !== target.protocol) || target.username) return false;
  const rest = plain(`${target.pathname}${target.search}${target.hash}`.toLowerCase());
  return bare(host) === bare(target.host) && (plain(path ?? "") === "" || plain(path) === rest);
}

const bare = (host) => host.replace(/^www\./, "").replace(/\.$/, "");
/** A path as people read it: the browser encodes other letters. */
const plain = (path) => {
  try {
    return decodeURIComponent(path).replace(/\/+$/, "");
  } catch {
    return path.replace(/\/+$/, "");
  }
};
