// The list: as many rows in the document as are seen, however many there are.

const SPARE = 6;

class EpisodeList {
  constructor(box, rows, open) {
    Object.assign(this, { box, rows, open, found: [], at: 0 });
    box.addEventListener("scroll", () => this.#later());
    new ResizeObserver(() => this.#draw()).observe(box);
    box.addEventListener("keydown", (event) => this.#key(event));
    rows.addEventListener("click", (event) => this.#click(event));
  }

  /** Show these rows, keeping the selected one selected where it is still among them. */
  fill(found) {
    const selected = this.selected;
    this.found = found;
    this.at = Math.max(0, found.indexOf(selected));
    this.move(0);
  }

  get selected() {
    return this.found[this.at];
  }

  /** Select a row and bring it into sight. */
  select(row) {
    const at = this.found.indexOf(row);
    if (at >= 0) this.move(at - this.at);
  }

  move(by) {
    this.at = Math.max(0, Math.min(this.found.length - 1, this.at + by));
    const [top, height] = [this.at * this.#height(), this.#height()];
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + height > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + height - this.box.clientHeight;
    this.#draw();
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.#height()) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.move(moves[event.key]);
    else if (event.key === "Enter" && this.selected) this.open(this.selected);
    else return;
    event.preventDefault();
  }

  #click(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    this.move(Number(row.dataset.at) - this.at);
    this.open(this.selected);
  }

  #height() {
    return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  #later() {
    this.due ??= requestAnimationFrame(() => {
      this.due = null;
      this.#draw();
    });
  }

  #draw() {
    const height = this.#height();
    this.rows.style.height = `${height * this.found.length}px`;
    const first = Math.max(0, Math.floor(this.box.scrollTop / height) - SPARE);
    const last = Math.min(this.found.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / height) + SPARE);
    const drawn = this.found.slice(first, last).map((row, place) => this.#row(row, first + place, height));
    this.rows.replaceChildren(...(drawn.length ? drawn : [element("p", { class: "none" }, "No episode is like that. Clear the filters to see all.")]));
    const seen = first <= this.at && this.at < last;
    if (seen) this.box.setAttribute("aria-activedescendant", `row-${this.at}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  #row(row, at, height) {
    const cells = [
      element("span", { title: row.goal }, row.goal || row.task),
      element("span", { class: "aside", title: row.run }, element("span", { class: "run" }, row.hint)),
      element("span", { class: "aside" }, row.replica ? element("span", { class: "run" }, `${row.when} · ${row.replica.replaceAll(" ", "\u00a0")}`) : row.when),
      element("span", { class: "aside" }, row.arm),
      element("span", {}, chip(row.outcome)),
      element("span", { class: "number" }, rounded(row.score, 1)),
      element("span", { class: "number aside" }, String(row.steps)),
    ];
    const made = element(
      "div",
      {
        id: `row-${at}`, class: "row", role: "option", "data-at": at,
        "aria-selected": String(at === this.at), "aria-posinset": at + 1, "aria-setsize": this.found.length,
      },
      ...cells,
    );
    made.style.top = `${at * height}px`;
    return made;
  }
}
