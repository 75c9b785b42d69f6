"""Own chemistry rows: questions about made-up molecules with a yes or a no, and molecules to be given."""

from __future__ import annotations

from xplearn_expbench.chem.designs import designs
from xplearn_expbench.chem.endpoints import endpoints
from xplearn_expbench.mini import draw
from xplearn_expbench.spec import Row


def chemistry() -> list[Row]:
    """240 train and 120 test rows of each form (``meta["form"]``: ``endpoint``, ``design``), half of the endpoints' answers "yes".

    ``meta["level"]`` says how hard: 1 to 4 and 1 to 5. Splits are disjoint by canonical molecule and by Bemis–Murcko scaffold: those of
    what is asked about, of what designs start from, and of the molecules known to meet their constraints (`xplearn_expbench.chem.pool`).

    Raises:
        PluginError: RDKit is not installed.
    """
    return draw.named("chemistry", endpoints() + designs())
