"""Trajectories that runs share: an episode played or shown with the same inputs is taken over, under this run's own name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xplearn.experiment.shared.identity import everywhere
from xplearn.experiment.shared.memo import key_of
from xplearn.record.formats import as_json, dump_trajectory, load_trajectory
from xplearn.types import Sampling, Task, Trajectory

if TYPE_CHECKING:
    from xplearn.experiment.context import Context
    from xplearn.rollout.collector import Assignment
    from xplearn.schema import EnvSpec

ROLLOUTS, DEMONSTRATIONS = "episodes", "demonstrations"


class Shelf:
    """The shared trajectories of one phase. Without a memo, or where the work's inputs cannot be told, it stays empty.

    Args:
        run: that takes and leaves them.
        kind: ``episodes`` or ``demonstrations``.
        keys: of what may be shared, by the id it has in this run.
    """

    def __init__(self, run: Context, kind: str, keys: Mapping[str, str]) -> None:
        self._run, self._kind, self._keys = run, kind, keys

    def find(self, id: str) -> Trajectory | None:
        """The trajectory as whoever left it named it."""
        memo, key = self._run.shared, self._keys.get(id)
        text = memo.text(self._kind, key) if memo is not None and key is not None else None
        if text is None:
            return None
        self._run.taken[self._kind] += 1
        return load_trajectory(text)

    def take(self, episode: Assignment) -> Trajectory | None:
        """The trajectory of an episode of this run; its seconds are those it took when it was played."""
        found, seed = self.find(episode.id), episode.seed(self._run.agent.seed)
        return found and dataclasses.replace(found, id=episode.id, group=episode.group, arm=episode.arm, seed=seed)

    def leave(self, id: str, trajectory: Trajectory) -> None:
        """Leave one for others; an episode that died says nothing about its inputs."""
        memo, key = self._run.shared, self._keys.get(id)
        if memo is not None and key is not None and trajectory.error is None:
            memo.put_text(self._kind, key, dump_trajectory(trajectory))


def rollouts(run: Context, spec: EnvSpec, episodes: Sequence[Assignment], how: Sampling) -> Shelf:
    """The shelf of a phase's rollouts.

    The plain arm depends on the policy and the environment alone; the other one also on the bank and what is shown of it, for which
    parts may ask where in the stream the run is.
    """
    policy, environment = (run.identity.policy(), run.identity.environment(spec)) if run.shared is not None else (None, None)
    if policy is None or environment is None:
        return Shelf(run, ROLLOUTS, {})
    base = {
        "everywhere": everywhere(),
        "policy": policy,
        "environment": environment,
        "sampling": as_json(how),
        "max_steps": run.experiment.run.max_steps,
        "seed": run.agent.seed,
    }
    shown = {"acting": run.identity.acting(), "position": run.agent.position}
    bases = {arm: key_of(base | (shown if arm == "experience" else {})) for arm in {e.arm for e in episodes}}
    return Shelf(run, ROLLOUTS, {episode.id: key_of([bases[episode.arm], *_drawn(episode)]) for episode in episodes})


def demonstrations(run: Context, spec: EnvSpec, requests: Mapping[str, tuple[Task, int]]) -> Shelf:
    """The shelf of an expert's trajectories.

    Args:
        run: that has them shown.
        spec: where.
        requests: task and seed by the id that each has in this run.
    """
    environment = run.identity.environment(spec) if run.shared is not None else None
    if environment is None:
        return Shelf(run, DEMONSTRATIONS, {})
    base = key_of({"everywhere": everywhere(), "environment": environment})
    return Shelf(run, DEMONSTRATIONS, {id: key_of([base, as_json(task), seed]) for id, (task, seed) in requests.items()})


def _drawn(episode: Assignment) -> list[object]:
    """What sets an episode apart from the others of its arm."""
    return [as_json(episode.task), episode.scope, episode.noise, episode.replica]
