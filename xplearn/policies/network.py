"""The forward pass: hidden states of a transformers model, and log-probabilities where they are wanted."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface

from xplearn.policies import steady
from xplearn.policies.adapter import MemoryBatch, Sites
from xplearn.policies.recurrence import Thoughts

ATTENTION = "xplearn"
"""Name under which ``attend`` is registered with transformers."""


class Network:
    """A causal language model taken apart: layers, adapter sites, vocabulary."""

    def __init__(self, model: Any) -> None:
        """Use a ``PreTrainedModel`` with a language-model head, that ``usable.check_attention`` accepts."""
        model.set_attn_implementation(ATTENTION)
        self._model, self._backbone, self._head = model, model.base_model, model.get_output_embeddings()
        self._cache_name = "cache" if "cache" in inspect.signature(self._backbone.forward).parameters else "past_key_values"
        self.layers: int = model.config.num_hidden_layers
        self.width: int = model.config.hidden_size
        self.vocabulary: int = self._head.weight.shape[0]
        self.sites = Sites(self._backbone.layers, model.get_input_embeddings())
        self.device: torch.device = self._head.weight.device
        self.dtype: torch.dtype = self._head.weight.dtype

    def train(self, on: bool) -> None:
        """Dropout on or off, in the model and in the adapters at its sites."""
        self._model.train(on)
        for _, adapter in self.sites:
            adapter.train(on)

    def hidden(
        self,
        ids: Tensor,
        positions: Tensor,
        seen: Tensor | None = None,
        *,
        cache: Any = None,
        memory: MemoryBatch | None = None,
        thoughts: Thoughts | None = None,
    ) -> Tensor:
        """Hidden states after the final norm, before any adapter there.

        Args:
            ids: int64 ``[B, T]``, padded on the right.
            positions: int64 ``[B, T]``.
            seen: bool ``[B, 1, T, T']``, what each token may see; None for the plain causal pattern.
            cache: keys and values so far.
            memory: latent memory of the rows.
            thoughts: what is read into the embeddings of drawn tokens.

        Returns:
            ``[B, T, D]`` in the model's number format.
        """
        known = {self._cache_name: cache} if cache is not None else {}
        if cache is not None and seen is not None and self.device.type == "cpu":
            seen = torch.zeros(seen.shape, dtype=self.dtype).masked_fill_(~seen, float("-inf"))
        with self.sites.armed(memory, thoughts):
            output = self._backbone(input_ids=ids, position_ids=positions, attention_mask=seen, use_cache=cache is not None, **known)
        states: Tensor = output.last_hidden_state
        return states

    def thoughts(self, hidden: Tensor, logits: Tensor) -> Tensor | None:
        """float32 ``[B, D]`` carried on from states ``[B, D]`` and logits ``[B, V]``; None without a recurrence."""
        recurrence = self.sites.recurrence
        return None if recurrence is None else recurrence.think(hidden.float(), logits, self._model.get_input_embeddings().weight)

    def logits(self, hidden: Tensor) -> Tensor:
        """float32 ``[..., V]`` of hidden states ``[..., D]``."""
        scores: Tensor = self._head(hidden)
        return scores.float()


def attend(  # noqa: PLR0917 - transformers calls it by position
    module: nn.Module,  # noqa: ARG001
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attention over shared key-value heads without repeating them: a copy of the whole cache in every layer otherwise.

    Args:
        module: the attention layer; unused, part of transformers' signature.
        query: ``[B, H, T, D]``.
        key: ``[B, G, T', D]``, ``G`` dividing ``H``.
        value: as ``key``.
        attention_mask: bool ``[B, 1, T, T']``, or what ``steady.attend`` adds to the products; None means causal with ``T == T'``.
        scaling: factor on the products.
        dropout: of attention weights.
    """
    batch, heads, tokens, width = query.shape
    if attention_mask is not None and attention_mask.dtype != torch.bool:
        found = steady.attend(query, key, value, attention_mask, width**-0.5 if scaling is None else scaling)
        return found.transpose(1, 2).contiguous(), None
    groups = heads // key.shape[1]
    if tokens == 1 and groups > 1:
        query = query.reshape(batch, key.shape[1], groups, width)
    elif groups > 1 and query.device.type != "cpu" and attention_mask is not None:
        # with a mask the GPU kernels want equal heads, else they fall back to the slow exact one
        key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    causal = attention_mask is None and tokens > 1
    result = scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=attention_mask,
        dropout_p=dropout,
        is_causal=causal,
        scale=scaling,
        enable_gqa=query.shape[1] != key.shape[1],
    )
    return result.reshape(batch, heads, tokens, width).transpose(1, 2).contiguous(), None


AttentionInterface.register(ATTENTION, attend)
AttentionMaskInterface.register(ATTENTION, lambda *_, **__: None)
