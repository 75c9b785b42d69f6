"""Several runs side by side: the same stages with other learners and in other orders."""

import io

import pytest
from rich.console import Console

import xplearn
from xplearn.cli import main
from xplearn.errors import RecordError
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.compare import Entry, groups, spreads, versus_first
from xplearn.metrics.continual import Matrix
from xplearn.metrics.finals import final_difference
from xplearn.record.reader import load
from xplearn.report.compare import entries, render


def matrix(scores, stream=("s", "a"), arm="plain", **changes):
    """A matrix from ``{(point, domain): [score of each task]}``."""
    by_task = {place: {f"t{number}": value for number, value in enumerate(values)} for place, values in scores.items()}
    fields = {"domains": tuple(dict.fromkeys(stream)), "stream": tuple(stream), "bootstrap": Bootstrap(resamples=200), **changes}
    return Matrix(arm=arm, scores=by_task, **fields)


FORGETS = {(0, "s"): [0, 10], (0, "a"): [5, 5], (1, "s"): [80, 90], (1, "a"): [5, 15], (2, "s"): [10, 20], (2, "a"): [60, 80]}
KEEPS = FORGETS | {(2, "s"): [70, 90]}


def test_what_runs_share_before_learning_stands_once():
    found = groups([Entry(run="a", matrix=matrix(FORGETS)), Entry(run="b", matrix=matrix(KEEPS))])
    assert [[line.label for line in group.lines] for group in found] == [
        ["Base"],
        ["a after 1 s", "a after 2 a"],
        ["b after 1 s", "b after 2 a"],
    ]
    base, forgetting = found[0].lines[0], found[1].lines[1]
    assert base.scores["s"].mean == 5
    assert not base.versus_base
    assert forgetting.scores["s"].mean == 15
    assert forgetting.versus_base["s"].mean == 10


def test_bases_that_differ_stand_apart_and_each_run_is_measured_by_its_own():
    other = matrix(KEEPS | {(0, "s"): [30, 30]})
    found = groups([Entry(run="a", matrix=matrix(FORGETS)), Entry(run="b", matrix=other)])
    assert [line.label for line in found[0].lines] == ["Base of a", "Base of b"]
    assert found[2].lines[0].versus_base["s"].mean == 85 - 30


def test_the_experience_arm_is_measured_by_the_plain_base():
    shown = matrix({place: [value + 1 for value in values] for place, values in FORGETS.items()}, arm="experience")
    found = groups([Entry(run="a", matrix=matrix(FORGETS)), Entry(run="a", matrix=shown)])
    assert [line.label for line in found[0].lines] == ["Base", "Base+Harness"]
    assert found[0].lines[1].versus_base["s"].mean == 1
    assert found[2].lines[0].label == "a+Harness after 1 s"


def test_a_run_without_a_base_is_measured_by_one_that_starts_alike():
    later = {place: values for place, values in FORGETS.items() if place[0]}
    shown = Entry(run="harness", matrix=matrix(later, arm="experience"), alone=True, start="small")
    found = groups([Entry(run="a", matrix=matrix(FORGETS), start="small"), shown])
    assert [line.label for line in found[2].lines] == ["harness after 1 s", "harness after 2 a"]
    assert found[2].lines[0].versus_base["s"].mean == 85 - 5
    apart = groups([Entry(run="a", matrix=matrix(FORGETS), start="large"), shown])
    assert not apart[-1].lines[0].versus_base


def test_only_runs_of_one_policy_seed_and_evaluation_start_alike(tmp_path):
    def start(**changes):
        return entries([load(named(tmp_path, "run", **changes))])[0].start

    assert start() == start(record=[], selector="core.none", conditioner="core.none")
    sampled = {"tasks": {"limit": 3}, "resamples": 100, "sampling": {"temperature": 1.0}}
    assert len({start(), start(evaluate=sampled), start(policy={"name": "core.scripted", "lines": ["wait"]})}) == 3


def test_final_scores_differ_by_pairs_so_a_constant_gain_has_no_width():
    gained = matrix(FORGETS | {(2, "s"): [30, 40], (2, "a"): [80, 100]})
    found = final_difference({0: gained}, {0: matrix(FORGETS)})
    assert (found.mean, found.low, found.high) == (20, 20, 20)


def test_pairs_are_the_same_whatever_the_order_of_the_stages():
    wide = {"s": [0, 100, 50, 20], "a": [3, 9]}
    there = {(point, domain): values for point in range(3) for domain, values in wide.items()}
    found = final_difference({0: matrix(there)}, {0: matrix(there, stream=("a", "s"))})
    assert (found.mean, found.low, found.high) == (0, 0, 0)


def test_a_run_that_has_not_come_as_far_is_not_compared_in_the_end():
    begun = {place: values for place, values in FORGETS.items() if place[0] < 2}
    assert versus_first([Entry(run="a", matrix=matrix(FORGETS)), Entry(run="b", matrix=matrix(begun))]) == [None, None]


def test_runs_that_have_learned_other_domains_so_far_are_not_compared_in_the_end():
    begun = {(0, "s"): [0, 10], (0, "a"): [5, 5], (1, "s"): [80, 90], (1, "a"): [5, 15]}
    assert final_difference({0: matrix(begun)}, {0: matrix(begun)}).mean == 0
    assert final_difference({0: matrix(begun)}, {0: matrix(begun, stream=("a", "s"))}) is None


def test_orders_of_one_stream_are_found_for_each_method():
    there, back = Entry(run="sa", matrix=matrix(FORGETS)), Entry(run="as", matrix=matrix(KEEPS, stream=("a", "s")))
    ((arm, found, spread),) = spreads([there, back])
    assert (arm, [entry.run for entry in found], spread.finals) == ("plain", ["sa", "as"], (42.5, 75.0))
    assert not list(spreads([there, Entry(run="b", matrix=matrix(KEEPS))]))
    other = [Entry(run=f"other-{entry.run}", matrix=entry.matrix, method="other") for entry in (there, back)]
    assert [len(found) for _, found, _ in spreads([there, other[0], back, other[1]])] == [2, 2]
    assert not list(spreads([there, other[1]]))


def test_bases_agree_where_the_domains_they_share_agree():
    narrow = matrix({(0, "s"): [0, 10], (1, "s"): [80, 90]}, stream=("s",))
    found = groups([Entry(run="narrow", matrix=narrow), Entry(run="wide", matrix=matrix(FORGETS))])
    assert [line.label for line in found[0].lines] == ["Base"]
    assert set(found[0].lines[0].scores) == {"s", "a"}


STAGES = [{"env": "core.errands", "tasks": {"limit": 4}}, {"env": "core.counting", "tasks": {"limit": 4}}]
CONFIG = {
    "stream": STAGES,
    "policy": "core.random",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": {"name": "core.record"},
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"limit": 3}, "resamples": 100},
}


def named(folder, name, **changes):
    return xplearn.run(CONFIG | changes, run__dir=str(folder), run__name=name).folder


def test_show_prints_the_runs_of_a_folder_side_by_side(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    named(tmp_path, "shown")
    named(tmp_path, "bare", record=[], selector="core.none", conditioner="core.none")
    assert main(["show", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    labels = [line.split("  ")[0].strip() for line in said.splitlines()]
    assert labels.count("Base") == labels.count("Base+Harness") == 1
    assert {"shown after 1 core.errands", "shown+Harness after 2 core.counting", "bare after 2 core.counting"} <= set(labels)
    assert "vs bare" in said


def test_runs_in_two_orders_show_the_spread(tmp_path):
    runs = [load(named(tmp_path, "there")), load(named(tmp_path, "back", stream=STAGES[::-1]))]
    stream = io.StringIO()
    render(runs, Console(file=stream, width=200))
    assert "orders of one stream (there, back), plain arm: final" in stream.getvalue()


def test_runs_on_other_tasks_are_refused_a_place_in_one_table(tmp_path):
    one, other = load(named(tmp_path, "a")), load(named(tmp_path, "b", evaluate={"tasks": {"limit": 2}, "resamples": 100}))
    with pytest.raises(RecordError, match=r"its panel of 'core\.counting' is .* must not stand in one table\. Show each by itself"):
        render([one, other], Console(file=io.StringIO()))


def test_the_spread_is_that_of_one_method_and_seed(tmp_path):
    there, back = named(tmp_path, "there"), named(tmp_path, "back", stream=STAGES[::-1], selector={"name": "core.nearest", "k": 2})
    stream = io.StringIO()
    render([load(there), load(back)], Console(file=stream, width=200))
    assert "orders of one stream" not in stream.getvalue()


def test_a_run_that_lost_episodes_says_so(tmp_path):
    folder = named(tmp_path, "whole")
    lines = (folder / "episodes.jsonl").read_text().splitlines(keepends=True)
    (folder / "episodes.jsonl").write_text("".join(line for line in lines if "eval/2/core.counting" not in line))
    stream = io.StringIO()
    render([load(folder), load(named(tmp_path, "other"))], Console(file=stream, width=200))
    lost = sum("eval/2/core.counting" in line for line in lines)
    assert lost == 6
    assert f"has lost part of its record: {lost} evaluated episodes are missing" in stream.getvalue()


def test_names_never_control_the_screen(tmp_path):
    folder = named(tmp_path, "run")
    header = (folder / "run.json").read_text().replace('"name": "run"', '"name": "\\u001b[31mred[bold]"')
    (folder / "run.json").write_text(header)
    stream = io.StringIO()
    render([load(folder), load(named(tmp_path, "other"))], Console(file=stream, width=200))
    assert "\x1b" not in stream.getvalue()
    assert "�[31mred[bold] after 1" in stream.getvalue()


def test_runs_of_one_name_and_folder_are_told_apart_by_path(tmp_path):
    first, second = named(tmp_path / "a", "run"), named(tmp_path / "b", "run")
    assert first.name == second.name
    assert {entry.run for entry in entries([load(first), load(second)])} == {str(first), str(second)}


def test_runs_of_one_name_are_told_apart_by_folder(tmp_path):
    runs = [load(named(tmp_path, "run")), load(named(tmp_path, "run", selector="core.random"))]
    assert {entry.run for entry in entries(runs)} == {run.path.name for run in runs}


def test_what_the_plain_arm_keeps_stands_beside_the_experience_arm_of_the_same_point():
    shown = matrix({place: [2 * value for value in values] for place, values in FORGETS.items()}, arm="experience")
    found = groups([Entry(run="a", matrix=matrix(FORGETS)), Entry(run="a", matrix=shown), Entry(run="b", matrix=shown)])
    kept = {line.label: {domain: value.mean for domain, value in line.retention.items()} for group in found for line in group.lines}
    assert kept == {
        "Base": {},
        "Base+Harness": {"s": 50.0, "a": 50.0},
        "a after 1 s": {},
        "a after 2 a": {},
        "a+Harness after 1 s": {"s": 50.0, "a": 50.0},
        "a+Harness after 2 a": {"s": 50.0, "a": 50.0},
        "b+Harness after 1 s": {},
        "b+Harness after 2 a": {},
    }
