"""Which runs may stand in one table: one environment version, panel and limit of steps, and one encoder of the banks that are searched."""

from __future__ import annotations

import io
import json
import shutil

import pytest
from rich.console import Console

import xplearn
from xplearn.errors import RecordError
from xplearn.record.comparable import alike, apart, bootstrap, otherwise
from xplearn.record.reader import load
from xplearn.report.boards import boards
from xplearn.report.compare import entries, render

CONFIG = {
    "stream": [{"env": "core.counting", "tasks": {"limit": 2}}],
    "policy": "core.random",
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"limit": 2}, "resamples": 100},
}
BANK = {"record": "core.record", "selector": "core.nearest", "conditioner": "core.prompt"}
NARROW = BANK | {"encoder": {"name": "core.hashing", "dim": 64}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run without a bank, and two whose banks are of two encoders."""
    root = tmp_path_factory.mktemp("comparable")

    def run(name, **parts):
        return load(xplearn.run(CONFIG | parts, run__dir=str(root), run__name=name).folder)

    return run("bare", selector="core.none", encoder={"name": "core.hashing", "dim": 32}), run("wide", **BANK), run("narrow", **NARROW)


def test_an_encoder_is_named_where_the_bank_has_vectors_of_it(runs):
    assert [run.header.encoder for run in runs] == ["", "core.hashing/256", "core.hashing/64"]


def test_banks_of_two_encoders_are_apart_with_both_sides_and_a_way_out(runs):
    _, wide, narrow = runs
    problem = str(apart(narrow, wide))
    sides = f"{narrow.path}: its bank has vectors of encoder 'core.hashing/64', that in {wide.path} of 'core.hashing/256': "
    assert problem.startswith(sides)
    assert problem.endswith("Show each by itself, or run both with one encoder")


def test_a_run_without_a_bank_stands_beside_any(runs):
    bare, wide, narrow = runs
    assert apart(bare, wide) is None
    assert apart(narrow, bare) is None
    groups, reason = alike([bare, wide, narrow])
    assert [[run.path.name.split("-")[0] for run in group] for group in groups] == [["bare", "wide"], ["narrow"]]
    assert "core.hashing/64" in str(reason)


def test_a_group_matches_as_a_whole_though_its_first_run_suits_all(runs):
    with pytest.raises(RecordError, match="must not stand in one table"):
        render(runs, Console(file=io.StringIO()))


@pytest.mark.parametrize(("field", "value", "what"), [("environments", "other", "environment version"), ("panels", {"tasks": 9}, "panel")])
def test_another_environment_version_or_panel_is_apart(runs, field, value, what):
    bare, wide, _ = runs
    other = load(bare.path)
    getattr(other.header, field)["core.counting"] = value
    assert f"its {what} of 'core.counting' is" in str(apart(wide, other))


def test_a_run_that_goes_on_names_the_encoder_of_the_bank_it_finds(runs, tmp_path):
    _, wide, _ = runs
    folder = tmp_path / wide.path.name
    shutil.copytree(wide.path, folder)
    raw = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(raw | {"status": "interrupted", "encoder": ""}))
    xplearn.run(CONFIG | BANK, run__dir=str(tmp_path), run__name="wide")
    assert load(folder).header.encoder == "core.hashing/256"


def test_a_version_that_is_not_known_is_not_the_same(runs):
    bare, wide, _ = runs
    unknown = load(wide.path)
    unknown.header.environments = {}
    assert "is unknown, in" in str(apart(unknown, bare))


def test_two_versions_that_are_not_known_are_not_the_same(runs):
    bare, wide, _ = runs
    one, other = load(wide.path), load(bare.path)
    one.header.environments = other.header.environments = {"core.counting": ""}
    assert f"{one.path}: its environment version of 'core.counting' is unknown, in {other.path} it is unknown" in str(apart(one, other))


def test_another_limit_of_steps_asks_for_something_else(runs):
    bare, wide, _ = runs
    other = load(bare.path)
    other.header.resolved["run"]["max_steps"] = 3
    for one, two, limits in ((wide, other, ("none", 3)), (other, wide, (3, "none"))):
        problem = str(apart(one, two))
        assert problem.startswith(f"{one.path}: its limit of steps (run.max_steps) is {limits[0]}, in {two.path} it is {limits[1]}: ")
        assert "\n" not in problem
    other.header.panels = {"other": other.header.panels["core.counting"]}
    assert apart(wide, other) is None, "there is no domain that both were asked on"


def test_how_a_policy_answers_is_compared_and_told(runs):
    bare, wide, _ = runs
    other = load(bare.path)
    other.header.resolved["evaluate"]["sampling"] |= {"choices": "free", "max_new_tokens": 7}
    assert apart(wide, other) is None
    assert otherwise({"wide": wide, "other": other}) == [
        f"evaluate.sampling.max_new_tokens: {wide.header.resolved['evaluate']['sampling']['max_new_tokens']} in wide, 7 in other",
        "evaluate.sampling.choices: 'admissible' in wide, 'free' in other",
    ]
    stream = io.StringIO()
    render([wide, other], Console(file=stream, width=200))
    assert "evaluated otherwise: evaluate.sampling.choices: 'admissible' in wide, 'free' in bare" in stream.getvalue()
    assert otherwise({"wide": wide, "bare": bare}) == []


def test_one_table_has_intervals_of_one_confidence(runs):
    bare, wide, _ = runs
    other = load(bare.path)
    other.header.resolved["evaluate"] |= {"confidence": 0.8, "resamples": 700}
    drawn = bootstrap([other, wide])
    assert (drawn.confidence, drawn.resamples) == (0.95, 700)
    assert {entry.matrix.bootstrap for entry in entries([other, wide])} == {drawn}
    (board,), refused = boards([other, wide])
    assert (board.confidence, refused) == (0.95, [])
