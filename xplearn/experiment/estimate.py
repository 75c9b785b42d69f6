"""What an experiment will do, counted without playing: its tasks are chosen by the functions that a run chooses them with."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xplearn.errors import PluginError, UnknownComponentError
from xplearn.experiment.build import Parts, build_parts
from xplearn.experiment.evaluate import panels
from xplearn.experiment.phases import training_tasks
from xplearn.experiment.pools import Pools
from xplearn.experiment.stream import ARMS, Stage, domains, stages
from xplearn.fields import build
from xplearn.metrics.scores import evaluation_phase, training_phase
from xplearn.plugins import Plugins
from xplearn.policies import backbone
from xplearn.registry import Registry
from xplearn.schema import EnvSpec, Experiment


@dataclass(frozen=True, kw_only=True)
class StageCount:
    """One stage, its rounds taken together."""

    index: int
    path: str
    """As overrides name it."""
    env: str
    warmup: bool
    shown: int
    """Demonstrations by the environment's expert."""
    played: int
    """Episodes that the policy plays to learn from."""
    steps: int | None
    """Their steps if each took the environment's ``max_steps``; None where it has no such field."""
    recorded: int
    """Trajectories that each learner of ``record`` is given; one that writes with a model asks it no more often than that."""
    studied: int
    """Most trajectories of its own that the learners are given: what one epoch reads where the curriculum takes all."""
    replayed: int
    """Most trajectories of earlier stages that they are given on top."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """A whole experiment."""

    stages: Sequence[StageCount]
    points: Sequence[int]
    """Evaluation points; 0 is before any learning."""
    arms: int
    replicas: int
    panels: Mapping[str, int]
    """Evaluated tasks by domain."""
    steps: int | None
    """Steps of evaluation if each episode took its environment's ``max_steps``; None where one has no such field."""
    phases: Mapping[str, int]
    """Episodes, demonstrations among them, by the name of their phase in the run folder."""

    @property
    def evaluated(self) -> int:
        """Episodes of evaluation."""
        return len(self.points) * self.arms * self.replicas * sum(self.panels.values())


@dataclass(frozen=True, kw_only=True)
class Listing:
    """How many tasks an experiment has, which depends on nothing but its stages and what is evaluated."""

    panels: Mapping[str, tuple[EnvSpec, int]]
    """Environment and evaluated tasks by domain."""
    stages: Mapping[int, int]
    """Tasks to learn from by the stage's index."""


def listing(experiment: Experiment, plugins: Plugins) -> Listing:
    """Have the environments list their tasks, here or in an interpreter of their own.

    Raises:
        ConfigError: a task slice that cannot be played or evaluated, as in ``check_tasks``.
    """
    here = copy.copy(experiment)
    here.run = dataclasses.replace(experiment.run, workers=0)
    with contextlib.closing(Pools(build_parts(here, plugins.registry), plugins.registry)) as pools:
        evaluated, _ = panels(here, domains(here), pools)
        tasks = {stage.index: len(training_tasks(pools, stage)) for stage in stages(here)}
    return Listing(panels={name: (domain.env, len(chosen)) for name, (domain, chosen) in evaluated.items()}, stages=tasks)


def count(experiment: Experiment, plugins: Plugins, tasks: Listing | None = None) -> Counts:
    """Count the episodes of an experiment; nothing is played.

    Args:
        experiment: to be counted.
        plugins: where its parts are found.
        tasks: what its environments list, where that is known already.

    Raises:
        ConfigError: as ``listing``.
    """
    tasks = tasks or listing(experiment, plugins)
    parts = build_parts(experiment, plugins.registry)
    flow, limit = _Flow(parts, tasks.stages), _Limits(experiment, plugins.registry)
    panel = {name: size for name, (_, size) in tasks.panels.items()}
    points, arms = _points(experiment), _arms(parts)
    each = arms * experiment.evaluate.replicas
    return Counts(
        stages=[flow.stage(stage, limit) for stage in stages(experiment)],
        points=points,
        arms=arms,
        replicas=experiment.evaluate.replicas,
        panels=panel,
        steps=_sum([limit.steps(env, len(points) * each * size) for env, size in tasks.panels.values()]),
        phases=flow.phases() | {evaluation_phase(point, name): each * size for point in points for name, size in panel.items() if size},
    )


class _Flow:
    """What goes from the environments to the learners."""

    def __init__(self, parts: Parts, tasks: Mapping[int, int]) -> None:
        """``tasks``: how many, by stage."""
        self._experiment, self._parts, self._tasks = parts.experiment, parts, tasks

    def stage(self, stage: Stage, limit: _Limits) -> StageCount:
        """The whole stage."""
        rounds, spec = self._rounds(stage), stage.config.env
        shown, played = rounds[0][0], sum(episodes for _, episodes in rounds)
        learns, records = self._learners(stage)
        return StageCount(
            index=stage.index,
            path=stage.path,
            env=spec.name,
            warmup=stage.config.warmup,
            shown=shown,
            played=played,
            steps=limit.steps(spec, played),
            recorded=sum(map(sum, rounds)) * records,
            studied=sum(self._studied(stage, *gathered) for gathered in rounds) * learns,
            replayed=sum(self._replayed(stage, sum(gathered)) for gathered in rounds) * learns,
        )

    def phases(self) -> dict[str, int]:
        """Episodes by phase."""
        found: dict[str, int] = {}
        for stage in stages(self._experiment):
            rounds = self._rounds(stage)
            source = self._parts.plan_of(stage).source
            found[training_phase(stage.index, 0) if source == "demonstration" else f"shown/{stage.index}"] = rounds[0][0]
            found |= {training_phase(stage.index, round): episodes for round, (_, episodes) in enumerate(rounds) if episodes}
        return {name: number for name, number in found.items() if number}

    def _rounds(self, stage: Stage) -> list[tuple[int, int]]:
        """Demonstrations and episodes that each round gathers: none where nobody learns from them."""
        plan, tasks = self._parts.plan_of(stage), self._tasks[stage.index]
        if not any(self._learners(stage)):
            return [(0, 0)]
        played = len(plan.arms) * plan.replicas * min(tasks, stage.config.per_round or tasks)
        return [(tasks * plan.shows, played * plan.plays(round)) for round in range(stage.config.rounds)]

    def _learners(self, stage: Stage) -> tuple[bool, bool]:
        """Whether anything changes the weights, and whether anything writes the bank."""
        key = self._experiment.learns(stage.config)
        return bool(self._parts.learners(key)), bool(self._experiment.record) and stage.config.records

    def _studied(self, stage: Stage, demos: int, episodes: int) -> int:
        """Trajectories to train on: a demonstration in each arm, an episode as it was played."""
        return demos * len(self._parts.plan_of(stage).arms) + episodes

    def _replayed(self, stage: Stage, batch: int) -> int:
        """Most that a batch draws from earlier stages, where demonstrations are the same in all rounds of a stage."""
        earlier = [self._rounds(other) for other in stages(self._experiment) if other.index < stage.index and not other.config.warmup]
        demos = sum(rounds[0][0] for rounds in earlier)
        episodes = sum(played for rounds in earlier for _, played in rounds)
        ratio = 0.0 if stage.config.warmup else self._experiment.replay.ratio
        drawn = min(int(ratio * batch + 0.5), demos + episodes)
        return self._studied(stage, min(drawn, demos), max(drawn - demos, 0))


def _points(experiment: Experiment) -> list[int]:
    """Where a run evaluates: before learning, and after each stage that changed the agent since."""
    found: list[int] = []
    changes, evaluated = 0, -1
    for stage in stages(experiment):
        for round in range(stage.config.rounds):
            changes += len(experiment.record) if stage.config.records else 0
            if stage.point == 1 and round == 0 and experiment.evaluate.before:
                found, evaluated = [0], changes
            changes += len(getattr(experiment, experiment.learns(stage.config)))
        if not stage.config.warmup and evaluated != changes:
            found, evaluated = [*found, stage.point], changes
    return found


def _arms(parts: Parts) -> int:
    return len([arm for arm in ARMS if arm in parts.experiment.evaluate.arms]) if parts.has_experience_arm else 1


class _Limits:
    """How long an episode may be: the environment's field ``max_steps``, or the run's where that is less."""

    def __init__(self, experiment: Experiment, registry: Registry) -> None:
        self._experiment, self._registry = experiment, registry

    def steps(self, env: EnvSpec, episodes: int) -> int | None:
        """Steps of so many episodes."""
        known = [value for value in (self._own(env), self._experiment.run.max_steps) if value is not None]
        return episodes * min(known) if known else None

    def _own(self, env: EnvSpec) -> int | None:
        try:
            part = build(self._registry.get("environment", env.name).load(), env.fields, path=env.name)
        except (UnknownComponentError, PluginError):
            return None  # only its own interpreter knows it
        found = getattr(part, "max_steps", None)
        return found if isinstance(found, int) else None


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def tokens_at_once(parts: Parts, trajectory: int = 0) -> int | None:
    """Most tokens that a training step reads at once, for trajectories of a length; without one, for such as fill what is read anyway.

    None where no learner trains the policy.
    """
    otherwise = getattr(parts.one("policy"), "score_tokens", 0)
    training = [learner for _, _, learner in parts.learners() if "policy.train" in learner.requires]
    found = [learner.forward_tokens(trajectory or learner.forward_tokens(0) or otherwise) for learner in training]
    return max(found, default=None)


def to_fetch(parts: Parts) -> dict[str, str]:
    """What to type, by model, for the models of policy and encoder that are not on this machine. Nothing is downloaded.

    The model of a part with a ``url`` is where that leads to.
    """
    here = [part for part in (parts.one("policy"), parts.one("encoder")) if not getattr(part, "url", "")]
    models = [getattr(part, "model", "") for part in here]
    commands = {model: _command(model) for model in models if isinstance(model, str) and model}
    return {model: command for model, command in commands.items() if command}


def _command(model: str) -> str:
    """What fetches a model; empty where it is here, or made and not loaded."""
    known = backbone.KNOWN.get(model)
    if known is not None:
        return "" if backbone.config_file(model) or backbone.wheel_folder(known) else known.command
    local = "/" not in model or Path(model).expanduser().is_dir()
    return "" if local or _in_hub_cache(model) else f"hf download {model} (a run does so by itself where the hub is reachable)"


def _in_hub_cache(model: str) -> bool:
    """Its weights, that is: whoever asked for sizes has its configuration alone."""
    try:
        from huggingface_hub import try_to_load_from_cache

        names = ("model.safetensors", "model.safetensors.index.json")
        return any(isinstance(try_to_load_from_cache(model, name), str) for name in names)
    except (ImportError, ValueError):  # not installed, or no name that the hub could have
        return False
