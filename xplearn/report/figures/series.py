"""Lines of several names in one drawing: who has which hue, dash and mark, and what the legend says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xplearn.report.figures import legend
from xplearn.report.figures.kit import HUES, Shape, hue, shape


@dataclass(frozen=True, slots=True)
class Look:
    """Of one series."""

    line: str
    """Classes of its line."""
    mark: str
    """Classes of its marks; empty where it has none."""
    shape: Shape
    hue: int | None
    """None where there are more series than hues."""

    @property
    def sample(self) -> legend.Sample:
        """Its line and mark for a legend."""
        return legend.rule(f"k-curve {self.line}", shape=self.shape if self.mark else None, marked=self.mark)


FAINT = Look("k-faint", "", "circle", None)


def look(index: int, *, plain: bool = False) -> Look:
    """Of the series at a place; a plain arm is dashed and hollow; from the ninth on all are faint."""
    if index >= HUES:
        return FAINT
    dash, fill = (" k-dash", "k-hollow") if plain else ("", f"k-s{hue(index)}")
    return Look(f"k-l{hue(index)}{dash}", f"k-solid {fill} k-l{hue(index)}", shape(index), hue(index))


def entries(names: Sequence[str], looks: Sequence[Look]) -> list[legend.Entry]:
    """A line of a legend for each series that stands out, and one for all the others."""
    found: list[legend.Entry] = [(of.sample, name) for name, of in zip(names, looks, strict=True) if of is not FAINT]
    others = sum(of is FAINT for of in looks)
    return [*found, (FAINT.sample, f"{others} others")] if others else found
