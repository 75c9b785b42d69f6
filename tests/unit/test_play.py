from __future__ import annotations

import dataclasses
import io
import sys

import pytest

from xplearn.builtin.toys import Counting
from xplearn.cli import main
from xplearn.types import Observation


@pytest.mark.parametrize("verb", ["tasks", "reset", "step", "demonstrate"])
@pytest.mark.parametrize("fault", ["raise", "exit", "none"])
def test_play_names_an_environment_that_fails(capsys, monkeypatch, verb, fault):
    faults = {"raise": lambda *_, **__: 1 / 0, "exit": lambda *_, **__: sys.exit(3), "none": lambda *_, **__: None}
    monkeypatch.setattr(f"xplearn.builtin.toys_counting.Counting.{verb}", faults[fault])
    monkeypatch.setattr("sys.stdin", io.StringIO("7\n"))
    assert main(["play", "core.counting", *(["--oracle"] if verb == "demonstrate" else [])]) == 2
    error = capsys.readouterr().err
    assert "core.counting" in error
    assert verb in error
    assert error.count("\n") == 1


def test_play_prints_any_task_id(capsys, monkeypatch):
    odd = dataclasses.replace(Counting().tasks("train")[0], id="\ud800\x1b[2J")
    monkeypatch.setattr("xplearn.builtin.toys_counting.Counting.tasks", lambda *_: [odd])
    monkeypatch.setattr("xplearn.builtin.toys_counting.Counting.reset", lambda *_, **__: Observation(text="go"))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["play", "core.counting"]) == 0
    assert "task ��[2J" in capsys.readouterr().out
