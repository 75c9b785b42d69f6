"""What a learner reads of the agent: the rest cannot reach what it does, so runs may differ in it and share the call."""

from __future__ import annotations

from collections.abc import Sequence

from xplearn.agent import Agent
from xplearn.interfaces import Checkpoint, Conditioner, Encoder, ExperienceStore, Journal, Policy, Selector
from xplearn.types import Arm, Conditioning, Query, Selection

STORE, ENCODER, ACTING = "store", "encoder", "acting"
"""The bank; the encoder; selector and conditioner with all that they use."""


class Reading:
    """An ``AgentView`` that notes which parts were asked for, by one learner for as long as it lives: it may have kept them.

    The policy is not noted: every learner is taken to read it.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.read: set[str] = set()

    @property
    def policy(self) -> Policy:
        return self._agent.policy

    @property
    def encoder(self) -> Encoder:
        self.read.add(ENCODER)
        return self._agent.encoder

    @property
    def store(self) -> ExperienceStore:
        self.read.add(STORE)
        return self._agent.store

    @property
    def selector(self) -> Selector:
        self.read.add(ACTING)
        return self._agent.selector

    @property
    def conditioner(self) -> Conditioner:
        self.read.add(ACTING)
        return self._agent.conditioner

    @property
    def seed(self) -> int:
        return self._agent.seed

    @property
    def position(self) -> tuple[int, int]:
        return self._agent.position

    @property
    def checkpoint(self) -> Checkpoint:
        return self._agent.checkpoint

    @property
    def journal(self) -> Journal:
        return self._agent.journal

    def condition(
        self, queries: Sequence[Query], arms: Sequence[Arm], previous: Sequence[Selection | None] | None = None
    ) -> tuple[list[Selection], list[Conditioning]]:
        """As ``AgentView.condition``."""
        self.read.add(ACTING)
        return self._agent.condition(queries, arms, previous)
