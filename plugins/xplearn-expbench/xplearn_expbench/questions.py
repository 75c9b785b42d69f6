"""The questions of one task as a run asks them: read, split, separated and sampled once in a process, however many environments ask."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xplearn import ConfigError, derive
from xplearn_expbench import sources
from xplearn_expbench.catalogue import TASKS
from xplearn_expbench.overlap import Overlap, separated
from xplearn_expbench.spec import Row, TaskSpec, Tier
from xplearn_expbench.splits import SPLITS, By, assigned, sampled


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which rows are read, and how they are split. Fields as those of the environment."""

    tier: Tier
    data: str
    subset: bool
    rows: int | None
    splits_by: By
    test_share: float
    dev_share: float
    overlap: Overlap
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The rows of one task, by id and by split."""

    by_id: Mapping[str, Row]
    by_split: Mapping[str, Sequence[Row]]
    """Only splits that have rows."""
    dropped: int
    """Rows left out because another split asks the same."""
    examples: Sequence[Row]
    """Where few-shot examples come from, in the order they are drawn: training rows, or those for development where there are no others."""
    digest: str
    """Of everything that is asked or judged."""


@functools.lru_cache(maxsize=64)
def open_questions(name: str, reading: Reading) -> Questions:
    """The questions of the task ``name``.

    Raises:
        ConfigError, DataError, PluginError: as ``sources.read``; or rows repeat and ``overlap`` is ``refuse``.
    """
    spec = TASKS[name]
    rows = sources.read(spec, reading.tier, reading.data, subset=reading.subset)
    rows = assigned(rows, reading.splits_by, reading.test_share, reading.dev_share)
    rows, dropped = separated(rows, spec.kind, reading.overlap, reading.data or spec.mini)
    rows = sampled(rows, reading.rows, reading.seed, name)
    by_split = {split: tuple(row for row in rows if row.split == split) for split in SPLITS}
    return Questions(
        by_id={row.id: row for row in rows},
        by_split={split: members for split, members in by_split.items() if members},
        dropped=len(dropped),
        examples=sorted(by_split["train"] or by_split["dev"], key=lambda row: (derive(reading.seed, "shot", name, row.id), row.id)),
        digest=_digest(rows),
    )


def require_examples(spec: TaskSpec, questions: Questions, shots: int) -> None:
    """Raises ``ConfigError`` where there are too few rows to take examples from: as many as are shown and the one that is asked."""
    found = len(questions.examples)
    if found <= shots > 0:
        raise ConfigError("shots", f"is {shots}, and {spec.name} has {found} rows to take examples from; lower it, or say splits_by=hash")


def _digest(rows: Sequence[Row]) -> str:
    digest = hashlib.blake2b(digest_size=6)
    pools: dict[int, str] = {}
    for row in rows:
        if id(row.choices) not in pools:
            pools[id(row.choices)] = hashlib.blake2b(_json(row.choices), digest_size=6).hexdigest()
        digest.update(_json([row.id, row.split, row.question, row.answer, pools[id(row.choices)], dict(row.meta)]))
    return digest.hexdigest()


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode()
