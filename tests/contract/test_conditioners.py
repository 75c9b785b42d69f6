"""Every registered conditioner that needs no language model; those that do are held to the same contract beside it."""

from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import ConditionerContract

NAMES = parts.names("conditioner")
BESIDE_A_POLICY = {"expweaver.latent", "expweaver.hybrid"}


class TestConditioners(ConditionerContract):
    @pytest.fixture(params=[name for name in NAMES if name not in BESIDE_A_POLICY])
    def make(self, request):
        return parts.maker("conditioner", request.param)


def test_the_core_registers_its_conditioners():
    assert {"core.none", "core.prompt"} <= set(NAMES)
