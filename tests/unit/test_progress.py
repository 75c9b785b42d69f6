from __future__ import annotations

import re
import threading

from tests.waiting import wait_for
from xplearn.cli.progress import LiveObserver, QuietObserver, SilentObserver, observer


def test_a_phase_is_told_once_a_while_even_when_nothing_is_done(capsys, monkeypatch):
    monkeypatch.setattr(QuietObserver, "every_seconds", 0.05)
    lines, before = [], set(threading.enumerate())

    def told(pattern):
        lines.extend(capsys.readouterr().err.splitlines())
        return any(re.fullmatch(pattern, line) for line in lines)

    with QuietObserver() as watching:
        watching.phase_start("eval/0/toy", 4)
        assert wait_for(lambda: told(r"eval/0/toy: 0/4 in \d+ s"))
        watching.advance(1, score=25.0)
        assert wait_for(lambda: told(r"eval/0/toy: 1/4 in \d+ s, about \d+ s left  score 25"))
        watching.phase_end()
        watching.phase_end()
    assert wait_for(lambda: set(threading.enumerate()) <= before), "it goes on telling"
    assert told(r"eval/0/toy: 1/4 in \d+\.\d s  score 25")
    assert len([line for line in lines if re.search(r"in \d+\.\d s", line)]) == 1


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


def test_names_in_a_live_bar_are_text_whatever_they_look_like(capsys):
    with LiveObserver() as watching:
        watching.phase_start("eval/0/[/x]:x:", 2)
        watching.advance(1, **{"loss[/x]": 0.5})
    shown = capsys.readouterr().err
    assert "eval/0/[/x]:x:" in shown
    assert "loss[/x]" in shown
