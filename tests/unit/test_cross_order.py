import pytest

from xplearn.errors import ConfigError
from xplearn.experiment.cross import order
from xplearn.experiment.cross.file import read_cross
from xplearn.experiment.cross.grid import build_grid
from xplearn.experiment.cross.order import Budget, Queue, expected
from xplearn.plugins import installed
from xplearn.record.cross import Cell

SAID = {
    "base": {"policy": "core.random", "sampling": {"choices": "admissible"}, "evaluate": {"tasks": {"limit": 1}}},
    "axes": {"stream": [[{"env": "core.errands"}], [{"env": "core.counting"}]], "record": [[], "core.record"], "seed": [0, 1]},
}


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(order, "time", clock)
    return clock


def queue(budget=None, times=None, expecting=None, failed=(), **said):
    plugins = installed()
    file = read_cross({**SAID, **said}, plugins.registry)
    cells = build_grid(file, plugins, lambda _: False)
    return Queue(file, cells, budget or Budget(), expecting or (lambda cell: (times or {}).get(cell.id)), failed)


def drained(waiting):
    found = []
    while (cell := waiting.next([])) is not None:
        found.append(cell.id.replace("core.", ""))
    return found


def test_all_cells_of_a_seed_run_before_those_of_the_next():
    ids = ["errands · none", "errands · record", "counting · none", "counting · record"]
    assert drained(queue()) == [f"{id} · seed {seed}" for seed in (0, 1) for id in ids]


def test_cells_of_earlier_patterns_run_first():
    first = [{"record": "core.record", "seed": 1}, {"stream": "core.counting"}]
    assert drained(queue(first=first))[:4] == [
        "errands · record · seed 1",
        "counting · record · seed 1",
        "counting · none · seed 0",
        "counting · record · seed 0",
    ]


def test_cells_that_failed_before_run_when_no_other_waits():
    failed = {"core.errands · none · seed 0", "core.errands · core.record · seed 1"}
    order = drained(queue(first=[{"stream": "core.errands"}], failed=failed))
    assert order[:2] == ["errands · record · seed 0", "errands · none · seed 1"]
    assert order[-2:] == ["errands · none · seed 0", "errands · record · seed 1"]


def test_no_more_cells_are_estimated_than_it_takes_to_find_the_next(clock):
    asked = []
    assert len(drained(queue(Budget(minutes=1), expecting=lambda cell: asked.append(cell.id)))) == 8
    assert len(asked) == 7  # the first begins in any case


def test_no_more_cells_begin_than_the_budget_says():
    assert len(drained(queue(Budget(cells=3)))) == 3


def test_no_cell_begins_when_the_time_is_over(clock):
    waiting = queue(Budget(minutes=1))
    assert waiting.next([]) is not None
    clock.now = 59
    assert waiting.next([]) is not None
    clock.now = 60
    assert waiting.next([]) is None


def test_a_cell_that_would_go_on_past_the_time_lets_a_shorter_one_pass(clock):
    waiting = queue(Budget(minutes=1), {"core.errands · core.record · seed 0": 50.0})
    waiting.next([])
    clock.now = 20
    assert waiting.next([]).id == "core.counting · none · seed 0"


def test_the_first_cell_of_a_call_begins_however_long_it_will_take(clock):
    waiting = queue(Budget(minutes=1), {"core.errands · none · seed 0": 500.0})
    assert waiting.next([]).id == "core.errands · none · seed 0"


def test_beside_a_cell_one_of_another_stream_is_preferred_within_its_rank():
    waiting = queue()
    first = waiting.next([])
    second = waiting.next([first])
    assert (first.id, second.id) == ("core.errands · none · seed 0", "core.counting · none · seed 0")
    assert waiting.next([first, second]).id == "core.errands · core.record · seed 0"


def test_a_cell_is_expected_to_take_as_long_as_the_finished_ones_most_like_it():
    def cell(seconds, state, **axes):
        return Cell(id=str(axes), axes=axes, state=state, seconds=seconds)

    planned = next(cell for cell in [queue().next([])])
    like, unlike = {**planned.axes, "seed": "1"}, {**planned.axes, "stream": "core.counting", "seed": "1"}
    known = [cell(10.0, "finished", **like), cell(70.0, "finished", **unlike), cell(99.0, "failed", **planned.axes)]
    assert expected(planned, known) == 10.0
    assert expected(planned, known[1:]) == 70.0
    assert expected(planned, known[2:]) is None


@pytest.mark.parametrize("wrong", [{"minutes": 0}, {"minutes": float("inf")}, {"cells": 0}, {"jobs": 0}])
def test_an_empty_budget_is_refused(wrong):
    with pytest.raises(ConfigError, match=f"^{next(iter(wrong))}: is "):
        Budget(**wrong)
