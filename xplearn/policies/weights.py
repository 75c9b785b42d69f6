"""The weights that are trained: one LoRA adapter through PEFT, or all of them."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from xplearn.errors import ConfigError, RecordError

ADAPTER_FILE = "adapter_model.safetensors"
WEIGHTS_FILE = "model.safetensors"


@dataclass(kw_only=True)
class LoraConfig:
    """One low-rank adapter; its weights are float32 whatever the model's."""

    rank: int = 16
    """Rank of the update."""
    alpha: float = 32.0
    """The update is scaled by alpha / rank."""
    dropout: float = 0.0
    """Probability of dropping an input of the adapter in training, in [0, 1)."""
    targets: list[str] = field(default_factory=lambda: ["all-linear"])
    """Names of the layers that are adapted; ``all-linear`` for every linear layer but the vocabulary's."""

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ConfigError("rank", f"must be at least 1, not {self.rank}")
        if not 0 < self.alpha < math.inf:
            raise ConfigError("alpha", f"must be a number above 0, not {self.alpha}")
        if not 0 <= self.dropout < 1:
            raise ConfigError("dropout", f"must lie in [0, 1), not {self.dropout}")
        if not self.targets:
            raise ConfigError("targets", "name at least one layer, or all-linear")


class LoraWeights:
    """The model frozen, one adapter on it."""

    def __init__(self, model: Any, config: LoraConfig, seed: int) -> None:
        """Put a fresh adapter on ``model``, whose first draw depends on ``seed`` alone."""
        from peft import LoraConfig as PeftConfig
        from peft import get_peft_model

        targets = "all-linear" if config.targets == ["all-linear"] else list(config.targets)
        settings = PeftConfig(
            r=config.rank, lora_alpha=config.alpha, lora_dropout=config.dropout, target_modules=targets, task_type="CAUSAL_LM"
        )
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            # PEFT asks transformers by a name that the newer one has deprecated
            warnings.filterwarnings("ignore", message="`is_gradient_checkpointing` is deprecated", category=FutureWarning)
            torch.manual_seed(seed)
            self._peft = get_peft_model(model, settings)
        self.model: Any = self._peft.get_base_model()
        """The model with the adapter's layers in place."""

    def named(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Trainable parameters by name."""
        return ((name, value) for name, value in self.model.named_parameters() if value.requires_grad)

    @contextmanager
    def before_training(self) -> Iterator[None]:
        """A context without the adapter."""
        with self._peft.disable_adapter():
            yield

    def about_to_change(self) -> None:
        """Nothing to keep: the frozen model is the reference."""

    def save(self, folder: Path) -> None:
        """Write a PEFT adapter: ``adapter_config.json`` and ``adapter_model.safetensors``."""
        from peft import get_peft_model_state_dict

        self._peft.peft_config["default"].save_pretrained(str(folder))
        _settle(folder / "adapter_config.json")
        write_tensors(folder / ADAPTER_FILE, get_peft_model_state_dict(self._peft))

    def load(self, folder: Path) -> None:
        """Restore what ``save`` wrote; another rank or other targets raise ``RecordError``."""
        from peft import set_peft_model_state_dict

        tensors = read_tensors(folder / ADAPTER_FILE)
        expected = {name.replace(".default", ""): value.shape for name, value in self._peft.named_parameters() if value.requires_grad}
        match(folder / ADAPTER_FILE, tensors, expected)
        set_peft_model_state_dict(self._peft, tensors)


class AllWeights:
    """Every weight of the model is trained."""

    def __init__(self, model: Any) -> None:
        self.model = model
        for value in model.parameters():
            value.requires_grad_(True)
        self._before: dict[str, Tensor] | None = None

    def named(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Trainable parameters by name; tied ones once."""
        return iter(self.model.named_parameters())

    @contextmanager
    def before_training(self) -> Iterator[None]:
        """A context with the weights of before the first training."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def about_to_change(self) -> None:
        """Keep a copy of the untrained weights, the first time."""
        if self._before is None:
            self._before = {name: value.detach().clone() for name, value in self.named()}

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors``; what the weights were before training is not part of it."""
        write_tensors(folder / WEIGHTS_FILE, dict(self.named()))

    def load(self, folder: Path) -> None:
        """Restore what ``save`` wrote."""
        tensors = read_tensors(folder / WEIGHTS_FILE)
        match(folder / WEIGHTS_FILE, tensors, {name: value.shape for name, value in self.named()})
        self.about_to_change()
        with torch.no_grad():
            for name, value in self.named():
                value.copy_(tensors[name])

    def _swap(self) -> None:
        if self._before is not None:
            for name, value in self.named():
                value.data, self._before[name] = self._before[name], value.data


Weights = LoraWeights | AllWeights


def _settle(path: Path) -> None:
    """Write PEFT's sets, such as the layers it adapts, in one order: the same adapter, the same bytes."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    settled = {
        name: sorted(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value
        for name, value in raw.items()
    }
    path.write_text(json.dumps(settled, indent=2, sort_keys=True), encoding="utf-8")


def write_tensors(path: Path, tensors: Any) -> None:
    """Write tensors by name as safetensors."""
    save_file({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, str(path))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Tensors by name; a missing or damaged file raises ``RecordError``."""
    try:
        return load_file(str(path))
    except Exception as error:
        raise RecordError(
            path, f"the saved weights cannot be read ({error}); they were not written by this policy or are damaged"
        ) from error


def match(path: Path, tensors: dict[str, Tensor], expected: dict[str, Any]) -> None:
    """Raise ``RecordError`` unless names and shapes are the expected ones."""
    wrong = sorted(set(tensors) ^ set(expected)) or sorted(name for name in expected if tensors[name].shape != expected[name])
    if wrong:
        here = tuple(expected[wrong[0]]) if wrong[0] in expected else "absent"
        saved = tuple(tensors[wrong[0]].shape) if wrong[0] in tensors else "absent"
        raise RecordError(path, f"saved with another configuration: '{wrong[0]}' is {saved} there and {here} here ({len(wrong)} differ)")
