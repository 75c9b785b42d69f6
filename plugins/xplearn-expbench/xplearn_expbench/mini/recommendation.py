"""Sequential recommendation with invented items and users: from what somebody chose, tell what came next, among twenty.

Leave one out: the last choice of a user is the target. The other nineteen candidates are drawn without repetition, all alike likely, from
what the user never chose. Two hundred and more users train, others test.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from xplearn_expbench.mini.draw import few, named, shuffled, words
from xplearn_expbench.mini.people import Item, User, user
from xplearn_expbench.spec import Row

GENRES = {
    "space": words("Orbit Comet Starship Nebula Moonbase Asteroid"),
    "western": words("Saloon Sheriff Cowboy Canyon Stagecoach Gunslinger"),
    "romance": words("Kiss Wedding Valentine Honeymoon Sweetheart Bouquet"),
    "horror": words("Graveyard Vampire Werewolf Coffin Ghoul Crypt"),
    "crime": words("Detective Alibi Burglar Heist Suspect Forger"),
    "sea": words("Pirate Lighthouse Galleon Mermaid Harpoon Whaler"),
    "sport": words("Goalkeeper Marathon Boxer Racetrack Referee Sprinter"),
    "music": words("Symphony Violinist Choir Opera Ballad Drummer"),
    "fantasy": words("Wizard Dragon Cauldron Unicorn Sorceress Amulet"),
    "food": words("Chef Bakery Recipe Banquet Pastry Vineyard"),
}
"""Genres of films, and the nouns of their titles."""

SCENTS = words("rose lavender lemon coconut sandalwood peppermint vanilla jasmine honey almond")
BRANDS = words("Velmora Ostia Kindrel Sabline Dorvea Mirabel")
PRODUCTS = ("shampoo", "hand cream", "body lotion", "soap", "lip balm", "shower gel", "face mask")

CANDIDATES = 20
_TRAIN, _TEST = 230, 120
_SHORTEST = 6


def rec_movies() -> list[Row]:
    """Films: a title tells its genre by its noun."""
    return _rows("rec_movies", _films(), tuple(GENRES), "A viewer watched these films, the latest last:")


def rec_beauty() -> list[Row]:
    """Care products: a title names brand, scent and product; people are faithful to a scent or a brand."""
    return _rows("rec_beauty", _products(), (*SCENTS, *BRANDS), "A customer bought these products, the latest last:")


def _rows(task: str, items: Sequence[Item], tastes: Sequence[str], opening: str) -> list[Row]:
    users = [user(f"{task}-{place}", items, tastes) for place in range(_TRAIN + _TEST)]
    return named(task, [_row(one, items, opening, "train" if place < _TRAIN else "test") for place, one in enumerate(users)])


def _row(one: User, items: Sequence[Item], opening: str, split: str) -> Row:
    *history, target = one.chosen
    chosen = {item.title for item in one.chosen}
    unseen = [item for item in items if item.title not in chosen]
    shown = shuffled([target, *few(unseen, CANDIDATES - 1, "negatives", one.name)], "candidates", one.name)
    return Row(
        id="",
        question="\n".join([opening, *(item.title for item in history)]),
        answer=target.title,
        choices=tuple(item.title for item in shown),
        split=split,
        meta={
            "user": one.name,
            "level": 2 if one.drifts else 1,
            "history": [item.title for item in history],
            "traits": {item.title: list(item.traits) for item in (*history, *shown)},
        },
    )


@functools.cache
def _films() -> tuple[Item, ...]:
    titles = [(f"The {how} {noun}", genre) for genre, nouns in GENRES.items() for noun in nouns for how in words("Last Silent Hidden Red")]
    return tuple(_item(title, (genre,), rank) for rank, (title, genre) in enumerate(shuffled(titles, "films")))


@functools.cache
def _products() -> tuple[Item, ...]:
    every = [(f"{brand} {scent} {product}", (scent, brand)) for brand in BRANDS for scent in SCENTS for product in PRODUCTS]
    return tuple(_item(title, traits, rank) for rank, (title, traits) in enumerate(few(every, 240, "products")))


def _item(title: str, traits: tuple[str, ...], rank: int) -> Item:
    return Item(title=title, traits=traits, appeal=(rank + 5) ** -0.6)
