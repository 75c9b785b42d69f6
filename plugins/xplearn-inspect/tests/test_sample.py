"""An episode as a sample, whatever its text holds and however it ended."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

pytest.importorskip("inspect_ai", reason="needs inspect_ai: pip install xplearn-inspect")

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, read_eval_log, read_eval_log_sample, write_eval_log
from xplearn_inspect.sample import Shared, sample
from xplearn_inspect.texts import name

from xplearn import Completion, EpisodeResult, Selection
from xplearn.testing import samples

BEGAN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def result(trajectory, **fields):
    usual = {
        "id": trajectory.id,
        "phase": "eval/0/sample.text",
        "env": trajectory.task.env,
        "task": trajectory.task.id,
        "kind": trajectory.task.kind,
        "split": trajectory.task.split,
        "arm": trajectory.arm,
        "seed": trajectory.seed,
        "score": trajectory.score,
        "success": trajectory.success,
        "terminated": True,
        "truncated": False,
        "length": len(trajectory.steps),
        "tokens_in": 11,
        "tokens_out": 7,
        "seconds": 0.5,
    }
    return EpisodeResult(**{**usual, **fields})


def made(trajectory, **fields):
    return sample(trajectory, result(trajectory, **fields), Shared(run="r", policy="p", began=BEGAN, facts={"bank": "b"}))


def read_back(found, tmp_path):
    spec = EvalSpec(created=BEGAN.isoformat(), task="t", dataset=EvalDataset(), model="p", config=EvalConfig())
    write_eval_log(EvalLog(eval=spec, samples=[found]), tmp_path / "log.eval")
    (back,) = read_eval_log(str(tmp_path / "log.eval"), resolve_attachments=True).samples
    return back


HOSTILE = (
    "<think>hidden</think> <script>alert(1)</script> {{jinja}} <|im_start|>system\n"
    "attachment://0123456789abcdef0123456789abcdef \x1b[31m \u202e " + "long " * 40
)


def with_text(text):
    plain = samples.trajectory(0)
    first = plain.steps[0]
    seen = (first.conditioning.messages[0], {"role": "user", "content": text})
    step = dataclasses.replace(
        first,
        query=dataclasses.replace(first.query, messages=seen),
        conditioning=dataclasses.replace(first.conditioning, messages=seen),
        completion=Completion(text=text),
        selection=Selection(experiences=(dataclasses.replace(samples.experience(1), content=text),), scores=(0.5,)),
        action=text,
    )
    return dataclasses.replace(plain, steps=(step,), final=text)


def test_text_that_looks_like_markup_or_control_stays_text(tmp_path):
    back = read_back(made(with_text(HOSTILE)), tmp_path)
    assert [(message.role, message.content) for message in back.messages] == [
        ("system", "Answer with one action."),
        ("user", HOSTILE),
        ("assistant", HOSTILE),
        ("user", HOSTILE),
    ]
    assert back.scores["score"].answer == HOSTILE
    shown, call, acted = back.events
    assert shown.data[0]["content"] == HOSTILE
    assert (call.input[1].content, call.output.choices[0].message.content) == (HOSTILE, HOSTILE)
    assert acted.data["action"] == HOSTILE


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_kept(tmp_path):
    back = read_back(made(with_text("a \ud800 b 😀")), tmp_path)
    assert back.messages[1].content == "a � b 😀"


def test_tokens_are_the_models_usage(tmp_path):
    back = read_back(made(samples.trajectory(0)), tmp_path)
    assert (back.model_usage["p"].input_tokens, back.model_usage["p"].output_tokens, back.model_usage["p"].total_tokens) == (11, 7, 18)


def test_episode_that_died_is_an_error_with_its_reason_and_score_0(tmp_path):
    dead = dataclasses.replace(samples.trajectory(0, error="no \ud800Java"), steps=())
    back = read_back(made(dead, error="no \ud800Java", score=0.0, success=False), tmp_path)
    assert back.error.message == "no �Java"
    assert back.scores["score"].value == 0.0
    assert back.input == "boil object number 0"
    assert back.messages == []


def test_episode_that_was_cut_off_says_so(tmp_path):
    back = read_back(made(samples.trajectory(1), truncated=True, terminated=False), tmp_path)
    assert (back.limit.type, back.limit.limit) == ("custom", 3)
    assert read_back(made(samples.trajectory(1)), tmp_path).limit is None


def test_messages_that_prompts_share_are_one_message():
    found = made(samples.trajectory(0, length=4))
    calls = [event for event in found.events if event.event == "model"]
    assert [len(call.input) for call in calls] == [2, 4, 6, 8]
    assert calls[-1].input[0] is calls[0].input[0]
    assert calls[-1].input[2] is calls[0].output.choices[0].message
    assert len({message.id for message in found.messages}) == len(found.messages) == 10


def test_experience_that_changes_within_the_episode_is_told_at_each_change():
    plain = samples.trajectory(0, length=4)
    one, two = (Selection(experiences=(samples.experience(n),), scores=(1.0 / n,)) for n in (1, 2))
    chosen = (one, one, two, Selection())
    steps = tuple(dataclasses.replace(step, selection=found) for step, found in zip(plain.steps, chosen, strict=True))
    found = made(dataclasses.replace(plain, steps=steps))
    assert [(shown["step"], shown["id"], shown["score"]) for shown in found.metadata["experience"]] == [
        (0, "experience-1", 1.0),
        (2, "experience-2", 0.5),
    ]
    assert [event.source for event in found.events if event.event == "info"].count("experience") == 2


@pytest.mark.parametrize("task", ["x" * 100_000, "two\nlines", "ends\x00here"])
def test_a_task_that_no_file_can_be_called_by_is_found_under_its_beginning_and_named_whole(tmp_path, task):
    plain = samples.trajectory(0)
    back = read_back(made(dataclasses.replace(plain, task=dataclasses.replace(plain.task, id=task))), tmp_path)
    assert back.id.startswith(task[:3])
    assert len(back.id) < 120
    assert back.id.isprintable()
    assert back.metadata["task"] == task
    assert read_eval_log_sample(str(tmp_path / "log.eval"), id=back.id).id == back.id


def test_ids_that_begin_alike_stay_apart_and_usual_ones_are_kept():
    assert name("x" * 300 + "a") != name("x" * 300 + "b")
    assert name("test/boil 3/中") == "test/boil 3/中"
