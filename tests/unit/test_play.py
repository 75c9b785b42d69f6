from __future__ import annotations

import dataclasses
import io
import sys

import pytest

from xplearn.builtin.toys import Counting
from xplearn.cli import main
from xplearn.types import Observation, Outcome


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


@pytest.mark.parametrize(("info", "told"), [({"valid": False, "reason": "no foo here"}, 1), ({"valid": True, "reason": "no foo here"}, 0)])
@pytest.mark.parametrize("text", ["same page", "Nothing happens. (no foo here)"])
def test_play_tells_once_why_nothing_happened(capsys, monkeypatch, info, told, text):
    outcome = Outcome(observation=Observation(text=text), reward=0.0, terminated=False, truncated=False, info=info)
    monkeypatch.setattr("xplearn.builtin.toys_counting.Counting.step", lambda *_: outcome)
    monkeypatch.setattr("sys.stdin", io.StringIO("foo\n"))
    assert main(["play", "core.counting"]) == 0
    assert capsys.readouterr().out.count("no foo here") == max(told, text.count("no foo here"))


def test_a_mistyped_command_costs_no_step(capsys, monkeypatch):
    monkeypatch.setattr("xplearn.builtin.toys_counting.Counting.step", lambda *_: pytest.fail("took it for an action"))
    monkeypatch.setattr("sys.stdin", io.StringIO(":action\n:quit\n"))
    assert main(["play", "core.counting"]) == 0
    assert "no such command; there are :actions, :task, :quit" in capsys.readouterr().out


def test_play_prints_any_task_id(capsys, monkeypatch):
    odd = dataclasses.replace(Counting().tasks("train")[0], id="\ud800\x1b[2J")
    monkeypatch.setattr("xplearn.builtin.toys_counting.Counting.tasks", lambda *_: [odd])
    monkeypatch.setattr("xplearn.builtin.toys_counting.Counting.reset", lambda *_, **__: Observation(text="go"))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["play", "core.counting"]) == 0
    assert "task ��[2J" in capsys.readouterr().out
