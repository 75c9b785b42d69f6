"""Questions about nature that hold all they need: states of matter, floating, cooling, food chains, pushing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xplearn_expbench.mini import names
from xplearn_expbench.mini.draw import few, number, pick

Asked = tuple[str, str, tuple[str, ...]]
"""A question, its right option, and the wrong ones."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """Who eats whom: the last eats the middle, the middle eats the first."""

    plant: str
    middle: str
    hunter: str


def state(*key: str | int) -> Asked:
    """Solid, liquid or gas, from the temperatures of melting and boiling."""
    stuff = pick(names.materials(), "state", *key)
    melts = number(5, 40, "melts", *key) * 10
    boils = melts + number(10, 40, "boils", *key) * 10
    place = number(0, 2, "place", *key)
    now = (melts - 10 * number(1, 4, "below", *key), (melts + boils) // 2, boils + 10 * number(1, 9, "above", *key))[place]
    words = ("a solid", "a liquid", "a gas")
    question = f"{stuff.capitalize()} melts at {melts} degrees and boils at {boils} degrees. What is it at {now} degrees?"
    return question, words[place], (*(word for word in words if word != words[place]), "a flame")


def floating(*key: str | int) -> Asked:
    """Sinking or floating, from the weight of a piece as large as one kilogram of water."""
    stuff = pick(names.materials(), "float", *key)
    grams = pick((250, 380, 460, 540, 620, 730, 810, 1250, 1480, 1720, 2300, 3600, 5100, 7800), "grams", *key)
    question = (
        f"A block of {stuff} weighs {grams} grams. Water that fills the same space weighs 1000 grams. What does the block do in water?"
    )
    right, wrong = ("It floats.", "It sinks.") if grams < 1000 else ("It sinks.", "It floats.")
    return question, right, (wrong, "It dissolves.", "It boils.")


def cooling(*key: str | int) -> Asked:
    """Where the temperature of a thing settles."""
    drink = pick(("A cup of tea", "A bowl of soup", "A jug of cold juice", "A glass of hot milk", "A bucket of ice water"), "drink", *key)
    start = number(2, 9, "start", *key) if "ice" in drink or "cold" in drink else number(60, 90, "start", *key)
    room = number(16, 32, "room", *key)
    question = f"{drink} at {start} degrees is left in a room that stays at {room} degrees. How warm is it after two days?"
    wrong = ("just as warm as at the start", "colder than the room and than at the start", "warmer than the room and than at the start")
    return question, "just as warm as the room", wrong


def chain(*key: str | int) -> Asked:
    """What follows in a food chain when its middle link is lost."""
    middle, hunter = few([name for name in names.animals() if name.endswith("paw")], 2, "chain", *key)
    links = _Chain(pick(names.herbs(), "plant", *key), middle, hunter)
    question = (
        f"The {links.middle} eats only {links.plant}, and the {links.hunter} eats only {links.middle}s. "
        f"An illness kills every {links.middle}. What happens next?"
    )
    right = f"The {links.plant} spreads and the {links.hunter} starves."
    wrong = (
        f"The {links.plant} dies out and the {links.hunter} thrives.",
        f"Both the {links.plant} and the {links.hunter} thrive.",
        f"Nothing changes for the {links.plant} and the {links.hunter}.",
    )
    return question, right, wrong


def pushing(*key: str | int) -> Asked:
    """Which of three loads one push moves fastest."""
    light = number(5, 40, "light", *key)
    loads = (light, light + number(5, 40, "more", *key), 2 * light + number(45, 90, "most", *key))
    who = pick(names.people(), "who", *key)
    question = f"{who} pushes three equal carts on a level road, each once and just as hard. Which cart gains the most speed?"
    shown = tuple(f"the one that carries {load} kilograms" for load in loads)
    return question, shown[0], (*shown[1:], "They all gain the same.")


KINDS: tuple[Callable[..., Asked], ...] = (state, floating, cooling, chain, pushing)
"""Every kind of question; a key gives one of its kind."""
