"""Calls of learners that runs share: what a call left behind is taken over where it would start from the same inputs.

Which inputs those are is seen, not assumed: besides the learner, the policy and the batch, whatever the learner read of the agent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xplearn.experiment.shared.identity import everywhere
from xplearn.experiment.shared.memo import Shared, key_of
from xplearn.experiment.shared.reading import ACTING, ENCODER, STORE
from xplearn.files import link, link_tree
from xplearn.interfaces import LocalPolicy
from xplearn.record.checked import checked
from xplearn.record.formats import dump_trajectory
from xplearn.record.tensors import digest_of, load_state, save_state
from xplearn.types import Trajectory

if TYPE_CHECKING:
    from xplearn.experiment.context import Context

CALLS = "calls"
_MADE, _POLICY, _BANK, _PARTS = "made.json", "policy", "bank.snapshot", "parts"
_OWN = "own"
"""What a learner is called in a shared call: its path in the configuration may be another elsewhere."""
_REACHED = {_OWN: "", "policy": "", "encoder": ENCODER, "selector": ACTING, "conditioner": ACTING}
"""Parts whose state a call may change, and what a learner must have read to do so."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """What a call came to, beside the agent it left."""

    scalars: dict[str, float]
    seconds: float
    notes: list[dict[str, Any]]
    """For the journal."""
    policy_version: int


class Call:
    """One call of a learner that may be shared, before it is made.

    Args:
        run: that makes it.
        memo: where it is looked for and left.
        path: of the learner.
        key: of the inputs that every call has.
    """

    def __init__(self, run: Context, memo: Shared, path: str, key: str) -> None:
        self._run, self._memo, self._path, self._key = run, memo, path, key
        self._inputs = {STORE: run.identity.store(), ENCODER: run.identity.part("encoder"), ACTING: run.identity.acting()}
        self._states = self._digests()
        self._before = run.agent.policy.version, run.agent.store.version
        self._taken = False

    def take(self) -> Made | None:
        """Bring the agent to where such a call left it; None where none did."""
        for count in range(len(self._inputs) + 1):
            for read in combinations(self._inputs, count):
                folder = self._memo.find_folder(CALLS, self._key, self._variant(read))
                if folder is not None:
                    self._taken = True
                    return self._restored(folder)
        return None

    def leave(self, made: Made) -> None:
        """Leave what the last checkpoint holds for others, if it was made here and changed only what it can have read."""
        if self._taken:
            return
        read = self._run.read_by(self._path)
        digests = self._digests()
        changed = [role for role in digests if digests[role] != self._states[role]]
        reached = STORE in read or ACTING in read or not self._written
        if reached and all(_REACHED[role] in {"", *read} for role in changed):
            self._memo.put_folder(CALLS, self._key, self._variant(sorted(read)), lambda folder: self._fill(folder, made, changed))

    @property
    def _written(self) -> bool:
        return self._run.agent.store.version != self._before[1]

    def _variant(self, read: Sequence[str]) -> str:
        return key_of({name: self._inputs[name] for name in read})

    def _parts(self) -> Mapping[str, str]:
        """Paths by role."""
        local = isinstance(self._run.agent.policy, LocalPolicy)
        return {role: self._path if role == _OWN else role for role in _REACHED if role != "policy" or not local}

    def _digests(self) -> dict[str, str]:
        return {role: digest_of(self._run.components[path].state_dict()) for role, path in self._parts().items()}

    def _fill(self, folder: Path, made: Made, changed: Sequence[str]) -> None:
        """What the call changed, out of the checkpoint that follows it."""
        place = self._run.checkpoints.place
        if (place / _POLICY).exists() and made.policy_version != self._before[0]:
            link_tree(place / _POLICY, folder / _POLICY)
        if self._written:
            link(str(place / _BANK), str(folder / _BANK))
        for role in changed:
            save_state(folder / _PARTS / role, self._run.components[self._parts()[role]].state_dict())
        (folder / _MADE).write_text(json.dumps(asdict(made)), encoding="utf-8")

    def _restored(self, folder: Path) -> Made:
        agent, made = self._run.agent, checked(Made, json.loads((folder / _MADE).read_text(encoding="utf-8")))
        if (folder / _POLICY).exists() and isinstance(agent.policy, LocalPolicy):
            agent.policy.load(folder / _POLICY)
            agent.policy.version = made.policy_version
        if (folder / _BANK).exists():
            agent.store.restore(str(folder / _BANK))
        for role, path in self._parts().items():
            state = load_state(folder / _PARTS / role)
            if state is not None:
                self._run.components[path].load_state_dict(state)
        self._run.taken["learner calls"] += 1
        return made


@contextlib.contextmanager
def sharing(run: Context, path: str, batch: Sequence[Trajectory]) -> Iterator[Call | None]:
    """A context for a call of a learner: while it lasts no other run makes the same. None where it cannot be shared.

    Args:
        run: that makes the call.
        path: of the learner in the configuration.
        batch: what it learns from.
    """
    memo, policy = run.shared, run.identity.policy() if run.shared is not None else None
    if memo is None or policy is None:
        yield None
        return
    inputs = {"policy": policy, "learner": run.identity.part(path), "seed": run.agent.seed, "position": run.agent.position}
    key = key_of({"everywhere": everywhere(), **inputs, "batch": [_digest(trajectory) for trajectory in batch]})
    with memo.claim(key, lambda: run.observer.note(f"another run is at the same step of {path}: waiting to take it over")):
        yield Call(run, memo, path, key)


def _digest(trajectory: Trajectory) -> str:
    return hashlib.sha256(dump_trajectory(replace(trajectory, seconds=0.0)).encode()).hexdigest()
