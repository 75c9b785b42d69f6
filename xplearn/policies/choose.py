"""Choosing among admissible actions: a trie over their tokens, walked as tokens are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Ids = tuple[int, ...]
Node = dict[int, "Node"]

_TRIES = 256
"""Tries kept: replicas of a task meet the same lists of actions."""


class ActionTrie:
    """The admissible actions of one decision, as the tokens that say them."""

    def __init__(self, encoded: Iterable[tuple[str, Ids]]) -> None:
        """Build from actions and their tokens, end-of-turn included, so that no action is the beginning of another."""
        self.root: Node = {}
        self._texts: dict[Ids, str] = {}
        self.longest = 0
        """Tokens of the longest action."""
        for text, ids in encoded:
            self._texts.setdefault(ids, text)
            self.longest = max(self.longest, len(ids))
            node = self.root
            for token in ids:
                node = node.setdefault(token, {})

    def text(self, ids: Sequence[int]) -> str:
        """The action that these tokens say."""
        return self._texts[tuple(ids)]

    def allowed(self, ids: Sequence[int]) -> list[NDArray[np.int64] | None]:
        """Per token, the ascending ids it was drawn from; None where it was the only one.

        Raises:
            KeyError: a token is not admissible at its place.
        """
        sets: list[NDArray[np.int64] | None] = []
        node = self.root
        for token in ids:
            sets.append(options(node) if len(node) > 1 else None)
            node = node[token]
        return sets


def options(node: Node) -> NDArray[np.int64]:
    """Tokens that may come next, ascending."""
    return np.array(sorted(node), dtype=np.int64)


def forced(node: Node) -> tuple[list[int], Node]:
    """Tokens that must come next, up to a real choice or the end, and where they lead."""
    run: list[int] = []
    while len(node) == 1:
        (token, node), *_ = node.items()
        run.append(token)
    return run, node


class TrieCache:
    """Builds tries, and keeps those of the lists of actions seen last."""

    def __init__(self, encode: Callable[[str], Ids]) -> None:
        """``encode`` gives the tokens that say an action, end-of-turn included."""
        self._build = lru_cache(maxsize=_TRIES)(lambda actions: ActionTrie((text, encode(text)) for text in actions))

    def __call__(self, actions: tuple[str, ...]) -> ActionTrie:
        """The trie of these actions."""
        return self._build(actions)
