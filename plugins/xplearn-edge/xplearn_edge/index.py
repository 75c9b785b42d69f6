"""One pool of the bank in arrays: who is in it, what finds it, and the best of it for many queries at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from xplearn import Experience, ExperienceStore, Message, Task
from xplearn.learning.credit import observation
from xplearn_edge.principle import Pool
from xplearn_edge.ucb import score, worth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]

Found = list[tuple[Experience, float]]
"""Experiences with their scores, best first."""
SPACES: dict[Pool, str] = {"task": "key", "step": "step"}
"""Vector space of the bank by pool."""
_AT_ONCE = 1 << 22
"""Scores, and numbers of gathered vectors, held at once."""


def pool_of(experience: Experience) -> Pool:
    """The pool of an experience; one that names none, of whatever writer, is about a task."""
    return "step" if experience.meta.get("pool") == "step" else "task"


def step_text(task: Task, messages: Sequence[Message]) -> str:
    """What a step principle is found by: the goal and the last user turn, the current observation [C]."""
    return f"{task.goal}\n\n{observation(messages)}".strip()


@dataclass(frozen=True, kw_only=True)
class Index:
    """Experiences of one pool that have a vector in its space, in the order of the bank."""

    experiences: tuple[Experience, ...]
    vectors: Vectors
    """``[N, D]``."""
    worths: Numbers
    """``[N]``, see ``ucb.worth``; ``N`` there counts the uses of this pool."""

    @classmethod
    def of(cls, store: ExperienceStore, name: Pool, *, ucb: float) -> Index:
        """The pool ``name`` of a bank as it is now; empty where its space is not open yet."""
        space = SPACES[name]
        _, dim = store.spaces().get(space, ("", 0))
        found = _members(store, space, name) if dim else []
        vectors = store.vectors(space, [experience.id for experience in found]) if dim else np.empty((0, 0), dtype=np.float32)
        utilities, uses = [experience.utility for experience in found], [experience.uses for experience in found]
        return cls(experiences=tuple(found), vectors=vectors, worths=worth(utilities, uses, ucb=ucb))

    def best(
        self, queries: Vectors, k: int, *, barred: Sequence[Collection[str]], alpha: float, candidates: int | None = None
    ) -> list[Found]:
        """The ``k`` of the highest score with that score, for each query; ties by the order of the bank.

        Exact over the whole pool: single precision only finds who may be among the best, by a margin that covers its rounding, and each
        score is then computed by itself. So it depends on its query and experience alone, never on how many queries are asked together.

        Args:
            queries: unit vectors ``[Q, D]``.
            k: at most this many.
            barred: per query, ids that may not be returned.
            alpha: share of the similarity.
            candidates: rank only so many most similar; all where None.
        """
        rows = [[self._place[id] for id in ids if id in self._place] for ids in barred]
        width = max(1, _AT_ONCE // max(1, len(self.experiences)))
        found: list[Found] = []
        for start in range(0, len(queries), width):
            part = slice(start, start + width)
            found += self._best(queries[part], k, rows[part], alpha, candidates)
        return found

    def _best(self, queries: Vectors, k: int, barred: Sequence[list[int]], alpha: float, candidates: int | None) -> list[Found]:
        found: list[Found] = [[] for _ in queries]
        if not self.experiences:
            return found
        asked, rows = self._contenders(queries, candidates or k, barred, 1.0 if candidates else alpha)
        cosines = self._cosines(queries, asked, rows)
        if candidates:
            near = _first(asked, rows, cosines, candidates)
            asked, rows, cosines = asked[near], rows[near], cosines[near]
        scores = score(cosines, self.worths[rows], alpha=alpha)
        for at in _first(asked, rows, scores, k).tolist():
            found[asked[at]].append((self.experiences[rows[at]], float(scores[at])))
        return found

    def _contenders(self, queries: Vectors, k: int, barred: Sequence[list[int]], alpha: float) -> tuple[Places, Places]:
        """Pairs of query and row that may be among the ``k`` best of their query, and few more."""
        base = score(0.0, self.worths, alpha=alpha).astype(np.float32)
        rough = (queries * np.float32(alpha / 2)) @ self.vectors.T
        rough += base
        for line, out in zip(rough, barred, strict=True):
            line[out] = -np.inf
        last = len(base) - min(k, len(base))
        least = np.partition(rough, last, axis=1)[:, last]
        reach = least - self._margin(queries, alpha, base)
        asked, rows = np.nonzero((rough >= reach[:, None]) & (rough > -np.inf))
        return asked, rows

    def _margin(self, queries: Vectors, alpha: float, base: Vectors) -> Vectors:
        """Twice how far a score in single precision may be from the exact one, per query."""
        products = np.sqrt(np.square(queries).sum(-1)) * self._longest * (alpha / 2)
        margin: Vectors = (products * (queries.shape[1] + 4) + np.abs(base).max()) * np.float32(2.0**-21)
        return margin

    @cached_property
    def _place(self) -> dict[str, int]:
        return {experience.id: at for at, experience in enumerate(self.experiences)}

    @cached_property
    def _longest(self) -> float:
        return float(np.sqrt(np.square(self.vectors).sum(-1).max()))

    def _cosines(self, queries: Vectors, asked: Places, rows: Places) -> Numbers:
        """Cosine of each pair, in double precision, every pair by a call of its own to the same routine."""
        cosines = np.empty(len(rows))
        width = max(1, _AT_ONCE // queries.shape[1])
        for start in range(0, len(rows), width):
            part = slice(start, start + width)
            left = self.vectors[rows[part]].astype(np.float64)[:, None, :]
            right = queries[asked[part]].astype(np.float64)[:, :, None]
            cosines[part] = np.matmul(left, right)[:, 0, 0]
        return cosines


def _members(store: ExperienceStore, space: str, name: Pool) -> list[Experience]:
    held = set(store.ids(space))
    return [experience for experience in store if experience.id in held and pool_of(experience) == name]


def _first(asked: Places, rows: Places, values: Numbers, k: int) -> Places:
    """Places of the ``k`` highest values of each query, best first, ties by row."""
    order = np.lexsort((rows, -values, asked))
    ranked = asked[order]
    rank = np.arange(len(order)) - np.searchsorted(ranked, ranked)
    return order[rank < k]
