// One episode, step by step, and another beside it.

/** An article for each of the rows; the step from which two arms of one start differ is marked. */
async function articles(rows) {
  const all = await Promise.all(rows.map(played));
  const parting = rows.length === 2 && rows[0].unit === rows[1].unit ? partingOf(...all) : -1;
  const made = rows.map((row, number) => article(row, all[number], parting));
  if (made.length > 1) made[0].querySelector(".arm-head").append(jump(made[1], rows[1]));
  return made;
}

/** Where both stand one below the other, the way down. */
function jump(article, row) {
  const button = element("button", { type: "button" }, `Down to the ${row.arm} arm`);
  button.addEventListener("click", () => article.scrollIntoView());
  return button;
}

function partingOf(one, other) {
  const end = Math.max(one.steps.length, other.steps.length);
  for (let at = 0; at < end; at += 1) if (one.steps[at]?.action !== other.steps[at]?.action) return at;
  return -1;
}

function article(row, episode, parting) {
  const tokens = row.read + row.written > 0 ? [`${row.read.toLocaleString("en")} tokens read, ${row.written.toLocaleString("en")} written`] : [];
  const replica = row.replica ? [row.replica] : [];
  const bare = row.arm === "experience" && !episode.steps.some((step) => step.shown.length) ? ["nothing of a bank shown"] : [];
  const facts = [`score ${rounded(row.score, 1)} of 100`, counted(row.steps, "step"), ...tokens, `${row.seconds} s`, ...bare];
  const head = element(
    "header", { class: "arm-head" },
    element("h3", {}, `${row.arm} arm `, chip(row.outcome)),
    element("p", {}, [row.run, row.when, ...replica, ...facts].join(" · ")),
  );
  const sums = [];
  episode.steps.reduce((sum, step, at) => (sums[at] = sum + step.reward), 0);
  const steps = episode.steps.map((step, at) => stepOf(step, at, sums[at], episode.steps[at - 1], at === parting));
  const died = episode.error === null ? null : element("p", { class: "notice" }, `It died: ${episode.error}`);
  const made = element(
    "article", { "aria-label": `${row.arm} arm, ${[row.run, row.when, ...replica].join(", ")}` },
    element("div", {}, head, died, openingOf(episode.opening)),
    steps.length ? element("ol", { class: "steps" }, ...steps) : null,
    element("div", { class: "final" }, element("p", { class: "said" }, element("b", {}, "at the end "), episode.final || "(nothing more was seen)")),
  );
  made.style.setProperty("--steps", steps.length);
  return made;
}

function openingOf(opening) {
  if (!opening.length) return null;
  const turns = opening.map(({ role, text }) => element("div", { class: "turn" }, element("b", {}, role), element("p", { class: "said" }, text)));
  return element("details", { class: "opening" }, element("summary", {}, `Before the first observation: ${counted(opening.length, "message")}`), ...turns);
}

function stepOf(step, at, sum, before, parts) {
  const tokens = step.read + step.written > 0 ? [`${step.read.toLocaleString("en")} tokens read`, `${step.written.toLocaleString("en")} written`] : [];
  const facts = [`reward ${rounded(step.reward)}`, `so far ${rounded(sum)}`, ...tokens];
  return element(
    "li", { class: parts ? "step parts" : "step" },
    element(
      "header", {},
      element("h4", {}, `Step ${at + 1}`),
      ...facts.map((fact) => element("span", {}, fact)),
      parts ? element("span", { class: "chip" }, "the arms part here") : null,
      step.valid ? null : element("span", { class: "chip out" }, "not understood"),
    ),
    element("p", { class: "said" }, step.observation),
    bankOf(step, before),
    choicesOf(step),
    step.said === null ? null : element("p", { class: "said saying" }, element("b", {}, "said "), step.said),
    element(
      "div", { class: step.valid ? "action" : "action refused" },
      element("span", { class: "mark", "aria-hidden": "true" }, "▸"),
      actionOf(step),
    ),
  );
}

function actionOf(step) {
  if (!step.action) return element("em", {}, "no action: it asked the bank");
  if (!step.ranked) return element("code", {}, step.action);
  return element("ol", { class: "order" }, ...step.action.split("\n").map((candidate) => element("li", {}, candidate)));
}

/** What could have been done; where all of it was put in order, the action says in which. */
function choicesOf(step) {
  if (!step.choices.length) return null;
  const summary = `${counted(step.choices.length, step.ranked ? "candidate" : "admissible action")}${step.ranked ? ", put in order" : ""}`;
  const entries = step.choices.map((choice) => element("li", choice === step.action ? { class: "taken" } : {}, choice));
  return element("details", {}, element("summary", {}, summary), element("ul", { class: "choices", tabindex: 0 }, ...entries));
}

/** What an experience is, how it came out where it was made, and why it was shown. */
function worthOf({ kind, outcome, score, utility, id }) {
  const made = outcome === null ? [] : [`its own episode scored ${rounded(100 * outcome, 1)} of 100`];
  return [kind, ...made, `selector's score ${rounded(score)}`, `utility ${rounded(utility)}`, id].join(" · ");
}

function bankOf(step, before) {
  if (!step.shown.length) return null;
  const same = before !== undefined && before.selection === step.selection;
  const how = step.latent ? " as memory" : "";
  const scores = step.shown.map((experience) => rounded(experience.score)).join(", ");
  const summary = `${counted(step.shown.length, "experience")} shown${how}${same ? ", the same as before" : `, selector's score ${scores}`}`;
  const entries = step.shown.map((experience) =>
    element(
      "li", {},
      element("p", { class: "aside" }, worthOf(experience)),
      element("p", { class: "said" }, experience.content),
    ),
  );
  return element("details", { open: before === undefined }, element("summary", {}, summary), element("ul", { class: "shown" }, ...entries));
}
