"""Tasks written for these tests, and the published data where they are at hand."""

from __future__ import annotations

import dataclasses
import os
import sys
import types
from pathlib import Path

import pytest
from xplearn_expbench import runner as runners
from xplearn_expbench.catalogue import TASKS
from xplearn_expbench.questions import open_questions
from xplearn_expbench.spec import Execution, Row, Verdict

from xplearn import ConfigError

DATA = Path(os.environ.get("XPLEARN_TEST_DATA") or Path(__file__).resolve().parent.joinpath("../../../../shared/data")) / "expbench"


def unavailable(reason):
    """Skip with the reason; in CI fail with it, so that nothing is skipped silently."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"needed in CI: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data_folder():
    """The published files."""
    if not DATA.is_dir():
        unavailable(f"the published files are not in {DATA}; set XPLEARN_TEST_DATA to the folder that holds expbench/")
    return DATA


ROWS = {
    "qa": [Row(id=f"q{n}", question=f"Who discovered island {n}?", answer=[f"Captain {n}", f"Cpt {n}"]) for n in range(60)],
    "choice": [
        Row(id=f"c{n}", question=f"Which is number {n}?", answer=n % 4, choices=tuple(f"{n}-{letter}" for letter in "wxyz"))
        for n in range(60)
    ],
    "maths": [Row(id=f"m{n}", question=f"What is {n} and {n}?", answer=str(2 * n)) for n in range(60)],
    "code": [Row(id=f"p{n}", question=f"Write f so that f() is {n}.", answer=f"def f():\n    return {n}") for n in range(60)],
    "ranking": [
        Row(
            id=f"r{n}",
            question=f"User {n} saw film {n} and film {n + 1}. What next?",
            answer=f"film {n + 2}",
            choices=tuple(f"film {m}" for m in range(100)),
            meta={"history": [f"film {n}", f"film {n + 1}"]},
        )
        for n in range(60)
    ],
}


def check(row, completion):
    """Right where the completion says the answer as text, ranked first where that is asked; anything with a digit counts as an answer."""
    wanted = row.answer if isinstance(row.answer, str) else row.choices[row.answer] if row.choices else row.answer[0]
    gold = f"Answer: {'ABCD'[row.answer]}" if isinstance(row.answer, int) else wanted
    first = completion.split("\n")[0]
    right = first == wanted if len(row.choices) > 4 else gold in completion
    said = right or "Answer" in completion or any(char.isdigit() for char in completion)
    status = "correct" if right else "wrong" if said else "unparsed"
    return Verdict(score=float(right), status=status, parsed=first[:20], parts={"em": float(right)})


class Runner:
    """Stands in for the code checker: made from an Execution, called, closed."""

    made = 0
    closed = 0

    def __init__(self, execution):
        self.execution = execution
        Runner.made += 1

    def __call__(self, row, completion):
        return check(row, completion)

    def close(self):
        Runner.closed += 1


PLAYED = {"nq_open": "qa", "mmlu": "choice", "gsm8k": "maths", "humaneval": "code", "rec_movies": "ranking"}
"""Tasks that the fakes stand in for, and the kind of each."""


@pytest.fixture
def fakes(monkeypatch):
    """Fake rows and checkers behind five real names: ``fakes.qa`` … are lists of rows, which a test may replace before it asks."""
    module = types.ModuleType("fakes")
    for kind, rows in ROWS.items():
        setattr(module, kind, rows)
        setattr(module, f"load_{kind}", lambda *path, kind=kind: list(getattr(module, kind)))
    module.check, module.Runner = check, Runner
    monkeypatch.setitem(sys.modules, "fakes", module)
    Runner.made = Runner.closed = 0
    for name, kind in PLAYED.items():
        checker = "fakes:Runner" if kind == "code" else "fakes:check"
        load = f"fakes:load_{kind}"
        monkeypatch.setitem(TASKS, name, dataclasses.replace(TASKS[name], mini=load, official=load, checker=checker))
    open_questions.cache_clear()
    yield module
    open_questions.cache_clear()


@pytest.fixture(scope="session")
def runner():
    """A runner for ``always``, ``auto`` or ``never`` namespaces and some limits."""
    return lambda namespaces, **limits: runners.Runner(execution=Execution(allow=True, namespaces=namespaces, **limits))


@pytest.fixture(scope="session")
def run(runner):
    """The outcome of a program that should define ``f``: ``run(namespaces, code, tests, **limits)``."""
    squares = "assert f(2) == 4\nassert f(3) == 9"
    return lambda mode, code, tests=squares, **limits: runner(mode, **limits).run(runners.Program(code=code, tests=tests, names=("f",)))


@pytest.fixture(scope="session")
def inside_namespaces(runner):
    try:
        return runner("always").cell.namespaces
    except ConfigError as error:
        unavailable(f"user namespaces: {error}")


@pytest.fixture(params=["always", "never"])
def mode(request):
    """Namespaces or none."""
    if request.param == "always":
        request.getfixturevalue("inside_namespaces")
    return request.param


@pytest.fixture
def sealed(inside_namespaces, runner):
    """Namespaces with a root of one's own."""
    if runner("always").isolation != "namespaces, files hidden":
        unavailable("a root of one's own (mount_setattr: Linux 5.12)")
