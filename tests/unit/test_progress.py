from __future__ import annotations

import re
import time

from xplearn.cli.progress import LiveObserver, QuietObserver, SilentObserver, observer


def test_a_phase_is_told_once_a_while_even_when_nothing_is_done(capsys, monkeypatch):
    monkeypatch.setattr(QuietObserver, "every_seconds", 0.05)
    with QuietObserver() as watching:
        watching.phase_start("eval/0/toy", 4)
        time.sleep(0.2)
        watching.advance(1, score=25.0)
        time.sleep(0.2)
        watching.phase_end()
        watching.phase_end()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "eval/0/toy: 0/4 in 0 s"
    assert any(re.fullmatch(r"eval/0/toy: 1/4 in 0 s, about \d s left  score 25", line) for line in lines)
    assert re.fullmatch(r"eval/0/toy: 1/4 in 0\.\d s  score 25", lines[-1])
    time.sleep(0.15)
    assert capsys.readouterr().err == ""


def test_quiet_says_nothing_but_notes(capsys):
    with observer(quiet=True) as watching:
        assert isinstance(watching, SilentObserver)
        watching.phase_start("a", 1)
        watching.advance(1, score=1.0)
        watching.phase_end()
        watching.note("look\x1b[2J")
    assert capsys.readouterr().err == "look�[2J\n"


def test_without_a_terminal_lines_are_printed():
    assert isinstance(observer(quiet=False), QuietObserver)


def test_a_live_bar_starts_with_the_setting_up_and_counts_each_phase():
    with LiveObserver() as watching:
        watching.phase_start("eval/0/toy", 2)
        watching.advance(2, score=1.0)
        watching.phase_end()
        watching.advance(1)
        watching.phase_start("eval/1/toy", 3)
        watching.advance(1)
        counts = [(task.description, task.completed, task.total) for task in watching._progress.tasks]
    assert counts == [("setting up", 1, 1), ("eval/0/toy", 2, 2), ("eval/1/toy", 1, 3)]
