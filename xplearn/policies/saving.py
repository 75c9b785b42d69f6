"""A policy's trained weights as a folder: safetensors and JSON, replaced as a whole."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import torch

from xplearn.errors import RecordError
from xplearn.policies.engine import Engine
from xplearn.policies.weights import match, read_tensors, write_tensors

POLICY_FILE = "policy.json"
SITES_FILE = "sites.safetensors"
FORMAT = 1


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
    (fresh / POLICY_FILE).write_text(json.dumps({"format": FORMAT, "version": version, "sites": sorted(sites)}, indent=1), encoding="utf-8")
    for path in (*fresh.iterdir(), fresh):
        _flush(path)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def load(folder: Path, engine: Engine) -> int:
    """Restore weights and adapters; returns the policy's version."""
    folder = Path(folder)
    header = _read_header(folder / POLICY_FILE)
    sites = _site_tensors(engine)
    saved = read_tensors(folder / SITES_FILE) if header["sites"] else {}
    match(folder / SITES_FILE, saved, {name: value.shape for name, value in sites.items()})
    engine.weights.load(folder)
    with torch.no_grad():
        for name, value in sites.items():
            value.copy_(saved[name])
    engine.cache.clear()
    return int(header["version"])


def _site_tensors(engine: Engine) -> dict[str, torch.Tensor]:
    return {f"{name}.{part}": value for name, adapter in engine.network.sites for part, value in adapter.state_dict().items()}


def _read_header(path: Path) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        newer = header["format"] > FORMAT
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(path, f"no saved policy can be read here ({error})") from error
    if newer:
        raise RecordError(path, f"saved in format {header['format']}, this xplearn reads up to {FORMAT}; install a newer xplearn")
    return header


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
