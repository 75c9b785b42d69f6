"""The space in which the policy thinks: experience and the moment of decoding are hidden states of one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xplearn import ContractError, ExperienceStore, LocalPolicy

if TYPE_CHECKING:
    from numpy.typing import NDArray


def encoder_id(policy: LocalPolicy, *, as_turn: bool = True) -> str:
    """Names the model whose states a space holds, by its weights, and how texts were read.

    Not the policy's version: old entries stay as they were encoded, and drift away.
    """
    return f"expweaver.state/{'turn' if as_turn else 'text'}/{policy.identity}"


def states(policy: LocalPolicy, texts: Sequence[str], *, as_turn: bool = True) -> NDArray[np.float32]:
    """Float32 ``[N, D]``: last layer after the final norm, last token, without injection and not normalised; detached."""
    return np.asarray(policy.encode(texts, as_turn=as_turn).float().cpu().numpy(), dtype=np.float32)


def require_own(store: ExperienceStore, space: str, policy: LocalPolicy) -> None:
    """Refuse a bank whose vectors are not states of this policy's model; a space that is not there yet is none.

    Raises:
        ContractError: naming both.
    """
    held, own = store.spaces().get(space), [(encoder_id(policy, as_turn=how), policy.width) for how in (True, False)]
    if held is not None and held not in own:
        raise ContractError(
            "expweaver",
            f"space '{space}' of the bank holds vectors of '{held[0]}' with {held[1]} numbers, this policy's states are '{own[0][0]}' with "
            f"{own[0][1]}; use the bank of this model, or let expweaver.summaries write a new one, e.g. space=state2 on both parts",
        )
