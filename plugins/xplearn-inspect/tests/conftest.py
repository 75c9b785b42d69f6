"""One small run, evaluated in both arms at two points on two domains, two replicas of each task."""

from __future__ import annotations

import pytest

import xplearn

MIX = {
    "stream": [
        {"env": "core.errands", "tasks": {"limit": 3}},
        {"env": {"name": "core.counting", "length": 3}, "tasks": {"limit": 3}},
    ],
    "policy": "core.random",
    "sampling": {"choices": "admissible"},
    "record": "core.record",
    "selector": {"name": "core.nearest", "k": 2},
    "conditioner": "core.prompt",
    "evaluate": {"tasks": {"limit": 3}, "replicas": 2},
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return xplearn.run({**MIX, "run": {"dir": str(tmp_path_factory.mktemp("runs"))}}).folder
