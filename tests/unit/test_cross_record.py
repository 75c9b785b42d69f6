import dataclasses
import json

import pytest

from xplearn.errors import RecordError
from xplearn.record.cross import Cell, Cross, load_cross

CROSS = Cross(
    name="bench",
    axes={"stream": ["a", "b"], "seed": ["0"]},
    cells=[
        Cell(id="a", axes={"stream": "a", "seed": "0"}, state="finished", run="a-1", seconds=1.5),
        Cell(id="b", axes={"stream": "b", "seed": "0"}),
    ],
)


def test_a_cross_is_read_as_it_was_written(tmp_path):
    CROSS.write(tmp_path)
    assert load_cross(tmp_path) == CROSS


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cells": [{"id": "a"}]}, "lacks"),
        ({"cells": 3}, "not iterable"),
        ({"axes": {"stream": ["a"], "seed": ["0"]}}, "labels that the axes have not"),
        ({"format": 0}, "format is 0"),
        ({"format": 99}, "written by a newer xplearn"),
    ],
)
def test_a_damaged_cross_is_refused_with_the_reason(tmp_path, change, words):
    (tmp_path / "cross.json").write_text(json.dumps({**dataclasses.asdict(CROSS), **change}))
    with pytest.raises(RecordError, match=words):
        load_cross(tmp_path)


@pytest.mark.parametrize("run", ["../else", "/etc", "..", "a/b"])
def test_a_run_that_would_lie_elsewhere_is_refused(tmp_path, run):
    raw = dataclasses.asdict(CROSS)
    raw["cells"][0]["run"] = run
    (tmp_path / "cross.json").write_text(json.dumps(raw))
    with pytest.raises(RecordError, match="is no folder in that of the cross"):
        load_cross(tmp_path)


def test_two_cells_of_one_id_are_refused(tmp_path):
    raw = dataclasses.asdict(CROSS)
    raw["cells"].append(raw["cells"][0])
    (tmp_path / "cross.json").write_text(json.dumps(raw))
    with pytest.raises(RecordError, match="a cell is there twice"):
        load_cross(tmp_path)


def test_tables_have_the_streams_side_by_side_by_name_or_by_what_an_axis_says():
    assert CROSS.column == "stream"
    environments = {"A": {"stream": []}, "B": {"stream": []}}
    assert Cross(axes={"env": ["A", "B"], "seed": ["0"]}, given={"axes": {"env": environments, "seed": [0]}}).column == "env"
    assert Cross(axes={"bank": ["A"], "seed": ["0"]}, given={"axes": {"bank": {"A": {}}}}).column == "seed"
