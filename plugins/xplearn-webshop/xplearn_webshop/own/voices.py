"""How customers talk: openings, joints and endings of the own instructions, and a noun phrase in their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xplearn_webshop.own.catalogue import Item
from xplearn_webshop.own.draw import fraction, number, pick
from xplearn_webshop.own.tables import Claim

OPENINGS = (
    "i need",
    "i am looking for",
    "looking for",
    "i'm looking for",
    "can you find me",
    "find me",
    "i want",
    "i would like",
    "please find",
    "show me",
    "i want to buy",
    "help me find",
    "i'm shopping for",
    "get me",
    "i'd like to order",
    "searching for",
    "hello, i need",
    "i am trying to find",
    "i am interested in",
    "please show me",
    "my daughter needs",
    "my husband wants",
    "i am in the market for",
    "we need",
    "for my sister i need",
    "i want to order",
    "would you have",
    "my birthday wish is",
    "i'm after",
)
DEMANDS = ("it should be", "it must be", "it needs to be", "make sure it is", "i'd like it to be", "it has to be")
ENDINGS = {
    "color": ("in {}", "in the color {}", "color {}", "in {} color"),
    "size": ("in size {}", "size {}", "in a size {}"),
    "flavor": ("in {} flavor", "with {} flavor", "in the {} flavor", "flavor {}"),
    "scent": ("with {} scent", "in the {} scent", "that smells of {}", "scent {}"),
    "style": ("in the {} style", "style {}", "in {} style"),
}
_VOWEL_SOUNDS = ("a", "e", "i", "o", "un")
_CONSONANT_SOUNDS = ("uni", "usb", "one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What one customer wants of one product, and the key of their voice."""

    item: Item
    claims: tuple[Claim, ...]
    options: Mapping[str, str]
    """Value by option name, as the pages have them."""
    key: tuple[str | int, ...]


def words(wish: Wish) -> str:
    """The instruction: lower case, without a last dot, without the price."""
    shape = pick((_plain, _plain, _that_is, _demand, _demand, _hint, _hint, _hint), "shape", *wish.key)
    return " ".join(f"{pick(OPENINGS, 'opening', *wish.key)} {shape(wish)}".split())


def _plain(wish: Wish) -> str:
    """``a vegan, oil free shampoo for dry hair in size 8 oz``; a color may stand before the noun."""
    options = dict(wish.options)
    color = options.pop("color", "") if fraction("leads", *wish.key) < 0.5 else ""
    comma = ", " if fraction("comma", *wish.key) < 0.5 else " "
    noun = f"{comma.join(_qualities(wish.claims))} {color} {_noun(wish)}"
    return f"{_determined(wish, noun)} {_after(wish.claims)} {_ending(wish, options)}"


def _that_is(wish: Wish) -> str:
    """``a shampoo for dry hair that is vegan and oil free, in size 8 oz``."""
    qualities = _qualities(wish.claims)
    clause = f"that is {_listed(qualities)}" if qualities else ""
    return _with_comma(f"{_determined(wish, _noun(wish))} {_after(wish.claims)} {clause}", _ending(wish, wish.options))


def _demand(wish: Wish) -> str:
    """``a shampoo in size 8 oz. it should be vegan and oil free``; things it has stay with the noun."""
    qualities = _qualities(wish.claims)
    demand = f". {pick(DEMANDS, 'demand', *wish.key)} {_listed(qualities)}" if qualities else " please"
    return f"{_determined(wish, _noun(wish))} {_after(wish.claims)} {_ending(wish, wish.options)}".rstrip() + demand


def _hint(wish: Wish) -> str:
    """``a vegan shampoo that will not sting, in size 8 oz``: one promise is described rather than named."""
    hinted = wish.claims[number("hinted", *wish.key) % len(wish.claims)]
    named = [claim for claim in wish.claims if claim is not hinted]
    noun = f"{', '.join(_qualities(named))} {_noun(wish)}"
    return _with_comma(f"{_determined(wish, noun)} {_after(named)} {hinted.wish}", _ending(wish, wish.options))


def _noun(wish: Wish) -> str:
    """The type, now and then with its brand, or the product's own name."""
    luck = fraction("noun", *wish.key)
    if luck < 0.05:
        return f"{wish.item.brand.lower()} {wish.item.kind.nouns[0]}"
    return wish.item.good.name.lower() if luck < 0.11 else pick(wish.item.kind.nouns, "synonym", *wish.key)


def _determined(wish: Wish, noun: str) -> str:
    """The noun behind its determiner, ``a`` or ``an`` as it sounds."""
    text, determiner = noun.strip(), wish.item.kind.determiner
    if determiner != "a":
        return f"{determiner} {text}"
    vowel = text.startswith(_VOWEL_SOUNDS) and not text.startswith(_CONSONANT_SOUNDS)
    return f"{'an' if vowel else 'a'} {text}"


def _qualities(claims: Sequence[Claim]) -> list[str]:
    return [claim.name for claim in claims if claim.joint == "is"]


def _after(claims: Sequence[Claim]) -> str:
    """``for dry hair with a metal frame and a usb port``."""
    things = {joint: [claim.thing for claim in claims if claim.joint == joint] for joint in ("for", "with", "without")}
    return " ".join(f"{joint} {_listed(names)}" for joint, names in things.items() if names)


def _ending(wish: Wish, options: Mapping[str, str]) -> str:
    """``in navy and in size medium``."""
    said = [pick(ENDINGS[name], "ending", name, *wish.key).format(value) for name, value in options.items()]
    return pick((" and ", ", ", " "), "joined", *wish.key).join(said)


def _with_comma(text: str, ending: str) -> str:
    return f"{text.rstrip()}, {ending}" if ending else text


def _listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
