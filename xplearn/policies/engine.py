"""A model taken into use: its network, weights, tokens and prefix cache, and the modes they are in."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from xplearn.errors import ContractError
from xplearn.interfaces.policy import AllChoices
from xplearn.policies.adapter import Adapter
from xplearn.policies.chat import ChatEncoder
from xplearn.policies.choose import ActionTrie, TrieCache
from xplearn.policies.decoding import Decoder
from xplearn.policies.network import Network
from xplearn.policies.prefix_cache import PrefixCache
from xplearn.policies.recurrence import Recurrence
from xplearn.policies.scoring import Target
from xplearn.policies.usable import check_attention, context
from xplearn.policies.weights import AllWeights, LoraConfig, LoraWeights, Weights
from xplearn.seeding import derive
from xplearn.types import Completion, Conditioning, Memory

NAME = "core.hf"
_SAMPLED = 64


class Engine:
    """What ``HfPolicy`` opens in ``setup``."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        lora: LoraConfig | None,
        seed: int,
        template_options: Mapping[str, Any],
        context_tokens: int,
        cache_tokens: int,
    ) -> None:
        check_attention(model.config, context_tokens)
        self.digest = digest(model)
        """Tells models apart by their weights as they were loaded."""
        self.weights: Weights = AllWeights(model) if lora is None else LoraWeights(model, lora, derive(seed, NAME, "lora"))
        self.network = Network(self.weights.model)
        self.tokenizer, self.chat = tokenizer, ChatEncoder(tokenizer, template_options)
        self.tries = TrieCache(self.chat.reply)
        self.context = context(model.config, context_tokens)
        """Longest prompt and completion together, in tokens."""
        self.cache = PrefixCache(self.network.layers, cache_tokens)
        self.decoder = Decoder(self.network, self.cache, self.chat, _ends(model, self.chat))
        self._as_reference = False
        self._set_training(False)  # a fresh adapter comes with its dropout on

    def tag(self, memory: Memory | None) -> Hashable:
        """What keys and values depend on besides tokens: which weights are in force, and memory that enters below the last layer."""
        return self._as_reference, _fingerprint(memory) if self.network.sites.within else None

    def attach(self, adapter: Adapter | Recurrence) -> None:
        """Put an adapter at its site."""
        self.network.sites.attach(adapter.to(self.network.device).eval())
        self.cache.clear()

    def parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Trainable parameters of the weights and of every adapter, by name."""
        yield from self.weights.named()
        for name, adapter in self.network.sites:
            yield from ((f"sites.{name}.{part}", value) for part, value in adapter.named_parameters() if value.requires_grad)

    @contextmanager
    def training(self) -> Iterator[None]:
        """Dropout on inside; nothing cached survives."""
        self.weights.about_to_change()
        self.cache.clear()
        self._set_training(True)
        try:
            yield
        finally:
            self._set_training(False)
            self.cache.clear()

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Dropout off inside, and nothing cached while weights are moving."""
        if not self._moving:
            yield
            return
        self._set_training(False)
        try:
            yield
        finally:
            self.cache.clear()
            self._set_training(True)

    @contextmanager
    def reference(self) -> Iterator[None]:
        """The weights of before any training, adapters silent. Nests."""
        if self._as_reference:
            yield
            return
        self._as_reference = self.network.sites.silent = True
        try:
            with self.weights.before_training():
                yield
        finally:
            self._as_reference = self.network.sites.silent = False

    def target(self, row: int, conditioning: Conditioning, completion: Completion, actions: tuple[str, ...] | None) -> Target:
        """A recorded completion as a row to score."""
        if not completion.prompt_ids:
            raise ContractError(NAME, f"completion '{completion.text}' has no prompt tokens; transcribe it before scoring")
        if completion.sampling.choices == "rank":
            raise ContractError(NAME, "an order of candidates is scored with its candidates; pass them as choices")
        thoughts = completion.thoughts if self.network.sites.recurrence is not None else None
        tag = self.tag(conditioning.memory)
        return Target(
            row=row,
            prompt=as_tokens(completion.prompt_ids),
            completion=as_tokens(completion.token_ids),
            temperature=completion.sampling.temperature or 1.0,
            memory=conditioning.memory,
            retrieved=completion.retrieved,
            thoughts=thoughts,
            tag=tag if thoughts is None else (tag, row),
            allowed=self._allowed(completion, actions) if completion.sampling.choices == "admissible" and actions else None,
        )

    def retrieved(self, memory: Memory | None, rows: Sequence[tuple[int, ...]], count: int) -> tuple[tuple[int, ...], ...] | None:
        """What a completion of ``count`` tokens keeps of its memory: rows by token, the certain tokens without any; None without memory."""
        if memory is None or not len(memory.states) or self.network.sites.retrieving is None or self._as_reference:
            return None
        return (*rows, *[()] * (count - len(rows)))

    def trie(self, actions: tuple[str, ...] | None) -> ActionTrie | None:
        """The trie of some actions; None where there are none, which means any text."""
        return self.tries(tuple(actions)) if actions else None

    def _allowed(self, completion: Completion, actions: tuple[str, ...]) -> list[NDArray[np.int64] | None]:
        try:
            return self.tries(tuple(actions)).allowed(completion.token_ids)
        except KeyError:
            raise ContractError(NAME, f"completion '{completion.text}' is none of its {len(actions)} admissible actions") from None

    def _set_training(self, on: bool) -> None:
        self._moving = on
        self.network.train(on)


def digest(model: nn.Module) -> str:
    """A short hash of a model's weights, of the first numbers of each: no two trainings leave those alike, and none is read whole."""
    found = hashlib.blake2b(digest_size=6)
    for name, value in model.named_parameters():
        some = value.detach().reshape(-1)[:_SAMPLED].to("cpu", torch.bfloat16).float()  # the same in every number format it is loaded in
        found.update(f"{name}{tuple(value.shape)}".encode() + some.numpy().tobytes())
    return found.hexdigest()


def as_tokens(ids: Sequence[int]) -> NDArray[np.int64]:
    """Token ids as an array."""
    return np.array(ids, dtype=np.int64)


def per_row(choices: AllChoices | None, count: int) -> AllChoices:
    """One entry per row."""
    return [None] * count if choices is None else choices


def _ends(model: Any, chat: ChatEncoder) -> frozenset[int]:
    settings = getattr(model, "generation_config", None)
    ends = getattr(settings, "eos_token_id", None)
    listed = ends if isinstance(ends, list) else [] if ends is None else [ends]
    return frozenset([chat.end_of_turn, *listed])


def _fingerprint(memory: Memory | None) -> bytes | None:
    if memory is None or not len(memory.states):
        return None
    states = memory.states.detach().to("cpu", torch.float32).contiguous()
    return hashlib.blake2b(states.numpy().tobytes() + str(tuple(states.shape)).encode(), digest_size=16).digest()
