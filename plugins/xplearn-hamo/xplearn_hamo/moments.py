"""The moment that experience is chosen for: the conversation up to the observation that is asked about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xplearn import AgentView, Query
from xplearn.keys import query_text
from xplearn_hamo.recent import Recent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Vectors = NDArray[np.float32]

_TEXTS = 4096
"""Encoded observations remembered."""


def opening(query: Query) -> Query:
    """The moment of the first observation."""
    return _moment(query, 0)


def asked(moment: Query) -> Query:
    """The moment as a question: its observation alone, so that it is searched for by goal and this observation."""
    return replace(moment, messages=moment.messages[-1:])


def digest(moment: Query) -> str:
    """Names a moment: task and conversation, whatever step it was asked at."""
    task = moment.task
    text = json.dumps([task.env, task.id, task.goal, [[message["role"], message["content"]] for message in moment.messages]])
    return hashlib.blake2b(text.encode(), digest_size=16, person=b"hamo-moment").hexdigest()


class Moments:
    """Follows episodes to where the observation has moved away.

    An observation has moved away when its cosine with the one that experience was last chosen for is below ``below``, each led by the
    goal. The walk begins at the first turn every time, so a moment depends on its query alone: a resumed or dressed episode finds the
    same one. Observations are encoded once, as long as the policy stays what it is (an encoder may be made of it).
    """

    def __init__(self, agent: AgentView, below: float) -> None:
        self._agent, self._below = agent, below
        self._vectors: Recent[tuple[int, str], Vector] = Recent(_TEXTS)

    def latest(self, queries: Sequence[Query]) -> list[Query]:
        """The moment that holds now in each conversation."""
        texts = [[query_text(query.task, (query.messages[at],)) for at in _turns(query)] for query in queries]
        vectors = self._encoded(text for found in texts for text in found)
        return [_moment(query, self._walked([vectors[text] for text in found])) for query, found in zip(queries, texts, strict=True)]

    def _walked(self, vectors: Sequence[Vector]) -> int:
        """Number of the turn where the last move ended."""
        chosen = 0
        for turn, vector in enumerate(vectors):
            if float(vector @ vectors[chosen]) < self._below and turn > chosen:
                chosen = turn
        return chosen

    def _encoded(self, texts: Iterable[str]) -> Mapping[str, Vector]:
        wanted, version = list(dict.fromkeys(texts)), self._agent.policy.version
        vectors = self._vectors.values([(version, text) for text in wanted], self._encode)
        return dict(zip(wanted, vectors, strict=True))

    def _encode(self, keys: Sequence[tuple[int, str]]) -> Vectors:
        return self._agent.encoder.encode([text for _, text in keys])


def _turns(query: Query) -> list[int]:
    """Where the observations stand in the conversation."""
    return [at for at, message in enumerate(query.messages) if message["role"] == "user"]


def _moment(query: Query, turn: int) -> Query:
    """The query as it stood at an observation; unchanged where there is none."""
    turns = _turns(query)
    messages = query.messages[: turns[turn] + 1] if turns else query.messages
    return replace(query, messages=messages, index=turn, candidates=None)
