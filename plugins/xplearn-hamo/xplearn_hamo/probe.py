"""Asking the policy whether experience makes it surer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xplearn import AgentView, Completion, Conditioning, ContractError, Query, Sampling, Selection


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What the policy would say with and without experience, greedily and freely, and how sure it is of either."""

    agent: AgentView
    margin: float
    """How much surer experience must make it, in nats a token."""
    max_new_tokens: int
    """Longest answer."""

    def keeps(self, moments: Sequence[Query], selections: Sequence[Selection]) -> list[bool]:
        """Whether each experience is worth showing; one that leaves no room for an answer is not. All are asked about in one batch.

        Raises:
            ContractError: the policy gives no log-probabilities.
        """
        plain = [Conditioning(messages=moment.messages) for moment in moments]
        shown = self.agent.conditioner.condition(moments, selections)
        sampling = Sampling(max_new_tokens=self.max_new_tokens)
        answers = self.agent.policy.generate([*plain, *shown], sampling, [0] * (2 * len(plain)))
        sureness = [self._sureness(answer) for answer in answers]
        without, with_experience = sureness[: len(plain)], sureness[len(plain) :]
        return [-math.inf < shown >= bare + self.margin for bare, shown in zip(without, with_experience, strict=True)]

    def _sureness(self, answer: Completion) -> float:
        """Mean log-probability of a token, in nats; the least there is where nothing could be said."""
        if answer.logprobs is None:
            raise ContractError(type(self.agent.policy).__name__, "gives no log-probabilities to probe with; set test: similarity")
        return sum(answer.logprobs) / len(answer.logprobs) if answer.logprobs else -math.inf
