"""An encoder whose cosines a test can choose."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from xplearn import Encoder
from xplearn.testing.agents import FakeAgent

ANGLES = {"north": 0, "northeast": 45, "east": 90, "south": 180}
"""Degrees of the texts that the compass knows."""


@dataclasses.dataclass(kw_only=True)
class Compass(Encoder):
    """Encodes the last word of a text as a direction, and remembers what it was asked."""

    @property
    def id(self):
        return "compass"

    @property
    def dim(self):
        return 2

    def setup(self, agent):
        self.texts = []

    def encode(self, texts):
        self.texts += texts
        angles = np.radians([ANGLES[text.split()[-1]] for text in texts])
        return np.stack((np.cos(angles), np.sin(angles)), axis=1).astype(np.float32)


@pytest.fixture
def agent():
    with FakeAgent(encoder=Compass()) as agent:
        yield agent
