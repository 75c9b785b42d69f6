import math
from dataclasses import replace

import pytest
from xplearn_edge.gains import groups
from xplearn_edge.schedule import factor
from xplearn_edge.weights import step_weights

from xplearn import Completion, Conditioning, Query, Selection, Step, Task, Trajectory


def played(name, arm, score, seen, *, group="g", **fields):
    """A trajectory that met these observations."""
    task = Task(id=group, env="toy", split="train", goal="goal")
    steps = tuple(
        Step(
            query=Query(purpose="act", task=task, messages=({"role": "user", "content": text},)),
            selection=Selection(),
            conditioning=Conditioning(messages=()),
            completion=Completion(text="go"),
            action="go",
            reward=fields.get("reward", 0.0),
            terminated=False,
            truncated=False,
            valid=True,
        )
        for text in seen
    )
    kept = {"source": "rollout", "error": None} | {key: value for key, value in fields.items() if key != "reward"}
    return Trajectory(id=name, task=task, steps=steps, arm=arm, group=group, seed=0, score=score, success=score == 1.0, **kept)


def weighed(*batch, gain="trajectory", weight="gate", reward="score"):
    return step_weights(groups(batch), gain=gain, weight=weight, reward=reward)


def test_a_group_that_gained_is_taught_all_along_and_one_that_did_not_is_not():
    with_, without = played("e", "experience", 0.75, "ab"), played("p", "plain", 0.5, "acd")
    assert weighed(with_, without) == {"p": (1.0, 1.0, 1.0)}
    assert weighed(with_, without, weight="gain") == {"p": (0.25, 0.25, 0.25)}
    assert weighed(replace(with_, score=0.5), without) == weighed(replace(with_, score=0.2), without) == {}


def test_reward_says_what_a_gain_is_of():
    with_, without = played("e", "experience", 0.9, "ab", reward=-1.0), played("p", "plain", 0.5, "ab", reward=1.0)
    assert weighed(with_, without)
    assert weighed(with_, without, reward="success") == weighed(with_, without, reward="return") == {}
    assert weighed(replace(with_, success=True), without, reward="success")


@pytest.mark.parametrize("missing", ["experience", "plain"])
def test_a_group_with_an_empty_arm_teaches_nothing(missing):
    batch = [played("e", "experience", 1.0, "a"), played("p", "plain", 0.0, "a")]
    assert weighed(*[item for item in batch if item.arm != missing]) == {}
    assert weighed(*[replace(item, error="died") if item.arm == missing else item for item in batch]) == {}


def test_the_experts_demonstrations_are_no_arm():
    batch = played("e", "experience", 1.0, "a"), played("p", "plain", 0.0, "a", source="demonstration")
    assert weighed(*batch) == {}


# at the same observation [C]


def test_only_observations_where_memory_turned_a_failure_into_a_success_are_taught():
    batch = [
        played("win", "experience", 1.0, ["hall", "kitchen", "fridge"]),
        played("lose", "experience", 0.0, ["hall", "attic"]),
        played("fail", "plain", 0.0, ["hall", "kitchen", "attic", "cellar"]),
        played("other", "plain", 0.0, ["hall", "garden", "fridge"]),
    ]
    assert weighed(*batch, gain="same_anchor") == {"fail": (1.0, 1.0, 0.0, 0.0), "other": (1.0, 0.0, 1.0)}


def test_where_a_plain_trajectory_won_from_there_no_other_is_taught():
    batch = [
        played("win", "experience", 1.0, ["hall", "kitchen"]),
        played("also", "plain", 1.0, ["hall", "garden"]),
        played("fail", "plain", 0.0, ["hall", "kitchen"]),
    ]
    assert weighed(*batch, gain="same_anchor") == {"fail": (0.0, 1.0)}


def test_the_difference_may_be_the_weight():
    batch = [
        played("win", "experience", 0.8, ["hall", "kitchen"]),
        played("some", "plain", 0.5, ["hall"]),
        played("fail", "plain", 0.0, ["hall", "kitchen"]),
    ]
    (weights,) = weighed(*batch, gain="same_anchor", weight="gain").values()
    assert weights == pytest.approx((0.3, 0.8))


def test_another_tasks_trajectories_are_no_help():
    batch = played("win", "experience", 1.0, ["hall"]), played("fail", "plain", 0.0, ["hall"], group="h")
    assert weighed(*batch, gain="same_anchor") == {}


# the schedule


def test_the_coefficient_goes_down_as_its_schedule_says_and_is_gone_with_the_scaffold():
    assert [factor("constant", done, 4) for done in range(6)] == [1, 1, 1, 1, 0, 0]
    assert [factor("linear", done, 4) for done in range(6)] == pytest.approx([1, 0.75, 0.5, 0.25, 0, 0])
    assert [factor("cosine", done, 4) for done in range(5)] == pytest.approx([1, 0.5 + math.sqrt(0.125), 0.5, 0.5 - math.sqrt(0.125), 0])
    assert factor("constant", 10**6, None) == 1
