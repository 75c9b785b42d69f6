"""What a run recorded is what TensorBoard reads, each point once, however the run was stopped."""

from __future__ import annotations

import json

import pytest

import xplearn
from xplearn.builtin.toys import Counting

pytest.importorskip("tensorboard", reason="needs tensorboard: pip install 'xplearn-trackers[tensorboard]'")

NAME = "trackers.tensorboard"


def read(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    events = EventAccumulator(str(folder / "trackers" / "tensorboard"), size_guidance={"tensors": 0})
    events.Reload()
    names = events.Tags()["tensors"]
    return {name: [(event.step, tensor_util.make_ndarray(event.tensor_proto)) for event in events.Tensors(name)] for name in names}


def points(folder):
    """``(step, name)`` to value, and how often each was written."""
    found = {name: events for name, events in read(folder).items() if "/" in name and not name.startswith("_")}
    pairs = [((step, name), float(value)) for name, events in found.items() for step, value in events]
    assert len(pairs) == len(dict(pairs)), "a point was written twice"
    return dict(pairs)


def test_points_are_the_runs_own_figures(start, expected):
    folder = start(NAME)
    wanted = expected(folder)
    assert points(folder) == pytest.approx(wanted)
    assert {step for step, _ in wanted} == {1, 2, 3, 4, 5, 6}
    assert len({value for (_, name), value in wanted.items() if name.startswith("eval/")}) > 1


def test_configuration_is_hyperparameters_and_the_table_text(start):
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    folder = start(NAME)
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "trackers" / "tensorboard"))
    events.Reload()
    content = events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    values = HParamsPluginData.FromString(content).session_start_info.hparams
    assert values["policy.name"].string_value == "core.random"
    assert values["stream.1.rounds"].number_value == 3
    ((step, text),) = read(folder)["table"]
    lines = text.item().decode().splitlines()
    assert step == 6
    assert lines[0] == "| label | domain | arm | episodes | score | low | high | success | tokens in | tokens out |"
    assert len(lines) == 2 + len(xplearn.load(folder).header.results)
    assert "| Base | core.counting | plain | 4 |" in lines[2]


@pytest.mark.parametrize("steps", [1, 40, 77, 130])
def test_killed_and_resumed_run_is_one_run_with_nothing_lost_or_twice(start, kill, expected, steps):
    kill(NAME, steps=steps)
    folder = start(NAME)
    assert points(folder) == pytest.approx(expected(folder))
    assert len(read(folder)["_hparams_/session_start_info"]) == 1


def test_interrupted_run_does_not_tell_the_mean_of_half_a_phase(start, interrupt, expected):
    interrupt(NAME, steps=60)
    folder = start(NAME)
    assert points(folder) == pytest.approx(expected(folder))


def test_tracker_named_only_when_the_run_goes_on_gets_what_was_before(start, kill, expected):
    kill(steps=100)
    folder = start(NAME)
    assert points(folder) == pytest.approx(expected(folder))


def test_tracker_that_raises_changes_nothing(start, monkeypatch):
    from xplearn_trackers.to_tensorboard import TensorBoard

    plain = start().name

    def full(self, step, values):
        raise OSError("the disk is full")

    monkeypatch.setattr(TensorBoard, "log", full)
    folder = start(NAME, run__name="other")
    assert xplearn.load(folder).header.status == "finished"
    assert folder.name != plain
    results = [xplearn.load(found).header.results for found in (folder, folder.with_name(plain))]
    ours, theirs = ([row["score"] for row in rows] for rows in results)
    assert ours == theirs
    assert (folder / "trackers" / "tensorboard.jsonl").read_text() == ""


def test_run_that_cannot_begin_leaves_nothing_behind(start, tmp_path, monkeypatch):
    monkeypatch.setattr(Counting, "step", lambda self, action: (_ for _ in ()).throw(RuntimeError("no world")))
    with pytest.raises(xplearn.EnvironmentDiedError, match="no world"):
        start(NAME)
    assert list((tmp_path / "runs").iterdir()) == []


def test_text_in_the_table_is_shown_as_it_is():
    from xplearn_trackers.to_tensorboard import _cell

    assert _cell("<b>|*x*|</b>") == r"\<b\>\|\*x\*\|\</b\>"
    assert [_cell(value) for value in (1.25, 3, None)] == ["1.2", "3", "–"]


def test_ledger_holds_every_point(start, expected):
    folder = start(NAME)
    lines = (folder / "trackers" / "tensorboard.jsonl").read_text().splitlines()
    assert {tuple(json.loads(line)) for line in lines} == set(expected(folder))
    assert len(lines) == len(expected(folder))
