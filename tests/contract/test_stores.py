"""Every registered bank."""

from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import StoreContract

NAMES = parts.names("store")


class TestStores(StoreContract):
    @pytest.fixture(params=NAMES)
    def make(self, request):
        return parts.maker("store", request.param)


def test_the_core_registers_its_stores():
    assert {"core.memory", "core.sqlite"} <= set(NAMES)
