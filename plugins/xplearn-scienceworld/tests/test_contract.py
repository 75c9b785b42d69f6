from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import EnvironmentContract

FIELDS = {"kinds": ["find-plant", "lifespan-longest-lived"], "max_steps": 25}


@pytest.fixture(scope="module")
def shared():
    part = parts.maker("environment", "scienceworld.text", FIELDS)()
    yield part
    part.close()


class TestScienceWorld(EnvironmentContract):
    @pytest.fixture
    def make(self):
        return parts.maker("environment", "scienceworld.text", FIELDS)

    @pytest.fixture
    def env(self, shared):
        return shared
