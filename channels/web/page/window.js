// The part of a long conversation that is in the document: messages far from the view are dropped, and read again when
// they are scrolled to.

/** Messages in the document: a dozen screens of short messages. */
const MOST = 300;

/** Change messages of `list` above the view without moving those in view. */
export function keeping(scroller, list, change) {
  const top = scroller.getBoundingClientRect().top;
  const anchor = [...list.children].find((each) => each.getBoundingClientRect().bottom > top);
  const at = anchor?.getBoundingClientRect().top;
  change();
  if (anchor?.isConnected) scroller.scrollTop += anchor.getBoundingClientRect().top - at;
}

/** Drop messages beyond `MOST` at the start or at the end → the index of the last one on that side; null: all were kept. */
export function shorten(list, side) {
  const over = list.children.length - MOST;
  if (over <= 0) return null;
  for (let n = 0; n < over; n++) (side === "start" ? list.firstElementChild : list.lastElementChild).remove();
  const kept = list.querySelectorAll(":scope > [data-index]");
  return Number(kept[side === "start" ? 0 : kept.length - 1].dataset.index);
}

/** The first message of `list` that ends below `y`. elementFromPoint() would make the browser prepare the page for painting. */
export function firstBelow(list, y) {
  const messages = list.querySelectorAll(":scope > article");
  let low = 0;
  for (let high = messages.length; low < high;) {
    const middle = (low + high) >> 1;
    if (messages[middle].getBoundingClientRect().bottom > y) high = middle;
    else low = middle + 1;
  }
  return messages[low];
}
