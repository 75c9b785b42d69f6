"""One episode as a sample."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from inspect_ai.log import EvalError, EvalSample, EvalSampleLimit
from inspect_ai.model import ChatCompletionChoice, ChatMessage, ChatMessageAssistant, ModelOutput, ModelUsage
from inspect_ai.scorer import CORRECT, INCORRECT, Score

from xplearn import EpisodeResult, Trajectory
from xplearn_inspect.conversation import Conversation, shown
from xplearn_inspect.texts import name, sound


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all episodes of a log share."""

    run: str
    """Its folder's name."""
    policy: str
    """Who acted."""
    began: datetime.datetime
    """When the run did."""
    facts: Mapping[str, Any]
    """For the metadata."""


def sample(trajectory: Trajectory, result: EpisodeResult, shared: Shared) -> EvalSample:
    """One episode: id is the task's, shortened where no file can be called so; epoch the replica, counted from 1 as inspect_ai does.

    Args:
        trajectory: what happened.
        result: its scalars; its score and success are the sample's.
        shared: with the other episodes of the log.
    """
    whole, policy = f"{shared.run}/{trajectory.id}", shared.policy
    talk = Conversation(whole, policy, shared.began)
    opening = talk.messages(trajectory.steps[0].query.messages) if trajectory.steps else []
    for step in trajectory.steps:
        talk.take(step)
    messages = talk.end(trajectory)
    answer = sound(trajectory.steps[-1].action) if trajectory.steps else None
    usage = ModelUsage(input_tokens=result.tokens_in, output_tokens=result.tokens_out, total_tokens=result.tokens_in + result.tokens_out)
    return EvalSample(
        id=name(result.task),
        epoch=replica(result) + 1,
        input=opening or sound(trajectory.task.goal),
        target="",
        description=sound(trajectory.task.goal),
        messages=messages,
        output=_output(messages, policy),
        scores={"score": Score(value=result.score, answer=answer), "success": Score(value=CORRECT if result.success else INCORRECT)},
        metadata=sound({**_facts(trajectory, result), **shared.facts}),
        events=talk.events,
        model_usage={policy: usage} if usage.total_tokens else {},
        total_time=result.seconds,
        uuid=sound(whole),
        error=EvalError(message=sound(result.error), traceback="", traceback_ansi="") if result.error else None,
        limit=_limit(result),
        turn_count=result.length,
    )


def replica(result: EpisodeResult) -> int:
    """Which of a task's episodes in an arm, counted from 0."""
    return int(result.id.rpartition("/")[2])


def _output(messages: list[ChatMessage], policy: str) -> ModelOutput:
    """The last thing that the policy said."""
    said = [message for message in messages if isinstance(message, ChatMessageAssistant)]
    return ModelOutput(model=policy, choices=[ChatCompletionChoice(message=message) for message in said[-1:]])


def _facts(trajectory: Trajectory, result: EpisodeResult) -> dict[str, Any]:
    chosen = ((step.query.index, step.selection) for step in trajectory.steps if step.selection.experiences)
    runs = [next(same) for _, same in groupby(chosen, key=lambda pair: pair[1])]
    experience = [{"step": index, **found} for index, selection in runs for found in shown(selection)]
    renamed = {} if name(result.task) == result.task else {"task": result.task}
    return {"arm": result.arm, "kind": result.kind, "split": result.split, "seed": result.seed, "experience": experience, **renamed}


def _limit(result: EpisodeResult) -> EvalSampleLimit | None:
    """What cut the episode off; None where it ended by the task's own rules, or died."""
    if not result.truncated:
        return None
    return EvalSampleLimit(type="custom", limit=result.length, reason="cut off: out of steps, or the conversation was full")
