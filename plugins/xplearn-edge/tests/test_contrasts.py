"""Which trajectories are set against one another, and what the rules make of them."""

from __future__ import annotations

import dataclasses

import pytest
from xplearn_edge import rules
from xplearn_edge.contrasts import Contrast, contrasts, shown, success_rates
from xplearn_edge.gains import groups

from xplearn.testing import samples

BOTH = ("task", "step")


def played(actions, *, solved, arm="plain", group="g", kind="heat", goal="put a hot mug 1 in cabinet 3", replica=0):
    base = samples.trajectory(0)
    task = dataclasses.replace(base.task, kind=kind, goal=goal, id=group)
    steps = []
    for number, action in enumerate(actions):
        messages = ({"role": "user", "content": f"Task: {goal}\n\nRoom."}, {"role": "user", "content": f"You see mug {number}."})
        query = dataclasses.replace(base.steps[0].query, task=task, messages=messages, index=number)
        steps.append(dataclasses.replace(base.steps[0], query=query, action=action))
    return dataclasses.replace(
        base,
        id=f"{group}/{arm}/{replica}",
        task=task,
        steps=tuple(steps),
        arm=arm,
        group=group,
        score=float(solved),
        success=solved,
        source="rollout",
    )


WAY = ["go to table 1", "take mug 1", "heat mug 1 with microwave 1", "put mug 1 in cabinet 3"]
STUCK = ["go to table 1", "take mug 1", "look", "open cabinet 3", "open cabinet 3"]


def pair(group="g", kind="heat", success_arm="plain", failure_arm="experience"):
    return [
        played(WAY, solved=True, arm=success_arm, group=group, kind=kind),
        played(STUCK, solved=False, arm=failure_arm, group=group, kind=kind),
    ]


def found(batch, *, below=0.9, which="any", limit=10):
    return contrasts(groups(batch), below=below, which=which, limit=limit)


def test_a_success_and_a_failure_of_one_group_are_a_contrast():
    (contrast,) = found(pair())
    assert contrast.sources == ["g/plain/0", "g/experience/0"]


def test_success_and_failure_of_different_tasks_are_none():
    assert found([played(WAY, solved=True, group="a"), played(STUCK, solved=False, group="b")]) == []


def test_trajectories_that_died_and_demonstrations_are_none():
    success, failure = pair()
    assert found([success, dataclasses.replace(failure, error="died")]) == []
    assert found([dataclasses.replace(success, source="demonstration"), failure]) == []


def test_kinds_that_succeed_often_enough_are_left_alone():
    batch = [*pair("a", "heat"), *pair("b", "cool"), *(played(STUCK, solved=False, group="b", kind="cool", replica=n) for n in (1, 2))]
    assert success_rates(groups(batch)) == {("sample.text", "heat"): 0.5, ("sample.text", "cool"): 0.25}
    assert [contrast.success.task.kind for contrast in found(batch, below=0.4)] == ["cool"]
    assert found(batch, below=0.25) == []
    assert [contrast.success.task.kind for contrast in found(batch, below=0.6)] == ["cool", "heat"]


def test_kinds_take_turns_up_to_the_limit():
    batch = [item for group in ("a", "b", "c") for item in pair(group, "heat")] + pair("d", "cool")
    assert [contrast.success.group for contrast in found(batch)] == ["d", "a", "b", "c"]
    assert [contrast.success.group for contrast in found(batch, limit=2)] == ["d", "a"]


def test_only_experience_that_hurt_counts_where_that_is_asked_for():
    assert len(found(pair(), which="hurt")) == 1
    assert found(pair(success_arm="experience", failure_arm="plain"), which="hurt") == []
    assert found(pair(success_arm="plain", failure_arm="plain"), which="hurt") == []


def test_the_shortest_success_meets_the_failure_that_followed_it_longest():
    batch = [
        played([*WAY, "look"], solved=True),
        played(WAY, solved=True, replica=1),
        played(["look"], solved=False, replica=2),
        played(STUCK, solved=False, replica=3),
    ]
    (contrast,) = found(batch)
    assert contrast.sources == ["g/plain/1", "g/plain/3"]
    assert contrast.parting == 2


def test_where_the_failure_gave_up_too_early_they_part_at_its_end():
    assert Contrast(success=played(WAY, solved=True), failure=played(WAY[:2], solved=False)).parting == 2
    assert Contrast(success=played(WAY, solved=True), failure=played([*WAY, "look"], solved=False)).parting is None


def test_a_digest_tells_how_both_were_played():
    success, failure = pair()
    digests = {
        Contrast(success=one, failure=other).digest()
        for one, other in (
            (success, failure),
            (success, None),
            (success, played(WAY[:1], solved=False)),
            (played(WAY[:1], solved=True), failure),
        )
    }
    assert len(digests) == 4


def test_an_experts_solved_ways_come_by_kind():
    expert = [dataclasses.replace(played(WAY, solved=n != 1, group=str(n)), source="demonstration") for n in range(3)]
    assert [way.success.group for way in shown([*expert, *pair()])["heat"]] == ["0", "2"]


def test_the_rules_tell_what_only_the_success_did_and_what_only_the_failure_did():
    (contrast,) = found(pair())
    (principle,) = rules.principles(contrast, ["task"])
    assert principle.content == (
        "When the task is to put a hot mug in cabinet: heat mug with microwave, then put mug in cabinet. Avoid: open cabinet."
    )
    assert (principle.title, principle.scope) == ("heat", "task")


def test_the_rules_tell_about_the_moment_at_which_the_two_part():
    (contrast,) = found(pair())
    _, moment = rules.principles(contrast, BOTH)
    assert moment.content == "When the task is to put a hot mug in cabinet and you see: You see mug: heat mug with microwave. Avoid: look."
    assert moment.scope == "step"


def test_without_a_failure_the_rules_tell_the_whole_way():
    (principle,) = rules.principles(Contrast(success=played(WAY, solved=True), failure=None), BOTH)
    assert principle.do == "go to table, then take mug, then heat mug with microwave, then put mug in cabinet"
    assert principle.avoid == ""


def test_the_rules_tell_all_that_was_done_from_the_parting_on():
    stuck = played(["go to table 1", "heat mug 1 with microwave 1", "open drawer 1", "look", "open drawer 2"], solved=False)
    (principle,) = rules.principles(Contrast(success=played(WAY, solved=True), failure=stuck), ["task"])
    assert principle.do == "take mug, then heat mug with microwave, then put mug in cabinet"
    assert principle.avoid == "open drawer"


def test_what_is_seen_as_a_task_begins_does_not_repeat_it():
    failure = played(["jump"], solved=False)
    way = played(WAY, solved=True)
    first = dataclasses.replace(way.steps[0].query, messages=way.steps[0].query.messages[:1])
    way = dataclasses.replace(way, steps=(dataclasses.replace(way.steps[0], query=first), *way.steps[1:]))
    moment = rules.on_step(Contrast(success=way, failure=failure))
    assert moment.when == "the task is to put a hot mug in cabinet and you see: Room."


def test_a_goal_goes_on_in_the_sentence():
    bring = rules.on_task(Contrast(success=played(WAY, solved=True, goal="Your task is to Bring the mug."), failure=None))
    assert bring.when == "the task is to bring the mug"
    assert rules.on_task(Contrast(success=played(WAY, solved=True, goal="TV on"), failure=None)).when == "the task is to TV on"


def test_quantities_keep_their_numbers_and_names_lose_theirs():
    assert rules.generic("heat water to 90 degrees, put mug 12 in drawer #3") == "heat water to 90 degrees, put mug in drawer"


@pytest.mark.parametrize("actions", [["\x1b[31m\ud800"] * 3, ["x" * 9000] * 300, [""], [f"take thing-{n} now" for n in range(500)]])
def test_whatever_was_done_the_rules_write_short_clean_text(actions):
    success = played(actions, solved=True, goal="do \x00it " * 5000, kind="")
    for principle in rules.principles(Contrast(success=success, failure=played(["y", *actions], solved=False)), BOTH):
        assert principle.content.isprintable()
        assert len(principle.content) <= 500
