"""An encoder whose cosines a test can choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xplearn.interfaces import AgentView, Encoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEGREES = {"north": 0, "northeast": 45, "east": 90, "south": 180}
"""The directions that the compass knows."""


@dataclass(kw_only=True)
class Compass(Encoder):
    """Encodes the last word of a text as a direction, and remembers in ``texts`` what it was asked."""

    @property
    def id(self) -> str:
        return "compass"

    @property
    def dim(self) -> int:
        return 2

    def setup(self, agent: AgentView) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        angles = np.radians([DEGREES[text.split()[-1]] for text in texts])
        return np.stack((np.cos(angles), np.sin(angles)), axis=1).astype(np.float32)
