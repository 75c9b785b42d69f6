"""The core's environments. A plugin's are held to the same contract in the plugin's own tests."""

from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import EnvironmentContract


class TestCoreEnvironments(EnvironmentContract):
    @pytest.fixture(params=["core.counting", "core.errands"])
    def make(self, request):
        return parts.maker("environment", request.param)


def test_every_core_environment_is_held_to_the_contract():
    core = [name for name in parts.names("environment") if name.startswith("core.")]
    assert core == ["core.counting", "core.errands"]
