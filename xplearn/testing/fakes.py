"""Small language models built in memory, for tests that take milliseconds and download nothing. Needs torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from xplearn.policies.adapter import Adapter
from xplearn.policies.hf import HfPolicy
from xplearn.policies.tokenizer import train_tokenizer
from xplearn.policies.weights import LoraConfig
from xplearn.testing.agents import FakeAgent

CORPUS = (
    "You are in the kitchen. You see a fridge, a table and a door to the hall.",
    "open door to hall; go to hall; take the cup from the table; put the cup in the fridge; look around; wait",
    "Task: find a living thing and focus on it, then move it to the red box.",
    "system user assistant The door is now open. You move to the hall. 0123456789",
)
"""What the tiny tokenizer learned from."""


@lru_cache(maxsize=1)
def tiny_tokenizer() -> Any:
    """A byte-level tokenizer of about 400 tokens with ChatML turns."""
    return train_tokenizer(CORPUS, 400)


def tiny_model(*, seed: int = 0, layers: int = 2, context: int = 1024) -> LlamaForCausalLM:
    """A random float32 Llama over ``tiny_tokenizer``: width 32, four heads on two key-value heads. Same seed, same weights."""
    config = LlamaConfig(
        vocab_size=len(tiny_tokenizer()),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        initializer_range=0.3,  # far from uniform, so that wrong masks and positions change the answer
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config).eval()


@dataclass(kw_only=True)
class FakePolicy(HfPolicy):
    """``core.hf`` over ``tiny_model``: every path of the real policy, in milliseconds."""

    model: str = "fake"
    device: str = "cpu"
    dtype: Any = "fp32"
    lora: LoraConfig | None = field(default_factory=lambda: LoraConfig(rank=4))
    threads: int = 1
    seed: int = 0
    """Of the random weights."""
    context: int = 1024
    """Positions that the model has."""

    def _load(self) -> tuple[Any, Any]:
        return tiny_model(seed=self.seed, context=self.context), tiny_tokenizer()


def ready_policy(**settings: Any) -> FakePolicy:
    """A ``FakePolicy`` that is set up."""
    policy = FakePolicy(**settings)
    policy.setup(FakeAgent())
    return policy


class GatedRead(Adapter):
    """Attention over memory behind a small gate: the simplest adapter that keeps the contract."""

    def __init__(self, width: int, *, site: str = "norm", gate: float = 1e-4) -> None:
        super().__init__()
        self.site = site
        self.query = torch.nn.Linear(width, width, bias=False)
        self.gate = torch.nn.Parameter(torch.tensor(gate))

    def forward(self, hidden: torch.Tensor, memory: torch.Tensor, memory_mask: torch.Tensor) -> torch.Tensor:
        """Each position reads the memory rows by the product of its query with them."""
        scores = self.query(hidden) @ memory.transpose(1, 2) / memory.shape[-1] ** 0.5
        weights = scores.masked_fill(~memory_mask[:, None], float("-inf")).softmax(-1)
        read: torch.Tensor = hidden + self.gate * (weights @ memory)
        return read
