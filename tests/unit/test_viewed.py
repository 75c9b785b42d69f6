"""Trajectories read for a person: the same texts and counts as the whole records hold."""

import pytest

from tests.made_runs import episode, many
from xplearn.errors import RecordError
from xplearn.metrics.cost import tokens
from xplearn.record.folder import RunFolder
from xplearn.record.formats import dump_trajectory
from xplearn.record.viewed import parse, places, view
from xplearn.testing import samples

PHASE = "eval/0/core.errands"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return many(tmp_path_factory.mktemp("viewed"), 40, steps=4)


def test_each_trajectory_is_found_by_its_id_with_the_texts_that_were_recorded(run):
    path = RunFolder(run.path).trajectories(PHASE)
    found = {id: view(path, offset) for id, offset in places(path).items()}
    whole = {trajectory.id: trajectory for trajectory in run.trajectories(PHASE)}
    assert list(found) == list(whole)
    for id, viewed in found.items():
        of = whole[id]
        assert (viewed.id, viewed.goal, viewed.final, viewed.source) == (id, of.task.goal, of.final, "rollout")
        assert [(step.observation, step.action) for step in viewed.steps] == [
            (step.query.messages[-1]["content"], step.action) for step in of.steps
        ]
        assert viewed.opening == (["system", "Answer with one action."],)


def test_what_was_shown_is_read_from_each_step_s_own_selection():
    viewed = parse(dump_trajectory(episode(PHASE, 3, "experience")))
    assert [[found["id"] for found in step.experiences] for step in viewed.steps] == [["card-0"], ["card-1"], ["card-0"]]
    assert [step.scores for step in viewed.steps] == [(0.75,)] * 3
    assert not any(step.experiences for step in parse(dump_trajectory(episode(PHASE, 3, "plain"))).steps)


def test_admissible_actions_are_those_of_the_step_and_an_order_of_them_says_that_it_is_one():
    plain, ranked = (parse(dump_trajectory(episode(PHASE, 3, "plain", ranked=of))).steps for of in (False, True))
    assert [step.candidates for step in plain] == [("wait", "look around", f"go to room {at}") for at in (1, 2, 3)]
    assert [(step.ranked, step.written) for step in plain] == [(False, 2)] * 3
    assert [(step.ranked, step.written) for step in ranked] == [(True, 0)] * 3
    assert ranked[0].action == "wait\nlook around\ngo to room 1"


def test_tokens_by_step_add_up_to_those_of_the_episode():
    for trajectory in (episode(PHASE, 1, "plain", 5), samples.trajectory(2, length=4)):
        steps = parse(dump_trajectory(trajectory)).steps
        assert (sum(step.read for step in steps), sum(step.written for step in steps)) == tokens(trajectory)


def test_an_episode_that_died_before_its_first_step_has_no_opening():
    viewed = parse(dump_trajectory(samples.trajectory(length=0, error="died")))
    assert (viewed.opening, viewed.steps) == ((), ())


def test_an_id_with_quotes_and_backslashes_is_found(tmp_path):
    path = tmp_path / "t.jsonl"
    lines = [dump_trajectory(episode(PHASE, 1, "plain", texts=('"\\\n\u2028',))), dump_trajectory(episode(PHASE, 2, "plain"))]
    path.write_text("\n".join(lines) + "\n" + '{"id":"torn')
    found = places(path)
    assert list(found) == [f'{PHASE}/errand-1"\\\n\u2028/plain/0', f"{PHASE}/errand-2/plain/0"]
    assert view(path, found[f"{PHASE}/errand-2/plain/0"]).goal == "bring parcel 2 to room 2"


def test_a_file_that_is_not_there_holds_nothing(tmp_path):
    assert places(tmp_path / "none.jsonl") == {}


@pytest.mark.parametrize("line", ['{"id":"a"}', '{"id":"a","steps":[{}],"tables":{}}'])
def test_a_damaged_line_is_told_with_its_place(tmp_path, line):
    path = tmp_path / "t.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(RecordError, match=r"byte 0 is damaged"):
        view(path, places(path)["a"])
    path.write_text("{\n")
    with pytest.raises(RecordError, match="a line is damaged"):
        places(path)
