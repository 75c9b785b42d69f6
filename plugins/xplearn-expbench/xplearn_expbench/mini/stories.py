"""Own word problems: skeletons of one and two steps in which names, things and numbers change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from xplearn_expbench.mini.draw import few, number, words

Span = tuple[int, int]

NAMES = words("Ada Boris Carmen Dov Edith Femi Greta Hugo Ines Jonas Kavya Luis Mira Nils Olga Pavel Rosa Sven Tara Yusuf")
THINGS = words("apples beads buttons candles cards coins eggs feathers keys marbles nuts pears pencils pins ribbons shells stamps stones")


class Numbers(NamedTuple):
    """The numbers of one telling."""

    a: int
    b: int
    c: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A skeleton with up to three numbers."""

    name: str
    steps: int
    """Operations that lead to the answer."""
    text: str
    """With ``{who}``, ``{other}``, ``{things}``, ``{a}``, ``{b}``, ``{c}``, ``{ab}`` (product), ``{sum}`` (a + b)."""
    answer: Callable[[Numbers], int]
    spans: tuple[Span, Span, Span] = ((2, 9), (2, 9), (2, 9))
    """Lowest and highest of each number."""

    def tell(self, *key: str | int) -> tuple[str, str]:
        """A question and its answer."""
        numbers = Numbers(*(number(*span, *key, place) for place, span in enumerate(self.spans)))
        who, other = few(NAMES, 2, *key, "names")
        (things,) = few(THINGS, 1, *key, "things")
        derived = {"ab": numbers.a * numbers.b, "sum": numbers.a + numbers.b}
        text = self.text.format(who=who, other=other, things=things, **numbers._asdict(), **derived)
        return text, str(self.answer(numbers))


_SMALL: tuple[Span, Span, Span] = ((3, 12), (2, 9), (2, 6))
_TENS: tuple[Span, Span, Span] = ((20, 60), (5, 19), (2, 9))

STORIES = (
    Story(
        name="buys",
        steps=1,
        text="{who} has {a} {things} and buys {b} more. How many {things} does {who} have now?",
        answer=lambda n: n.a + n.b,
    ),
    Story(
        name="gives",
        steps=1,
        text="{who} had {sum} {things} and gave {b} of them to {other}. How many {things} are left?",
        answer=lambda n: n.a,
    ),
    Story(
        name="both",
        steps=1,
        text="{who} found {a} {things}. {other} found {b}. How many {things} did they find together?",
        answer=lambda n: n.a + n.b,
        spans=_TENS,
    ),
    Story(
        name="boxes",
        steps=1,
        text="There are {a} boxes with {b} {things} in each. How many {things} are there?",
        answer=lambda n: n.a * n.b,
    ),
    Story(
        name="shared",
        steps=1,
        text="{a} children share {ab} {things} equally. How many {things} does each child get?",
        answer=lambda n: n.b,
    ),
    Story(
        name="fewer",
        steps=1,
        text="{who} has {a} {things}. {other} has {b} fewer. How many {things} does {other} have?",
        answer=lambda n: n.a - n.b,
        spans=_TENS,
    ),
    Story(
        name="missing",
        steps=1,
        text="{who} needs {a} {things} and already has {b}. How many more {things} does {who} need?",
        answer=lambda n: n.a - n.b,
        spans=_TENS,
    ),
    Story(
        name="times",
        steps=1,
        text="{who} has {a} {things}. {other} has {c} times as many. How many {things} does {other} have?",
        answer=lambda n: n.a * n.c,
        spans=_SMALL,
    ),
    Story(
        name="price",
        steps=1,
        text="One bag of {things} costs {a} dollars. How many dollars do {b} bags cost?",
        answer=lambda n: n.a * n.b,
        spans=_SMALL,
    ),
    Story(
        name="days",
        steps=1,
        text="{who} collects {b} {things} every day. How many {things} does {who} collect in {c} days?",
        answer=lambda n: n.b * n.c,
        spans=_SMALL,
    ),
    Story(
        name="buys-gives",
        steps=2,
        text="{who} had {a} {things}, bought {b} more and then gave {c} to {other}. How many {things} does {who} have now?",
        answer=lambda n: n.a + n.b - n.c,
        spans=((10, 30), (5, 15), (2, 9)),
    ),
    Story(
        name="boxes-loose",
        steps=2,
        text="{who} fills {a} boxes with {b} {things} each and has {c} {things} left over. How many {things} did {who} have?",
        answer=lambda n: n.a * n.b + n.c,
        spans=_SMALL,
    ),
    Story(
        name="more-together",
        steps=2,
        text="{who} has {a} {things}. {other} has {b} more than {who}. How many {things} do they have together?",
        answer=lambda n: 2 * n.a + n.b,
        spans=_SMALL,
    ),
    Story(
        name="times-together",
        steps=2,
        text="{who} has {a} {things}. {other} has {c} times as many. How many {things} do they have in all?",
        answer=lambda n: n.a + n.a * n.c,
        spans=_SMALL,
    ),
    Story(
        name="change",
        steps=2,
        text="{who} buys {b} bags of {things} at {c} dollars a bag and pays with {a} dollars. How many dollars does {who} get back?",
        answer=lambda n: n.a - n.b * n.c,
        spans=((55, 90), (2, 9), (2, 6)),
    ),
    Story(
        name="share-lost",
        steps=2,
        text="{a} friends share {ab} {things} equally. Then {who}, one of them, loses 1. How many {things} does {who} have left?",
        answer=lambda n: n.b - 1,
        spans=((2, 9), (3, 12), (2, 9)),
    ),
    Story(
        name="rows",
        steps=2,
        text="A tray has {a} rows of {b} {things}. {who} takes {c} {things} away. How many {things} stay on the tray?",
        answer=lambda n: n.a * n.b - n.c,
        spans=_SMALL,
    ),
    Story(
        name="spends",
        steps=2,
        text="{who} had {ab} {things}. After giving away {b} a day for {c} days, how many {things} does {who} still have?",
        answer=lambda n: n.a * n.b - n.b * n.c,
        spans=((7, 12), (2, 9), (2, 6)),
    ),
    Story(
        name="two-kinds",
        steps=2,
        text="A shop sells {things} at {a} dollars a bag and baskets at {b} dollars each. What do {c} bags and 1 basket cost, in dollars?",
        answer=lambda n: n.a * n.c + n.b,
        spans=_SMALL,
    ),
    Story(
        name="weeks",
        steps=2,
        text="{who} sorts {b} {things} a day. How many {things} does {who} sort in {c} weeks of 7 days?",
        answer=lambda n: n.b * 7 * n.c,
        spans=((2, 9), (2, 9), (2, 4)),
    ),
)
"""Every skeleton."""
