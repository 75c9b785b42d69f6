"""Who is asked for principles: the run's own policy, or a model behind an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, cast

from xplearn import AgentView, Conditioning, LocalPolicy, Message, Sampling, derive
from xplearn.endpoint import Endpoint, EndpointConfig, Question

Requests = Mapping[str, tuple[Message, ...]]
"""Conversations by the digest of what they ask about."""


class Writer(Protocol):
    """Answers requests."""

    def ready(self) -> AbstractContextManager[None]:
        """A context in which to ask."""
        ...

    def answer(self, requests: Requests) -> dict[str, str]:
        """What is said to each, by the same names; empty where there is no answer."""
        ...


class PolicyWriter:
    """The policy, greedily, the requests of a call in one batch.

    It writes as what it was before training: a policy trained to act has unlearned to explain, and principles of all steps are of one hand,
    so that their utilities are comparable.
    """

    def __init__(self, agent: AgentView, *, max_new_tokens: int) -> None:
        self._agent = agent
        self._sampling = Sampling(max_new_tokens=max_new_tokens, temperature=0.0, stop=())

    def ready(self) -> AbstractContextManager[None]:
        return cast(LocalPolicy, self._agent.policy).reference()

    def answer(self, requests: Requests) -> dict[str, str]:
        asked = [Conditioning(messages=messages) for messages in requests.values()]
        keys = [derive(self._agent.seed, "edge.evolve", name) for name in requests]
        said = self._agent.policy.generate(asked, self._sampling, keys)
        return {name: completion.text for name, completion in zip(requests, said, strict=True)}


class EndpointWriter:
    """A model behind an endpoint, the requests of a call at once; each is repeated, with growing pauses, before it is given up."""

    def __init__(self, config: EndpointConfig, *, max_new_tokens: int, usable: Callable[[str], bool]) -> None:
        """Read the key; nothing is contacted.

        Args:
            config: where to ask, and how patiently.
            max_new_tokens: longest answer.
            usable: whether an answer is of use; one that is not is asked for again.

        Raises:
            ConfigError: the variable that should hold the key does not.
        """
        self._endpoint, self._usable = Endpoint(config), usable
        self._settings = {"temperature": 0, "max_tokens": max_new_tokens}

    def ready(self) -> AbstractContextManager[None]:
        return nullcontext()

    def answer(self, requests: Requests) -> dict[str, str]:
        """As ``Writer.answer``; asks no more once the endpoint has stayed silent too often.

        Raises:
            ConfigError: the endpoint refuses to be asked.
        """
        asked = [Question(messages=messages, settings=self._settings, usable=self._usable) for messages in requests.values()]
        said = self._endpoint.try_all(asked)
        return {name: reply.text if reply else "" for name, reply in zip(requests, said, strict=True)}
