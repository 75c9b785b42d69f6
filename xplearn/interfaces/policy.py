"""The policy: the only place that knows tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xplearn.component import Component
from xplearn.errors import ContractError
from xplearn.types import Completion, Conditioning, Sampling

if TYPE_CHECKING:
    import torch

AllChoices = Sequence["tuple[str, ...] | None"]
"""Per row, the admissible actions (``Query.candidates``), or None for any text."""

NO_ID = -1
"""Where an id is missing: padding of ids, on the right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenScores:
    """Scores of given completions, one row each, padded on the right to the longest completion T."""

    logprobs: torch.Tensor
    """float32 ``[B, T]``, nats; 0 at padding. Carries gradients unless they are disabled."""
    mask: torch.Tensor
    """bool ``[B, T]``, True at real tokens."""
    support: torch.Tensor | None = None
    """float32 ``[B, T, K]``, nats: log-probabilities of the ids that were asked for beside the drawn tokens, at the same places and from
    the same forward pass; -inf at ids that could not be drawn there, and at padding. Carries gradients as ``logprobs`` do. None where
    none were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What a completion's t tokens could have been, as far as it was asked for: likeliest first, the whole vocabulary in its order."""

    ids: torch.Tensor
    """int64 ``[t, K]``; ``NO_ID`` where fewer than K could be drawn."""
    logprobs: torch.Tensor
    """float32 ``[t, K]``, nats, detached; -inf where there is no id."""


class Policy(Component):
    """Says what to do, given a conversation."""

    version: int = 0
    """Grows with every change of the weights."""

    @abstractmethod
    def generate(
        self, conditionings: Sequence[Conditioning], sampling: Sampling, keys: Sequence[int], choices: AllChoices | None = None
    ) -> list[Completion]:
        """One completion per conditioning.

        Args:
            conditionings: what each row is given.
            sampling: how tokens are drawn; ``sampling.choices == "admissible"`` restricts rows that have ``choices``, ``"rank"`` has them
                put in order: the text is the candidates by line, best first, the tokens their positions in ``choices``.
            keys: one seed per row; a completion depends on its own conditioning, choices and key, never on its neighbours.
            choices: admissible actions, or candidates, per row.

        A conversation that does not fit the context comes back empty with ``finish="context"``.
        """

    def prepare(self, corpus: Iterable[str]) -> None:
        """Build what must be built from text first, e.g. a vocabulary.

        Called once before the first stage with texts of the run's training episodes; a resumed run restores the result from the
        checkpoint instead.
        """

    @property
    def needs_corpus(self) -> bool:
        """Whether ``prepare`` must be called before use."""
        return False

    @property
    def computing(self) -> Mapping[str, str | int]:
        """What results depend on in their last digits, besides configuration and packages, e.g. device and threads; for the run's header.

        Known once the policy can be used.
        """
        return {}


class LocalPolicy(Policy):
    """A policy whose weights are in this process: it can be scored, trained and saved."""

    @abstractmethod
    def score(
        self,
        conditionings: Sequence[Conditioning],
        completions: Sequence[Completion],
        choices: AllChoices | None = None,
        *,
        support: Sequence[torch.Tensor] | None = None,
    ) -> TokenScores:
        """Log-probabilities of given completions.

        Uses the recorded ``prompt_ids`` and ``token_ids``; rows whose prompts extend one another share one packed sequence. With
        ``choices``, rows sampled as ``admissible`` are scored under the same masked distribution they were drawn from; without, under
        the plain softmax. Orders drawn with ``rank`` are scored by Plackett-Luce over their ``choices``, a choice at a time.
        Temperature 1 unless the completion was sampled with another.

        Args:
            conditionings: what each row is given.
            completions: what it said, or is to be scored as if it had.
            choices: admissible actions, or candidates, per row.
            support: per row int64 ``[t, K]``, ids whose log-probability is wanted at each of its t tokens, ``NO_ID`` where none is; K may
                differ by row. Capability ``policy.distribution``.

        Raises:
            ContractError: ``support`` without that capability, or for an order of candidates.
        """

    def likely(
        self, conditionings: Sequence[Conditioning], completions: Sequence[Completion], choices: AllChoices | None = None, *, k: int | None
    ) -> list[Support]:
        """What the tokens of given completions could have been, under the distribution that ``score`` scores them by.

        Capability ``policy.distribution``. Dropout is off, and nothing carries gradients.

        Args:
            conditionings: what each row is given.
            completions: as for ``score``.
            choices: admissible actions per row; of an admissible completion only the ids that its actions allow are listed, and a token
                that was the only choice has itself with log-probability 0.
            k: how many ids at most, the likeliest; None for all: without choices V floats a token.

        Raises:
            ContractError: the policy does not tell, or a completion is an order of candidates.
        """
        raise ContractError(
            type(self).__name__,
            "tells the probability of drawn tokens only; use a policy with 'policy.distribution', e.g. core.hf, or set rkl=sampled",
        )

    @abstractmethod
    def transcribe(self, conditionings: Sequence[Conditioning], texts: Sequence[str]) -> list[Completion]:
        """Completions with the tokens the policy would have needed to say ``texts``, end-of-turn token included.

        How demonstrations get their token ids.
        """

    def retrieve(self, conditionings: Sequence[Conditioning], completions: Sequence[Completion]) -> list[Completion]:
        """The completions with ``retrieved`` filled in where their conditioning's memory is retrieved by token.

        For completions that were transcribed and not drawn: a demonstration then keeps what drawing it would have read. Others, and
        all where no adapter retrieves, come back as they are.
        """
        return list(completions)

    @abstractmethod
    def rank(self, conditionings: Sequence[Conditioning], candidates: Sequence[tuple[str, ...]]) -> list[tuple[float, ...]]:
        """Per row, one score per candidate: the higher, the further ahead it is put."""

    @property
    def width(self) -> int:
        """Width D of the hidden states, known after ``setup``."""
        return int(self.encode(["x"]).shape[1])

    @property
    def identity(self) -> str:
        """Names the model as it was before any training, by its weights: what its hidden states may be compared with.

        Known as soon as texts can be encoded.
        """
        return type(self).__name__

    @abstractmethod
    def encode(self, texts: Sequence[str], *, as_turn: bool = False) -> torch.Tensor:
        """float32 ``[N, D]``: last layer, last token, detached.

        Args:
            texts: what is read.
            as_turn: read each as a user turn in the chat template, up to where the policy would answer it; else as plain text.
        """

    @abstractmethod
    def attach(self, adapter: Any) -> None:
        """Put an ``xplearn.policies.adapter.Adapter``, or ``Recurrence``, at its site; it is armed in ``generate`` and ``score`` alike."""

    @abstractmethod
    def parameters(self) -> Iterator[tuple[str, torch.nn.Parameter]]:
        """The trainable parameters by name."""

    def pretrained(self) -> tuple[Any, Any]:
        """The transformers model, a LoRA adapter's layers in place, and its tokenizer: for a trainer of another library.

        Capability ``policy.pretrained``. Whoever takes them trains inside ``training()`` and leaves them as found, weights aside.

        Raises:
            ContractError: there is no such model.
        """
        raise ContractError(
            type(self).__name__, "has no transformers model to hand out; policies with 'policy.pretrained' do, e.g. core.hf"
        )

    @abstractmethod
    def training(self) -> AbstractContextManager[None]:
        """A context for training: dropout on inside, cached prefixes dropped and ``version`` raised at its end."""

    @abstractmethod
    def reference(self) -> AbstractContextManager[None]:
        """A context in which the policy is what it was before any training."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write what was trained (adapter or full weights, tokenizer if own) as safetensors and JSON."""

    @abstractmethod
    def load(self, folder: Path) -> None:
        """Restore what ``save`` wrote."""

    def reopen(self, folder: Path) -> None:
        """In a resumed run the place of ``prepare``: build from what ``save`` wrote what must be there before adapters are attached.

        ``load`` follows when they are.
        """
