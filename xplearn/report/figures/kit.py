"""A small SVG kit: a drawing collects shapes and words, and every word is text, whatever it holds."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import Literal

from xplearn.report.figure import Figure
from xplearn.report.figures.words import BOLD, SMALL, fitted
from xplearn.report.printable import printable

WIDTH = 480.0
"""Of a drawing, in its own units: narrow, so that its words stay readable on a telephone and in a column of a paper."""
HUES = 8
"""Classes ``k-s0`` … and ``k-l0`` …; with ``SHAPES`` forty series can be told apart, and never by colour alone."""

Anchor = Literal["start", "middle", "end"]
Shape = Literal["circle", "square", "up", "diamond", "down", "star"]
Point = tuple[float, float]
Area = tuple[float, float, float, float]
"""Left, top, width, height."""
SHAPES: tuple[Shape, ...] = ("circle", "square", "up", "diamond", "down")

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def stylesheet() -> str:
    """``kit.css``: the colours of every drawing, in light and dark; the page that holds drawings includes it once."""
    return files(__package__).joinpath("kit.css").read_text(encoding="utf-8")


def safe(text: str) -> str:
    """Text for an SVG or HTML document: no control characters, nothing that is markup."""
    return escape(printable(text).replace("\ufffe", "�").replace("\uffff", "�"), quote=True)


def number(value: float) -> str:
    """A coordinate with two decimals at most.

    Raises:
        ValueError: it is not finite.
    """
    if not math.isfinite(value):
        raise ValueError(f"a drawing has no place for {value}")
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0", "0", 1 if abs(value) < 0.005 else 0)


class Drawing:
    """Shapes in the order they are drawn, later ones above."""

    def __init__(self, width: float = WIDTH) -> None:
        self.width = width
        self._parts: list[str] = []

    def line(self, start: Point, end: Point, look: str) -> None:
        """A straight line of the classes ``look``."""
        (x1, y1), (x2, y2) = start, end
        self._add("line", look, x1=x1, y1=y1, x2=x2, y2=y2)

    def rect(self, area: Area, look: str, *, round: float = 0.0) -> None:
        """A rectangle; a negative width goes to the left, a negative height upwards."""
        x, y, width, height = area
        x, y = min(x, x + width), min(y, y + height)
        self._add("rect", look, x=x, y=y, width=abs(width), height=abs(height), **({"rx": round} if round else {}))

    def path(self, points: Sequence[Point], look: str, *, closed: bool = False) -> None:
        """Straight lines through the points."""
        through = "L".join(f"{number(x)} {number(y)}" for x, y in points)
        self._parts.append(f'<path class="{look}" d="M{through}{"Z" if closed else ""}"/>')

    def strokes(self, lines: Sequence[tuple[Point, Point]], look: str) -> None:
        """Several straight lines as one shape."""
        parts = "".join(f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}" for (x1, y1), (x2, y2) in lines)
        self._parts.append(f'<path class="{look}" d="{parts}"/>')

    def marker(self, shape: Shape, at: Point, look: str, *, size: float = 5.0) -> None:
        """A mark around a point, about ``2 * size`` across."""
        if shape == "circle":
            self._add("circle", look, cx=at[0], cy=at[1], r=size)
        else:
            self.path([(at[0] + size * x, at[1] + size * y) for x, y in _OUTLINES[shape]], look, closed=True)

    def text(
        self,
        at: Point,
        words: str,
        look: str = "k-text",
        *,
        anchor: Anchor = "start",
        size: float = SMALL,
        room: float = math.inf,
        short: str = "",
    ) -> None:
        """One line of words on a baseline; where it is cut to fit ``room``, or ``short`` stands for it, the whole is a tooltip."""
        shown = short or (fitted(words, room, size * BOLD if "k-strong" in look else size) if room < math.inf else words)
        title = f"<title>{safe(words)}</title>" if shown != words else ""
        place = f'x="{number(at[0])}" y="{number(at[1])}" font-size="{number(size)}"'
        anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(f'<text class="{look}" {place}{anchored}>{title}{safe(shown)}</text>')

    @contextlib.contextmanager
    def titled(self, tooltip: str) -> Iterator[None]:
        """What is drawn inside shows a tooltip."""
        self._parts.append(f"<g><title>{safe(tooltip)}</title>")
        yield
        self._parts.append("</g>")

    def figure(self, height: float, *, name: str, title: str, caption: str) -> Figure:
        """The drawing, done.

        Raises:
            ValueError: the name is no anchor.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"'{name}' is no name of a figure: want lower case, digits and hyphens")
        size = f"{number(self.width)} {number(height)}"
        head = f'<svg xmlns="http://www.w3.org/2000/svg" class="k-figure{self._wide()}" viewBox="0 0 {size}" width="100%" role="img">'
        told = f"<title>{safe(title)}</title><desc>{safe(caption)}</desc>"
        svg = "\n".join([head + told, *self._parts, "</svg>"])
        return Figure(name=name, title=title, caption=caption, svg=svg)

    def _add(self, tag: str, look: str, **places: float) -> None:
        placed = " ".join(f'{key}="{number(value)}"' for key, value in places.items())
        self._parts.append(f'<{tag} class="{look}" {placed}/>')

    def _wide(self) -> str:
        """The class that lets a page scroll what is wider than a screen."""
        steps = math.ceil(max(0.0, self.width - WIDTH) / 240)
        return f" k-wide-{min(steps, 8)}" if steps else ""


def hatch(area: Area, *, gap: float = 7.0) -> list[tuple[Point, Point]]:
    """Diagonal lines that fill a rectangle, without a pattern that would need an id."""
    x, y, width, height = area
    found = []
    for count in range(1, int((width + height) / gap) + 1):
        along = count * gap
        start = (x + min(along, width), y + max(0.0, along - width))
        end = (x + max(0.0, along - height), y + min(along, height))
        found.append((start, end))
    return found


def hue(index: int) -> int:
    """Number of the class that colours a series."""
    return index % HUES


def shape(index: int) -> Shape:
    """Mark of a series."""
    return SHAPES[index % len(SHAPES)]


def compact(value: float) -> str:
    """In three digits at most, e.g. ``950``, ``12.3k``, ``4.56M``."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= 0.9995 * size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def _star() -> list[Point]:
    turns = [(math.pi * (count / 5 - 0.5), 1.3 if count % 2 == 0 else 0.55) for count in range(10)]
    return [(reach * math.cos(turn), reach * math.sin(turn)) for turn, reach in turns]


_OUTLINES: dict[Shape, list[Point]] = {
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "up": [(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
    "diamond": [(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
    "down": [(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)],
    "star": _star(),
}
