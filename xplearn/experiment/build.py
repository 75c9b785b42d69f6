"""Building the parts of an experiment, and saying before anything heavy is loaded whether they fit together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from xplearn.agent import Agent
from xplearn.capability import SPACE, WHY, Capability, Part, Problem, check
from xplearn.component import Component
from xplearn.config import parts_of
from xplearn.errors import ConfigError, ContractError, PluginError, UnknownComponentError
from xplearn.experiment.stream import Stage, merge_plans, stages
from xplearn.fields import build
from xplearn.interfaces import Conditioner, Encoder, ExperienceStore, Learner, Policy, RolloutPlan, Selector
from xplearn.plugins import Plugins
from xplearn.registry import Registry
from xplearn.schema import EnvSpec, Experiment, SamplingConfig
from xplearn.types import Choices, Sampling

EMPTY_SELECTOR = "selector.none"
"""Capability of a selector that never selects anything: the experience arm would be the plain one."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Every part of an experiment but the environments, built and not yet set up."""

    experiment: Experiment
    by_path: Mapping[str, tuple[str, str, Component]]
    """``(slot, registered name, part)`` by path in the configuration, e.g. ``learner.0``."""

    def one(self, path: str) -> Component:
        """The part at a path."""
        return self.by_path[path][2]

    def learners(self, *keys: str) -> list[tuple[str, str, Learner]]:
        """``(path, registered name, learner)`` of ``record``, ``learner`` or ``warmup``, by default of all, in order."""
        wanted = keys or ("record", "learner", "warmup")
        return [(path, name, cast(Learner, part)) for path, (slot, name, part) in self.by_path.items() if slot in wanted]

    @property
    def curriculum(self) -> Selector:
        """The selector that chooses what is studied."""
        return cast(Selector, self.one("curriculum"))

    @property
    def plan(self) -> RolloutPlan:
        """What the learners of the stream together want to learn from, where the bank is written."""
        return self._merged("record", "learner")

    def plan_of(self, stage: Stage, round: int | None = None) -> RolloutPlan:
        """What is wanted in a stage, or in one of its rounds (0-based).

        Where a warm-up has learners of its own, what they learn from is what the bank is written from.
        """
        key = self.experiment.learns(stage.config)
        if key == "warmup":
            return self._merged(key)
        plan = self._merged("record", key) if stage.config.records or stage.config.warmup else self._merged(key)
        return plan if round is None or stage.config.warmup else plan.at(stage.before + round)

    def _merged(self, *keys: str) -> RolloutPlan:
        return merge_plans([(name, part.plan()) for _, name, part in self.learners(*keys)])

    @property
    def writes(self) -> bool:
        """Whether any stage has the bank written."""
        return any(stage.records for stage in self.experiment.stream)

    @property
    def has_experience_arm(self) -> bool:
        """Whether acting with experience can differ from acting without."""
        return EMPTY_SELECTOR not in self.one("selector").provides

    @property
    def lists_actions(self) -> bool:
        """Whether observations must list the admissible actions: it can cost more than the step."""
        asks = any("env.actions" in part.requires for _, _, part in self.by_path.values())
        return asks or any(block.choices != "free" for block in (self.experiment.sampling, self.experiment.evaluate.sampling))

    def agent(self, seed: int) -> Agent:
        """The agent these parts make."""
        return Agent(
            policy=cast(Policy, self.one("policy")),
            encoder=cast(Encoder, self.one("encoder")),
            store=cast(ExperienceStore, self.one("store")),
            selector=cast(Selector, self.one("selector")),
            conditioner=cast(Conditioner, self.one("conditioner")),
            seed=seed,
        )

    def describe(self) -> dict[str, Any]:
        """Name and every field of each part, for the header."""
        return {path: {"name": name, **_fields(part)} for path, (_, name, part) in self.by_path.items()}


def build_parts(experiment: Experiment, registry: Registry) -> Parts:
    """Build every part but the environments; constructors only.

    Raises:
        UnknownComponentError, PluginError, ConfigError: a part cannot be built; with its path.
    """
    found = {}
    for path, slot, spec in parts_of(experiment):
        cls = registry.get(slot, spec.name).load()
        found[path] = (path.partition(".")[0], spec.name, build(cls, spec.fields, path=path))
    return Parts(experiment=experiment, by_path=found)


def check_experiment(experiment: Experiment, plugins: Plugins) -> list[Problem]:
    """Every unmet requirement of an experiment; empty when it is sound.

    An environment that only its own interpreter knows is checked when its pool is open.

    Raises:
        ConfigError: learners ask for different sources or for more rounds than there are, rounds of some tasks have demonstrations, what
            was drawn long ago is replayed to a learner that needs it fresh, who trains stands under ``record``, the bank is of another
            encoder, or a part's field is wrong.
    """
    parts, registry = build_parts(experiment, plugins.registry), plugins.registry
    _require_rounds(experiment, parts.plan)
    _require_whole_rounds(experiment, parts)
    _require_warmup(experiment, parts)
    _require_no_replay(experiment, parts)
    _require_writers(parts)
    _require_encoder(parts, registry)
    problems = _check_selectors(parts, registry)
    for stage in experiment.stream:
        env = _environment(stage.env, registry)
        if env is not None:
            problems += check_mix(parts, stage.env, env, registry)
    return list({(problem.slot, problem.name, problem.capability): problem for problem in problems}.values())


def check_mix(parts: Parts, spec: EnvSpec, env: Part, registry: Registry) -> list[Problem]:
    """The unmet requirements of the parts in one environment: of those that meet there, in warm-up stages and in others."""
    experiment = parts.experiment
    uses = {experiment.learns(stage) for stage in experiment.stream if stage.env == spec}
    return [problem for use in sorted(uses) for problem in _check_use(parts, spec.name, env, registry, use)]


def _check_use(parts: Parts, name: str, env: Part, registry: Registry, use: str) -> list[Problem]:
    """The same with the learners of ``learner`` or of ``warmup``; what the agent asks of learners is for those of the stream to meet."""
    other = "learner" if use == "warmup" else "warmup"
    own = [(slot, part_name, part if slot != "record" or parts.writes else _Need()) for slot, part_name, part in parts.by_path.values()]
    mix: list[tuple[str, str, Part]] = [("environment", name, env), *own, *_needs(parts)]
    problems = check([part for part in mix if part[0] != other], registry.providing)
    return [problem for problem in problems if use in ("learner", problem.slot) or not problem.capability.startswith("learner.")]


def sampling(config: SamplingConfig) -> Sampling:
    """The sampling that a block of the configuration asks for."""
    return Sampling(
        max_new_tokens=config.max_new_tokens,
        temperature=config.temperature,
        top_p=config.top_p,
        stop=tuple(config.stop),
        choices=config.choices,
    )


@dataclass(frozen=True)
class _Need:
    """A requirement of the configuration itself."""

    requires: frozenset[Capability] = frozenset()
    provides: frozenset[Capability] = frozenset()
    ways_out: Mapping[Capability, str] = field(default_factory=dict)


def _needs(parts: Parts) -> Iterator[tuple[str, str, Part]]:
    yield from _needs_of_selection(parts)
    for key, block in (("sampling", parts.experiment.sampling), ("evaluate.sampling", parts.experiment.evaluate.sampling)):
        words = key == "evaluate.sampling" and block.choices != "admissible"  # with rank, tasks without candidates still ask for words
        yield key, f"choices: {block.choices}", _Need(_CHOICES[block.choices], frozenset({"sampling.words"} if words else ()))
    for path, name, learner in parts.learners():
        yield path.partition(".")[0], name, _Need(frozenset(_wanted(learner.plan())))


def _needs_of_selection(parts: Parts) -> Iterator[tuple[str, str, Part]]:
    """What is selected from must be there; what is selected and not used is told by ``idle``."""
    unwritten = parts.experiment.record and not parts.writes
    ways = {"store.filled": "stream.0.record=true, as no stage writes the bank"} if unwritten else {}
    if parts.has_experience_arm:
        yield "selector", parts.by_path["selector"][1], _Need(frozenset({"store.filled"}), ways_out=ways)


_CHOICES: dict[Choices, frozenset[Capability]] = {
    "free": frozenset(),
    "admissible": frozenset({"env.actions"}),
    "rank": frozenset({"env.ranking", "policy.rank"}),
}
"""What each way to choose an action requires."""


def _wanted(plan: RolloutPlan) -> Iterator[Capability]:
    """What the trajectories that a learner wants require."""
    if plan.shows and not plan.indifferent:
        yield "env.demos"
    if plan.needs_logprobs:
        yield "policy.score"


def _require_rounds(experiment: Experiment, plan: RolloutPlan) -> None:
    """Refuse stages that end before the rollouts begin."""
    least = plan.rollouts_from + 1
    short = [index for index, stage in enumerate(experiment.stream) if not stage.warmup and stage.rounds < least]
    if short:
        cure = " ".join(f"{experiment.stage_path(index)}.rounds={least}" for index in short)
        raise ConfigError(
            f"{experiment.stage_path(short[0])}.rounds",
            f"is {experiment.stream[short[0]].rounds}, and rollouts of the learners begin in round {least} of a stage; type {cure}",
        )


def _require_whole_rounds(experiment: Experiment, parts: Parts) -> None:
    """Refuse rounds of some tasks where demonstrations are learned from: they are shown once a stage, of all its tasks."""
    for stage in stages(experiment):
        if parts.plan_of(stage).shows and stage.config.per_round is not None:
            path = f"{stage.path}.per_round"
            cure = f"type {path}=null, or take learners of rollouts; to show fewer, set {stage.path}.tasks.limit"
            raise ConfigError(path, f"is {stage.config.per_round}, and demonstrations are shown once a stage, of all its tasks; {cure}")


def _require_warmup(experiment: Experiment, parts: Parts) -> None:
    """Refuse learners for warm-up stages where there is none, and in one those that count the stream's rounds: it has none."""
    warms = any(stage.warmup for stage in experiment.stream)
    if experiment.warmup and not warms:
        names = ", ".join(spec.name for spec in experiment.warmup)
        raise ConfigError("warmup", f"is [{names}], and no stage is a warm-up; type stream.0.warmup=true, or warmup=[]")
    used = parts.learners("warmup" if experiment.warmup else "learner")
    counting = [name for _, name, learner in used if learner.plan().plain_from is not None]
    if warms and counting:
        reason = "takes its scaffold away after so many rounds of the stream, and a warm-up has none of them"
        raise ConfigError("warmup", f"{counting[0]} {reason}; say who learns there instead, e.g. warmup=core.clone")


def _require_no_replay(experiment: Experiment, parts: Parts) -> None:
    """Refuse replay where trajectories are compared within their groups: alone one has nothing to be compared with."""
    if experiment.replay.ratio and parts.plan.grouped:
        names = ", ".join(name for _, name, learner in parts.learners("record", "learner") if learner.plan().grouped)
        reason = f"is {experiment.replay.ratio}, and {names} learns from whole groups just drawn; say replay.ratio=0"
        raise ConfigError("replay.ratio", reason)


def _require_writers(parts: Parts) -> None:
    """Refuse under ``record`` who trains, for the rows of before training come later, and who reads tokens that are not there yet."""
    shows = any(parts.plan_of(stage).shows for stage in stages(parts.experiment) if stage.config.records)
    for path, name, learner in parts.learners("record"):
        if "policy.train" in learner.requires:
            raise ConfigError(path, f"{name} trains the policy, and record holds who writes the bank; put it under learner")
        if "policy.score" in learner.requires and shows:
            raise ConfigError(path, f"{name} scores tokens, and demonstrations have none before they are studied; put it under learner")


def _require_encoder(parts: Parts, registry: Registry) -> None:
    """Refuse a bank whose vectors another encoder made, where they are searched or written. A policy's states are told by name alone."""
    encoder, name = cast(Encoder, parts.one("encoder")), parts.experiment.encoder.name
    try:
        mine = encoder.id
    except ContractError:
        mine = ""
    known = {entry.name for entry in registry.entries("encoder")}
    touched = {capability for *_, part in parts.by_path.values() for capability in part.requires}
    touched |= {capability for _, _, learner in parts.learners() for capability in learner.provides}
    for space, made_by in cast(ExperienceStore, parts.one("store")).encoders.items():
        maker = made_by.partition("/")[0]
        if SPACE + space in touched and maker in known and (made_by != mine if mine else maker != name):
            reason = f"is {mine or name}, and {made_by} made the vectors of space '{space}' in the bank; take that encoder, or another bank"
            raise ConfigError("encoder", reason)


def _check_selectors(parts: Parts, registry: Registry) -> list[Problem]:
    """The selector must be made for acting and the curriculum for study; one cannot stand in for the other."""
    problems = []
    for path, capability in (("selector", "selector.act"), ("curriculum", "selector.study")):
        _, name, part = parts.by_path[path]
        if capability not in part.provides:
            fitting = {path: tuple(registry.providing(capability).get("selector", ()))}
            problems.append(Problem(slot=path, name=name, capability=capability, why=WHY[capability], present=(name,), fitting=fitting))
    return problems


def _environment(spec: EnvSpec, registry: Registry) -> Component | None:
    """The environment, constructed; None where only its own interpreter has it."""
    try:
        return build(registry.get("environment", spec.name).load(), spec.fields, path=spec.name)
    except (UnknownComponentError, PluginError):
        if spec.python:
            return None
        raise


def _fields(part: Component) -> dict[str, Any]:
    return dataclasses.asdict(part) if dataclasses.is_dataclass(part) and not isinstance(part, type) else {}
