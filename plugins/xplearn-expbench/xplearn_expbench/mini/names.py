"""Names of the invented world, made of parts that occur in no gazetteer we know of.

Endings carry meaning: a town's tells its island, an animal's and a material's tell their kind. Whoever sees the rule knows it of names
never met before.
"""

from __future__ import annotations

from xplearn_expbench.mini.draw import few, shuffled, words

ISLANDS = {"wick": "Arvenholm", "mere": "Kesrin", "haven": "Tolume", "stead": "Ostrel"}
"""Island by the ending of its towns' names."""

KINDS = {"wing": "bird", "fin": "fish", "paw": "mammal", "scale": "reptile"}
"""Kind of animal by the ending of its name."""

STUFFS = {"ite": "stone", "bark": "wood", "silk": "cloth", "steel": "metal"}
"""Kind of material by the ending of its name."""

_TOWNS = words("Brask Corv Drest Elb Fosk Gint Hurl Isk Jarn Kolb Lusk Mord Narl Orv Pask Quen Rusk Sorn Tulk Ulm Vask Wend Yarl Zell")
_FIRST = words(
    "Adrel Bessim Corlan Dathe Elwin Fenna Garrow Hestia Idris Jolan Kethra Lorin Maren Nevin Oriel Perrin Quilla Rovan Selka Tamsel"
)
_FAMILY = words("Ang Bor Cal Dan Ev Far Gol Hes Ing Jor Kel Lom")
_LINE = words("dane sett ovar imber ulk")
_BEASTS = words("amber brindle copper dapple ember frost gloam hazel ivory jasper linden mottle")
_LODES = words("vel tor mira kess ondo pall rav sul jad")
_RIVERS = words("Anlo Brith Cael Dovin Esk Farl Gwill Hask Iver Jole Kerra Lun Mavra Neth Olde Pirr")
_TOOLS = words(
    "brindock cardel dorvik fasple gantrel hobrin jaskel kettrin lorrick mundle nettock torbel pindrel quossel "
    "rastik sandrel tovick lumbrel vossin wattrel yoltick zandrel ruddock skarvel"
)
_HERBS = words("ash brine cinder dusk elm flint gorse hollow iron juniper kelp lark moss north otter pearl")
_LEAVES = words("wort bane")


def towns() -> list[str]:
    """48, twelve an island."""
    return [stem + ending for stem in _TOWNS for ending in few(tuple(ISLANDS), 2, "ending", stem)]


def people() -> list[str]:
    """60, no family name twice."""
    families = [start + end for start in _FAMILY for end in _LINE]
    firsts = [first for turn in range(3) for first in shuffled(_FIRST, "first", turn)]
    return [f"{first} {family}" for first, family in zip(firsts, families, strict=True)]


def animals() -> list[str]:
    """48, twelve a kind."""
    return [start + ending for start in _BEASTS for ending in KINDS]


def materials() -> list[str]:
    """36, nine a kind."""
    return [start + ending for start in _LODES for ending in STUFFS]


def rivers() -> list[str]:
    """48, one a town."""
    return [stem + ending for stem in _RIVERS for ending in ("", "da", "mer")]


def tools() -> list[str]:
    """24."""
    return list(_TOOLS)


def herbs() -> list[str]:
    """32."""
    return [stem + leaf for stem in _HERBS for leaf in _LEAVES]


def books() -> list[str]:
    """60 titles."""
    kinds = words("Song Book History Garden Mirror")
    things = words("Tides Lanterns Foxes Snow Bridges Bells Ashes Orchards Salt Thunder Ropes Shadows")
    return [f"The {kind} of {thing}" for thing in things for kind in kinds]


def bynames() -> list[str]:
    """60, what people call one another."""
    looks = words("Grey Tall Quiet Brave Merry")
    roles = words("Heron Weaver Lamp Otter Piper Miller Raven Oak Hammer Ferry Wolf Candle")
    return [f"the {look} {role}" for role in roles for look in looks]
