from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import chain
from math import prod

import pytest
from xplearn_webshop import own
from xplearn_webshop.catalogue import open_catalogue
from xplearn_webshop.reward import ceiling, score, wanted_options

DIGEST = "7e16813b49fcc8b2"


@cache
def products():
    return own.products()


@cache
def by_asin():
    return {product["asin"]: product for product in products()}


@cache
def wishes():
    return list(chain.from_iterable(own.human().values()))


@cache
def shop():
    return open_catalogue()


@cache
def goals(kind):
    return list(shop().goals(kind))


def features(product):
    told = product["small_description"]
    return told if isinstance(told, list) else [told]


def text(product):
    return " ".join([product["name"], product["full_description"], *features(product)])


def share(wanted):
    found = [bool(each) for each in wanted]
    return sum(found) / len(found)


def test_the_catalogue_is_the_same_everywhere():
    parts = [own.products(), own.attributes(), own.human(), own.nouns()]
    again = "import json; from xplearn_webshop import own; print(json.dumps([own.products(), own.attributes(), own.human(), own.nouns()]))"
    there = subprocess.run([sys.executable, "-c", again], capture_output=True, text=True, check=True).stdout.strip()
    assert there == json.dumps(parts)
    assert hashlib.blake2b(there.encode(), digest_size=8).hexdigest() == DIGEST


def test_callers_may_change_what_they_get():
    own.products()[0]["name"] = "changed"
    own.attributes()[products()[0]["asin"]]["attributes"].append("changed")
    assert own.products() == products()
    assert "changed" not in own.attributes()[products()[0]["asin"]]["attributes"]


def test_there_are_399_products_of_57_types_in_five_categories():
    assert len(products()) == len(by_asin()) == len({product["name"] for product in products()}) == 399
    assert Counter(product["category"] for product in products()) == {
        "beauty": 84,
        "electronics": 84,
        "garden": 84,
        "fashion": 84,
        "grocery": 63,
    }
    assert set(Counter(product["query"] for product in products()).values()) == {7}
    assert len({product["query"] for product in products()}) == 57


def test_products_have_the_schema_of_the_original():
    for product in products():
        assert list(product) == [
            "name",
            "full_description",
            "small_description",
            "pricing",
            "images",
            "product_category",
            "average_rating",
            "customization_options",
            "asin",
            "category",
            "query",
            "page",
        ]
        assert re.fullmatch(r"XP[0-9A-Z]{8}", product["asin"])
        assert re.fullmatch(r"|\$\d+\.\d\d|\$\d+\.\d\d\$\d+\.\d\d", product["pricing"])
        assert len(product["product_category"].split(" › ")) >= 3
        assert 1 <= len(features(product)) <= 5
        assert product["images"] == [""]
        assert product["average_rating"] == ""
        assert isinstance(product["page"], int)
        for values in (product["customization_options"] or {}).values():
            assert all(value.keys() == {"value", "image", "is_available"} for value in values)
            assert len({value["value"] for value in values}) == len(values) >= 2


def test_titles_are_short_and_plain():
    assert all(45 <= len(product["name"]) <= 90 for product in products())
    assert all(product["name"].isascii() and "  " not in product["name"] for product in products())


def test_texts_are_plain_ascii_sentences_without_addresses():
    for product in products():
        told = text(product)
        assert told.isascii()
        assert not re.search(r"http|www\.|//|\.com|<|>|\[|\]|  ", told)
        assert all(sentence.endswith(".") and sentence[0].isupper() for sentence in [product["full_description"], *features(product)])


def test_proportions_are_those_of_the_published_thousand():
    assert share(not entry["attributes"] for entry in own.attributes().values()) == pytest.approx(0.185, abs=0.03)
    assert share(product["customization_options"] for product in products()) == pytest.approx(0.42, abs=0.05)
    assert share(not product["pricing"] for product in products()) == pytest.approx(0.09, abs=0.03)
    assert share(product["pricing"].count("$") == 2 for product in products()) == pytest.approx(0.09, abs=0.03)


def test_the_quirks_of_real_data_are_there():
    values = [
        [value["value"] for value in values] for product in products() for values in (product["customization_options"] or {}).values()
    ]
    assert sum("/" in value for value in chain.from_iterable(values)) >= 4
    assert sum('"' in value for value in chain.from_iterable(values)) >= 10
    assert 2 <= sum(isinstance(product["small_description"], str) for product in products()) <= 16
    ranges = [[float(end) for end in product["pricing"].split("$")[1:]] for product in products() if product["pricing"].count("$") == 2]
    assert 1 <= sum(low > high for low, high in ranges) <= 6


def test_a_value_that_two_options_share_belongs_to_products_without_goals():
    shared = []
    for product in products():
        counts = Counter(value["value"] for values in (product["customization_options"] or {}).values() for value in values)
        shared += [product["asin"]] if max(counts.values(), default=0) > 1 else []
    assert len(shared) == 2
    assert not any(own.attributes()[asin]["attributes"] or asin in own.human() for asin in shared)


def test_no_product_has_more_than_twelve_combinations():
    combinations = [prod(len(values) for values in (product["customization_options"] or {}).values()) for product in products()]
    assert max(combinations) <= 12


def test_a_text_states_what_the_product_promises_and_nothing_else():
    known = {name for entry in own.attributes().values() for name in entry["attributes"]}
    for asin, entry in own.attributes().items():
        told = text(by_asin()[asin]).lower()
        assert {name for name in known if name in told} == set(entry["attributes"]), asin


def test_nouns_are_words_of_the_title():
    for asin, nouns in own.nouns().items():
        title = by_asin()[asin]["name"]
        words = re.findall(r"[a-z]+", title.lower())
        assert set(nouns) <= set(words)
        assert nouns[0] == words[0]
        assert len(nouns) >= 3
    assert own.nouns().keys() == by_asin().keys()
    assert share("free" not in nouns and "with" not in nouns for nouns in own.nouns().values()) == 1


def test_every_product_with_promises_has_customers():
    assert own.human().keys() == {asin for asin, entry in own.attributes().items() if entry["attributes"]}
    assert 600 <= len(wishes()) <= 750


def test_customers_speak_in_many_voices():
    texts = [wish["instruction"] for wish in wishes()]
    assert len(set(texts)) == len(texts)
    assert all(told == told.lower() and told.isascii() and not told.endswith((".", " ", ",")) and "  " not in told for told in texts)
    assert len({" ".join(told.split()[:2]) for told in texts}) > 20
    assert max(Counter(len(told.split()) for told in texts).values()) < len(texts) / 6
    assert not any(re.search(r"\ba [aeio]|\ban [^aeiou]", told) for told in texts)


def test_customers_want_what_their_product_promises_and_offers():
    promised = own.attributes()
    for wish in wishes():
        assert wish["attributes"] == promised[wish["asin"]]["attributes"]
        assert 1 <= len(set(wish["instruction_attributes"]) & set(wish["attributes"])) == len(wish["instruction_attributes"]) <= 3
        assert [option.split(": ")[1] for option in wish["options"]] == wish["instruction_options"]
        assert all(value in wish["instruction"] for value in wish["instruction_options"])
        assert len(wish["instruction_options"]) <= 2


def test_synthetic_instructions_have_the_form_of_the_original():
    entries = [entry for entry in own.attributes().values() if "instruction" in entry]
    assert len(entries) > 300
    for entry in entries:
        assert entry["instruction"].startswith("Find me ")
        assert all(name in entry["instruction"] for name in entry["instruction_attributes"])


@pytest.mark.parametrize("kind", ["human", "synthetic"])
@pytest.mark.parametrize("mode", ["original", "strict"])
def test_every_goal_can_be_met_in_full(kind, mode):
    assert {ceiling(shop(), goal, mode) for goal in goals(kind)} == {1.0}


def test_goals_are_a_few_hundred_and_a_thousand():
    assert len(goals("human")) == len(wishes())
    assert 700 <= len(goals("synthetic")) <= 2500


@pytest.mark.parametrize("kind", ["human", "synthetic"])
def test_splits_share_no_product(kind):
    sold = {split: {goal.asin for goal in goals(kind) if goal.split == split} for split in ("train", "dev", "test")}
    assert all(len(asins) > 30 for asins in sold.values())
    assert not sold["train"] & sold["dev"] | sold["train"] & sold["test"] | sold["dev"] & sold["test"]


def test_the_search_finds_the_product_but_not_always_first():
    found = [shop().search(wish["instruction"], 50) for wish in wishes()]
    ranks = [hits.index(wish["asin"]) if wish["asin"] in hits else 50 for hits, wish in zip(found, wishes(), strict=True)]
    assert max(ranks) < 50
    assert share(rank < 10 for rank in ranks) >= 0.95
    assert 0.5 <= share(rank == 0 for rank in ranks) <= 0.7


def test_buying_at_random_is_worth_little():
    luck = random.Random(0)
    asins = sorted(by_asin())
    values = [score(shop(), goal, luck.choice(asins), {}, "original").value for goal in goals("human")]
    assert sum(values) / len(values) < 0.1


def test_the_right_product_without_its_options_is_not_enough():
    values = [score(shop(), goal, goal.asin, {}, "original").value for goal in goals("human") if goal.options]
    assert max(values) <= 0.8
    assert sum(values) / len(values) < 0.7


def test_a_wrong_value_is_not_enough():
    values = []
    for goal in goals("human"):
        product, chosen = shop().product(goal.asin), wanted_options(shop().product(goal.asin), goal)
        for name, value in chosen.items():
            others = [other for other in product.options[name] if other != value]
            values += [score(shop(), goal, goal.asin, chosen | {name: other}, "original").value for other in others]
    assert share(value < 1 for value in values) > 0.98


def test_another_product_of_the_type_is_hardly_ever_as_good():
    values = []
    for goal in goals("human"):
        query = by_asin()[goal.asin]["query"]
        for product in products():
            if product["query"] == query and product["asin"] != goal.asin:
                wanted = goal.options
                offered = shop().product(product["asin"]).options
                chosen = {name: value for name, values in offered.items() for value in values if value in wanted}
                values.append(score(shop(), goal, product["asin"], chosen, "original").value)
    assert share(value == 1 for value in values) < 0.01
    assert 0.2 < sum(values) / len(values) < 0.6
