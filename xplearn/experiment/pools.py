"""The environments of a run, opened when they are needed, one kind at a time: a pool can hold gigabytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xplearn.capability import Capability
from xplearn.component import Component
from xplearn.errors import ConfigError, IncompatibleError, PluginError, UnknownComponentError, nearest
from xplearn.experiment.build import Parts, check_mix
from xplearn.registry import Registry
from xplearn.rollout.pool import EnvironmentPool, open_pool
from xplearn.schema import EnvSpec
from xplearn.types import Task


@dataclass(frozen=True)
class About:
    """What is known of an environment that was open once."""

    version: str
    provides: frozenset[Capability]
    requires: frozenset[Capability] = frozenset()


class Pools:
    """The pool of whichever environment is played now."""

    def __init__(self, parts: Parts, registry: Registry) -> None:
        self._parts, self._registry = parts, registry
        self._spec: EnvSpec | None = None
        self._pool: EnvironmentPool | None = None
        self._tasks: dict[tuple[str, str], Sequence[Task]] = {}
        self._known: dict[str, About] = {}

    def open(self, spec: EnvSpec) -> EnvironmentPool:
        """The pool of this environment; another one that is open is closed.

        Raises:
            IncompatibleError: the environment, now that it is known, does not offer what the parts require.
        """
        if self._pool is not None and spec == self._spec:
            return self._pool
        self.close()
        run = self._parts.experiment.run
        pool = open_pool(spec, slots=run.batch, workers=run.workers, step_seconds=run.step_seconds, listing=self._parts.lists_actions)
        self._spec, self._pool = spec, pool
        about = self._known[repr(spec)] = About(pool.version, pool.provides)
        problems = check_mix(self._parts, spec, about, self._registry)
        if problems:
            raise IncompatibleError(problems)
        return pool

    def about(self, spec: EnvSpec) -> About:
        """What an environment is: opened only if it never was."""
        if repr(spec) not in self._known:
            self.open(spec)
        return self._known[repr(spec)]

    def made_by(self, spec: EnvSpec) -> type[Component] | None:
        """Its class; None where only its own interpreter has it."""
        try:
            return self._registry.get("environment", spec.name).load()
        except (UnknownComponentError, PluginError):
            return None

    def tasks(self, spec: EnvSpec, split: str, path: str) -> Sequence[Task]:
        """All tasks of a split, asked for once: opening a pool is dear. ``path`` is where the configuration asks."""
        key = (repr(spec), split)
        if key not in self._tasks:
            self._tasks[key] = tasks_of(self.open(spec), spec.name, split, path)
        return self._tasks[key]

    def close(self) -> None:
        """End every copy of the environment. May be called twice."""
        if self._pool is not None:
            self._pool.close()
        self._pool = self._spec = None


def tasks_of(pool: EnvironmentPool, name: str, split: str, path: str) -> Sequence[Task]:
    """All tasks of a split.

    Raises:
        ConfigError: there is no such split; the environment, ``path`` and the nearest split are named.
    """
    try:
        return pool.tasks(split)
    except ConfigError as error:
        if error.path != "split":
            raise
        said, hint = str(error).removeprefix("split: "), nearest(split, pool.splits)
        meant = f"; did you mean '{hint}'?" if hint not in (None, split) and "did you mean" not in said else ""
        raise ConfigError(f"{path}.split", f"{name}: {said}{meant}") from None
