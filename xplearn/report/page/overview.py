"""What was run: each run in a line, and on what, with what, everything that can change a result."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from xplearn.report import sheets
from xplearn.report.figure import Section, Sheet
from xplearn.report.page.material import Material

if TYPE_CHECKING:
    from xplearn.record.reader import Run

USUAL = "core.all"
"""The curriculum that goes without saying."""

SHORT = 8
"""Rows of a table that is not folded away."""

MANY = ("plugin", "package")
"""Kinds of facts of which there are many, most of them alike in all runs."""

MOST_NAMES = 4
"""That are listed in a cell."""


def overview(material: Material) -> Section:
    """The runs, in what they differ, and on which versions they were made."""
    found = [_warned(material), _runs(material), _differing(material), _origins(material)]
    lead = "Each run with its parts, as registered; in what their configurations differ; and on which versions they were made."
    pieces = [sheet for sheet in found if sheet is not None and sheet.rows]
    aside = [sheet.name for sheet in pieces if len(sheet.rows) > SHORT]
    return Section(name="runs", title="What was run", lead=lead if pieces else "", pieces=pieces, aside=aside)


def _differing(material: Material) -> Sheet | None:
    """What labels stand for where a cross has them, else what differs from run to run."""
    labels = sheets.labels_sheet(material.cross) if material.cross else None
    return labels or sheets.config_sheet({name: run.header.resolved for name, run in material.runs.items()})


def summary(material: Material) -> str:
    """How much was run, on what, and what is missing."""
    runs = material.runs
    domains = dict.fromkeys(domain for run in runs.values() for domain in run.header.panels)
    seeds = len({run.header.seed for run in runs.values()})
    finished = sum(run.header.status == "finished" for run in runs.values())
    parts = [
        f"{_count(len(runs), 'run')} with {_count(seeds, 'seed')}, {_count(sum(map(len, material.results.values())), 'episode')}"
        f"{f', on {_listed(domains)}' if domains else ''}."
    ]
    if finished < len(runs):
        parts.append(f"{_count(len(runs) - finished, 'run')} not finished: figures are those of what was done so far.")
    lost = {name: missing for name, run in runs.items() if (missing := run.missing())}
    parts += [f"{name} has lost {_count(missing, 'evaluated episode')}." for name, missing in lost.items()]
    warned = sum(bool(run.header.warnings) for run in runs.values())
    parts += [f"{_count(warned, 'run')} {'has' if warned == 1 else 'have'} warnings: see What was run."] if warned else []
    return " ".join(parts)


def _warned(material: Material) -> Sheet:
    """What a reader of the figures must know, and of which runs."""
    names: dict[str, list[str]] = {}
    for name, run in material.runs.items():
        for line in run.header.warnings:
            names.setdefault(line, []).append(name)
    rows = [(line, _where(found, material, alone=False)) for line, found in names.items()]
    return Sheet(name="warnings-table", title="Warnings", caption="", columns=("warning", "of"), rows=rows)


def _runs(material: Material) -> Sheet:
    rows = []
    for name, run in material.runs.items():
        header, parts = run.header, run.header.parts
        named = {path: str(part.get("name", "")) for path, part in parts.items()}
        status = header.status + (f": {header.error}" if header.error else "")
        shown = f"{named.get('selector', '')} + {named.get('conditioner', '')}"
        learners = ", ".join(value for path, value in named.items() if path.startswith(("record.", "learner."))) or "none"
        chosen = f" on {named['curriculum']}" if named.get("curriculum", USUAL) != USUAL else ""
        stages = " → ".join(dict.fromkeys(run.stream())) if header.panels else ""
        started = header.started[:16].replace("T", " ")
        rows.append((name, status, _policy(parts), shown, learners + chosen, stages, header.seed, len(material.results[name]), started))
    columns = ("run", "status", "policy", "shown by", "learned by", "stream", "seed", "episodes", "started (UTC)")
    return Sheet(name="runs-table", title="Runs", caption="", columns=columns, rows=rows)


def _policy(parts: Mapping[str, Mapping[str, object]]) -> str:
    policy = parts.get("policy", {})
    return " ".join(str(policy[key]) for key in ("name", "model") if policy.get(key))


def _origins(material: Material) -> Sheet:
    """Every fact once where all runs agree on it, else each value with the runs that have it; what all share of a kind in one line."""
    values: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name, run in material.runs.items():
        for fact, value in _facts(run):
            values.setdefault(fact, {}).setdefault(value, []).append(name)
    shared: dict[str, list[str]] = {}
    rows = []
    for (kind, what), by_value in values.items():
        value, names = next(iter(by_value.items()))
        if kind in MANY and len(names) == len(material.runs):
            shared.setdefault(kind, []).append(f"{what} {value}")
            continue
        rows += [(f"{kind} {what}".strip(), value, _where(names, material, alone=len(by_value) == 1)) for value, names in by_value.items()]
    rows += [(f"{kind}s", ", ".join(told), "all") for kind, told in shared.items()]
    return Sheet(
        name="origins-table",
        title="Versions",
        caption="Environments, evaluated tasks, encoder, plugins, packages and checkout: what can change a result.",
        columns=("what", "is", "in"),
        rows=rows,
    )


def _where(names: Sequence[str], material: Material, *, alone: bool) -> str:
    """Which runs have a value; ``alone``: no other run has another."""
    if len(names) == len(material.runs):
        return "all"
    return f"all {len(names)} that have it" if alone and len(names) > 1 else _listed(names)


def _listed(names: Collection[str]) -> str:
    first = list(names)[:MOST_NAMES]
    return ", ".join(first) + (f" and {len(names) - len(first)} more" if len(names) > len(first) else "")


def _facts(run: Run) -> Iterator[tuple[tuple[str, str], str]]:
    """Kind and name of a fact, and its value."""
    header = run.header
    for domain, version in header.environments.items():
        yield ("environment", domain), version
    for domain, panel in header.panels.items():
        yield ("evaluated tasks of", domain), f"{panel.get('tasks', 0)} tasks, hash {panel.get('hash', '')}"
    if header.encoder:
        yield ("encoder", ""), header.encoder
    for plugin, version in header.plugins.items():
        yield ("plugin", plugin), version
    for package, version in header.packages.items():
        yield ("package", package), version
    for what, found in header.computing.items():
        yield ("computed with", what), str(found)
    if header.git:
        yield ("checkout", ""), " ".join(f"{key} {value}" for key, value in header.git.items())


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
