"""A policy's trained weights as a folder: safetensors and JSON, replaced as a whole and checked against its digests before use."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import NamedTuple

import torch

from xplearn.errors import RecordError
from xplearn.files import sync
from xplearn.policies.engine import Engine
from xplearn.policies.weights import match, read_tensors, write_tensors

POLICY_FILE = "policy.json"
SITES_FILE = "sites.safetensors"
FORMAT = 1


class _Header(NamedTuple):
    """What ``policy.json`` says."""

    version: int
    sites: list[str]
    digests: dict[str, str]
    """By file name."""


def save(folder: Path, engine: Engine, *, version: int) -> None:
    """Write the folder under a temporary name, then give it its own."""
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh, old = (folder.with_name(f".{folder.name}.{kind}") for kind in ("new", "old"))
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    engine.weights.save(fresh)
    sites = _site_tensors(engine)
    if sites:
        write_tensors(fresh / SITES_FILE, sites)
    digests = {path.name: _digest(path) for path in sorted(fresh.iterdir())}
    header = {"format": FORMAT, "version": version, "sites": sorted(sites), "files": digests}
    (fresh / POLICY_FILE).write_text(json.dumps(header, indent=1), encoding="utf-8")
    for path in (*fresh.iterdir(), fresh):
        sync(path)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def load(folder: Path, engine: Engine) -> int:
    """Restore weights and adapters; returns the policy's version.

    Raises:
        RecordError: nothing is saved there, a file is missing or not as it was written, or it is of another configuration.
    """
    folder = Path(folder)
    header = _read_header(folder / POLICY_FILE)
    for name, digest in header.digests.items():
        if _digest(folder / name) != digest:
            raise RecordError(folder / name, "the saved weights are damaged: not what was written; use another checkpoint")
    sites = _site_tensors(engine)
    saved = read_tensors(folder / SITES_FILE) if header.sites else {}
    match(folder / SITES_FILE, saved, {name: value.shape for name, value in sites.items()})
    engine.weights.load(folder)
    with torch.no_grad():
        for name, value in sites.items():
            value.copy_(saved[name])
    engine.cache.clear()
    return header.version


def _site_tensors(engine: Engine) -> dict[str, torch.Tensor]:
    return {f"{name}.{part}": value for name, adapter in engine.network.sites for part, value in adapter.state_dict().items()}


def _read_header(path: Path) -> _Header:
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
        if header["format"] > FORMAT:
            raise RecordError(path, f"saved in format {header['format']}, this xplearn reads up to {FORMAT}; install a newer xplearn")
        return _Header(version=int(header["version"]), sites=list(header["sites"]), digests=dict(header["files"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(path, f"no saved policy can be read here ({error})") from error


def _digest(path: Path) -> str:
    """BLAKE2b of a file; of nothing where it is missing."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
