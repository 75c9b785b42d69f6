"""Several tests at once."""

from __future__ import annotations

from collections.abc import Sequence

from xplearn.errors import ConfigError


def holm(ps: Sequence[float]) -> list[float]:
    """Each p corrected for all of them: none below a level where no difference is, with that probability, however they hang together.

    The k-th smallest of m is multiplied by ``m - k + 1``, at least as large as the one before it and at most 1. Source: Holm, A Simple
    Sequentially Rejective Multiple Test Procedure (1979).

    Raises:
        ConfigError: one is no probability.
    """
    wrong = [p for p in ps if not 0.0 <= p <= 1.0]
    if wrong:
        raise ConfigError("p", f"is {wrong[0]}; want a probability, 0 to 1")
    found = [0.0] * len(ps)
    least = 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        least = max(least, min(1.0, (len(ps) - rank) * ps[at]))
        found[at] = least
    return found
