"""Runs in a line or two each: what was run, on which stream, how it ended."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.errors import XplearnError
from xplearn.metrics.digits import tenths
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.record.reader import Run
    from xplearn.types import Arm

ARMS: dict[Arm, str] = {"plain": "", "experience": " with the bank"}
"""What follows the score of an arm."""

USUAL = "core.all"
"""The curriculum that goes without saying."""


def listed(folder: Path) -> str:
    """A run in short, whatever state it is in."""
    from xplearn.record.reader import load

    try:
        run = load(folder)
        return printable(f"{folder}  {_ended(run)}\n    {_method(run)}; {_stream(run)}; seed {run.header.seed}")
    except XplearnError as error:
        return printable(f"{folder}  cannot be read: {error}")


def _ended(run: Run) -> str:
    """Status, and the score of each arm at its last evaluation or how many episodes there are so far."""
    from xplearn.record.following import held

    if run.header.status != "finished":
        killed = run.header.status == "running" and not held(run.path)
        return f"{'killed' if killed else run.header.status}, {sum(1 for _ in run.episodes())} episodes so far"
    scores = [f"{tenths(score)}{words}" for arm, words in ARMS.items() if (score := _score(run, arm)) is not None]
    lost = f" with {missing} evaluated episodes lost" if (missing := run.missing()) else ""
    return f"finished{lost}" + (f", score {', '.join(scores)}" if scores else "")


def _score(run: Run, arm: Arm) -> float | None:
    """Mean over the domains after the last stage at which all of them were evaluated."""
    rows = run.matrix(arm).values.mean(axis=1)
    known = rows[rows == rows]  # noqa: PLR0124 - NaN is not itself
    return float(known[-1]) if known.size else None


def _method(run: Run) -> str:
    """Policy, learners and what they study, and how experience is shown."""
    parts = run.header.parts
    names = {path: str(part.get("name", "")) for path, part in parts.items()}
    policy = " ".join(str(parts["policy"][key]) for key in ("name", "model") if parts.get("policy", {}).get(key))
    learners = ", ".join(name for path, name in names.items() if path.startswith("learner.")) or "no learner"
    studied = names.get("curriculum", USUAL)
    chosen = f" on what {studied} chooses" if studied != USUAL and "learner.0" in names else ""
    return f"{policy}, {learners}{chosen}, {names.get('selector', '')} + {names.get('conditioner', '')}"


def _stream(run: Run) -> str:
    """Domains in the order they are learned; stages of one domain in a row are counted."""
    stages = [stage["env"]["name"] for stage in run.header.resolved["stream"] if not stage["warmup"]]
    names = run.stream() if run.header.panels else stages
    counted = [(name, len(list(same))) for name, same in groupby(names)]
    return " → ".join(name + (f" × {count}" if count > 1 else "") for name, count in counted)
