from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import EnvironmentContract


class TestGeneratedHouses(EnvironmentContract):
    @pytest.fixture
    def make(self):
        return parts.maker("environment", "alfworld.text", {"games": 12, "valid_games": 6})


class TestFaithfulGeneratedHouses(EnvironmentContract):
    @pytest.fixture
    def make(self):
        return parts.maker("environment", "alfworld.text", {"games": 6, "valid_games": 6, "faithful": True, "seed": 3})


class TestPackedGames(EnvironmentContract):
    @pytest.fixture
    def make(self, packed):
        return parts.maker("environment", "alfworld.text", {"data": str(packed), "goals": "human"})
