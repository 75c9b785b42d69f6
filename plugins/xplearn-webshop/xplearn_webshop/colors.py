"""Colour words, and the original's habit of taking an option value for the colour it mentions.

The words are those that WebShop (MIT) counts as colours: another list would give other rewards.
"""

from __future__ import annotations

_WORDS = """
alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo caramel champagne
charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream crystal dark denim eggplant elephant espresso
fuchsia gold granite grape graphite grass gray green grey heather indigo ivory ivy khaki lavender lemon leopard light lilac lime
magenta maroon mauve merlot midnight mint mocha multicolor mushroom mustard natural navy nude olive orange peach pewter pink plum
purple rainbow red rose royal rust sand sapphire seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger
turquoise violet walnut wheat white wine yellow
"""
COLORS = tuple(_WORDS.split())
"""In alphabetical order: the first one that is found counts."""


def plain_color(value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    """The first colour word inside a value, else the value itself.

    In a tuple a whole part must be the word. The original hands over synthetic goals' options in this form, so that "dash" is the colour
    "ash" when it is bought and no colour when it is wanted.
    """
    return next((color for color in COLORS if color in value), value)
