"""What determines a run's work, as JSON values: where they are equal, the work is the same, whatever the configurations around it say.

Nothing is concluded from a configuration alone. Weights, banks and states go in as digests of what they are, code as a digest of its files,
environments with their version, files that a field names with their content.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xplearn.component import Component
from xplearn.experiment.shared.memo import digests, file_digest, key_of
from xplearn.interfaces import LocalPolicy
from xplearn.record.provenance import package_versions
from xplearn.record.tensors import digest_of, is_tensor
from xplearn.schema import EnvSpec

if TYPE_CHECKING:
    from xplearn.experiment.context import Context

Json = dict[str, Any]

ATTACHES = "policy.memory"
"""What a part requires that may attach something to the policy's network: such a part belongs to the policy's identity."""

_CODE_BYTES = 1 << 18
"""Larger files of a package are data: environments have a digest of theirs in their version."""


class Identity:
    """The identities of one run's parts as they are now."""

    def __init__(self, run: Context) -> None:
        self._run = run
        self._saved: tuple[int, str] = (-1, "")

    def policy(self) -> Json | None:
        """Who acts; None where that cannot be told, or where what it does depends on more than keys."""
        policy, last = self._run.agent.policy, self._run.checkpoints.last
        if "policy.keyed" not in policy.provides or last is None or last.policy_version != policy.version:
            return None
        attached = [path for path, part in self._run.components.items() if ATTACHES in part.requires]
        found = {"part": self.part("policy"), "version": policy.version, "attached": [self.part(path) for path in attached]}
        return {**found, **self._weights(policy)} if isinstance(policy, LocalPolicy) else found

    def environment(self, spec: EnvSpec) -> Json | None:
        """What is played; None where the same seed need not give the same episode."""
        about, made_by = self._run.pools.about(spec), self._run.pools.made_by(spec)
        if "env.replay" not in about.provides:
            return None
        code = _code(made_by) if made_by is not None else []
        listing = self._run.parts.lists_actions
        return {"name": spec.name, "fields": spec.fields, "python": spec.python, "version": about.version, "code": code, "listing": listing}

    def acting(self) -> Json:
        """What experience is shown, and how, whatever the policy."""
        return {name: self.part(name) for name in ("selector", "conditioner", "encoder")} | {"store": self.store()}

    def store(self) -> Json:
        """What the bank holds, and how it is searched."""
        return {"part": self._described("store"), "digest": self._run.agent.store.digest()}

    def part(self, path: str) -> Json:
        """A part by its path in the configuration: configuration, code and state."""
        part = self._run.components[path]
        saved = path == "policy" and isinstance(part, LocalPolicy)
        found = self._described(path) | {"state": "" if saved else digest_of(part.state_dict())}
        return found | {"id": self._run.agent.encoder.id} if path == "encoder" else found

    def _described(self, path: str) -> Json:
        _, name, part = self._run.parts.by_path[path]
        fields: Json = dataclasses.asdict(part) if dataclasses.is_dataclass(part) and not isinstance(part, type) else {}
        files = {} if path == "store" else {text: file_digest(text) for text in _texts(fields) if os.path.isfile(text)}
        return {"name": name, "fields": fields, "files": files, "code": _code(type(part))}

    def _weights(self, policy: LocalPolicy) -> Json:
        """As it was made, as it was last saved, and what computes it."""
        if self._saved[0] != policy.version:
            self._saved = (policy.version, key_of(digests(self._run.checkpoints.place / "policy")))
        return {
            "made": policy.identity,
            "saved": self._saved[1],
            "computed": dict(policy.computing) or _computed(next((value for _, value in policy.parameters()), None)),
        }


@functools.cache
def everywhere() -> Json:
    """What all work depends on: the core's code, and the packages that can change a result."""
    return {"packages": package_versions(), "code": _package("xplearn")}


def _computed(parameter: Any) -> list[Any]:
    """Device of a tensor and threads of its operations, where a policy does not say: both may change digits, and training makes more."""
    if not is_tensor(parameter):
        return []
    import torch

    return [str(parameter.device), torch.get_num_threads()]


def _texts(value: Any) -> Iterator[str]:
    """Every text in a field."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for item in value.values() for text in _texts(item))
    elif isinstance(value, list | tuple):
        yield from (text for item in value for text in _texts(item))


def _code(made_by: type[Component]) -> list[str]:
    """The code of a class and of the parts it builds on."""
    bases = (base for base in made_by.__mro__ if issubclass(base, Component))
    return [_package(name) for name in sorted({base.__module__.partition(".")[0] for base in bases})]


@functools.cache
def _package(name: str) -> str:
    """Digest of a package's files as they were when it was first asked for; a file too large for code counts with its size."""
    found = hashlib.sha256(name.encode())
    for path in sorted(_files(sys.modules.get(name))):
        size = path.stat().st_size
        found.update(f"{path} {size}".encode() + (path.read_bytes() if size <= _CODE_BYTES else b""))
    return found.hexdigest()


def _files(module: Any) -> Iterator[Path]:
    for place in getattr(module, "__path__", ()):
        yield from (path for path in Path(place).rglob("*") if path.is_file() and path.suffix != ".pyc")
    if not hasattr(module, "__path__") and getattr(module, "__file__", None):
        yield Path(module.__file__)
