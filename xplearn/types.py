"""The data that flows through a run: small frozen records, tuples not lists, no behaviour.

Every part of xplearn speaks in these types and in nothing else, so any part can be exchanged for
another. Identifiers are strings, scores lie in [0, 1], token ids are plain integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

Role = Literal["system", "user", "assistant"]
"""Who speaks. Text from an environment or a model never becomes a role."""

Purpose = Literal["act", "study"]
"""Why experience is selected: to act at a decision point, or to train on."""

Arm = Literal["experience", "plain"]
"""With experience, or the same path with an empty selection (the control)."""

Source = Literal["rollout", "demonstration"]
"""Who acted: the agent, or the environment's expert."""

Choices = Literal["free", "admissible", "rank"]
"""How an action is chosen: any text, one of the admissible actions, or an ordering of them."""

Finish = Literal["stop", "length", "context"]
"""Why generation ended: end of turn, token limit, or the prompt no longer fits the context."""


class Message(TypedDict):
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One problem of an environment."""

    id: str
    """Unique within the environment, stable across runs and machines."""
    env: str
    """Registered name of the environment, e.g. ``scienceworld.text``."""
    split: str
    """``train``, ``dev`` or ``test`` (an environment may define more)."""
    goal: str
    """What is asked for, in words."""
    kind: str = ""
    """Task type, e.g. ``boil`` or ``pick_heat_then_place``."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """JSON-serialisable facts that the environment needs to start the episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What the environment shows before an action."""

    text: str
    """The text shown to the policy."""
    actions: tuple[str, ...] | None = None
    """Admissible actions in the environment's order, or None where it does not list them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one action led to."""

    observation: Observation
    """What is seen next."""
    reward: float
    """Reward of this step, in the environment's own unit (normally the change of the score)."""
    terminated: bool
    """The task ended by its own rules: solved or failed."""
    truncated: bool
    """The episode was cut off from outside, e.g. by a step limit. Never implies success."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """``valid``: the action was understood; ``score`` in [0, 1]; ``success``; score parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience:
    """One entry of the bank."""

    id: str
    """Unique within a bank."""
    kind: str
    """``card``, ``insight``, ``summary``, ``record`` …"""
    key: str
    """The text it is found by. Never holds what is unknown when acting starts."""
    content: str
    """The text it is shown as."""
    source: str = ""
    """Id of the trajectory it was made from."""
    task: str = ""
    """Id of the task that trajectory solved: the leak guard compares it with the task at hand."""
    task_kind: str = ""
    """Kind of that task."""
    outcome: float = 0.0
    """Score of that trajectory, in [0, 1]."""
    utility: float = 0.0
    """What it has proved worth, in the writer's own unit."""
    uses: int = 0
    """How often it was selected while the bank was open."""
    created: tuple[int, int, int] = (0, 0, 0)
    """(stage, round, policy version) of its writing."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """JSON-serialisable extras of the writer. ``sources``: ids of all trajectories, where it was made from several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A moment at which experience may help."""

    purpose: Purpose
    """To act, or to choose what to study."""
    task: Task
    """The task at hand."""
    messages: tuple[Message, ...]
    """The conversation so far, without experience; the last turn is the current observation."""
    index: int = 0
    """0-based step within the episode."""
    candidates: tuple[str, ...] | None = None
    """Admissible actions at an act query; ids of the experiences on offer at a study query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Experiences chosen for one query, best first. May be empty."""

    experiences: tuple[Experience, ...] = ()
    """What was chosen."""
    scores: tuple[float, ...] = ()
    """One score each, in the selector's own unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Latent experience inside the forward pass."""

    states: Any
    """Tensor ``[M, D]``, detached. Rows of a batch that read one bank share the tensor itself."""
    ids: tuple[str, ...]
    """Row m came from the experience ``ids[m]``."""
    barred: tuple[int, ...] = ()
    """Rows that may not be read here, e.g. made from the task at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """What the policy is given: text and latent experience have this one type."""

    messages: tuple[Message, ...]
    """The conversation, with any experience worked in."""
    memory: Memory | None = None
    """Latent experience, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the bank says to a completion that asked it."""

    text: str
    """The next user turn."""
    selection: Selection
    """The experiences that it shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How tokens are drawn."""

    max_new_tokens: int = 32
    """Limit of one completion, in tokens."""
    temperature: float = 0.0
    """0 is greedy."""
    top_p: float = 1.0
    """Nucleus, in (0, 1]."""
    stop: tuple[str, ...] = ("\n",)
    """Texts that end a free completion; not part of it."""
    choices: Choices = "free"
    """How the action is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What the policy said, with the exact tokens: nobody re-tokenises."""

    text: str
    """The completion as text, stop text removed."""
    prompt_ids: tuple[int, ...] = ()
    """Tokens of the conditioning."""
    token_ids: tuple[int, ...] = ()
    """Tokens drawn, the end-of-turn token included where it was drawn."""
    logprobs: tuple[float, ...] | None = None
    """Log-probability of each drawn token under the distribution it was drawn from, in nats."""
    sampling: Sampling = Sampling()
    """How it was drawn."""
    policy_version: int = 0
    """Grows with every change of the policy's weights."""
    finish: Finish = "stop"
    """Why it ended."""
    retrieved: tuple[tuple[int, ...], ...] | None = None
    """Per drawn token, the rows of the conditioning's memory that were read to draw it; None where nothing is retrieved by token."""
    counted: tuple[int, int] | None = None
    """Tokens read and written as a server counts them, where their ids stay there; None where they are here, or nobody counted."""
    thoughts: Any = None
    """Tensor ``[T, D]``: what was carried on from the place of each drawn token, NaN where it was certain; None without a recurrence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One observation-action-reward turn, with the conditioning that was really used."""

    query: Query
    selection: Selection
    conditioning: Conditioning
    completion: Completion
    action: str
    """What the environment received; empty where the completion asked the bank instead."""
    reward: float
    terminated: bool
    truncated: bool
    valid: bool
    """The environment understood the action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """One episode as data."""

    id: str
    """Unique within a run: phase, task, arm and replica joined by ``/``."""
    task: Task
    steps: tuple[Step, ...]
    arm: Arm
    group: str
    """Shared by the trajectories of one task and round."""
    seed: int
    """Seed the environment was reset with."""
    source: Source
    score: float = 0.0
    """Final score in [0, 1], as the environment defines it."""
    success: bool = False
    """Solved. Being done, or out of steps, is not success."""
    final: str = ""
    """The observation after the last action."""
    seconds: float = 0.0
    """Wall time of the episode."""
    error: str | None = None
    """Why the episode could not be played to its end; learners ignore such trajectories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeResult:
    """The scalars of one trajectory: one JSON line of ``episodes.jsonl``."""

    id: str
    """Id of the trajectory."""
    phase: str
    """Where in the run it belongs, e.g. ``eval/0/scienceworld.text``."""
    env: str
    task: str
    kind: str
    split: str
    arm: Arm
    seed: int
    score: float
    """In [0, 1]."""
    success: bool
    terminated: bool
    truncated: bool
    length: int
    """Steps taken."""
    tokens_in: int
    """Prompt tokens the policy read, each conversation's tokens counted once."""
    tokens_out: int
    """Tokens the policy wrote."""
    seconds: float
    """Wall time."""
    error: str | None = None
