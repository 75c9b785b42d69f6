"""Optimiser, schedule and their state: what every learner that takes gradient steps shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any, Literal

import torch

from xplearn.errors import ContractError

Schedule = Literal["linear", "cosine", "constant"]
"""How the learning rate falls after the warm-up: to zero in a line or half a cosine, or not at all."""

Parameters = Mapping[str, torch.nn.Parameter]

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What AdamW keeps of a parameter."""


def adamw(
    parameters: Parameters,
    *,
    lr: float,
    weight_decay: float,
    betas: tuple[float, float] = (0.9, 0.999),
    groups: Mapping[str, float] | None = None,
) -> torch.optim.AdamW:
    """AdamW over named parameters; vectors (norms, biases, gates) are never decayed.

    Args:
        parameters: trainable parameters by name; their order fixes the order of the state.
        lr: peak learning rate.
        weight_decay: per unit of learning rate.
        betas: decay of the two moments.
        groups: other peak rates, by a pattern of names (see ``peaks``).
    """
    kinds: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
    for name, peak in peaks(parameters, lr, groups or {}).items():
        decay = weight_decay if parameters[name].ndim >= 2 else 0.0
        kinds.setdefault((peak, decay), []).append(parameters[name])
    settings = [{"params": members, "lr": peak, "peak": peak, "weight_decay": decay} for (peak, decay), members in kinds.items()]
    return torch.optim.AdamW(settings, lr=lr, betas=betas)


def peaks(parameters: Parameters, lr: float, groups: Mapping[str, float]) -> dict[str, float]:
    """Peak learning rate of each parameter: that of the last pattern that matches its name, else ``lr``.

    Args:
        parameters: by name.
        lr: where no pattern matches.
        groups: rate by pattern; ``*`` stands for anything, dots included.
    """
    return {name: [lr, *(rate for glob, rate in groups.items() if fnmatchcase(name, glob))][-1] for name in parameters}


def require_matches(parameters: Parameters, groups: Iterable[str], *, learner: str) -> None:
    """Refuse patterns of ``lr_groups`` that match no parameter.

    Raises:
        ContractError: the pattern and some names there are; ``learner`` names who asked.
    """
    for glob in groups:
        if not any(fnmatchcase(name, glob) for name in parameters):
            some = ", ".join(list(parameters)[:: max(len(parameters) // 2, 1)][:3])
            raise ContractError(learner, f"lr_groups '{glob}' matches none of the {len(parameters)} trained parameters, e.g. {some}")


def rate(schedule: Schedule, step: int, total: int, *, warmup: int = 0) -> float:
    """Factor in (0, 1] on the peak learning rate at 0-based ``step`` of ``total``."""
    if step < warmup:
        return (step + 1) / (warmup + 1)
    progress = (step - warmup) / max(total - warmup, 1)
    if schedule == "linear":
        return 1.0 - progress
    if schedule == "cosine":
        return 0.5 * (1.0 + math.cos(math.pi * progress))
    return 1.0


def scale_rates(optimizer: torch.optim.Optimizer, factor: float) -> None:
    """Give every parameter group of ``adamw`` this part of its peak rate."""
    for group in optimizer.param_groups:
        group["lr"] = factor * group["peak"]


def pack(parameters: Parameters, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Copies of the parameters (``parameter/<name>``) and the optimiser's moments (``<moment>/<name>``)."""
    return {f"parameter/{name}": parameter.detach().clone() for name, parameter in parameters.items()} | moments(parameters, optimizer)


def moments(parameters: Parameters, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Copies of the optimiser's moments, ``<moment>/<name>``."""
    return {
        f"{moment}/{name}": value.detach().clone()
        for name, parameter in parameters.items()
        for moment, value in optimizer.state[parameter].items()
    }


def unpack(state: Mapping[str, Any], parameters: Parameters, optimizer: torch.optim.Optimizer) -> None:
    """Restore what ``pack`` returned, in place."""
    for name, parameter in parameters.items():
        restore(parameter, state[f"parameter/{name}"])
    set_moments(state, parameters, optimizer)


def set_moments(state: Mapping[str, Any], parameters: Parameters, optimizer: torch.optim.Optimizer) -> None:
    """Restore what ``moments`` returned; a parameter that has none there starts afresh."""
    for name, parameter in parameters.items():
        found = {moment: state[f"{moment}/{name}"] for moment in _MOMENTS if f"{moment}/{name}" in state}
        optimizer.state[parameter] = {moment: _like(parameter, value) for moment, value in found.items()}


def _like(parameter: torch.nn.Parameter, value: Any) -> torch.Tensor:
    tensor = torch.as_tensor(value).clone()
    return tensor.to(parameter.device) if tensor.shape == parameter.shape else tensor  # the step count stays on the processor


def restore(parameter: torch.nn.Parameter, value: Any) -> None:
    """Overwrite a parameter in place."""
    with torch.no_grad():
        parameter.copy_(torch.as_tensor(value))


@contextmanager
def all_or_nothing(parameters: Parameters) -> Iterator[None]:
    """A context in which an exception puts the parameters back to what they were at its start."""
    before = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    try:
        yield
    except BaseException:
        for name, parameter in parameters.items():
            restore(parameter, before[name])
        raise


@contextmanager
def keyed_dropout(seed: int, device: torch.device) -> Iterator[None]:
    """A context whose random draws (dropout) depend on ``seed`` alone and leave the global generators as they were."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
