"""Reading a vector space of the bank."""

from __future__ import annotations

import numpy as np

from xplearn import ExperienceStore


def members(store: ExperienceStore, space: str) -> list[str]:
    """Ids of the experiences that have a vector in an open space, in the order of the bank."""
    dim = store.spaces()[space][1]
    (everything,) = store.search(space, np.zeros((1, dim), dtype=np.float32), len(store))  # all tie, and ties keep the order
    return [id for id, _ in everything]
