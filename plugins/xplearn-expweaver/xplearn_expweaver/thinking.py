"""What is carried from the place where a token is drawn into the token's own embedding. Needs torch."""

from __future__ import annotations

from torch import Tensor

from xplearn.policies.adapter import Recurrence
from xplearn_expweaver.adapter import aligned
from xplearn_expweaver.gate import Gated


class Expectation(Recurrence):
    """The expected embedding of the next token, mixed into the drawn token's own by the gate of the latent adapter (HRPO [L]).

    ``e = E^T p / |p|`` with ``p = softmax(logits / temperature)``: near the drawn token's embedding where the policy is sure, a mixture of
    what it considered where it is not.
    """

    def __init__(self, width: int, *, temperature: float, r_min: float, r_max: float, c: float) -> None:
        super().__init__()
        self.temperature = temperature
        self.gate = Gated(width, r_min=r_min, r_max=r_max, c=c)

    def think(self, hidden: Tensor, logits: Tensor, embeddings: Tensor) -> Tensor:
        """As ``Recurrence.think``."""
        chances = (logits / self.temperature).softmax(-1)
        expected: Tensor = (chances.to(embeddings.dtype) @ embeddings).float() / chances.norm(dim=-1, keepdim=True)
        return expected

    def read(self, embedded: Tensor, thoughts: Tensor) -> Tensor:
        """As ``Recurrence.read``."""
        mixed: Tensor = self.gate(embedded, thoughts)
        return mixed


class Carried(Recurrence):
    """The changed hidden state itself, as long as the embedding it enters: HRPO's form of ExpWeaver [OURS]."""

    needs_memory = True

    def __init__(self, width: int, *, r_min: float, r_max: float, c: float) -> None:
        super().__init__()
        self.gate = Gated(width, r_min=r_min, r_max=r_max, c=c)

    def think(self, hidden: Tensor, logits: Tensor, embeddings: Tensor) -> Tensor:
        """As ``Recurrence.think``."""
        return hidden

    def read(self, embedded: Tensor, thoughts: Tensor) -> Tensor:
        """As ``Recurrence.read``."""
        mixed: Tensor = self.gate(embedded, aligned(thoughts, embedded))
        return mixed
