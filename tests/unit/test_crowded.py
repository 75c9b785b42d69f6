"""A run tells once that its conversations do not fit the policy's cache, and what would."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from xplearn.config import load_experiment
from xplearn.experiment.observer import Silent
from xplearn.experiment.run import run_experiment
from xplearn.plugins import installed


class Notes(Silent):
    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


def told(folder, *, cache, batch=4):
    config = {
        "preset": "backbone.tiny",
        "stream": [{"env": "core.counting", "tasks": {"limit": 1}}],
        "selector": "core.none",
        "sampling": {"choices": "admissible"},
        "evaluate": {"tasks": {"limit": 4}, "sampling": {"choices": "admissible"}, "resamples": 100},
        "run": {"dir": str(folder), "batch": batch},
    }
    experiment, given = load_experiment(config, [f"policy.cache_tokens={cache}"], installed().registry)
    notes = Notes()
    run_experiment(experiment, plugins=installed(), given=given, observer=notes)
    return [note for note in notes.notes if "cache_tokens" in note]


def test_what_does_not_fit_is_told_once_with_what_would(tmp_path):
    (note,) = told(tmp_path, cache=600)
    assert note.startswith("eval/0/core.counting: 4 conversations of up to ")
    assert "policy.cache_tokens=600 keeps" in note
    assert "run.batch=1" in note


def test_what_fits_is_not_told(tmp_path):
    needed = told(tmp_path / "small", cache=600)[0].partition("faster with policy.cache_tokens=")[2].partition(",")[0]
    assert told(tmp_path / "whole", cache=int(needed)) == []
    assert told(tmp_path / "narrow", cache=1200, batch=1) == []
