from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from xplearn_webshop import postings
from xplearn_webshop.analyzer import terms
from xplearn_webshop.catalogue import open_catalogue
from xplearn_webshop.postings import IndexBuilder, coarse
from xplearn_webshop.search import Index

BUTTONS = ("back to search", "next >", "< prev")
SAID = "red blue cup cups plate chair table lamp garden kitchen wood metal glass easy clean soft large small set of for the"
WORDS = SAID.split()


def make_index(folder, texts, ranks=None):
    builder = IndexBuilder(folder)
    for text in texts:
        builder.add(text)
    ranks = np.arange(len(texts), dtype=np.int32) if ranks is None else ranks
    return Index(folder, size=len(texts), ranks=ranks, **builder.finish())


def plain_bm25(texts, query):
    """The formula in double precision, document by document."""
    documents = [Counter(terms(text)) for text in texts]
    lengths = np.array([document.total() for document in documents])
    held = int((lengths > 0).sum())
    average = lengths.sum() / held
    scores = [0.0] * len(texts)
    for term, repeats in Counter(terms(query)).items():
        with_term = sum(term in document for document in documents)
        idf = math.log(1 + (held - with_term + 0.5) / (with_term + 0.5))
        for number, document in enumerate(documents):
            if document[term]:
                norm = 0.9 * (0.6 + 0.4 * coarse(lengths)[number] / average)
                scores[number] += repeats * idf * document[term] / (document[term] + norm)
    return scores


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(3)
    return [" ".join(rng.choice(WORDS, size=int(rng.integers(0, 120)))) for _ in range(200)]


def test_scores_are_bm25_with_coarse_lengths(tmp_path, texts):
    index = make_index(tmp_path, texts)
    for query in ("red cup", "wood wood table", "glass lamps for the garden", "soft"):
        expected = plain_bm25(texts, query)
        found = index.search(query, 50)
        assert [expected[number] for number in found] == pytest.approx(sorted(expected, reverse=True)[: len(found)], rel=1e-6)
        assert len(found) == min(50, sum(score > 0 for score in expected))


def test_equal_scores_are_ordered_by_rank_also_where_the_list_is_cut(tmp_path):
    ranks = np.array([4, 2, 0, 3, 1], dtype=np.int32)
    index = make_index(tmp_path, ["one cup"] * 5, ranks)
    assert index.search("cup", 3) == [2, 4, 1]
    assert index.search("cup", 50) == [2, 4, 1, 3, 0]


def test_lengths_are_exact_to_forty_and_coarse_above():
    assert coarse(np.arange(41)).tolist() == list(range(41))
    assert coarse(np.array([41, 42, 56, 57, 60, 100, 151, 1000])).tolist() == [40, 42, 56, 56, 60, 96, 144, 984]


def test_an_index_built_in_many_runs_is_the_same(tmp_path, texts, monkeypatch):
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    whole = make_index(tmp_path / "one", texts)
    monkeypatch.setattr(postings, "_RUN", 100)
    monkeypatch.setattr(postings, "_MEMO", 5)
    pieces = make_index(tmp_path / "many", texts)
    for name in ("documents", "weights", "starts", "terms.offsets"):
        np.testing.assert_array_equal(np.load(tmp_path / "one" / f"{name}.npy"), np.load(tmp_path / "many" / f"{name}.npy"))
    assert whole.search("red garden lamp", 50) == pieces.search("red garden lamp", 50)
    assert not list((tmp_path / "many").glob("run*"))


@pytest.mark.parametrize("texts_", [[""], ["", "of the"], ["cup", ""]])
def test_documents_without_words_are_never_found(tmp_path, texts_):
    index = make_index(tmp_path, texts_)
    assert index.search("cup of the", 50) == [number for number, text in enumerate(texts_) if text == "cup"]


@pytest.mark.parametrize("query", ["", "   ", "the of and", "zzzz", "\ud800", "😀", "漢字", "[ ]", "<r>", "'; drop table", "\x00"])
def test_queries_without_a_hit_find_nothing(shop, query):
    assert open_catalogue(shop()).search(query) == ()


def test_very_long_queries_are_answered(shop):
    catalogue = open_catalogue(shop())
    assert catalogue.search("cup é☃ " * 14_000) == catalogue.search("cup") == ("B000000001",)
    assert catalogue.search("x" * 100_000) == ()


@pytest.mark.parametrize("kind", ["human", "synthetic"])
def test_every_recorded_search_gives_the_recorded_products_in_their_order(recorded, data_folder, kind):
    catalogue, pages = open_catalogue(str(data_folder)), 0
    for episode in recorded(kind):
        words = ""
        for step in episode["steps"]:
            action = step["action"] or ""
            if action.startswith("search["):
                words = action[len("search[") : action.rindex("]")].lower()
            if "/search_results/" in step["url"]:
                page = int(step["url"].rsplit("/", 1)[1])
                shown = [label for label in step["available"]["clickables"] if label not in BUTTONS]
                assert [asin.lower() for asin in catalogue.search(words)[10 * page - 10 : 10 * page]] == shown, words
                pages += 1
    assert pages == {"human": 15, "synthetic": 81}[kind]


def test_the_index_folder_holds_no_pickles(shop, cache_root):
    open_catalogue(shop())
    for path in cache_root.glob("webshop/*/*.npy"):
        np.load(path, allow_pickle=False)
    headers = [json.loads(path.read_bytes()) for path in cache_root.glob("webshop/*/header.json")]
    assert all(header["format"] == 1 for header in headers)
