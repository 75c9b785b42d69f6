from __future__ import annotations

import pytest

from xplearn.testing import parts
from xplearn.testing.contracts import EnvironmentContract

FIELDS = {
    "expbench.nq_open": {},
    "expbench.mmlu": {"shots": 2, "rows": 40},
    "expbench.gsm8k": {"require_marker": True},
    "expbench.humaneval": {"execution": {"allow": True}},
    "expbench.rec_movies": {"candidates": 5},
    "expbench.suite": {"mix": ["mmlu", "gsm8k", "rec_movies"]},
}


class TestEveryKindWithFakeRows(EnvironmentContract):
    @pytest.fixture(params=FIELDS)
    def make(self, request, fakes):
        import xplearn

        return lambda: xplearn.make("environment", request.param, **FIELDS[request.param])


REAL = ("arc_challenge", "gsm8k", "humaneval", "chemistry", "rec_movies", "nq_open")


class TestOwnRows(EnvironmentContract):
    """One task of each kind, as it is."""

    @pytest.fixture(params=REAL)
    def make(self, request):
        import xplearn

        if request.param == "chemistry":
            pytest.importorskip("rdkit")
        if request.param == "gsm8k":
            pytest.importorskip("reasoning_gym")
        fields = {"execution": {"allow": True}} if request.param == "humaneval" else {}
        parts.maker("environment", f"expbench.{request.param}")
        return lambda: xplearn.make("environment", f"expbench.{request.param}", **fields)
