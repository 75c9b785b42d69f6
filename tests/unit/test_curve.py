import io
import json

import pytest
from rich.console import Console

import xplearn
from xplearn.errors import RecordError
from xplearn.record.reader import load
from xplearn.report.curve import BARS, MOST_BARS, bars, line, render


def test_a_curve_grows_from_its_first_gain_to_the_whole():
    assert bars([1, 5, 8]) == "▂▅█"
    assert bars([0, 0]) == BARS[0] * 2


def test_a_long_curve_is_thinned_out_and_keeps_its_end():
    drawn = bars(list(range(1, 1001)))
    assert len(drawn) == MOST_BARS
    assert drawn[-1] == BARS[-1]
    assert list(drawn) == sorted(drawn)


def test_the_line_says_what_was_kept_of_what_could_be():
    assert line({"gains": [4, 2, 1, 1], "kept": 2, "cards": 9, "knee": 2}) == "kept 2 of 9; 4 would cover 8, knee at 2  ▅▆▇█"
    assert line({"gains": [0.5, 0.25], "kept": 2, "draw": "random"}) == "kept 2 (draw: random); 2 would cover 0.75  ▆█"


@pytest.mark.parametrize("told", [{}, {"gains": []}, {"gains": [1]}, {"gains": ["1"], "kept": 1}, {"gains": 3, "kept": 1}, {"kept": 1}])
def test_a_curriculum_that_tells_no_curve_gets_no_line(told):
    assert line(told) == ""


def test_a_run_shows_the_curve_of_each_stage(tmp_path):
    run = xplearn.run(
        {
            "stream": [{"env": "core.errands", "tasks": {"part": part}} for part in ("1/2", "2/2")],
            "policy": "core.random",
            "record": "core.record",
            "learner": [],
            "sampling": {"choices": "admissible"},
            "evaluate": {"tasks": {"limit": 2}, "resamples": 100},
        },
        run__dir=str(tmp_path),
    )
    studies = run.folder / "study"
    studies.mkdir(exist_ok=True)
    for name, gains in (("0-0", [3, 1]), ("1-0", [2]), ("1-1", [2, 2])):
        (studies / f"{name}.json").write_text(json.dumps({"explained": {"gains": gains, "kept": 1, "cards": 5}}))
    stream = io.StringIO()
    render(load(run.folder), Console(file=stream, width=120))
    assert stream.getvalue().splitlines() == [
        "stage 1: core.all kept 1 of 5; 2 would cover 4  ▆█",
        "stage 2: core.all kept 1 of 5; 1 would cover 2  █",
        "stage 2, round 2: core.all kept 1 of 5; 2 would cover 4  ▅█",
    ]
    (studies / "1-1.json").write_text("[1]")
    with pytest.raises(RecordError, match="damaged"):
        load(run.folder).explained()
