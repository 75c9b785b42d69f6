"""Runs that differ in nothing but their seed, pooled: by hand, and on runs of the dial."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from xplearn.config import load_experiment
from xplearn.experiment.run import run_experiment
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.compare import Entry
from xplearn.metrics.continual import Matrix
from xplearn.metrics.finals import final_difference, final_score
from xplearn.metrics.seeds import averaged, common, deviation, pools, retention, successes
from xplearn.record.reader import load
from xplearn.report.compare import render
from xplearn.testing.dial import dial_plugins
from xplearn.types import EpisodeResult


def matrix(*scores, arm="plain", seed=0, before=True):
    """One domain and stage; the scores of its tasks after learning, and nothing before."""
    by_task = {f"t{number}": float(value) for number, value in enumerate(scores)}
    cells = {(0, "toy"): dict.fromkeys(by_task, 0.0), (1, "toy"): by_task}
    kept = {place: values for place, values in cells.items() if before or place[0]}
    return Matrix(arm=arm, domains=("toy",), stream=("toy",), scores=kept, bootstrap=Bootstrap(resamples=300, seed=seed))


def entry(found, *, run, configuration="c", title="edge", seed=0, alone=True):
    return Entry(run=run, matrix=found, alone=alone, configuration=configuration, title=title, seed=seed)


@pytest.mark.parametrize(
    ("names", "shared"),
    [
        (["edge", "edge"], "edge"),
        (["edge-s0", "edge-s1", "edge-s12"], "edge-s"),
        (["edge-10", "edge-11"], "edge"),
        (["qwen3-0", "qwen3-1"], "qwen3"),
        (["edge", "edge2"], "edge"),
        (["a", "b"], "a"),
    ],
)
def test_what_names_share_names_them_all(names, shared):
    assert common(names) == shared


def test_runs_that_differ_in_the_seed_are_one_line_for_each_arm():
    found = pools(
        [
            *(entry(matrix(1, 2), run=f"e{seed}", title=f"edge-{seed}", seed=seed, alone=False) for seed in (0, 1, 2)),
            *(entry(matrix(1, 2, arm="experience"), run=f"e{seed}", title=f"edge-{seed}", seed=seed, alone=False) for seed in (0, 1, 2)),
            entry(matrix(1, 2), run="base", configuration="other", title="base"),
        ]
    )
    assert [pool.label for pool in found] == ["edge ×3 seeds", "edge+Harness ×3 seeds", "base"]
    assert not pools([entry(matrix(1, 2), run="a"), entry(matrix(1, 2), run="b", configuration="other", seed=1)])


def test_configurations_of_one_name_are_told_apart_by_a_run():
    found = pools([entry(matrix(1), run=f"{key}{seed}", configuration=key, seed=seed) for key in "ab" for seed in (0, 1)])
    assert [pool.name for pool in found] == ["a0", "b0"]


def test_the_same_seed_twice_counts_once():
    again = [entry(matrix(1, 2), run="first"), entry(matrix(9, 9), run="again"), entry(matrix(3, 4), run="other", seed=1)]
    (pool,) = pools(again)
    assert [found.run for found in pool.entries.values()] == ["first", "other"]


def test_scores_are_averaged_over_seeds_task_by_task_before_the_interval():
    found = averaged([matrix(0, 100), matrix(100, 0)]).figures()["final"]
    assert (found.low, found.mean, found.high) == (50.0, 50.0, 50.0)
    partly = averaged([matrix(0, 100), matrix(100, 0, before=False)])
    assert list(partly.scores) == [(1, "toy")]


def test_a_difference_is_paired_on_the_seeds_that_both_have():
    ours = {0: matrix(50, 20, 90), 1: matrix(30, 40, 60), 2: matrix(0, 0, 0)}
    theirs = {seed: averaged([found, found]) for seed, found in ours.items() if seed < 2}
    theirs = {seed: replace(found, scores={place: {task: value - 10 for task, value in row.items()} for place, row in found.scores.items()},
                            bootstrap=Bootstrap(resamples=300, seed=9)) for seed, found in theirs.items()}  # fmt: skip
    found = final_difference(ours, theirs)
    assert (found.low, found.mean, found.high) == pytest.approx((10.0, 10.0, 10.0))
    assert final_difference({0: matrix(1)}, {1: matrix(1)}) is None


def test_a_final_score_over_seeds_has_an_interval_over_tasks_and_seeds():
    """Alike on every task and 40 points apart by seed, as three policies that were trained alike may be."""
    apart = {seed: matrix(*(30 + 20 * seed + step for step in (0, 2, 4, 6))) for seed in (0, 1, 2)}
    pooled, alone = final_score(apart), final_score({1: apart[1]})
    assert pooled.mean == alone.mean == 53.0
    assert alone == apart[1].figures()["final"]
    assert pooled.high - pooled.low > 5 * (alone.high - alone.low)
    assert final_score({}) is None


def test_retention_and_deviation_over_seeds():
    shown = {seed: matrix(40, 80, arm="experience") for seed in (0, 1, 5)}
    kept = retention({0: matrix(10, 20), 1: matrix(30, 60)}, shown)
    assert (kept.low, kept.mean, kept.high) == pytest.approx((50.0, 50.0, 50.0))
    assert retention({}, shown) is None
    assert deviation([matrix(10, 20), matrix(12, 22)]) == pytest.approx(2**0.5)
    assert deviation([matrix(1, 2)]) is None


def result(task, point, success):
    return EpisodeResult(
        id=f"eval/{point}/toy/{task}/plain/0", phase=f"eval/{point}/toy", env="toy", task=task, kind="", split="test", arm="plain", seed=0,
        score=0.75, success=success, terminated=True, truncated=False, length=1, tokens_in=1, tokens_out=1, seconds=1.0,
    )  # fmt: skip


def test_success_has_the_cells_of_the_scores():
    played = [result("t0", 0, False), result("t1", 0, True), result("t0", 1, True), result("t1", 1, True)]
    assert successes(matrix(75, 75), played).scores == {(0, "toy"): {"t0": 0.0, "t1": 100.0}, (1, "toy"): {"t0": 100.0, "t1": 100.0}}
    carried = successes(matrix(75, 75), played[:2])
    assert carried.scores[1, "toy"] == {"t0": 0.0, "t1": 100.0}


DIAL = {
    "stream": [{"env": "core.counting", "tasks": {"limit": 4}, "rounds": 3}],
    "policy": "dial.policy",
    "selector": "core.bm25",
    "conditioner": "core.prompt",
    "record": "core.record",
    "learner": {"name": "dial.turn", "arms": ["plain", "experience"]},
    "evaluate": {"tasks": {"limit": 4, "split": "test"}, "resamples": 100},
}
BARE = {"record": [], "selector": "core.none", "conditioner": "core.none", "learner": {"name": "dial.turn", "arms": ["plain"]}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two seeds of a method with a bank, and two of one without."""
    place, plugins, found = tmp_path_factory.mktemp("seeds"), dial_plugins(), []
    for name, changes in (("edge", {}), ("bare", BARE)):
        for seed in (0, 1):
            given = {**DIAL, **changes, "run": {"dir": str(place), "name": name, "seed": seed}}
            experiment, given = load_experiment(given, [], plugins.registry)
            found.append(load(run_experiment(experiment, plugins=plugins, given=given).folder))
    return found


def shown(runs, width):
    stream = io.StringIO()
    render(runs, Console(file=stream, width=width))
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 200])
def test_the_comparison_pools_the_seeds_of_a_configuration_and_sets_costs_side_by_side(runs, width):
    text = shown(runs, width)
    assert max(map(len, text.splitlines())) <= width
    lines = [line.strip() for line in text.splitlines()]
    for label in ("edge ×2 seeds", "edge+Harness ×2 seeds", "bare ×2 seeds"):
        assert any(line.startswith(label) for line in lines)
    for column in ("vs edge", "deviation", "success %", "retention %", "gain", "bank", "training tokens, experience", "rounds that wrote"):
        assert column in text
    first = [line.split() for line in text.splitlines() if line.split()[:1] == [runs[0].path.name]]
    assert any("24" in line for line in first)
    assert any(line[-3:] == ["3", "of", "3"] for line in first)


def test_one_seed_of_each_is_not_pooled(runs):
    assert "over seeds" not in shown([runs[0], runs[2]], 200)
