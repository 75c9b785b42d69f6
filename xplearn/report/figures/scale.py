"""From values to places, and which values get a mark on an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """A monotone map from ``low … high`` to ``start … end``; values outside are clamped."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values within the scale, ``most`` of them at most."""
        step = _step(self.high - self.low, most)
        first = math.ceil(self.low / step - 1e-9)
        return [step * count for count in range(first, math.floor(self.high / step + 1e-9) + 1)]


def around(values: Iterable[float], start: float, end: float, *, floor: float = -math.inf, ceiling: float = math.inf) -> Scale:
    """A scale from the round value below all to the one above, but never past ``floor`` and ``ceiling``."""
    known = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(known), max(known)
    if high - low < 1e-9:
        low, high = low - 10.0, high + 10.0
    step = _step(high - low, 6)
    low, high = step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)
    return Scale(max(floor, low), min(ceiling, high), start, end)


def _step(span: float, most: int) -> float:
    """The smallest of 1, 2, 5, 10, … with which ``span`` has at most ``most`` marks."""
    raw = max(span, 1e-12) / max(1, most - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * digit for digit in (1.0, 2.0, 5.0, 10.0, 20.0) if power * digit >= raw * (1 - 1e-9))
