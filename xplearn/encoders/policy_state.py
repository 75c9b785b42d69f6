"""The policy's own hidden states as vectors: bank and query share the space in which the policy thinks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from xplearn.capability import Capability
from xplearn.errors import ContractError
from xplearn.interfaces.agent import AgentView
from xplearn.interfaces.encoder import Encoder
from xplearn.interfaces.policy import LocalPolicy

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "core.policy"


@dataclass(kw_only=True)
class PolicyEncoder(Encoder):
    """Last layer, last token, normalised.

    With ``reference`` weights a text's vector is the same throughout a run. With ``current`` weights stored vectors are those of
    the policy that wrote them and are not computed anew: recent entries lie nearest, older ones drift away, which a method may want.
    The policy's version is no part of ``id`` in either case, so that a bank stays usable while the policy learns.
    """

    weights: Literal["reference", "current"] = "reference"
    """Encode with the policy as it was before any training, or as it is now."""

    def __post_init__(self) -> None:
        self._policy: LocalPolicy | None = None
        self._dim = 0

    @property
    def requires(self) -> frozenset[Capability]:
        needs = {"policy.encode"} | ({"policy.reference"} if self.weights == "reference" else set())
        return frozenset(needs)

    @property
    def id(self) -> str:
        return f"{NAME}/{self.weights}/{self._ready().identity}"

    @property
    def dim(self) -> int:
        if not self._dim:
            self._dim = self._ready().width
        return self._dim

    def setup(self, agent: AgentView) -> None:
        self._policy = cast(LocalPolicy, agent.policy)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        rows = [index for index, text in enumerate(texts) if text.strip()]
        if rows:
            states = self._states([texts[index] for index in rows])
            vectors[rows] = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)
        return vectors

    def close(self) -> None:
        self._policy = None

    def _states(self, texts: Sequence[str]) -> NDArray[np.float32]:
        policy = self._ready()
        with policy.reference() if self.weights == "reference" else nullcontext():
            return np.asarray(policy.encode(texts).float().cpu().numpy(), dtype=np.float32)

    def _ready(self) -> LocalPolicy:
        if self._policy is None:
            raise ContractError(NAME, "used before setup")
        return self._policy
