"""Which words of a title are nouns, as a tagger would say: all but these."""

from __future__ import annotations

import re

_OTHERS = frozenset(
    """
    a absorbing adjustable aged all and artificial auto backlit bare based basic bendy braided breathable breathe broad brushed built
    cancelling carrying certified clarifying clean clear cold compostable cool cooling curly cut daily dark deep designed detangling
    dimmable double dry easy ergonomic everyday faded fair fast faux fermented firm firming first five flat flavored fold foldable
    foldaway for free fresh friendly front full fully genuine glazed go greasy guarded handmade hanging heavy hidden high hookless hot
    hyaluronic hypoallergenic iced in individually indoor industrial infused lasting lean light lightweight lined little long low
    mechanical medium mini mixed natural nine non of off old on one opaque open operated or outdoor overhead overnight packaway padded
    plain portable quick quiet quilted rainy raised raw read ready rechargeable red reeded reflective regular relaxed resealable
    resistant right roomy round rounded rugged safe second self sensitive seven sheer shredded shy silent simple single slim slimline
    small soft solar solid speckled split stainless standard steady tall tempered ten tested the thin three to treated tufted two
    undyed up vented vertical warm washable waterproof waxed weighted weightless white whole wide wired wireless with without woven
    wrapped
    """.split()
)


def nouns(title: str) -> list[str]:
    """The nouns in their order, lower case, without a possessive's ``'s``."""
    words = re.findall(r"[a-z]+", title.lower().replace("'s", ""))
    return [word for word in words if word not in _OTHERS]
