"""The rows of one task, as its generator or its published files have them, looked over before anything is asked."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from xplearn import ConfigError, DataError
from xplearn_expbench.catalogue import ALONE, needing_extras, resolve
from xplearn_expbench.official import molecules, reading
from xplearn_expbench.spec import Kind, Row, TaskSpec, Tier
from xplearn_expbench.splits import SPLITS


def read(spec: TaskSpec, tier: Tier, data: str, *, subset: bool = False) -> list[Row]:
    """The rows of a task.

    Args:
        spec: the task.
        tier: own rows, or the published ones.
        data: file or folder of the published rows.
        subset: accept other numbers of rows than were published.

    Raises:
        ConfigError: the task has no rows in this tier, or ``data`` is missing.
        DataError: a file is absent, holds another number of rows, or a row is malformed.
        PluginError: a package that the rows need is not installed; with the command that installs it.
    """
    require_tier(spec, tier)
    with needing_extras(spec):
        rows = resolve(spec.mini)() if tier == "mini" else _published(spec, data, subset)
    origin = data or spec.mini
    if not rows:
        raise DataError(origin, f"holds no rows of {spec.name}")
    for row, problem in _problems(spec.kind, rows):
        raise DataError(origin, f"row '{row.id}' of {spec.name}: {problem}")
    return rows


def require_tier(spec: TaskSpec, tier: Tier) -> None:
    """Raises ``ConfigError`` where a task has no rows in a tier."""
    if tier == "mini" and not spec.mini:
        raise ConfigError("tier", f"{spec.name} has no own rows; say tier=official and data=<path> ({spec.source})")
    if tier == "official" and not spec.official:
        raise ConfigError("tier", f"{spec.name} has no published form; say tier=mini")


def _published(spec: TaskSpec, data: str, subset: bool) -> list[Row]:
    names = ", ".join(spec.files) or "its files"
    if not data:
        where = f"of {spec.name} from a file or folder; several tasks from a folder with one of each task's name"
        raise ConfigError("data", f"is empty; say e.g. stream.0.env.data=FOLDER: tier=official reads {names} {where} ({spec.source})")
    path = Path(data)
    try:
        path.stat()
    except FileNotFoundError:
        raise DataError(reading.cut(data), f"is not there; {spec.name} reads {names} ({spec.source})") from None
    except (OSError, ValueError) as error:
        raise DataError(reading.cut(data), f"can't be opened ({getattr(error, 'strerror', error)}); give the path of {names}") from None
    load: Callable[[Path], list[Row]] = resolve(spec.official)
    if spec.kind == "chemistry" and not subset:
        molecules.require_whole(path)
    parts = _known(path, spec) if path.is_dir() else []
    return _named_apart([row for part in parts or [path] for row in _counted(spec, part, load(part), subset)])


def _known(folder: Path, spec: TaskSpec) -> list[Path]:
    """What of a folder goes by its usual name, packed or not."""
    packed = [(name, folder / f"{name}{ending}") for name in spec.files for ending in ("", ".gz")]
    found = {name: path for name, path in reversed(packed) if path.exists()}
    together = [found[name] for name in spec.files if name in found and name not in ALONE]
    for one, other in combinations(together, 2):
        if _same(spec, one, other):
            raise DataError(folder, f"holds {one.name} and {other.name}, two names of one file; leave one, or give its path")
    return together or list(found.values())


def _same(spec: TaskSpec, one: Path, other: Path) -> bool:
    """Whether two names are of the same part: as many rows, of one split as far as they say."""
    counts = {spec.files[path.name.removesuffix(".gz")] for path in (one, other)}
    return len(counts) == 1 and len({reading.split(one), reading.split(other)} - {""}) < 2


def _named_apart(rows: Sequence[Row]) -> list[Row]:
    """Rows of several files, where ids are made of the question and two files ask the same."""
    seen: Counter[str] = Counter()
    named = []
    for row in rows:
        seen[row.id] += 1
        named.append(row if seen[row.id] == 1 else dataclasses.replace(row, id=f"{row.id}+{seen[row.id]}"))
    return named


def _counted(spec: TaskSpec, path: Path, rows: list[Row], subset: bool) -> list[Row]:
    expected = spec.files.get(path.name.removesuffix(".gz"))
    if expected not in (None, len(rows)) and not subset:
        raise DataError(path, f"holds {len(rows)} rows, and {expected} were published; get it again, or say subset=true if a part is meant")
    return rows


def _problems(kind: Kind, rows: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """Each malformed row, with what is wrong. Thousands of rankings share one tuple of candidates: it is looked at once."""
    seen: set[str] = set()
    pools: dict[int, frozenset[str]] = {}
    for row in rows:
        if not row.id or row.id in seen:
            yield row, "has no id" if not row.id else "has the id of another row"
        if not isinstance(row.question, str) or not row.question.strip():
            yield row, "asks nothing"
        if row.split not in ("", *SPLITS):
            yield row, f"is in split '{row.split}'; known are {', '.join(SPLITS)}"
        problem = _answer_problem(kind, row, pools)
        if problem:
            yield row, problem
        seen.add(row.id)


def _answer_problem(kind: Kind, row: Row, pools: dict[int, frozenset[str]]) -> str:
    if kind == "choice":
        return _option_problem(row)
    if kind == "ranking":
        if id(row.choices) not in pools:
            pools[id(row.choices)] = frozenset(row.choices)
        pool = pools[id(row.choices)]
        if len(pool) != len(row.choices):
            return "lists a candidate twice"
        return "" if row.answer in pool else f"its target {reading.quoted(row.answer)} is none of the {len(pool)} candidates"
    if kind == "qa":
        return "" if _texts(row.answer) else "has no accepted answers"
    return "" if isinstance(row.answer, str) and row.answer.strip() else "has no answer"


def _option_problem(row: Row) -> str:
    if not 2 <= len(row.choices) <= len(ascii_uppercase):
        return f"has {len(row.choices)} options, want 2 to {len(ascii_uppercase)}"
    at = row.answer
    right = isinstance(at, int) and not isinstance(at, bool) and 0 <= at < len(row.choices)
    return "" if right else f"its answer {reading.quoted(at)} is none of the {len(row.choices)} options"


def _texts(answer: Any) -> bool:
    return isinstance(answer, list) and bool(answer) and all(isinstance(text, str) and text.strip() for text in answer)
