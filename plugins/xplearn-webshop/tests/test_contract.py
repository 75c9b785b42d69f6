from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import EnvironmentContract, PolicyContract


class TestWebShop(EnvironmentContract):
    @pytest.fixture
    def make(self):
        return parts.maker("environment", "webshop.text", {})


class TestWebShopWithSyntheticGoals(EnvironmentContract):
    @pytest.fixture
    def make(self):
        return parts.maker("environment", "webshop.text", {"goals": "synthetic", "observation": "text_rich", "reward": "strict"})


class TestRulePolicy(PolicyContract):
    @pytest.fixture
    def make(self):
        return parts.maker("policy", "webshop.rule", {})


class TestOraclePolicy(PolicyContract):
    @pytest.fixture
    def make(self):
        return parts.maker("policy", "webshop.oracle", {})
