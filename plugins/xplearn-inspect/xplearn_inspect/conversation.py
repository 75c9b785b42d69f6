"""One episode as a conversation, and as the events that led to it."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Sequence
from typing import Any

from inspect_ai.event import Event, InfoEvent, ModelEvent
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    StopReason,
)

from xplearn import Message, Selection, Step, Trajectory
from xplearn_inspect.texts import sound

_STOPS: dict[str, StopReason] = {"stop": "stop", "length": "max_tokens", "context": "model_length"}


class Conversation:
    """The messages that the policy was given, each made once: what a prompt shares with the one before is the same objects.

    Args:
        name: of the episode; makes the ids of its messages and events, so that the same episode always gives the same log.
        policy: who is said to have answered.
        began: timestamp of every event, as episodes record how long they took and not when.
    """

    def __init__(self, name: str, policy: str, began: datetime.datetime) -> None:
        self._name = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
        self._policy, self._began = policy, began
        self._count = 0
        self._last: list[tuple[Message, ChatMessage]] = []
        self.events: list[Event] = []
        self._shown = Selection()

    def messages(self, given: Sequence[Message]) -> list[ChatMessage]:
        """A prompt; roles are kept, and text is text whatever it looks like."""
        kept = 0
        for (before, _), message in zip(self._last, given, strict=False):
            if before is not message and before != message:
                break
            kept += 1
        self._last[kept:] = [(message, self._message(message)) for message in given[kept:]]
        return [made for _, made in self._last]

    def take(self, step: Step) -> None:
        """Add the events of one step: experience shown, where it is new; the policy's answer; what the environment made of it."""
        if step.selection.experiences and step.selection != self._shown:
            self.events.append(self._info("experience", shown(step.selection, texts=True)))
        self._shown = step.selection
        prompt = self.messages(step.conditioning.messages)
        said: Message = {"role": "assistant", "content": step.completion.text}
        answer = self.messages([*step.conditioning.messages, said])[-1]
        self.events.append(self._call(prompt, answer, step))
        self.events.append(self._info("environment", {"action": step.action, "reward": step.reward, "valid": step.valid}))

    def end(self, trajectory: Trajectory) -> list[ChatMessage]:
        """The whole conversation, the last observation included."""
        if not trajectory.steps:
            return []
        last = trajectory.steps[-1]
        rest: list[Message] = [{"role": "assistant", "content": last.completion.text}]
        rest += [{"role": "user", "content": trajectory.final}] if trajectory.final else []
        return self.messages([*last.conditioning.messages, *rest])

    def _message(self, message: Message) -> ChatMessage:
        content, id = sound(message["content"]), self._id()
        if message["role"] == "assistant":
            return ChatMessageAssistant(content=content, id=id, model=self._policy)
        return ChatMessageUser(content=content, id=id) if message["role"] == "user" else ChatMessageSystem(content=content, id=id)

    def _id(self) -> str:
        self._count += 1
        return f"{self._name}-{self._count}"

    def _call(self, prompt: list[ChatMessage], answer: ChatMessage, step: Step) -> ModelEvent:
        sampling, stop = step.completion.sampling, _STOPS[step.completion.finish]
        choices = [ChatCompletionChoice(message=answer, stop_reason=stop)] if isinstance(answer, ChatMessageAssistant) else []
        return ModelEvent(
            uuid=self._id(),
            timestamp=self._began,
            working_start=0.0,
            model=self._policy,
            input=prompt,
            tools=[],
            tool_choice="none",
            config=GenerateConfig(max_tokens=sampling.max_new_tokens, temperature=sampling.temperature, top_p=sampling.top_p),
            output=ModelOutput(model=self._policy, choices=choices),
        )

    def _info(self, source: str, data: Any) -> InfoEvent:
        return InfoEvent(uuid=self._id(), timestamp=self._began, working_start=0.0, source=source, data=sound(data))


def shown(selection: Selection, *, texts: bool = False) -> list[dict[str, Any]]:
    """Id, kind and score of each experience, best first, and what it says."""
    return [
        {"id": found.id, "kind": found.kind, "score": score, **({"content": found.content} if texts else {})}
        for found, score in zip(selection.experiences, selection.scores, strict=True)
    ]
