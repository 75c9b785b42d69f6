"""Where each task's rows come from: licence, source, and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from xplearn import XplearnError
from xplearn_expbench import catalogue
from xplearn_expbench.spec import TaskSpec
from xplearn_expbench.suite import Suite


def origins(names: Iterable[str] = ()) -> str:
    """What the command prints, of some tasks or of all. Raises ``ConfigError`` for an unknown name."""
    specs = [catalogue.task(name) for name in names] or list(catalogue.TASKS.values())
    return "\n\n".join(map(_told, specs))


def own_counts(spec: TaskSpec) -> Counter[str]:
    """Own rows by split, as an environment with its defaults asks them; empty where there are none."""
    if not spec.mini:
        return Counter()
    questions = Suite(mix=[spec.name]).questions(spec)
    return Counter({split: len(rows) for split, rows in questions.by_split.items()})


def _told(spec: TaskSpec) -> str:
    files = ", ".join(f"{name} ({count:,} rows)" for name, count in spec.files.items()) or "see the README"
    chance = f", chance {100 * spec.chance:.0f} %" if spec.chance else ""
    lines = [
        f"{spec.name}  ({spec.group}, {spec.metric}{chance})",
        f"  source     {spec.source}",
        f"  licence    {spec.licence}",
        f"  files      {files}",
        f"  own rows   {_own(spec)}",
    ]
    return "\n".join(lines)


def _own(spec: TaskSpec) -> str:
    try:
        counts = own_counts(spec)
    except XplearnError as error:
        return f"not here: {error}"
    return ", ".join(f"{count} {split}" for split, count in counts.items()) or "none"
