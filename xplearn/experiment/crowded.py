"""Telling when more conversations are played at once than the policy's prefix cache holds: their turns are then read anew, far slower."""

from __future__ import annotations

from xplearn.experiment.context import Context
from xplearn.types import EpisodeResult

_ROOM = 512
"""Tokens that a conversation's place in the cache has beyond what it needs, at most."""


class Crowd:
    """Watches the episodes of one phase for conversations that the cache could not keep."""

    def __init__(self, run: Context, episodes: int) -> None:
        self._run = run
        self._at_once = min(episodes, run.experiment.run.batch)
        self._longest = 0

    def add(self, result: EpisodeResult) -> None:
        """Count one episode; of a single turn nothing would be read again."""
        if result.length > 1:
            self._longest = max(self._longest, result.tokens_in + result.tokens_out)

    def tell(self, phase: str) -> None:
        """Note what was crowded, once in a run."""
        cache = getattr(self._run.agent.policy, "cache_tokens", None)
        if self._run.crowded or cache is None or self._at_once * self._longest <= cache:
            return
        self._run.crowded = True
        fitting, needed = max(1, cache // (self._longest + _ROOM)), self._at_once * (self._longest + _ROOM)
        self._run.observer.note(
            f"{phase}: {self._at_once} conversations of up to {self._longest:,} tokens at once are more than policy.cache_tokens={cache}"
            f" keeps, so that their turns are read anew; faster with policy.cache_tokens={needed}, or with run.batch={fitting}"
        )
