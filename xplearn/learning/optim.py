"""Optimiser, schedule and their state: what every learner that takes gradient steps shares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import torch

Schedule = Literal["linear", "cosine", "constant"]
"""How the learning rate falls after the warm-up: to zero in a line or half a cosine, or not at all."""

Parameters = Mapping[str, torch.nn.Parameter]


def adamw(parameters: Parameters, *, lr: float, weight_decay: float, betas: tuple[float, float] = (0.9, 0.999)) -> torch.optim.AdamW:
    """AdamW over named parameters; vectors (norms, biases, gates) are never decayed.

    Args:
        parameters: trainable parameters by name; their order fixes the order of the state.
        lr: peak learning rate.
        weight_decay: per unit of learning rate.
        betas: decay of the two moments.
    """
    matrices = [parameter for parameter in parameters.values() if parameter.ndim >= 2]
    vectors = [parameter for parameter in parameters.values() if parameter.ndim < 2]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=lr, betas=betas)


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


def set_rate(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """Give every parameter group this learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = lr


def pack(parameters: Parameters, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Copies of the parameters (``parameter/<name>``) and the optimiser's moments (``<moment>/<name>``)."""
    state = {f"parameter/{name}": parameter.detach().clone() for name, parameter in parameters.items()}
    for name, parameter in parameters.items():
        for moment, value in optimizer.state[parameter].items():
            state[f"{moment}/{name}"] = value.detach().clone()
    return state


def unpack(state: Mapping[str, Any], parameters: Parameters, optimizer: torch.optim.Optimizer) -> None:
    """Restore what ``pack`` returned, in place."""
    for name, parameter in parameters.items():
        restore(parameter, state[f"parameter/{name}"])
        moments = {key.partition("/")[0]: value for key, value in state.items() if key.partition("/")[2] == name}
        moments.pop("parameter")
        optimizer.state[parameter] = {moment: _like(parameter, value) for moment, value in moments.items()}


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
