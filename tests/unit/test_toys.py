from __future__ import annotations

import pytest

from xplearn.builtin.toys import Counting, Errands
from xplearn.errors import ConfigError, DataError


def play(env, task, actions, seed=0):
    env.reset(task, seed=seed)
    return [env.step(action) for action in actions]


def test_counting_scores_the_share_of_right_answers():
    env = Counting(length=4)
    task = env.tasks("train")[0]
    start = task.meta["start"]
    outcomes = play(env, task, [str(start + 1), "what?", str(start + 3), str(start + 4)])
    assert [outcome.info["score"] for outcome in outcomes] == [0.25, 0.25, 0.5, 0.75]
    assert [outcome.reward for outcome in outcomes] == [0.25, 0.0, 0.25, 0.25]
    assert [outcome.terminated for outcome in outcomes] == [False, False, False, True]
    assert (outcomes[1].info["valid"], outcomes[-1].info["success"]) == (False, False)


def test_counting_down_is_a_kind_of_its_own():
    env = Counting()
    task = next(task for task in env.tasks("test") if task.kind == "down")
    assert env.demonstrate(task, seed=0).steps[0].action == str(task.meta["start"] - 1)


def test_counting_has_as_many_tasks_as_asked_for():
    assert [len(Counting(size=3).tasks(split)) for split in ("train", "dev", "test")] == [3, 3, 3]


@pytest.mark.parametrize(("cls", "field"), [(Counting, "size"), (Counting, "length"), (Errands, "per_kind"), (Errands, "max_steps")])
def test_zero_of_anything_is_refused_by_name(cls, field):
    with pytest.raises(ConfigError, match=f"^{field}: is 0"):
        cls(**{field: 0})


def test_errands_splits_share_kinds_but_no_pair_of_start_and_destination():
    env = Errands(per_kind=6)
    pairs = {split: {(task.kind, task.meta["start"], task.meta["destination"]) for task in env.tasks(split)} for split in env.splits()}
    assert [len(pairs[split]) for split in ("train", "dev", "test")] == [36, 18, 18]
    assert len(set.union(*pairs.values())) == 36 + 18 + 18
    assert len({frozenset(kind for kind, _, _ in pairs[split]) for split in pairs}) == 1


def test_errands_keep_a_thing_in_one_place_per_kind_so_that_remembering_helps():
    env = Errands()
    places = {}
    for split in env.splits():
        for task in env.tasks(split):
            walk = [step.action for step in env.demonstrate(task, seed=1).steps]
            found = next(index for index, action in enumerate(walk) if action.startswith("take"))
            room = next((a.removeprefix("go to ") for a in reversed(walk[:found]) if a.startswith("go to")), task.meta["start"])
            places.setdefault(task.kind, set()).add(room)
    assert {len(rooms) for rooms in places.values()} == {1}
    assert len(set.union(*places.values())) > 2


def test_errands_of_another_world_have_other_places():
    walks = [[s.action for s in Errands(world=w).demonstrate(Errands(world=w).tasks("train")[0], seed=0).steps] for w in (0, 1, 2)]
    assert len({tuple(walk[:2]) for walk in walks}) > 1


def test_errands_solve_every_task_within_seven_steps():
    env = Errands(per_kind=28)
    shown = [env.demonstrate(task, seed=2) for split in env.splits() for task in env.tasks(split)]
    assert all(trajectory.success for trajectory in shown)
    assert max(len(trajectory.steps) for trajectory in shown) == 7


def test_errands_score_parts_and_rewards_add_up():
    env = Errands()
    task = next(task for task in env.tasks("train") if task.kind == "wash-shirt")
    shown = env.demonstrate(task, seed=0)
    assert sum(step.reward for step in shown.steps) == pytest.approx(1.0)
    actions = [step.action for step in shown.steps]
    without_washing = [action for action in actions if not action.startswith("wash")]
    assert env.replay(task, without_washing, seed=0).score == pytest.approx(1 / 3)


def test_errands_hide_what_lies_in_a_closed_drawer():
    env = Errands()
    task = next(task for task in env.tasks("train") if task.kind == "fetch-letter")
    env.reset(task, seed=0)
    before = env.step("go to study").observation
    after = env.step("open  Drawer").observation
    assert "letter" not in before.text
    assert "take letter" not in before.actions
    assert "take letter" in after.actions


def test_errands_seed_scatters_the_other_things_only():
    env = Errands()
    task = env.tasks("train")[0]
    texts = {env.reset(task, seed=seed).text for seed in range(5)}
    assert len(texts) > 1
    assert {tuple(step.action for step in env.demonstrate(task, seed=seed).steps) for seed in range(5)} == {
        tuple(step.action for step in env.demonstrate(task, seed=0).steps)
    }


def test_errands_truncate_at_the_step_limit_without_success():
    env = Errands(max_steps=3)
    outcomes = play(env, env.tasks("train")[0], ["open drawer", "nonsense", "go to attic"])
    assert [outcome.truncated for outcome in outcomes] == [False, False, True]
    assert outcomes[-1].info["success"] is False


def test_tasks_of_another_environment_are_refused():
    with pytest.raises(DataError, match=r"core\.errands"):
        Errands().reset(Counting().tasks("train")[0], seed=0)
