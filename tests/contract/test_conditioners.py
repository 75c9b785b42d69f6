"""Every registered conditioner."""

from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import ConditionerContract

NAMES = parts.names("conditioner")


class TestConditioners(ConditionerContract):
    @pytest.fixture(params=NAMES)
    def make(self, request):
        return parts.maker("conditioner", request.param)


def test_the_core_registers_its_conditioners():
    assert {"core.none", "core.prompt"} <= set(NAMES)
