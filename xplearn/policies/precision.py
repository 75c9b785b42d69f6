"""Device, number format and threads: what suits the machine. Nothing here imports torch before it is needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from xplearn.errors import ConfigError

if TYPE_CHECKING:
    import torch

Dtype = Literal["auto", "bf16", "fp32"]
"""Number format of the frozen weights."""


def calm_threads() -> None:
    """Let idle OpenMP threads sleep instead of spin, unless the user has chosen otherwise.

    Spinning threads beside a simulator on the same cores slow decoding more than tenfold. Takes effect only where torch has not been
    imported yet, so the command line and ``xplearn.policies`` call it first.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


_found: list[int] = []
"""Threads before a policy first asked for a number of its own; empty where none has."""


def set_threads(count: int) -> None:
    """Use this many threads inside an operation; 0 leaves them as they are, or as they were before an earlier call changed them.

    The number holds for the whole process: where runs follow each other in one, none is to compute with the threads of another.
    """
    import torch

    if count:
        _found[:] = _found or [torch.get_num_threads()]
        torch.set_num_threads(count)
    elif _found:
        torch.set_num_threads(_found.pop())


def choose_device(device: str) -> torch.device:
    """The device of this name; ``auto`` is ``cuda`` where there is one, else ``cpu``.

    Raises:
        ConfigError: no such device here.
    """
    import torch

    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise ConfigError("device", f"'{device}' is not a device; use auto, cpu or cuda") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device", f"'{device}' is not here: torch sees no GPU; use device=cpu or device=auto")
    return chosen


def choose_dtype(dtype: Dtype, device: torch.device) -> torch.dtype:
    """The torch type; ``auto`` is bfloat16 where the processor multiplies in it, else float32."""
    import torch

    if dtype == "auto":
        return torch.bfloat16 if has_bf16(device) else torch.float32
    return {"bf16": torch.bfloat16, "fp32": torch.float32}[dtype]


def has_bf16(device: torch.device) -> bool:
    """Whether the device has bfloat16 multiply instructions. Reads flags and times nothing, so the answer never varies on a machine."""
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    flags = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return any(flags.get(flag, False) for flag in ("avx512_bf16", "amx_bf16", "bf16"))


def computing(device: torch.device, dtype: torch.dtype) -> dict[str, str | int]:
    """What last digits depend on besides configuration and packages: device, number format, processor, and there its threads."""
    import torch

    found: dict[str, str | int] = {"device": str(device), "dtype": str(dtype).removeprefix("torch.")}
    if device.type == "cuda":
        return found | {"processor": torch.cuda.get_device_name(device)}
    return found | {"processor": torch.backends.cpu.get_cpu_capability(), "threads": torch.get_num_threads()}
