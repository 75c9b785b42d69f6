"""``core.openai``: a policy that is a model behind an OpenAI-compatible server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xplearn.endpoint import Endpoint, EndpointConfig, Question, Reply
from xplearn.errors import ConfigError, ContractError, EndpointError
from xplearn.interfaces import AgentView, Policy
from xplearn.interfaces.policy import AllChoices
from xplearn.seeding import derive
from xplearn.types import Completion, Conditioning, Sampling

NAME = "core.openai"

_OURS = ("model", "messages", "stream", "n")
"""Fields of a request that ``extra`` may not touch."""
_SAMPLED = ("temperature", "top_p", "max_tokens", "stop", "seed")
"""Fields that ``extra`` may only leave out: ``sampling`` says their values."""
_WHEN_UP = "see that it is up; the same command then goes on where it stopped"
_LEFT_OUT = "a setting it does not take is left out with extra, e.g. policy.extra={seed: null}"
_QUOTES = " \t\n\"'`*>.!"
"""What a model that speaks freely puts around an action."""


@dataclass(kw_only=True)
class OpenAiPolicy(EndpointConfig, Policy):
    """A model behind the chat completions protocol: vLLM, llama.cpp, Ollama, a hosted one. It acts and cannot be trained.

    One request a row, so rows do not depend on one another. Each carries a seed derived from its key, but no server promises to heed it, so
    the policy does not count as keyed. Token ids and log-probabilities stay with the server: nothing can be scored, encoded or
    conditioned latently, and tokens in tables are those that the server counts (``usage``). With ``choices: admissible`` an answer is taken
    for the action that it says but for case, white space and quotes around it; one that says none stays as it is, and the environment
    calls it invalid.
    """

    retries: int = 5
    """Further requests for a completion after one that failed for a passing reason (busy, broken, silent), at most 100."""
    parallel: int = 8
    """Requests under way at once."""
    guided: bool = False
    """Have the server choose among the admissible actions: vLLM 0.12 and later (``structured_outputs``)."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Sent with each request, e.g. ``{chat_template_kwargs: {enable_thinking: false}}``; null leaves a field of ours out, e.g.
    ``{seed: null}``. It is recorded with the run: no keys."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parallel < 1:
            raise ConfigError("parallel", f"must be at least 1, got {self.parallel}")
        _require_extra(self.extra)
        self._endpoint: Endpoint | None = None

    def setup(self, agent: AgentView) -> None:
        """Read the key.

        Raises:
            ConfigError: ``key_env`` names a variable that holds none.
        """
        self._endpoint = Endpoint(self)

    def generate(
        self, conditionings: Sequence[Conditioning], sampling: Sampling, keys: Sequence[int], choices: AllChoices | None = None
    ) -> list[Completion]:
        """As ``Policy.generate``.

        Raises:
            EndpointError: no answer, however often asked.
            ConfigError: the server refuses to be asked.
            ContractError: an order of candidates or latent memory is asked for.
        """
        endpoint = self._ready(conditionings, sampling)
        given = choices or [None] * len(keys)
        chosen = [actions if sampling.choices == "admissible" and actions else None for actions in given]
        questions = [
            Question(messages=conditioning.messages, settings=self._settings(sampling, key, actions))
            for conditioning, key, actions in zip(conditionings, keys, chosen, strict=True)
        ]
        try:
            replies = endpoint.ask_all(questions, parallel=self.parallel)
        except EndpointError as error:
            advice = _WHEN_UP if error.passing else _LEFT_OUT
            raise EndpointError(self.url, f"{error.reason}; {advice}", passing=error.passing) from error
        return [self._completion(reply, sampling, actions) for reply, actions in zip(replies, chosen, strict=True)]

    def close(self) -> None:
        self._endpoint = None

    def _ready(self, conditionings: Sequence[Conditioning], sampling: Sampling) -> Endpoint:
        if self._endpoint is None:
            raise ContractError(NAME, "used before setup(agent)")
        if sampling.choices == "rank":
            raise ContractError(NAME, "cannot order candidates: it sees no log-probabilities; take a policy of this process, e.g. core.hf")
        if any(conditioning.memory is not None for conditioning in conditionings):
            raise ContractError(NAME, "takes no latent memory; take a policy of this process, e.g. core.hf, or conditioner: core.prompt")
        return self._endpoint

    def _completion(self, reply: Reply, sampling: Sampling, actions: Sequence[str] | None) -> Completion:
        text, cut = (reply.text, False) if self.guided and actions else _until(reply.text, sampling.stop)
        return Completion(
            text=text if actions is None else _action(text, actions),
            sampling=sampling,
            policy_version=self.version,
            finish="stop" if cut else reply.finish,
            counted=reply.counted,
        )

    def _settings(self, sampling: Sampling, key: int, actions: Sequence[str] | None) -> dict[str, Any]:
        found: dict[str, Any] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_new_tokens,
            "seed": derive(key, NAME) >> 32,
        }
        if self.guided and actions:
            found["structured_outputs"] = {"choice": list(actions)}
        elif sampling.stop:
            found["stop"] = list(sampling.stop)
        return {name: value for name, value in {**found, **self.extra}.items() if value is not None}


def _require_extra(extra: dict[str, Any]) -> None:
    for name, value in extra.items():
        if name in _OURS:
            raise ConfigError(f"extra.{name}", "is not for extra: the policy says it itself")
        if name in _SAMPLED and value is not None:
            raise ConfigError(f"extra.{name}", "is said by sampling; here it can only be left out, with null")
    try:
        json.dumps(extra, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError("extra", f"cannot be sent: {error}; want what JSON can say") from None


def _until(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """The text before the first of ``stops``, for servers that do not heed them, and whether there was one."""
    ends = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(ends)], True) if ends else (text, False)


def _action(text: str, actions: Sequence[str]) -> str:
    """The action that a text says: itself, or the only one alike but for case, white space and quotes; else the text."""
    if text in actions:
        return text
    alike = {action for action in actions if _bare(action) == _bare(text)}
    return alike.pop() if len(alike) == 1 else text


def _bare(text: str) -> str:
    return " ".join(text.strip(_QUOTES).split()).casefold()
