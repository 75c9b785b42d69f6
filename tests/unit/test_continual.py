"""The figures of continual learning: against Avalanche's own, against a slow reading of the formulas, and by hand on a whole run."""

import itertools
import random
from dataclasses import replace
from statistics import mean, stdev

import numpy as np
import pytest

from xplearn.errors import ConfigError
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.continual import (
    average,
    build_matrix,
    bwt,
    chaudhry_forgetting,
    final,
    final_retention,
    forgetting,
    fwt,
    order_spread,
)
from xplearn.types import EpisodeResult

AVALANCHE = [
    (
        [[24.1, 31.0], [10.5, 73.8], [40.5, 49.0]],
        (-30.0, 30.0, 42.8),
    ),
    (
        [[15.8, 9.2, 6.8], [2.0, 41.1, 56.2], [93.9, 29.6, 81.9], [78.3, 6.0, 22.7]],
        (-26.35, 26.35, 53.5),
    ),
    (
        [[53.2, 54.9, 36.8], [28.3, 79.8, 17.6], [84.6, 10.8, 26.8], [21.9, 96.5, 94.9]],
        (-39.65, 39.65, 7.45),
    ),
    (
        [
            [2.6, 84.8, 65.6, 82.6, 26.6],
            [81.9, 27.8, 19.8, 16.8, 31.7],
            [29.6, 64.2, 88.8, 74.9, 98.3],
            [87.5, 86.8, 90.1, 38.1, 8.8],
            [86.5, 62.0, 34.5, 68.7, 39.7],
            [51.8, 25.4, 18.2, 25.3, 48.4],
        ],
        (46.05, -46.05, -16.3),
    ),
]
"""Random matrices, row 0 before training, and StreamForgetting, StreamBWT and StreamForwardTransfer of avalanche-lib 0.6.0.

Recorded by subclasses that take ``metric_result`` from the matrix and are called as a strategy would: ``before_training_exp``, then for
every experience ``before_eval_exp``, ``after_eval_iteration`` and ``after_eval_exp``.
"""


@pytest.mark.parametrize(("matrix", "recorded"), AVALANCHE)
def test_forgetting_and_transfer_are_avalanches(matrix, recorded):
    scores, learned = np.array(matrix), range(len(matrix[0]))
    assert -bwt(scores, learned) == pytest.approx(recorded[0])
    assert bwt(scores, learned) == pytest.approx(recorded[1])
    assert fwt(scores, learned) == pytest.approx(recorded[2])


def slowly(scores, learned):
    """The formulas, stage by stage."""
    last = len(learned)
    seen = [list(dict.fromkeys(learned[:stage])) for stage in range(last + 1)]
    rows = {stage: mean(scores[stage][domain] for domain in seen[stage]) for stage in range(1, last + 1)}
    earlier = range(1, last)
    return {
        final: rows[last],
        average: mean(rows.values()),
        forgetting: mean(scores[last][d] - max(scores[k][d] for k in range(1, last + 1)) for d in seen[last - 1]),
        chaudhry_forgetting: mean(max(scores[k][learned[i - 1]] for k in earlier) - scores[last][learned[i - 1]] for i in earlier),
        bwt: mean(scores[last][learned[i - 1]] - scores[i][learned[i - 1]] for i in earlier),
        fwt: mean(scores[i - 1][learned[i - 1]] - scores[0][learned[i - 1]] for i in range(2, last + 1)),
    }


@pytest.mark.parametrize("learned", [[0, 1], [0, 1, 2], [2, 0, 1, 3], [0, 0, 0, 0], [0, 1, 0, 2, 1]])
def test_figures_are_what_a_slow_reading_of_the_formulas_gives(learned):
    rng = random.Random(len(learned))
    for _ in range(50):
        scores = [[rng.uniform(0, 100) for _ in range(max(learned) + 1)] for _ in range(len(learned) + 1)]
        for figure, value in slowly(scores, learned).items():
            assert figure(np.array(scores), learned) == pytest.approx(value), figure.__name__


def test_resamples_are_leading_axes():
    scores = np.random.default_rng(0).uniform(size=(7, 4, 3))
    for figure in (final, average, forgetting, chaudhry_forgetting, bwt, fwt):
        assert figure(scores, [1, 0, 2]).tolist() == [figure(one, [1, 0, 2]) for one in scores]


def test_ours_is_chaudhrys_forgetting_without_gains():
    scores = np.random.default_rng(1).uniform(size=(100, 3, 2))
    np.testing.assert_allclose(forgetting(scores, [0, 1]), -np.maximum(0.0, chaudhry_forgetting(scores, [0, 1])))


def test_one_stage_has_no_forgetting_and_no_transfer():
    scores = np.array([[10.0], [20.0]])
    assert (final(scores, [0]), average(scores, [0])) == (20.0, 20.0)
    assert all(np.isnan(figure(scores, [0])) for figure in (forgetting, chaudhry_forgetting, bwt, fwt))


PAPER = {(1, "s"): 52.43, (2, "s"): 54.19, (3, "s"): 52.43, (2, "a"): 70.08, (3, "a"): 66.79, (3, "w"): 59.64}
"""HaMo's cross-domain stream."""


def test_published_matrix_gives_the_published_sums():
    scores = np.full((4, 3), np.nan)
    for (stage, domain), score in PAPER.items():
        scores[stage, "saw".index(domain)] = score
    assert 3 * final(scores, [0, 1, 2]) == pytest.approx(178.86)
    assert bwt(scores, [0, 1, 2]) == pytest.approx((0.0 + (66.79 - 70.08)) / 2)
    assert average(scores, [0, 1, 2]) == pytest.approx(mean([52.43, (54.19 + 70.08) / 2, 178.86 / 3]))


def episode(point, domain, task, score, arm="plain", replica=0):
    phase = f"eval/{point}/{domain}"
    return EpisodeResult(
        id=f"{phase}/{task}/{arm}/{replica}", phase=phase, env=domain, task=task, kind="", split="test", arm=arm, seed=0, score=score,
        success=False, terminated=True, truncated=False, length=1, tokens_in=0, tokens_out=0, seconds=0.0,
    )  # fmt: skip


SCORES = {
    "ant": [[0.1, 0.3], [0.5, 0.9], [0.4, 0.4]],
    "bee": [[0.2, 0.2, 0.2], [0.3, 0.2, 0.4], [1.0, 0.8, 0.6]],
}


def episodes(scores=SCORES, arm="plain"):
    return [
        episode(point, domain, f"{domain}{number}", score, arm)
        for domain, rows in scores.items()
        for point, row in enumerate(rows)
        for number, score in enumerate(row)
    ]


def matrix(results=None, *, arm="plain", stream=("ant", "bee"), expected=None, finished=True, confidence=0.95):
    return build_matrix(
        episodes(arm=arm) if results is None else results,
        arm=arm,
        stream=stream,
        episodes=expected or {"ant": 2, "bee": 3},
        finished=finished,
        bootstrap=Bootstrap(resamples=400, confidence=confidence),
    )


def means(figures):
    return {name: None if value is None else round(value.mean, 9) for name, value in figures.items()}


def test_matrix_of_episodes_is_in_percent_and_has_its_figures():
    found = matrix()
    np.testing.assert_allclose(found.values, [[20, 20], [70, 30], [40, 80]])
    assert found.reached == 2
    assert means(found.figures()) == {
        "final": 60.0,
        "average": 65.0,
        "forgetting": -30.0,
        "chaudhry_forgetting": 30.0,
        "bwt": -30.0,
        "fwt": 10.0,
    }
    assert str(found).splitlines()[2].split() == ["after", "1", "70.0", "30.0"]


def test_replicas_of_a_task_are_averaged():
    results = [episode(point, "ant", "x", score, replica=replica) for point in (0, 1) for replica, score in enumerate((0.0, 0.5))]
    assert matrix(results, stream=["ant"], expected={"ant": 2}).scores[1, "ant"] == {"x": 25.0}


def test_order_of_episodes_and_other_phases_change_nothing():
    results = [replace(episode(0, "ant", "ant0", 1.0), phase="train/0/0"), *reversed(episodes()), *episodes(arm="experience")]
    assert means(matrix(results).figures()) == means(matrix().figures())
    assert matrix(results).figures() == matrix().figures()


def test_the_average_of_one_stage_is_its_final_and_of_several_the_mean_of_theirs():
    found = matrix().figures()["average"]
    assert found.mean == pytest.approx(65.0)
    assert found.low < 65.0 < found.high
    alone = matrix(stream=["ant"], expected={"ant": 2}).figures()
    assert alone["average"] == alone["final"]
    assert alone["final"].mean == 70.0


def test_interval_of_the_only_domains_final_is_the_tables():
    values = random.Random(3).choices(range(101), k=30)
    results = [episode(point, "ant", f"{number:02}", value / 100) for point in range(3) for number, value in enumerate(values)]
    found = matrix(results, stream=["ant", "ant"], expected={"ant": 30}).figures()
    table = Bootstrap(resamples=400).mean([100.0 * (value / 100) for value in values])
    final = found["final"]
    assert (final.low, final.mean, final.high) == pytest.approx((table.low, table.mean, table.high))
    assert (found["bwt"].low, found["bwt"].mean, found["bwt"].high) == (0.0, 0.0, 0.0), "the same tasks in all stages"


def test_intervals_are_paired_over_stages():
    rng = random.Random(5)
    level = [rng.uniform(0.2, 0.8) for _ in range(40)]
    rows = [[value + gain for value in level] for gain in (0.0, 0.1, 0.05)]
    found = matrix(episodes({"ant": rows}), stream=["ant", "ant"], expected={"ant": 40}).figures()
    assert found["final"].high - found["final"].low > 5.0
    assert found["bwt"].high - found["bwt"].low < 1e-9
    assert found["bwt"].mean == pytest.approx(-5.0)


def test_intervals_hold_the_truth_as_often_as_they_say():
    hits = 0
    rounds = 200
    for trial in range(rounds):
        rng = np.random.default_rng(trial)
        gains = {"ant": rng.normal([0.0, 0.3, 0.2], 0.1, size=(60, 3)), "bee": rng.normal([0.0, 0.1, 0.4], 0.2, size=(25, 3))}
        scores = {domain: (0.3 + gain).T.tolist() for domain, gain in gains.items()}
        found = matrix(episodes(scores), expected={"ant": 60, "bee": 25}, confidence=0.9).figures()["average"]
        hits += found.low <= 100 * (0.6 + (0.5 + 0.7) / 2) / 2 <= found.high
    assert 0.84 <= hits / rounds <= 0.95


def test_one_task_says_nothing_about_the_spread():
    found = matrix(episodes({"ant": [[0.1], [0.4]]}), stream=["ant"], expected={"ant": 1}).figures()
    assert (found["final"].mean, found["final"].low) == (40.0, None)


def test_without_an_evaluation_before_learning_only_forward_transfer_is_unknown():
    results = [result for result in episodes() if not result.phase.startswith("eval/0")]
    found = matrix(results)
    assert [name for name, value in found.figures().items() if value is None] == ["fwt"]
    assert found.figures()["bwt"] == matrix().figures()["bwt"]


def test_evaluation_under_way_is_not_there_yet_and_figures_are_of_the_stage_before():
    whole = [result for result in episodes() if result.phase != "eval/2/bee"]
    for results in (whole, [*whole, episode(2, "bee", "bee0", 1.0)]):
        found = matrix(results, finished=False)
        assert found.reached == 1
        np.testing.assert_allclose(found.values[2], [40, np.nan])
        assert means(found.figures()) == {**dict.fromkeys(found.figures()), "final": 70.0, "average": 70.0}
    assert matrix([], finished=False).reached == 0
    assert set(matrix([], finished=False).figures().values()) == {None}


def test_stage_that_changed_nothing_has_the_row_of_the_stage_before():
    skipped = [result for result in episodes() if not result.phase.startswith("eval/1")]
    np.testing.assert_allclose(matrix(skipped, finished=False).values, [[20, 20], [20, 20], [40, 80]])
    only = [result for result in episodes() if result.phase.startswith("eval/0")]
    np.testing.assert_allclose(matrix(only).values, [[20, 20]] * 3)
    assert matrix(only, finished=False).reached == 0


def test_retention_is_the_plain_arm_over_the_experience_arm_on_the_same_tasks():
    double = {domain: [[score / 2 for score in row] for row in rows] for domain, rows in SCORES.items()}
    plain, experience = matrix(episodes(double)), matrix(arm="experience")
    kept = final_retention(plain, experience)
    assert (kept.low, kept.mean, kept.high) == pytest.approx((50.0, 50.0, 50.0))
    assert final_retention(matrix([]), experience) is None


def test_retention_of_nothing_is_unknown():
    nothing = {domain: [[0.0] * len(row) for row in rows] for domain, rows in SCORES.items()}
    assert final_retention(matrix(), matrix(episodes(nothing, "experience"), arm="experience")) is None


def test_unknown_arm_is_refused():
    with pytest.raises(ConfigError, match="arm: is 'plian'; want experience or plain"):
        matrix(arm="plian")


def reordered(stream, shift):
    rows = {domain: [[score + shift * (domain == "ant") for score in row] for row in rows] for domain, rows in SCORES.items()}
    return matrix(episodes(rows), stream=stream)


def test_order_spread_is_over_the_finals_and_by_domain():
    found = order_spread([reordered(["ant", "bee"], 0.0), reordered(["bee", "ant"], 0.2)])
    assert found.finals == pytest.approx((60.0, 70.0))
    assert found.mean == pytest.approx(65.0)
    assert found.deviation == pytest.approx(stdev([60.0, 70.0]))
    assert found.disparity == pytest.approx({"ant": 20.0, "bee": 0.0})


def test_spread_over_anything_but_orders_is_refused():
    whole = matrix()
    unfinished = matrix([result for result in episodes() if result.phase != "eval/2/bee"], finished=False)
    other = matrix([replace(result, task=f"{result.task}'") for result in episodes()])
    for wrong, words in (
        ([whole], "has 1; a spread needs at least 2"),
        ([whole, unfinished], "matrices.1: has 1 of 2 stages"),
        ([whole, other], "differs"),
        ([whole, matrix(arm="experience")], "differs"),
        ([whole, matrix(stream=["ant", "bee", "ant"])], "differs"),
    ):
        with pytest.raises(ConfigError, match=words):
            order_spread(wrong)


def test_numbered_configurations_of_one_environment_cannot_be_told_apart_in_other_orders():
    names = ("ant", "ant#2")
    found = [matrix(episodes(dict.fromkeys(names, SCORES["ant"])), stream=order, expected=dict.fromkeys(names, 2))
             for order in itertools.permutations(names)]  # fmt: skip
    with pytest.raises(ConfigError, match="differs"):
        order_spread(found)


def test_tasks_that_a_stage_lacks_are_left_out_of_what_compares_stages():
    whole = matrix(episodes({"ant": SCORES["ant"]}), stream=["ant", "ant"], expected={"ant": 2})
    some = replace(whole, scores={**whole.scores, (1, "ant"): {"ant0": whole.scores[1, "ant"]["ant0"]}})
    only = whole.scores[2, "ant"]["ant0"] - whole.scores[1, "ant"]["ant0"]
    assert some.figures()["bwt"].mean == pytest.approx(only)
    none = replace(whole, scores={**whole.scores, (1, "ant"): {"other": 1.0}})
    assert none.figures()["bwt"] is None
    assert none.figures()["forgetting"] is None
