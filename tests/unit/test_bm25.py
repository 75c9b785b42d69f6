from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from xplearn.builtin.bm25 import Bm25Index, Bm25Selector, words
from xplearn.errors import ConfigError, ContractError
from xplearn.stores.memory import MemoryStore
from xplearn.testing import samples
from xplearn.types import Experience

DOCUMENTS = [
    ("kettle", "boil the water in the kettle"),
    ("door", "open the door, open the window"),
    ("lamp", "the lamp"),
    ("water", "water the plant with water from the lake near the house"),
    ("empty", ""),
]
QUERIES = ["boil water", "open door", "the lamp and the water", "open open lamp", "nothing here"]


def index(**parameters) -> Bm25Index:
    return Bm25Index(DOCUMENTS, **{"k1": 0.9, "b": 0.4, **parameters})


def test_score_is_the_formula():
    (hit,) = index().best("boil", 5)
    mean = sum(len(words(text)) for _, text in DOCUMENTS) / 5
    expected = math.log(1 + 4.5 / 1.5) * 1 / (1 + 0.9 * (1 - 0.4 + 0.4 * 6 / mean))
    assert hit == ("kettle", pytest.approx(expected))


def test_scores_equal_those_of_bm25s():
    bm25s = pytest.importorskip("bm25s")
    for k1, b in ((0.9, 0.4), (1.5, 0.75)):
        peer = bm25s.BM25(k1=k1, b=b, method="lucene", idf_method="lucene")
        peer.index([words(text) for _, text in DOCUMENTS], show_progress=False)
        for query in QUERIES:
            known = [word for word in words(query) if word in peer.vocab_dict]
            theirs = peer.get_scores(known) if known else np.zeros(len(DOCUMENTS))
            ours = dict(index(k1=k1, b=b).best(query, 10))
            np.testing.assert_allclose([ours.get(id, 0.0) for id, _ in DOCUMENTS], theirs, atol=1e-6)


def test_order_equals_that_of_rank_bm25_without_its_floor():
    rank_bm25 = pytest.importorskip("rank_bm25")
    documents = [(f"d{number}", f"w{number} w{number * 7 % 11} common w{number % 5}") for number in range(60)]
    peer = rank_bm25.BM25Okapi([words(text) for _, text in documents], k1=0.9, b=0.4, epsilon=0.0)
    ours = Bm25Index(documents, k1=0.9, b=0.4)
    for query in ("w17", "w3 w9", "w55 w4"):
        theirs = peer.get_scores(words(query))
        best = [documents[row][0] for row in np.argsort(-theirs, kind="stable")[:3] if theirs[row] > 0]
        assert [id for id, _ in ours.best(query, 3)] == best


def test_documents_that_share_no_word_are_no_hits():
    assert index().best("nothing here", 5) == []
    assert index().best("", 5) == []
    assert Bm25Index([], k1=0.9, b=0.4).best("water", 5) == []


def test_ties_come_in_order_and_excluded_ids_are_passed_over():
    same = Bm25Index([(str(number), "water") for number in range(6)], k1=0.9, b=0.4)
    assert [id for id, _ in same.best("water", 3)] == ["0", "1", "2"]
    assert [id for id, _ in same.best("water", 3, {"1", "0"})] == ["2", "3", "4"]


def test_words_are_lower_case_in_any_script():
    assert words("Öffne die TÜR, ouvre l'œuvre; открой 门!") == ["öffne", "die", "tür", "ouvre", "l", "œuvre", "открой", "门"]


def test_selects_by_goal_and_first_observation():
    store = MemoryStore()
    store.add([Experience(id=id, kind="record", key=text, content=text) for id, text in DOCUMENTS])
    task = dataclasses.replace(samples.task(0), goal="boil water")
    query = dataclasses.replace(samples.query(0), task=task, messages=({"role": "user", "content": "Task: boil water"},))
    (selection,) = Bm25Selector(k=2).select([query], store)
    assert [experience.id for experience in selection.experiences] == ["kettle", "water"]
    assert selection.scores == tuple(score for _, score in index().best("Task: boil water", 2))


def test_index_is_built_once_per_version_of_the_bank(monkeypatch):
    store, selector = MemoryStore(), Bm25Selector()
    store.add([samples.experience(0)])
    selector.select([samples.query(1)], store)
    built = selector._index(store)
    assert selector._index(store) is built
    store.add([samples.experience(1)])
    assert selector._index(store) is not built


def test_needs_a_filled_bank_and_acts_only():
    assert Bm25Selector().requires == {"store.filled"}
    with pytest.raises(ContractError, match=r"core\.all"):
        Bm25Selector().select([dataclasses.replace(samples.query(0), purpose="study")], MemoryStore())


def test_impossible_fields_are_refused():
    for field, value in (("k", 0), ("k1", -0.1), ("b", 1.1)):
        with pytest.raises(ConfigError, match=f"^{field}: "):
            Bm25Selector(**{field: value})
