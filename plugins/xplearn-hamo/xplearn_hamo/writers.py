"""Who writes outlines: the rules, the run's own policy, or a model behind an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, cast

from xplearn import AgentView, Conditioning, LocalPolicy, Sampling, derive
from xplearn.endpoint import Endpoint, EndpointConfig, Question
from xplearn_hamo import prompts, rules
from xplearn_hamo.account import Account
from xplearn_hamo.outline import read

Lines = tuple[str, ...]


class Writer(Protocol):
    """Writes outlines."""

    @property
    def identity(self) -> str:
        """Names everything that an outline depends on besides its account and its length."""
        ...

    def ready(self) -> AbstractContextManager[None]:
        """A context in which to write."""
        ...

    def write(self, accounts: Sequence[Account]) -> list[Lines | None]:
        """Per account the lines of its outline, or None where none was usable."""
        ...


class RulesWriter:
    """Needs no model."""

    def __init__(self, max_steps: int) -> None:
        self._max_steps = max_steps

    @property
    def identity(self) -> str:
        return f"rules/{rules.VERSION}"

    def ready(self) -> AbstractContextManager[None]:
        return nullcontext()

    def write(self, accounts: Sequence[Account]) -> list[Lines | None]:
        return [rules.write(account, self._max_steps) for account in accounts]


class PolicyWriter:
    """The policy, greedily, all accounts of a call in one batch.

    It writes as what it was before training: a policy trained to act has unlearned to explain, and so cards of all stages are of one
    hand.
    """

    def __init__(self, agent: AgentView, *, max_steps: int, max_new_tokens: int) -> None:
        self._agent, self._max_steps = agent, max_steps
        self._sampling = Sampling(max_new_tokens=max_new_tokens, temperature=0.0, stop=())

    @property
    def identity(self) -> str:
        return f"policy/{prompts.VERSION}/{self._sampling.max_new_tokens}/untrained/{self._agent.policy!r}"

    def ready(self) -> AbstractContextManager[None]:
        return cast(LocalPolicy, self._agent.policy).reference()

    def write(self, accounts: Sequence[Account]) -> list[Lines | None]:
        asked = [prompts.conversation(account, self._max_steps) for account in accounts]
        keys = [derive(self._agent.seed, "hamo.cards", account.digest()) for account in accounts]
        said = self._agent.policy.generate([Conditioning(messages=messages) for messages in asked], self._sampling, keys)
        return [
            read(
                completion.text,
                account,
                max_steps=self._max_steps,
                prompt=prompts.not_to_be_copied(self._max_steps),
                cut_off=completion.finish == "length",
            )
            for completion, account in zip(said, accounts, strict=True)
        ]


class EndpointWriter:
    """A model behind an endpoint, all accounts of a call at once; each is asked again, with growing pauses, before it is given up."""

    def __init__(self, config: EndpointConfig, *, max_steps: int, max_new_tokens: int) -> None:
        self._config, self._max_steps, self._max_new_tokens = config, max_steps, max_new_tokens
        self._endpoint = Endpoint(config)

    @property
    def identity(self) -> str:
        return f"endpoint/{prompts.VERSION}/{self._max_new_tokens}/{self._config.url}/{self._config.model}"

    def ready(self) -> AbstractContextManager[None]:
        return nullcontext()

    def write(self, accounts: Sequence[Account]) -> list[Lines | None]:
        """As ``Writer.write``; asks no more once the endpoint has stayed silent too often.

        Raises:
            ConfigError: the endpoint refuses to be asked.
        """
        said = self._endpoint.try_all([self._question(account) for account in accounts])
        return [self._outline(reply.text, account) if reply else None for reply, account in zip(said, accounts, strict=True)]

    def _question(self, account: Account) -> Question:
        return Question(
            messages=prompts.conversation(account, self._max_steps),
            settings={"temperature": 0, "max_tokens": self._max_new_tokens},
            usable=lambda text: self._outline(text, account) is not None,
        )

    def _outline(self, text: str, account: Account) -> Lines | None:
        return read(text, account, max_steps=self._max_steps, prompt=prompts.not_to_be_copied(self._max_steps))
