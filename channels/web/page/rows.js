// A list of any length that draws only the rows in view.

/** Pixels above and below the view in which rows are drawn, too. */
const BEYOND = 400;
/** Pixels from the end of the list at which more rows are asked for. */
const NEAR = 1200;

/**
 * Rows in a scrolling `holder`. A row is `{key, height, link}` and what `look(row)` needs to give `{sign, make}` for a row in
 * view: `make()` draws it anew only if `sign` has changed, so that a row that is being pressed stays. `onend` is called when
 * the end of the list comes near.
 */
export class Rows {
  constructor(holder, list, look, onend) {
    Object.assign(this, {holder, list, look, onend, rows: [], tops: [], drawn: new Map()});
    holder.addEventListener("scroll", () => this.soon(), {passive: true});
    new ResizeObserver(() => this.soon()).observe(holder);
  }

  show(rows) {
    this.rows = rows;
    let top = 0;
    this.tops = rows.map((row) => (top += row.height) - row.height);
    this.list.style.height = `${top}px`;
    this.draw();
  }

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  draw() {
    const from = this.holder.scrollTop - this.list.offsetTop - BEYOND;
    const to = this.holder.scrollTop + this.holder.clientHeight + BEYOND;
    const seen = new Set();
    let before = null;
    for (let at = this.at(from); at < this.rows.length && this.tops[at] < to; at++) before = this.place(at, before, seen);
    for (const [key, {element}] of this.drawn) {
      // The focused row stays, or the next key would have no effect.
      if (seen.has(key) || (element.contains(document.activeElement) && this.rows.some((row) => row.key === key))) continue;
      element.remove();
      this.drawn.delete(key);
    }
    if (to + NEAR > this.list.offsetHeight) this.onend();
  }

  /** The first row that ends below `top`. */
  at(top) {
    let low = 0, high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle] + this.rows[middle].height < top) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  place(at, before, seen) {
    const row = this.rows[at];
    const known = this.drawn.get(row.key);
    const focused = known?.element.contains(document.activeElement);
    let element = known?.element;
    const {sign, make} = this.look(row);
    const isNew = known?.sign !== sign;
    if (isNew) {
      element = make();
      known?.element.remove();
      this.drawn.set(row.key, {element, sign});
    }
    element.style.transform = `translateY(${this.tops[at]}px)`;
    element.style.height = `${row.height}px`;
    // In the order of the list, for the keyboard and screen readers.
    if (element.previousElementSibling !== before || !element.isConnected) before ? before.after(element) : this.list.prepend(element);
    if (isNew && focused) element.querySelector("a")?.focus({preventScroll: true});
    seen.add(row.key);
    return element;
  }

  /** Focus the link of the row `step` rows from the one with the focus, or the first or last link. False: there is none. */
  focus(step) {
    const here = this.rows.findIndex((row) => this.drawn.get(row.key)?.element.contains(document.activeElement));
    for (let at = here < 0 ? 0 : here + step; at >= 0 && at < this.rows.length; at += step) {
      if (!this.rows[at].link) continue;
      const {holder} = this;
      const top = this.tops[at] + this.list.offsetTop;
      if (top < holder.scrollTop) holder.scrollTop = top;
      else if (top + this.rows[at].height > holder.scrollTop + holder.clientHeight) holder.scrollTop = top + this.rows[at].height - holder.clientHeight;
      this.draw();
      this.drawn.get(this.rows[at].key)?.element.querySelector("a")?.focus({preventScroll: true});
      return true;
    }
    return false;
  }
}
