"""Every registered selector."""

from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import SelectorContract

NAMES = parts.names("selector")


class TestSelectors(SelectorContract):
    @pytest.fixture(params=NAMES)
    def make(self, request):
        return parts.maker("selector", request.param)


def test_the_core_registers_its_selectors():
    assert {"core.none", "core.all", "core.random", "core.nearest", "core.bm25"} <= set(NAMES)


@pytest.mark.parametrize(
    ("name", "purposes"),
    [
        ("core.none", {"selector.act", "selector.study", "selector.none"}),
        ("core.all", {"selector.act", "selector.study", "selector.all"}),
        ("core.random", {"selector.act", "selector.study"}),
        ("core.nearest", {"selector.act"}),
        ("core.bm25", {"selector.act"}),
    ],
)
def test_the_core_selectors_state_their_purposes(name, purposes):
    assert parts.maker("selector", name)().provides == purposes
