// What a person does: filter, move, open, compare, follow a link.

const page = (id) => document.getElementById(id);
const dialog = page("episode");
const form = page("filters");
const FILTERS = ["run", "phase", "domain", "arm", "outcome"];

document.documentElement.classList.add("scripts");
themed();
sectioned();
sortable();
start().catch((error) => tell(`The episodes cannot be shown: ${error.message}`));

async function start() {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot decompress; use one from 2023 or later");
  const rows = listed(await unpacked("data-index"));
  page("viewer").hidden = !rows.length;
  page("viewer").classList.toggle("one-run", new Set(rows.map((row) => row.runNumber)).size < 2);
  const list = new EpisodeList(page("list"), page("rows"), (row) => go(row));
  for (const name of FILTERS) offer(form.elements[name], options(rows, name));
  const refill = () => fill(list, rows);
  form.addEventListener("input", refill);
  form.addEventListener("reset", () => setTimeout(refill));
  form.addEventListener("submit", (event) => event.preventDefault());
  refill();
  document.addEventListener("keydown", (event) => key(event, list));
  dialog.addEventListener("close", () => closed(list));
  page("close").addEventListener("click", () => dialog.close());
  page("previous").addEventListener("click", () => stepTo(list, -1));
  page("next").addEventListener("click", () => stepTo(list, 1));
  page("beside").addEventListener("change", () => go(list.shown, rows[page("beside").value] ?? null, true));
  addEventListener("hashchange", () => follow(list, rows));
  follow(list, rows);
}

function tell(text) {
  page("trouble").textContent = text;
  page("trouble").hidden = false;
}

const phaseOf = (row) => `${row.group}: ${row.when}`;
const valueOf = (row, name) => (name === "phase" ? phaseOf(row) : row[name]);

function options(rows, name) {
  const found = [...new Set(rows.map((row) => valueOf(row, name)))];
  return name === "outcome" ? OUTCOMES.filter((outcome) => found.includes(outcome)) : found;
}

function offer(select, values) {
  select.replaceChildren(element("option", { value: "" }, "all"), ...values.map((value, number) => element("option", { value: number + 1 }, value)));
  select.closest("label").hidden = values.length < 2;
}

function fill(list, rows) {
  const wanted = FILTERS.map((name) => [name, form.elements[name]])
    .filter(([, select]) => select.value)
    .map(([name, select]) => [name, select.selectedOptions[0].textContent]);
  const words = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter(
    (row) => wanted.every(([name, value]) => valueOf(row, name) === value) && words.every((word) => row.sought.includes(word)),
  );
  page("count").textContent = found.length === rows.length ? counted(rows.length, "episode") : `${found.length.toLocaleString("en")} of ${counted(rows.length, "episode")}`;
  list.fill(found);
}

function key(event, list) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape" && event.target === form.elements.search) page("list").focus();
  if (event.key === "Enter" && event.target === form.elements.search) page("list").focus();
  if (typing) return;
  const aside = { j: 1, k: -1, ...(dialog.open ? { ArrowRight: 1, ArrowLeft: -1 } : {}) };
  if (event.key === "/" && !dialog.open) form.elements.search.focus();
  else if (event.key in aside) moved(list, aside[event.key]);
  else return;
  event.preventDefault();
}

function moved(list, by) {
  if (dialog.open) return stepTo(list, by);
  const focused = document.activeElement === page("list");
  page("list").focus();
  return list.move(focused ? by : 0);
}

function stepTo(list, by) {
  const at = list.found.indexOf(list.shown);
  const row = list.found[at + by];
  if (row) go(row, undefined, true);
}

/** Put an episode, and what stands beside it, into the address; showing follows from there. */
function go(row, beside, instead = false) {
  const hash = new URLSearchParams({ episode: `${row.run}/${row.id}` });
  if (beside !== undefined) hash.set("beside", beside === null ? "" : `${beside.run}/${beside.id}`);
  if (instead) location.replace(`#${hash}`);
  else location.hash = hash;
}

async function follow(list, rows) {
  const hash = new URLSearchParams(location.hash.slice(1));
  const named = (name) => rows.find((row) => `${row.run}/${row.id}` === hash.get(name));
  if (!hash.has("episode")) {
    if (dialog.open) dialog.close();
    return;
  }
  const row = named("episode");
  if (!row) {
    tell(`The episode that the address names is not in this file: ${hash.get("episode")}`);
    return;
  }
  const others = rows.filter((other) => other !== row && other.domain === row.domain && other.task === row.task);
  const beside = hash.has("beside") ? named("beside") : others.find((other) => other.unit === row.unit);
  await show(list, row, beside, others);
}

async function show(list, row, beside, others) {
  list.shown = row;
  const pair = beside === undefined ? [row] : [row, beside].sort((one, other) => (one.unit === other.unit ? one.experience - other.experience : 0));
  const made = await articles(pair);
  if (list.shown !== row) return;
  list.select(row);
  page("episode-title").textContent = row.goal || row.task;
  page("episode-where").textContent = [row.domain, row.kind, `task ${row.task}`, phaseOf(row), row.replica, row.run].filter(Boolean).join(" · ");
  compareWith(row, beside, others);
  const at = list.found.indexOf(row);
  page("previous").disabled = at <= 0;
  page("next").disabled = at < 0 || at + 1 >= list.found.length;
  page("arms").replaceChildren(...made);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  page("episode-title").focus();
}

/** Offer what else was played of the same task, run by run, its own first. */
function compareWith(row, beside, others) {
  const name = (other) => `${other.unit === row.unit ? "the other arm" : [other.when, other.replica, other.arm].filter(Boolean).join(" · ")} · ${other.outcome}`;
  const option = (other) => element("option", { value: other.number, selected: other === beside }, name(other));
  const runs = new Map();
  for (const other of others) runs.set(other.runNumber, [...(runs.get(other.runNumber) ?? []), other]);
  const own = runs.get(row.runNumber) ?? [];
  runs.delete(row.runNumber);
  const group = (label, members) => (members.length ? [element("optgroup", { label }, ...members.map(option))] : []);
  page("beside").replaceChildren(
    element("option", { value: "" }, "nothing"),
    ...group("this run", own),
    ...[...runs.values()].flatMap((members) => group(members[0].hint, members)),
  );
  page("beside").closest("label").hidden = others.length === 0;
}

function closed(list) {
  list.shown = null;
  if (location.hash.includes("episode=")) history.replaceState(null, "", "#episodes");
  page("list").focus();
  list.move(0);
}

/** Light and dark: as the system has it, until the button says otherwise for as long as the page is open. */
function themed() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const tellPressed = () => page("theme").setAttribute("aria-pressed", String(dark()));
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  page("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    tellPressed();
  });
  system.addEventListener("change", tellPressed);
  printed(root);
  tellPressed();
}

/** Paper is light, and nothing on it unfolds. */
function printed(root) {
  let chosen, folded;
  addEventListener("beforeprint", () => {
    chosen = root.dataset.theme;
    root.dataset.theme = "light";
    folded = [...document.querySelectorAll("main details:not([open])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
    chosen ? (root.dataset.theme = chosen) : delete root.dataset.theme;
  });
}

/** Mark in the navigation which section is being read. */
function sectioned() {
  const links = new Map([...document.querySelectorAll(".bar a")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target.id);
      const first = [...links.keys()].find((id) => seen.has(id));
      for (const [id, link] of links) current(link, id === first);
    },
    { rootMargin: "-40% 0px -60% 0px" },
  );
  for (const id of links.keys()) observer.observe(page(id));
}

function current(link, is) {
  if (!is) return link.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  const bar = link.closest("nav");
  const [left, right] = [link.offsetLeft - bar.offsetLeft, link.offsetLeft - bar.offsetLeft + link.offsetWidth];
  if (left < bar.scrollLeft || right > bar.scrollLeft + bar.clientWidth) bar.scrollLeft = left;
  return undefined;
}
