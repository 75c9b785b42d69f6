from xplearn.metrics.rounds import build_rounds, figure, mean_gain, trained
from xplearn.record.history import Call
from xplearn.types import EpisodeResult


def result(phase, score, *, arm="plain", error=None):
    return EpisodeResult(
        id=f"{phase}/{arm}/{score}", phase=phase, env="toy", task="a", kind="", split="train", arm=arm, seed=0, score=score, success=False,
        terminated=True, truncated=False, length=1, tokens_in=1, tokens_out=1, seconds=1.0, error=error,
    )  # fmt: skip


def call(round, bank, *, stage=0, learner="record.0"):
    return Call(stage=stage, round=round, learner=learner, name="toy.record", policy_version=0, seconds=1.0, bank=bank)


def test_training_phases_name_their_stage_and_round():
    assert trained("train/2/13") == (2, 13)
    assert [trained(phase) for phase in ("eval/0/toy", "shown/1", "train/1", "train/1/x", "train/1/2/3", "train/1/²")] == [None] * 6


def test_a_round_has_the_mean_score_of_each_arm_and_what_experience_gained():
    played = [result("train/0/0", 0.25), result("train/0/0", 0.75), result("train/0/0", 1.0, arm="experience"), result("eval/0/toy", 0.0)]
    (found,) = build_rounds(played, [], [])
    assert (found.place, found.scores, found.gain) == ((0, 0), {"plain": 50.0, "experience": 100.0}, 50.0)


def test_what_died_is_no_training_score():
    (found,) = build_rounds([result("train/0/0", 0.5), result("train/0/0", 0.0, error="gone")], [], [])
    assert (found.scores, found.gain) == ({"plain": 50.0}, None)


def test_rounds_are_in_order_and_the_bank_is_what_it_was_where_nothing_wrote():
    calls = [call(10, 7), call(2, 5), call(2, 6, learner="record.1"), call(2, None, learner="learner.0"), call(3, None), call(0, None)]
    found = build_rounds([result("train/0/11", 0.5)], [], calls)
    assert [(at.place[1], at.bank) for at in found] == [(0, None), (2, 6), (3, 6), (10, 7), (11, 7)]


def test_a_run_without_calls_has_the_sizes_its_learners_told():
    scalars = [{"stage": 0, "round": 0, "learner": "record.0", "bank": 3.0}, {"stage": 0, "round": 0, "learner": "learner.0", "loss": 1.0},
               {"stage": 0, "round": 1, "learner": "learner.0", "gain_mean": -0.25}]  # fmt: skip
    first, second = build_rounds([], scalars, [])
    assert (first.bank, first.gain_mean) == (3, None)
    assert (second.bank, second.gain_mean) == (3, -0.25)


def test_the_mean_gain_is_over_the_rounds_that_played_both_arms():
    rounds = [
        [result(f"train/0/{number}", 0.5), result(f"train/0/{number}", 0.5 + gain, arm="experience")]
        for number, gain in enumerate((0.5, 0.0))
    ]
    found = build_rounds([*rounds[0], *rounds[1], result("train/0/2", 1.0)], [], [])
    assert mean_gain(found) == 25.0
    assert mean_gain(found[2:]) is None


def test_what_is_no_finite_number_is_no_figure():
    line = {"bank": "many", "gain_mean": float("nan"), "seconds": None, "loss": 2}
    assert [figure(line, name) for name in ("bank", "gain_mean", "seconds", "missing")] == [None] * 4
    assert (figure(line, "loss"), figure(line, "bank", 3.0)) == (2.0, 3.0)
