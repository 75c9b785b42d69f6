"""Arrays and tensors inside records and checkpoints. No pickle: safetensors, npy and base64 of plain numbers.

torch is imported only where a tensor is at hand, or was when the record was written.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xplearn.component import State
from xplearn.errors import RecordError
from xplearn.files import replacing

_BF16 = "bf16"
_ARRAY = "$array"
_TENSOR = "$tensor"
_ITEMS = "$items"
_TREE = "tree"


def is_tensor(value: object) -> bool:
    """Whether this is a torch tensor, without importing torch."""
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach")


def dump_array(value: Any) -> dict[str, Any]:
    """An array or tensor as JSON: floating-point tensors as float32, which holds bf16 and fp16 exactly.

    Numbers that a bf16 model made need half of it, and are written so.
    """
    tensor = is_tensor(value)
    array = np.ascontiguousarray(value.detach().float().cpu().numpy() if tensor else np.asarray(value))
    halved = _upper_halves(array)
    data = base64.b64encode((array if halved is None else halved).tobytes()).decode("ascii")
    dtype = array.dtype.str if halved is None else _BF16
    return {"kind": "torch" if tensor else "numpy", "dtype": dtype, "shape": list(np.shape(value)), "data": data}


def load_array(raw: Mapping[str, Any]) -> Any:
    """What ``dump_array`` wrote."""
    data = base64.b64decode(raw["data"])
    flat = (
        np.frombuffer(data, dtype=raw["dtype"]) if raw["dtype"] != _BF16 else (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    )
    array = flat.reshape(raw["shape"]).copy()
    if raw["kind"] == "numpy":
        return array
    import torch

    return torch.from_numpy(array)


def _upper_halves(array: NDArray[Any]) -> NDArray[np.uint16] | None:
    """The upper two bytes of float32 numbers whose lower two are nothing; None for all others."""
    if array.dtype.str != "<f4" or not array.size:
        return None
    bits = array.reshape(-1).view("<u4")
    return None if (bits & 0xFFFF).any() else (bits >> 16).astype("<u2")


def save_state(path: Path, state: State) -> None:
    """Write a state atomically as one file: ``<path>.safetensors`` with tensors, ``<path>.npz`` with arrays only, else ``<path>.json``.

    Args:
        path: without suffix.
        state: nested mappings and lists of tensors, arrays and JSON values.
    """
    arrays: dict[str, Any] = {}
    tree = json.dumps(_split(state, arrays))
    if any(map(is_tensor, arrays.values())):
        _save_tensors(path.with_name(path.name + ".safetensors"), arrays, tree)
    elif arrays:
        with replacing(path.with_name(path.name + ".npz")) as file:
            np.savez(file, allow_pickle=False, **arrays, **{_TREE: np.array(tree)})
    else:
        with replacing(path.with_name(path.name + ".json")) as file:
            file.write(tree.encode())


def load_state(path: Path, *, advice: str = "remove the run folder and start anew") -> State | None:
    """What ``save_state`` wrote, or None where it never did.

    Args:
        path: without suffix.
        advice: what to do where it is damaged.

    Raises:
        RecordError: it is damaged.
    """
    for suffix, read in ((".safetensors", _read_tensors), (".npz", _read_arrays), (".json", _read_json)):
        file = path.with_name(path.name + suffix)
        if file.exists():
            try:
                tree, arrays = read(file)
                return dict(_join(json.loads(tree), arrays))
            except (ValueError, LookupError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
                raise RecordError(file, f"damaged ({error}); {advice}") from error
    return None


def remove_state(path: Path) -> None:
    """Delete what ``save_state`` wrote, if anything."""
    for suffix in (".safetensors", ".npz", ".json"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def digest_of(state: State) -> str:
    """Hash of a state's content: equal states, equal digests, wherever their tensors lie."""
    arrays: dict[str, Any] = {}
    found = hashlib.sha256(json.dumps(_split(state, arrays), sort_keys=True).encode())
    for value in arrays.values():
        array = value.detach().cpu() if is_tensor(value) else np.ascontiguousarray(value)
        found.update(f"{array.dtype}{tuple(array.shape)}".encode() + _raw(array))
    return found.hexdigest()


def _raw(array: Any) -> bytes:
    """The bytes of an array, or of a tensor whatever its number format."""
    if not is_tensor(array):
        return bytes(array.tobytes())
    import torch

    return bytes(array.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())


def _split(value: Any, arrays: dict[str, Any]) -> Any:
    """The JSON tree of a state; arrays are moved to ``arrays`` and leave their name."""
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _split(item, arrays) for key, item in value.items()}
    if isinstance(value, Mapping):
        return {_ITEMS: [[key, _split(item, arrays)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [_split(item, arrays) for item in value]
    if is_tensor(value) or isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {_TENSOR if is_tensor(value) else _ARRAY: name}
    return value.item() if isinstance(value, np.generic) else value


def _join(tree: Any, arrays: Mapping[str, Any]) -> Any:
    if isinstance(tree, list):
        return [_join(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if tree.keys() == {_ITEMS}:
        return {key: _join(item, arrays) for key, item in tree[_ITEMS]}
    if tree.keys() == {_TENSOR}:
        return arrays[tree[_TENSOR]]
    if tree.keys() == {_ARRAY}:
        array = arrays[tree[_ARRAY]]
        return array.numpy() if is_tensor(array) else array
    return {key: _join(item, arrays) for key, item in tree.items()}


def _save_tensors(path: Path, arrays: Mapping[str, Any], tree: str) -> None:
    import torch
    from safetensors.torch import save

    tensors = {name: value if is_tensor(value) else torch.from_numpy(value) for name, value in arrays.items()}
    with replacing(path) as file:
        file.write(save({name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}, metadata={_TREE: tree}))


def _read_tensors(path: Path) -> tuple[str, Mapping[str, Any]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            return (file.metadata() or {})[_TREE], {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _read_arrays(path: Path) -> tuple[str, Mapping[str, Any]]:
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        return str(file[_TREE]), {name: file[name] for name in file.files if name != _TREE}


def _read_json(path: Path) -> tuple[str, Mapping[str, Any]]:
    return path.read_text(encoding="utf-8"), {}
