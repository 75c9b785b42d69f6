"""How EDGE ranks experience: what it is worth, what little is known of it yet, and how like the moment it is.

Pure functions of arrays that broadcast. The numbers are those of the released code [C]; the paper ranks by similarity alone [P].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.float64]

ALPHA = 0.5
"""Share of the similarity in a score [C]."""
UCB = 0.5
"""Weight of what little is known of an experience, in units of reward [C]."""
_MOST = 1e15
"""No worth is further from 0, whatever utility a bank from elsewhere holds: scores stay finite in single precision."""


def worth(utility: ArrayLike, uses: ArrayLike, total: ArrayLike | None = None, *, ucb: float = UCB) -> Numbers:
    """``U + ucb * sqrt(log(1 + N) / (1 + n))``: an upper confidence bound on the gain of an experience [C].

    Rarely shown experience gets the benefit of the doubt, the more so the more the pool was used without it.

    Args:
        utility: ``U``, mean gain, in units of reward.
        uses: ``n``, how often each was shown; less than never is never.
        total: ``N``, how often any of the pool was shown; the sum of ``uses`` unless given.
        ucb: weight of the doubt; 0 leaves the utility.
    """
    shown = np.maximum(np.asarray(uses, dtype=np.float64), 0.0)
    every = shown.sum() if total is None else np.asarray(total, dtype=np.float64)
    doubt: Numbers = np.sqrt(np.log1p(every) / (1.0 + shown))
    return np.clip(np.asarray(utility, dtype=np.float64) + ucb * doubt, -_MOST, _MOST)


def score(cosine: ArrayLike, worths: ArrayLike, *, alpha: float = ALPHA) -> Numbers:
    """``alpha * (cos + 1) / 2 + (1 - alpha) * worth`` [C]: 1 ranks by similarity alone, 0 by worth alone."""
    likeness = (np.asarray(cosine, dtype=np.float64) + 1.0) / 2.0
    return alpha * likeness + (1.0 - alpha) * np.asarray(worths, dtype=np.float64)
