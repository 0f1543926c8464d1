// The pairs of a batch as a strip of small pictures, sorted by any of their numbers.

import * as api from "./api.js";
import { make } from "./panel.js";

const byId = (id) => document.getElementById(id);
const AHEAD = 3; // pictures beyond either end of what is visible
const MOST_KEPT = 200; // elements, with decoded pictures, that are kept out of sight
const SCROLL_REST = 90; // milliseconds after which pictures are asked for
const CHOICE_REST = 250; // after which the pair that arrow keys stop at is shown
const RENEW = 2000;

const told = (value) => {
  if (value === undefined) return "–";
  return Math.abs(value) >= 1e5 ? value.toExponential(2) : Number(value.toPrecision(4)).toLocaleString("en");
};

export class Strip {
  // onChoose(number) gets the number of the pair that is to be shown.
  constructor({ onChoose }) {
    this.onChoose = onChoose;
    this.pairs = [];
    this.order = []; // numbers of pairs as they are sorted
    this.items = new Map(); // elements of the pairs that are visible, by number
    this.kept = new Map(); // those that were made, the newest last
    this.seen = new Set(); // pictures that were loaded once
    this.current = null;
    this.list = byId("strip-list");
    this.row = byId("strip-row");
  }

  // Show the strip if the server has a batch; the pair that the address names is chosen.
  async start() {
    const found = await api.pairs();
    if (found.pairs.length < 2) return;
    byId("strip").hidden = false;
    this.take(found);
    byId("strip-kind").replaceChildren(...found.pictures.map((name) => make("option", name, { value: name })));
    const wanted = new URLSearchParams(location.hash.slice(1)).get("pair");
    const named = this.pairs.findIndex(({ name, why }) => name === wanted && !why);
    this.listen();
    this.sort();
    this.choose(named >= 0 ? named : found.first, { now: true });
  }

  // Errors arrive while they are measured.
  take(found) {
    this.key = found.key;
    this.pairs = found.pairs;
    this.offer([["", "order of the batch"], ["name", "name"], ...found.metrics]);
    const left = found.left ? `, measuring the errors of ${found.left} more` : "";
    byId("strip-count").textContent = `${this.pairs.length} pairs${left}`;
    byId("strip").dataset.left = found.left;
    if (found.left) setTimeout(() => this.renew(), RENEW);
  }

  // A menu that is open stays open, unless there is more to choose from.
  offer(options) {
    const sort = byId("strip-sort");
    if ([...sort.options].map(({ value }) => value).join() === options.map(([value]) => value).join()) return;
    const chosen = sort.value;
    sort.replaceChildren(...options.map(([value, text]) => make("option", text, { value })));
    sort.value = options.some(([value]) => value === chosen) ? chosen : "";
  }

  // Whoever has scrolled on stays there.
  async renew() {
    try {
      this.take(await api.pairs());
      this.arrange();
    } catch {
      setTimeout(() => this.renew(), RENEW); // the page says by itself that the server is gone
    }
  }

  sort() {
    this.arrange();
    this.reveal();
  }

  // Pairs without the number come last, whichever way the others are sorted.
  arrange() {
    const by = byId("strip-sort").value;
    const way = byId("strip-order").getAttribute("aria-pressed") === "true" ? -1 : 1;
    const value = (number) => (by === "name" ? this.pairs[number].name : this.pairs[number].values[by]);
    const compare = (a, b) => {
      if (by === "") return way * (a - b);
      const [one, other] = [value(a), value(b)];
      if (one === undefined || other === undefined) return (one === undefined) - (other === undefined) || a - b;
      const off = by === "name" ? one.localeCompare(other, "en", { numeric: true }) : one - other;
      return way * off || a - b;
    };
    this.order = this.pairs.map((pair, number) => number).sort(compare);
    this.row.replaceChildren();
    this.items.clear();
    this.kept.clear();
    this.draw();
  }

  width() {
    return parseFloat(getComputedStyle(this.list).getPropertyValue("--frame"));
  }

  // Only what is visible is in the page, so that thousands of pairs scroll as well as ten.
  draw() {
    const width = this.width();
    this.row.style.width = `${width * this.order.length}px`;
    const first = Math.max(0, Math.floor(this.list.scrollLeft / width) - AHEAD);
    const last = Math.min(this.order.length, Math.ceil((this.list.scrollLeft + this.list.clientWidth) / width) + AHEAD);
    const wanted = new Set(this.order.slice(first, last));
    for (const [number, item] of this.items) {
      if (wanted.has(number)) continue;
      item.remove();
      this.items.delete(number);
    }
    for (let place = first; place < last; place++) {
      const number = this.order[place];
      if (this.items.has(number)) continue;
      const item = this.kept.get(number) ?? this.make(number);
      this.kept.delete(number);
      this.kept.set(number, item);
      if (this.kept.size > MOST_KEPT) this.kept.delete(this.kept.keys().next().value);
      item.setAttribute("aria-selected", number === this.current);
      item.style.left = `${place * width}px`;
      this.items.set(number, item);
      this.row.append(item);
    }
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.loadPictures(), SCROLL_REST);
  }

  make(number) {
    const { name, why, values } = this.pairs[number];
    const by = byId("strip-sort").value;
    const item = make("div", "", {
      id: `pair-${number}`, role: "option", class: why ? "frame failed" : "frame", title: why || name,
      "data-number": number,
    });
    if (why) item.setAttribute("aria-disabled", "true");
    const picture = make("img", "", { alt: "", decoding: "async", draggable: "false" });
    if (this.seen.has(this.address(number))) picture.src = this.address(number);
    const isNumber = by !== "" && by !== "name";
    const said = why ? "failed" : isNumber ? told(values[by]) : "";
    item.append(picture, make("span", name, { class: "pair-name" }), make("span", said, { class: "pair-value" }));
    return item;
  }

  address(number) {
    return api.thumbnailAddress(this.key, byId("strip-kind").value, number);
  }

  // Pictures that are passed quickly are not asked for.
  loadPictures() {
    for (const [number, item] of this.items) {
      const address = this.address(number);
      this.seen.add(address);
      const picture = item.firstChild;
      if (!picture.src.endsWith(address)) picture.src = address;
    }
  }

  choose(number, { now = false } = {}) {
    if (number === undefined || number === null) return;
    this.current = number;
    for (const [each, item] of this.items) item.setAttribute("aria-selected", each === number);
    this.reveal();
    clearTimeout(this.choosing);
    if (this.pairs[number].why || number === this.shown) return;
    this.choosing = setTimeout(() => this.open(number), now ? 0 : CHOICE_REST);
  }

  open(number) {
    this.shown = number;
    byId("strip").dataset.shown = this.pairs[number].name;
    const address = `#${new URLSearchParams({ pair: this.pairs[number].name })}`;
    history.replaceState(null, "", address);
    this.onChoose(number);
  }

  reveal() {
    const place = this.order.indexOf(this.current);
    if (place < 0) return;
    const width = this.width();
    const { scrollLeft, clientWidth } = this.list;
    if (place * width < scrollLeft || (place + 1) * width > scrollLeft + clientWidth) {
      this.list.scrollLeft = (place + 0.5) * width - clientWidth / 2;
    }
    this.draw();
    this.list.setAttribute("aria-activedescendant", `pair-${this.current}`);
  }

  step(places, options) {
    const place = this.order.indexOf(this.current) + places;
    this.choose(this.order[Math.min(Math.max(place, 0), this.order.length - 1)], options);
  }

  listen() {
    let waiting = false;
    this.list.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        this.draw();
      });
    }, { passive: true });
    // A wheel that turns up and down moves the strip, which has no other way to go.
    this.list.addEventListener("wheel", (event) => {
      if (event.deltaX || event.ctrlKey) return;
      event.preventDefault();
      this.list.scrollLeft += event.deltaY;
    }, { passive: false });
    this.row.addEventListener("click", (event) => {
      const item = event.target.closest(".frame");
      if (item) this.choose(Number(item.dataset.number), { now: true });
    });
    this.list.addEventListener("keydown", (event) => this.press(event));
    byId("strip-sort").addEventListener("change", () => this.sort());
    byId("strip-kind").addEventListener("change", () => this.sort());
    byId("strip-order").addEventListener("click", ({ currentTarget }) => {
      const isDown = currentTarget.getAttribute("aria-pressed") !== "true";
      currentTarget.setAttribute("aria-pressed", isDown);
      currentTarget.textContent = isDown ? "↓" : "↑";
      this.sort();
    });
    new ResizeObserver(() => this.draw()).observe(this.list);
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select")) return;
      if (event.key.toLowerCase() === "j") this.step(1);
      if (event.key.toLowerCase() === "k") this.step(-1);
    });
  }

  press(event) {
    const page = Math.max(1, Math.floor(this.list.clientWidth / this.width()));
    const all = this.order.length;
    const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: page, PageUp: -page, Home: -all, End: all };
    if (event.key === "Enter") this.choose(this.current, { now: true });
    else if (steps[event.key]) this.step(steps[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
