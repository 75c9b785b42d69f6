"""``core.bm25``: the experiences whose key shares the rarest words with the moment."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xplearn.builtin.selectors import check_count, require_act
from xplearn.capability import Capability
from xplearn.errors import ConfigError
from xplearn.interfaces import ExperienceStore, Selector
from xplearn.keys import query_text
from xplearn.types import Query, Selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Lower-case words of a text, punctuation dropped."""
    return _WORD.findall(text.lower())


class Bm25Index:
    """An inverted index with each term's share of the score computed beforehand.

    Scores as Lucene's BM25 (Kamphuis et al. 2020, "Which BM25 do you mean?"): ``idf = ln(1 + (N - df + 0.5) / (df + 0.5))``
    times ``tf / (tf + k1 (1 - b + b · length / mean length))``.
    """

    def __init__(self, documents: Iterable[tuple[str, str]], *, k1: float, b: float) -> None:
        """Index ``(id, text)`` pairs."""
        self.ids: list[str] = []
        lengths: list[int] = []
        counts: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, (id, text) in enumerate(documents):
            found = words(text)
            self.ids.append(id)
            lengths.append(len(found))
            for word, count in Counter(found).items():
                counts[word].append((row, count))
        size = np.asarray(lengths, dtype=np.float64)
        norm = k1 * (1 - b + b * size / (size.mean() or 1.0)) if lengths else size
        self._postings = {word: self._posting(pairs, norm) for word, pairs in counts.items()}

    def _posting(self, pairs: list[tuple[int, int]], norm: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        rows, counts = np.asarray(pairs, dtype=np.int64).T
        idf = math.log(1 + (len(self.ids) - len(rows) + 0.5) / (len(rows) + 0.5))
        return rows, idf * counts / (counts + norm[rows])

    def best(self, text: str, k: int, exclude: Collection[str] = ()) -> list[tuple[str, float]]:
        """The ``k`` best that share a word with ``text``, best first, ties by order of the documents."""
        scores = np.zeros(len(self.ids))
        for word in words(text):
            rows, shares = self._postings.get(word, (_NO_ROWS, 0.0))
            scores[rows] += shares
        hits: list[tuple[str, float]] = []
        shared = np.flatnonzero(scores)
        for row in shared[np.argsort(-scores[shared], kind="stable")]:
            if len(hits) == k:
                break
            if self.ids[row] not in exclude:
                hits.append((self.ids[row], float(scores[row])))
        return hits


_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(kw_only=True)
class Bm25Selector(Selector):
    """Selects the ``k`` experiences with the highest BM25 score between their key and goal and first observation of the task."""

    k: int = 1
    """How many; fewer where fewer share a word."""
    k1: float = 0.9
    """Saturation of a term's count, at least 0."""
    b: float = 0.4
    """Weight of the key's length, in [0, 1]."""

    def __post_init__(self) -> None:
        check_count("k", self.k)
        if self.k1 < 0:
            raise ConfigError("k1", f"must be at least 0, got {self.k1}")
        if not 0.0 <= self.b <= 1.0:
            raise ConfigError("b", f"must be in [0, 1], got {self.b}")
        self._built: tuple[ExperienceStore, int, Bm25Index] | None = None

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"selector.act"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"store.filled"})

    def select(self, queries: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        require_act(self, queries)
        index = self._index(store)
        return [self._selection(query, index, store) for query in queries]

    def _selection(self, query: Query, index: Bm25Index, store: ExperienceStore) -> Selection:
        hits = index.best(query_text(query.task, query.messages), self.k, store.from_task(query.task.id))
        experiences = store.get([id for id, _ in hits])
        return Selection(experiences=tuple(experiences), scores=tuple(score for _, score in hits))

    def _index(self, store: ExperienceStore) -> Bm25Index:
        if self._built is None or self._built[0] is not store or self._built[1] != store.version:
            documents = ((experience.id, experience.key) for experience in store)
            self._built = (store, store.version, Bm25Index(documents, k1=self.k1, b=self.b))
        return self._built[2]
