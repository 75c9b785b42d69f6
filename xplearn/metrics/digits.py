"""One rule of rounding for every figure that is shown."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

NOISE = 9
"""Decimals to which figures that are equal agree, whichever way they were added up."""


def tenths(value: float, *, signed: bool = False, grouped: bool = False) -> str:
    """A figure with one decimal; what lies halfway goes away from zero, and no zero is negative.

    Args:
        value: what is shown; equal figures are shown alike though their sums were rounded otherwise.
        signed: whether a plus sign is shown.
        grouped: whether thousands are parted by commas.
    """
    form = f"{'+' * signed}z{',' * grouped}.1f"
    if not math.isfinite(value):
        return format(value, form)
    return format(Decimal(repr(round(float(value), NOISE))).quantize(Decimal("0.1"), ROUND_HALF_UP), form)
