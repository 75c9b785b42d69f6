// Episodes as the file carries them: deflated JSON in inert elements, opened when asked for. Text from runs only ever becomes text nodes.

const FLAGS = { terminated: 1, truncated: 2, valid: 4, latent: 8, ranked: 16 };
const OUTCOMES = ["success", "failed", "out of steps", "died"];
const ARMS = ["plain", "experience"];

const opened = new Map();

/** The JSON value in the element of that id; each is opened once. */
function unpacked(id) {
  if (!opened.has(id)) opened.set(id, inflate(document.getElementById(id).textContent));
  return opened.get(id);
}

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** Every listed episode as an object, in the order of the list. */
function listed(index) {
  const names = Object.keys(index.columns);
  const count = names.length ? index.columns.id.length : 0;
  return Array.from({ length: count }, (_, number) => {
    const row = Object.fromEntries(names.map((name) => [name, index.columns[name][number]]));
    const [group, when] = index.phases[row.phase];
    const [task, goal, kind] = index.tasks[row.task];
    return {
      ...row, number, group, when, task, goal, kind, run: index.runs[row.run], hint: index.hints[row.run], runNumber: row.run,
      domain: index.domains[row.domain], replica: index.replicas[row.replica], arm: ARMS[row.experience], outcome: OUTCOMES[row.outcome], sought: `${goal}\n${task}`.toLowerCase(),
    };
  });
}

/** An episode's conversation before the first observation, its steps, its last observation, and why it died if it did. */
async function played(row) {
  const chunk = await unpacked(`data-chunk-${row.chunk}`);
  const text = (number) => chunk.texts[number];
  const [opening, steps, final, error] = chunk.episodes[row.place];
  return {
    opening: opening.map(([role, number]) => ({ role, text: text(number) })),
    steps: steps.map(([observation, action, said, reward, flags, read, written, selection, choice]) => ({
      observation: text(observation), action: text(action), said: said < 0 ? null : text(said), reward, read, written, selection,
      valid: Boolean(flags & FLAGS.valid), latent: Boolean(flags & FLAGS.latent), ranked: Boolean(flags & FLAGS.ranked),
      choices: admissible(chunk, choice), shown: shown(chunk, selection, text),
    })),
    final: text(final),
    error: error < 0 ? null : text(error),
  };
}

/** The actions of a list in alphabetical order: the file says what changes from each list to the next, number by number as gaps. */
function admissible(chunk, choice) {
  const now = new Set();
  for (const [left, joined] of chunk.choices.slice(0, choice + 1)) {
    left.reduce((last, gap) => (now.delete(last + gap), last + gap), 0);
    joined.reduce((last, gap) => (now.add(last + gap), last + gap), 0);
  }
  return [...now].map((number) => chunk.actions[number]).sort();
}

function shown(chunk, selection, text) {
  if (selection < 0) return [];
  const [numbers, scores] = chunk.selections[selection];
  return numbers.map((number, place) => {
    const [id, kind, content, source, utility, outcome] = chunk.experiences[number];
    return { id: text(id), kind: text(kind), content: text(content), source: text(source), utility, outcome, score: scores[place] };
  });
}

/** An element; strings among the children become text. */
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const rounded = (value, digits = 3) => String(Number(value.toFixed(digits)));
const chip = (outcome) => element("span", { class: `chip ${outcome.split(" ")[0]}` }, outcome);
