"""``hamo.cards``: one card per expert trajectory, with an outline of the way through the task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from xplearn import AgentView, Capability, ConfigError, Experience, Learner, RolloutPlan, Trajectory, derive
from xplearn.endpoint import EndpointConfig
from xplearn.keys import trajectory_key
from xplearn_hamo import rules
from xplearn_hamo.account import Account, account
from xplearn_hamo.cache import DIGEST, Outlines
from xplearn_hamo.outline import Outline
from xplearn_hamo.writers import EndpointWriter, PolicyWriter, RulesWriter, Writer

KEY, CARD = "key", "card"
"""Vector spaces: what a card is found by when acting, and its whole text, for choosing anchors only."""


@dataclass(kw_only=True)
class CardWriter(Learner):
    """Writes cards: task, first observation and an outline of the solution [P].

    A card is found by task and first observation alone, which is what is known when acting starts. Its id derives from the trajectory, so a
    batch that is met again writes nothing; an outline that the bank holds for the same account and writer is taken from there.
    """

    writer: Literal["policy", "rules", "endpoint"] = "policy"
    """Who writes outlines: the run's own policy as it was before training [OURS], rules without a model, or a model behind ``endpoint``.
    A policy that is no language model cannot; then say ``writer: rules``. In the place of an outline that is not usable stands that of
    the rules."""
    endpoint: EndpointConfig | None = None
    """The model to ask; for ``writer: endpoint``, and only then."""
    max_steps: int = 8
    """Lines of an outline at most, the condition of success included [OURS]."""
    start_chars: int = 300
    """Longest first observation on a card, in characters [OURS]; the rest is cut. What a card is found by is never cut."""
    max_new_tokens: int = 256
    """Longest answer of a model, in tokens [OURS]."""
    batch: int = 8
    """Outlines written at once: rows of a policy's batch, or requests under way."""
    only_success: bool = False
    """Write cards of solved trajectories only."""
    source: Literal["any", "demonstration"] = "any"
    """``demonstration`` asks for the expert's trajectories; ``any`` takes what the learners beside it ask for, rollouts where none does."""
    checkpoint_seconds: float = 10.0
    """Outlines written so far are saved this often."""

    def __post_init__(self) -> None:
        if (self.endpoint is not None) != (self.writer == "endpoint"):
            given = "is given" if self.endpoint else "is missing"
            raise ConfigError("endpoint", f"{given} and writer is {self.writer}; want both, endpoint with url and model, or neither")
        for name, value, least in (("max_steps", self.max_steps, 3), ("max_new_tokens", self.max_new_tokens, 1), ("batch", self.batch, 1)):
            if value < least:
                raise ConfigError(name, f"must be at least {least}, got {value}")
        if self.start_chars < 0:
            raise ConfigError("start_chars", f"must be 0 or more, got {self.start_chars}")
        if not 0 <= self.checkpoint_seconds < math.inf:
            raise ConfigError("checkpoint_seconds", f"must be 0 or more seconds, got {self.checkpoint_seconds}")

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"store.filled", f"store.space:{KEY}", f"store.space:{CARD}"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"policy.reference"}) if self.writer == "policy" else frozenset()

    @property
    def ways_out(self) -> Mapping[Capability, str]:
        return dict.fromkeys(self.requires, "record: {name: hamo.cards, writer: rules}")

    def plan(self) -> RolloutPlan:
        return RolloutPlan(source="demonstration") if self.source == "demonstration" else RolloutPlan(indifferent=True)

    def setup(self, agent: AgentView) -> None:
        """Make sure, before the first episode, that the bank fits the encoder and that the endpoint's key is there."""
        for space in (KEY, CARD):
            if space in agent.store.spaces():
                agent.store.open_space(space, encoder=agent.encoder.id, dim=agent.encoder.dim)
        self._writer(agent)

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Write a card for each trajectory that has steps, no error, and none in the bank; all of them or none.

        Returns:
            ``written``, ``left_out`` and ``bank``: cards, trajectories, experiences. ``asked``: outlines that neither the bank nor another
            card of the batch had. ``unusable`` and ``unusable_share``: cards whose writer failed and that carry the rules' outline.

        Raises:
            ConfigError: the endpoint refuses to be asked.
        """
        store = agent.store
        for space in (KEY, CARD):
            store.open_space(space, encoder=agent.encoder.id, dim=agent.encoder.dim)
        fitting = {card_id(trajectory): trajectory for trajectory in batch if self._wanted(trajectory)}
        fresh = {id: trajectory for id, trajectory in fitting.items() if id not in store}
        cards, asked = self._cards(fresh, agent) if fresh else ([], 0)
        if cards:
            texts = [card.key for card in cards] + [card.content for card in cards]
            keys, contents = np.split(agent.encoder.encode(texts), 2)
            store.add(cards, {KEY: keys, CARD: contents})
        unusable = sum(not card.meta["usable"] for card in cards)
        return {
            "written": float(len(cards)),
            "left_out": float(len(batch) - len(cards)),
            "bank": float(len(store)),
            "asked": float(asked),
            "unusable": float(unusable),
            "unusable_share": unusable / max(len(cards), 1),
        }

    def _wanted(self, trajectory: Trajectory) -> bool:
        return trajectory.error is None and bool(trajectory.steps) and (trajectory.success or not self.only_success)

    def _cards(self, fresh: Mapping[str, Trajectory], agent: AgentView) -> tuple[list[Experience], int]:
        """Cards by trajectory, and for how many outlines the writer was needed."""
        writer = self._writer(agent)
        accounts = {id: account(trajectory, start_chars=self.start_chars) for id, trajectory in fresh.items()}
        digests = {id: found.digest(self.max_steps, writer.identity) for id, found in accounts.items()}
        outlines = Outlines(agent, every_seconds=self.checkpoint_seconds)
        self._write({digests[id]: found for id, found in accounts.items()}, outlines, writer, agent)
        created = (*agent.position, agent.policy.version)
        cards = [_card(id, fresh[id], found, outlines[digests[id]], digest=digests[id], created=created) for id, found in accounts.items()]
        return cards, len(outlines.new.keys() & digests.values())

    def _write(self, accounts: Mapping[str, Account], outlines: Outlines, writer: Writer, agent: AgentView) -> None:
        """Add the outlines that are missing, batch by batch; whoever watches sees how many of all stand in for unusable ones."""
        missing = [digest for digest in accounts if digest not in outlines]
        if not missing:
            return
        done = len(accounts) - len(missing)
        unusable = sum(not outlines[digest].usable for digest in accounts.keys() - set(missing))
        try:
            with writer.ready():
                for start in range(0, len(missing), self.batch):
                    digests = missing[start : start + self.batch]
                    found = writer.write([accounts[digest] for digest in digests])
                    outlines.add({digest: self._outline(accounts[digest], lines) for digest, lines in zip(digests, found, strict=True)})
                    done += len(digests)
                    unusable += sum(lines is None for lines in found)
                    agent.checkpoint.report(done, len(accounts), **({"unusable": float(unusable)} if unusable else {}))
        finally:
            outlines.save()

    def _outline(self, written_of: Account, lines: Sequence[str] | None) -> Outline:
        if lines is None:
            return Outline(lines=rules.write(written_of, self.max_steps), writer="rules", usable=False)
        return Outline(lines=tuple(lines), writer=self.writer)

    def _writer(self, agent: AgentView) -> Writer:
        if self.endpoint is not None:
            return EndpointWriter(self.endpoint, max_steps=self.max_steps, max_new_tokens=self.max_new_tokens)
        if self.writer == "policy":
            return PolicyWriter(agent, max_steps=self.max_steps, max_new_tokens=self.max_new_tokens)
        return RulesWriter(self.max_steps)


def card_id(trajectory: Trajectory) -> str:
    """Id of the card of a trajectory: its own, and how it was played."""
    return f"card/{trajectory.id}/{played(trajectory)}"


def played(trajectory: Trajectory) -> str:
    """How a trajectory was played: its start, actions and score, the same under whatever id and in whatever dress."""
    return f"{derive(trajectory.seed, repr(trajectory.score), *(step.action for step in trajectory.steps)):016x}"


def _card(
    id: str, trajectory: Trajectory, written_of: Account, outline: Outline, *, digest: str, created: tuple[int, int, int]
) -> Experience:
    start = [f"Start: {written_of.start}"] if written_of.start else []
    return Experience(
        id=id,
        kind="card",
        key=trajectory_key(trajectory),
        content="\n".join([f"Task: {written_of.goal}", *start, f"Outline:\n{outline}"]),
        source=trajectory.id,
        task=trajectory.task.id,
        task_kind=trajectory.task.kind,
        outcome=trajectory.score,
        created=created,
        meta={"outline": list(outline.lines), "writer": outline.writer, "usable": outline.usable, DIGEST: digest},
    )
