"""An agent whose encoder is a compass."""

from __future__ import annotations

import pytest

from xplearn.testing.agents import FakeAgent
from xplearn.testing.compass import Compass


@pytest.fixture
def agent():
    with FakeAgent(encoder=Compass()) as agent:
        yield agent
