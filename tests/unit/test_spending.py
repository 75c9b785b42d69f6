from xplearn.metrics.spending import spending, upkeep
from xplearn.record.history import Call, Note
from xplearn.types import EpisodeResult


def result(phase, arm="plain"):
    return EpisodeResult(
        id=f"{phase}/{arm}", phase=phase, env="toy", task="a", kind="", split="train", arm=arm, seed=0, score=0.0, success=False,
        terminated=True, truncated=False, length=1, tokens_in=100, tokens_out=10, seconds=2.0,
    )  # fmt: skip


def call(learner, seconds, round=0, **sizes):
    return Call(stage=0, round=round, learner=learner, name="toy", policy_version=0, seconds=seconds, **sizes)


def note(event, round=0):
    return Note(number=1, stage=0, round=round, learner="record.0", name="toy", policy_version=0, event=event, id="x")


def test_episodes_are_summed_by_what_they_were_for_and_arm():
    played = ["train/1/0", "train/1/1", "eval/0/toy", "shown/1", "train/0/0"]
    found = spending([*map(result, played), result("eval/0/toy", "experience")], {"train/0/0"})
    assert list(found) == [("demonstrations", "plain"), ("training", "plain"), ("evaluation", "plain"), ("evaluation", "experience")]
    assert [of.episodes for of in found.values()] == [2, 2, 1, 1]
    training = found["training", "plain"]
    assert (training.tokens_in, training.tokens_out, training.seconds) == (200, 20, 4.0)
    assert spending([]) == {}


def test_upkeep_is_read_from_calls_and_from_what_happened_to_the_bank():
    scalars = [{"stage": 0, "round": round, "learner": "learner.0", "seconds": 50.0} for round in range(3)]
    calls = [call("record.0", 1.5, bank=4, bank_bytes=400), call("learner.0", 8.0), call("record.0", 0.5, 1, bank=3, bank_bytes=300),
             call("warmup.0", 2.0), call("record.0", 0.0, 2)]  # fmt: skip
    notes = [*[note("added")] * 5, note("expanded"), note("removed", 1), note("removed", 1), note("changed", 1), note("utility", 2)]
    found = upkeep(scalars, calls, notes)
    assert (found.bank, found.content_bytes) == (3, 300)
    assert (found.added, found.changed, found.removed) == (5, 1, 2)
    assert (found.rounds, found.rounds_written) == (3, 2)
    assert (found.record_seconds, found.learner_seconds) == (2.0, 10.0)


def test_a_run_recorded_before_calls_has_what_its_learners_told_and_claims_no_more():
    scalars = [
        {"stage": 0, "round": 0, "learner": "record.0", "bank": 9.0},
        {"stage": 0, "round": 0, "learner": "learner.0", "seconds": 3.0},
    ]
    found = upkeep(scalars, [], [])
    assert (found.bank, found.content_bytes, found.added, found.removed, found.rounds_written) == (9, None, None, None, None)
    assert (found.rounds, found.record_seconds, found.learner_seconds) == (1, None, 3.0)
    nothing = upkeep([], [], [])
    assert (nothing.bank, nothing.rounds, nothing.learner_seconds) == (None, 0, None)
