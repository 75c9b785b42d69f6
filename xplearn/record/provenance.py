"""Where a run's results come from: versions and code."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import Any

PACKAGES = ("xplearn", "numpy", "faiss-cpu", "torch", "transformers", "tokenizers", "peft", "safetensors", "trl")
"""Distributions that can change a result."""


def package_versions() -> dict[str, str]:
    """Version by distribution, of those that are installed, and of Python."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def git_state(folder: Path) -> dict[str, Any] | None:
    """Commit and cleanness of the checkout around a folder; None outside one."""
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))}
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True, timeout=10).stdout.strip()  # noqa: S607
