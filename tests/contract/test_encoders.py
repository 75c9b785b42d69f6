"""Every registered encoder that needs no language model; ``core.policy`` is held to the same contract beside its policy."""

from __future__ import annotations

import pytest

from xplearn.errors import DataError
from xplearn.testing import parts
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts import EncoderContract

NAMES = parts.names("encoder")
BESIDE_A_POLICY = {"core.policy"}


class TestEncoders(EncoderContract):
    @pytest.fixture(params=[name for name in NAMES if name not in BESIDE_A_POLICY])
    def make(self, request):
        make = parts.maker("encoder", request.param)
        _skip_without_packages_and_weights(make)
        return make


def _skip_without_packages_and_weights(make):
    part = make()
    try:
        part.setup(FakeAgent())
    except (ModuleNotFoundError, DataError) as error:
        pytest.skip(str(error))
    finally:
        part.close()


def test_the_core_registers_its_encoders():
    assert {"core.hashing", "core.minilm", "core.policy"} <= set(NAMES)
