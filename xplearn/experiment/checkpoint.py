"""Joint checkpoints: policy, bank and the parts' states together, after each thing that changes the agent.

A run is a fixed sequence of changes (one per ``record`` and ``learner`` and round), numbered from 0, the state before the first. Folder
``checkpoints/<number>`` holds the agent after that change; a resumed run restores the last and skips the changes up to it.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from xplearn.agent import Agent
from xplearn.component import Component, State
from xplearn.errors import RecordError
from xplearn.experiment.observer import Observer
from xplearn.files import link, link_tree, new_folder, replacing
from xplearn.interfaces import LocalPolicy
from xplearn.record.checked import checked
from xplearn.record.tensors import load_state, remove_state, save_state


@dataclass(frozen=True, kw_only=True)
class Position:
    """Which change a checkpoint follows."""

    number: int
    change: str
    """Its name, e.g. ``learner.0/1/0`` for the first learner in stage 1, round 0."""
    policy_version: int
    bank_version: int
    bank_digest: str
    keep: bool
    """The end of a stage: kept for good."""


@dataclass(frozen=True, kw_only=True)
class _Underway:
    """A change that no checkpoint follows yet."""

    left: str
    """Digest of the bank it left where it failed; empty while it goes on, and after a kill."""
    before: list[str]
    """Ids of what a bank that others can write to held before."""


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._underway = folder / "underway"
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(".*.tmp"):
            shutil.rmtree(stale, ignore_errors=True)
        numbers = sorted(int(path.name) for path in folder.iterdir() if path.name.isascii() and path.name.isdecimal())
        self.last = self._read(numbers[-1]) if numbers else None

    @property
    def place(self) -> Path:
        """Folder of the last checkpoint."""
        return self._at(self.last.number if self.last else 0)

    def save(self, agent: Agent, parts: Mapping[str, Component], *, number: int, change: str, keep: bool = False) -> None:
        """Write a checkpoint; what did not change since the last one shares its blocks. Older ones that are not kept are dropped."""
        position = _position(agent, number, change, keep)
        last = self.last
        with new_folder(self._at(number)) as folder:
            self._save_policy(agent, folder, last if last and last.policy_version == position.policy_version else None)
            self._save_bank(agent, folder, last if last and last.bank_version == position.bank_version else None)
            for path, part in parts.items():
                state = {} if part is agent.policy and isinstance(part, LocalPolicy) else part.state_dict()
                if state:
                    save_state(folder / "parts" / path, state)
            (folder / "position.json").write_text(json.dumps(asdict(position)))
        self.last = position
        self._underway.unlink(missing_ok=True)
        if last is not None and not last.keep and last.number != number:
            shutil.rmtree(self._at(last.number), ignore_errors=True)

    @contextlib.contextmanager
    def changing(self, agent: Agent, *, shared: bool) -> Iterator[None]:
        """Note that the agent is about to change, and the bank it leaves where the change fails; the next checkpoint settles it.

        Args:
            agent: that changes.
            shared: its bank lies outside the run folder, where others can write to it: what it held before is noted as well.
        """
        before = [experience.id for experience in agent.store] if shared else []
        self._note(_Underway(left="", before=before))
        try:
            yield
        except BaseException:
            self._note(_Underway(left=agent.store.digest(), before=before))
            raise

    def require_own_bank(self, agent: Agent, scores: Mapping[str, float]) -> None:
        """Refuse to restore over a bank that others wrote to since.

        It may be the last checkpoint's, the one a failed change left, or what this run made of it in a change that a kill cut short: what
        it held before, or less, and what was written from the run's own trajectories.

        Args:
            agent: with the bank as it stands.
            scores: of the run's own trajectories by id.

        Raises:
            RecordError: restoring would lose what somebody else wrote.
        """
        store, last = agent.store, self.last
        noted = self._noted()
        if last is None or store.digest() in (last.bank_digest, noted.left if noted else None):
            return
        before = set(noted.before) if noted else set()
        ours = all(found.id in before or scores.get(found.source) == found.outcome for found in store)
        if noted is None or noted.left or not ours:
            raise RecordError(
                self._folder.parent,
                "the bank changed since this run last wrote it, and going on would lose that; give this experiment a bank file of its own"
                " (store.path) and another run.name, or put the bank back as it was",
            )

    def restore_policy(self, agent: Agent) -> None:
        """Give the policy its weights of the last checkpoint."""
        if self.last is not None and isinstance(agent.policy, LocalPolicy):
            with self._restoring("policy"):
                agent.policy.load(self._at(self.last.number) / "policy")
            agent.policy.version = self.last.policy_version

    def reopen_policy(self, agent: Agent) -> None:
        """Have the policy build again what it was prepared with; its weights follow when every part is set up."""
        if self.last is not None and isinstance(agent.policy, LocalPolicy):
            with self._restoring("policy"):
                agent.policy.reopen(self._at(self.last.number) / "policy")

    def restore(self, agent: Agent, parts: Mapping[str, Component]) -> None:
        """Give agent and parts their state of the last checkpoint; without one, nothing."""
        if self.last is None:
            return
        folder = self._at(self.last.number)
        with self._restoring("bank"):
            agent.store.restore(str(folder / "bank.snapshot"))
        self.restore_policy(agent)
        for path, part in parts.items():
            state = load_state(folder / "parts" / path)
            if state is not None:
                with self._restoring(path):
                    part.load_state_dict(state)

    def progress(self, change: str, observer: Observer) -> Progress:
        """Where the ``learn`` call of this change keeps its progress."""
        return Progress(self._folder / "progress" / change.replace("/", "-"), change, observer)

    @contextlib.contextmanager
    def _restoring(self, what: str) -> Iterator[None]:
        """Say what to do when a part cannot read what it saved."""
        try:
            yield
        except (RecordError, OSError, ValueError, LookupError, TypeError) as error:
            reason = f"its checkpoint of '{what}' is damaged ({error}); remove the run folder and start anew"
            raise RecordError(self._folder.parent, reason) from error

    def _note(self, underway: _Underway) -> None:
        with replacing(self._underway) as file:
            file.write(json.dumps(asdict(underway)).encode())

    def _noted(self) -> _Underway | None:
        try:
            return checked(_Underway, json.loads(self._underway.read_text())) if self._underway.exists() else None
        except (OSError, ValueError) as error:
            raise RecordError(self._underway, f"damaged ({error}); remove the run folder and start anew") from None

    def _save_policy(self, agent: Agent, folder: Path, same: Position | None) -> None:
        if not isinstance(agent.policy, LocalPolicy):
            return
        if same is not None:
            link_tree(self._at(same.number) / "policy", folder / "policy")
        else:
            (folder / "policy").mkdir()
            agent.policy.save(folder / "policy")

    def _save_bank(self, agent: Agent, folder: Path, same: Position | None) -> None:
        target = folder / "bank.snapshot"
        if same is not None:
            link(str(self._at(same.number) / "bank.snapshot"), str(target))
        else:
            agent.store.snapshot(str(target))

    def _read(self, number: int) -> Position:
        path = self._at(number) / "position.json"
        try:
            return checked(Position, json.loads(path.read_text()))
        except (OSError, ValueError) as error:
            raise RecordError(path, f"damaged ({error}); remove the run folder and start anew") from None

    def _at(self, number: int) -> Path:
        return self._folder / f"{number:03d}"


def _position(agent: Agent, number: int, change: str, keep: bool) -> Position:
    store = agent.store
    return Position(
        number=number,
        change=change,
        policy_version=agent.policy.version,
        bank_version=store.version,
        bank_digest=store.digest(),
        keep=keep,
    )


class Progress:
    """Progress of one ``learn`` call, on disk and before the person watching."""

    def __init__(self, path: Path, name: str, observer: Observer) -> None:
        self._path, self._name, self._observer = path, name, observer
        self._shown: int | None = None

    def load(self) -> State | None:
        return load_state(self._path, advice="delete this file: this step of training then starts anew")

    def save(self, state: State) -> None:
        save_state(self._path, state)

    def report(self, done: int, total: int, **scalars: float) -> None:
        if self._shown is None:
            self._observer.phase_start(self._name, total)
            self._shown = 0
        self._observer.advance(done - self._shown, **scalars)
        self._shown = done

    def close(self) -> None:
        """End the display."""
        if self._shown is not None:
            self._observer.phase_end()
        self._shown = None

    def remove(self) -> None:
        """Drop the saved progress: the checkpoint after the call has taken its place."""
        remove_state(self._path)
