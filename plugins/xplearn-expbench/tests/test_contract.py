from __future__ import annotations

import importlib.util

import pytest

import xplearn
from xplearn.testing.contracts import EnvironmentContract

FIELDS = {
    "expbench.nq_open": {},
    "expbench.mmlu": {"shots": 2, "rows": 40},
    "expbench.gsm8k": {"require_marker": True},
    "expbench.humaneval": {"execution": {"allow": True}},
    "expbench.rec_movies": {"candidates": 5},
    "expbench.suite": {"mix": ["mmlu", "gsm8k", "rec_movies"]},
}

OWN = {"arc_challenge": "", "gsm8k": "reasoning_gym", "chemistry": "rdkit", "rec_movies": "", "humaneval": ""}
"""One task of each kind, and the package that its rows need."""


class TestEveryKindWithFakeRows(EnvironmentContract):
    @pytest.fixture(params=FIELDS)
    def make(self, request, fakes):
        return lambda: xplearn.make("environment", request.param, **FIELDS[request.param])


class TestOwnRows(EnvironmentContract):
    @pytest.fixture(params=OWN)
    def make(self, request):
        if OWN[request.param] and importlib.util.find_spec(OWN[request.param]) is None:
            pytest.skip(f"needs {OWN[request.param]}")
        return lambda: xplearn.make("environment", f"expbench.{request.param}", execution={"allow": True})


class TestOwnRowsOfFreeText(EnvironmentContract):
    """Any words are an answer of a few words, if a wrong one; only none are none."""

    @pytest.fixture
    def make(self):
        return lambda: xplearn.make("environment", "expbench.nq_open")

    def play_nonsense(self, env, task):
        env.reset(task, seed=0)
        return [env.step("")]
