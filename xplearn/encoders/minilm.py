"""all-MiniLM-L6-v2, a small sentence encoder, through plain transformers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xplearn.errors import ConfigError, ContractError
from xplearn.interfaces.agent import AgentView
from xplearn.interfaces.encoder import Encoder
from xplearn.policies.backbone import resolve
from xplearn.policies.tokenizer import spellable

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "core.minilm"
DIM = 384


@dataclass(kw_only=True)
class MiniLmEncoder(Encoder):
    """Mean over the tokens' last states, normalised (the model card's recipe). Weights: ``xplearn models get minilm``."""

    model: str = "minilm"
    """``minilm``, or a folder or hub name of a model of its kind."""
    max_tokens: int = 256
    """Longer texts are cut; the model was trained on up to 256."""
    batch: int = 1
    """Texts per forward pass. 1 makes a vector depend on its text alone, to the bit; 32 is about twice as fast, and neighbours
    then change the last bits (1e-7)."""

    def __post_init__(self) -> None:
        for name, value in {"max_tokens": self.max_tokens, "batch": self.batch}.items():
            if value < 1:
                raise ConfigError(name, f"must be 1 or more, not {value}")
        if self.max_tokens > 512:
            raise ConfigError("max_tokens", f"the model reads at most 512 tokens, not {self.max_tokens}")
        self._model: Any = None
        self._tokenizer: Any = None

    @property
    def id(self) -> str:
        label = "all-MiniLM-L6-v2" if self.model == "minilm" else Path(self.model).name
        return f"{NAME}/{label}/{self.max_tokens}"

    @property
    def dim(self) -> int:
        return DIM

    def setup(self, agent: AgentView) -> None:
        """Load the model.

        Raises:
            DataError: it is not here; the message says how to get it.
            ContractError: the model is of another width.
        """
        import torch
        from transformers import AutoModel, AutoTokenizer

        folder = resolve(self.model)
        with redirect_stderr(io.StringIO()):  # their progress bars
            self._tokenizer = AutoTokenizer.from_pretrained(folder)
            self._model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        if self._model.config.hidden_size != DIM:
            raise ContractError(NAME, f"'{self.model}' has vectors of {self._model.config.hidden_size} entries, not {DIM}")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), DIM), dtype=np.float32)
        if self._model is None:
            raise ContractError(NAME, "used before setup")
        rows = [index for index, text in enumerate(texts) if text.strip()]
        ids = {index: self._tokens(texts[index]) for index in rows}
        rows.sort(key=lambda index: len(ids[index]))
        for start in range(0, len(rows), self.batch):
            chunk = rows[start : start + self.batch]
            vectors[chunk] = self._pooled([ids[index] for index in chunk])
        return vectors

    def close(self) -> None:
        self._model = self._tokenizer = None

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(spellable(text), truncation=True, max_length=self.max_tokens)["input_ids"]
        return ids

    def _pooled(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        import torch

        length = max(len(row) for row in rows)
        ids = torch.tensor([[*row, *[0] * (length - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows])
        with torch.inference_mode():
            states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask[..., None]
        pooled = (states * weights).sum(1) / weights.sum(1)
        result: NDArray[np.float32] = torch.nn.functional.normalize(pooled, dim=-1).numpy()
        return result
