"""The policy ``core.tiny``: a small Llama from scratch, with a tokenizer trained on the run's own text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from xplearn.component import State
from xplearn.errors import ConfigError, ContractError, RecordError
from xplearn.interfaces.agent import AgentView
from xplearn.policies.engine import Engine
from xplearn.policies.hf import HfPolicy
from xplearn.policies.precision import set_threads
from xplearn.policies.sealed import damage, sealed_folder
from xplearn.policies.tokenizer import SMALLEST, load_tokenizer, read_tokenizer, train_tokenizer, write_tokenizer
from xplearn.policies.weights import LoraConfig
from xplearn.seeding import derive

NAME = "core.tiny"


@dataclass(kw_only=True)
class TinyPolicy(HfPolicy):
    """Every weight is trained, in float32, on the code path of the real models. For experiments of minutes.

    It has no vocabulary until ``prepare`` has seen a corpus or ``load`` a saved policy; the same seed and corpus give the same policy.
    Untrained it acts at random: let the stream begin with a warm-up stage.
    """

    layers: int = 2
    """Decoder layers."""
    width: int = 128
    """Size of a hidden state."""
    heads: int = 4
    """Attention heads; they divide ``width`` into parts of even size."""
    vocabulary: int = 1024
    """Most tokens of the tokenizer; at least 259, which spell any text byte by byte."""
    context_tokens: int = 4096
    """Longest prompt and completion together."""

    model: ClassVar[str] = "tiny"  # type: ignore[misc]  # made, not loaded
    lora: ClassVar[LoraConfig | None] = None  # type: ignore[misc]
    dtype: ClassVar[Any] = "fp32"  # type: ignore[misc]
    template_options: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]  # its template has none

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("layers", "width", "heads", "context_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(name, f"must be at least 1, not {getattr(self, name)}")
        if self.width % (2 * self.heads):
            raise ConfigError("width", f"{self.width} does not divide into {self.heads} heads of even size; try {2 * self.heads * 16}")
        if self.vocabulary < SMALLEST:
            raise ConfigError("vocabulary", f"must be at least {SMALLEST} to spell every byte, not {self.vocabulary}")
        self._seed = 0
        self._tokenizer: Any = None

    @property
    def needs_corpus(self) -> bool:
        return self._tokenizer is None

    def setup(self, agent: AgentView) -> None:
        """Note the seed; the model is made when there is a vocabulary."""
        set_threads(self.threads)
        self._seed = agent.seed

    def prepare(self, corpus: Iterable[str]) -> None:
        """Train the tokenizer on the corpus and make the model, its first weights keyed by the run's seed."""
        self._begin(train_tokenizer(corpus, self.vocabulary))

    def save(self, folder: Path) -> None:
        """Write tokenizer, configuration and all weights; all or nothing."""
        with sealed_folder(Path(folder), {"policy": NAME}) as draft:
            super().save(draft / "weights")
            self._tokenizer.save_pretrained(draft / "tokenizer")
            (draft / "config.json").write_text(json.dumps(self._shape()), encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Restore what ``save`` wrote, vocabulary included.

        Raises:
            RecordError: there is nothing there, it is damaged, or it was saved with another configuration.
        """
        self.reopen(folder)
        super().load(Path(folder) / "weights")

    def reopen(self, folder: Path) -> None:
        """Make the model anew for the vocabulary of what ``save`` wrote: first weights, ready for adapters.

        Raises:
            RecordError: as ``load``.
        """
        folder = Path(folder)
        reason = damage(folder, thorough=True)
        if reason:
            raise RecordError(folder, f"no saved policy can be read here ({reason})")
        saved = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if saved != self._shape():
            raise RecordError(folder, f"saved with another configuration: {saved} there and {self._shape()} here")
        self._begin(load_tokenizer(folder / "tokenizer"))

    def state_dict(self) -> State:
        """Vocabulary, version and weights; empty as long as there is no vocabulary."""
        if self._tokenizer is None:
            return {}
        return {"tokenizer": write_tokenizer(self._tokenizer), **super().state_dict()}

    def load_state_dict(self, state: State) -> None:
        if state:
            self._begin(read_tokenizer(state["tokenizer"]))
            super().load_state_dict(state)

    def close(self) -> None:
        super().close()
        self._tokenizer = None

    @property
    def identity(self) -> str:
        return f"{NAME}/{self._ready.digest}"

    @property
    def _ready(self) -> Engine:
        if self._tokenizer is None:
            raise ContractError(NAME, "has no vocabulary yet; call prepare(corpus) or load(folder) first")
        return super()._ready

    def _begin(self, tokenizer: Any) -> None:
        """Make the model for a vocabulary; one that is made keeps it, with the adapters attached to it."""
        if self._tokenizer is None:
            self._tokenizer = tokenizer
            self._open(*self._load(), seed=self._seed)
        elif write_tokenizer(tokenizer) != write_tokenizer(self._tokenizer):
            raise ContractError(NAME, "it has another vocabulary already; make a new policy for this one")

    def architecture(self, vocabulary: int, **special: int) -> LlamaConfig:
        """The model's sizes for a vocabulary of so many tokens.

        Args:
            vocabulary: tokens.
            special: ids of special tokens, e.g. ``pad_token_id``.
        """
        return LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=self.width,
            intermediate_size=2 * self.width,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.heads,
            max_position_embeddings=self.context_tokens,
            tie_word_embeddings=True,
            **special,
        )

    def _load(self) -> tuple[Any, Any]:
        special = {name: getattr(self._tokenizer, name) for name in ("pad_token_id", "bos_token_id", "eos_token_id")}
        config = self.architecture(len(self._tokenizer), **special)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(self._seed, NAME, "weights"))
            return LlamaForCausalLM(config), self._tokenizer

    def _shape(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("layers", "width", "heads", "vocabulary", "context_tokens")}
