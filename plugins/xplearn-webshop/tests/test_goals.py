from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest
from xplearn_webshop import catalogue as catalogues
from xplearn_webshop.catalogue import open_catalogue
from xplearn_webshop.prices import NO_LIMIT, drawn_limit, drawn_price

from xplearn import DataError


def load_file(folder, kind):
    with gzip.open(folder / "oracle" / f"{kind}_goals_prices.json.gz") as file:
        return json.load(file)


def written(goal):
    """A goal as the recordings write it."""
    options = dict(goal.options) if kind_of(goal) == "synthetic" else list(goal.options)
    return {
        "index": goal.index,
        "asin": goal.asin,
        "instruction_text": goal.instruction,
        "attributes": list(goal.attributes),
        "price_upper": goal.price_upper,
        "goal_options": options,
        "weight": goal.weight,
    }


def kind_of(goal):
    return "human" if isinstance(goal.options, tuple) else "synthetic"


@pytest.mark.parametrize(("kind", "count", "known"), [("human", 13, 13), ("synthetic", 6910, 700)])
def test_goals_are_those_of_the_original_in_its_order(data_folder, kind, count, known):
    catalogue = open_catalogue(str(data_folder), prices=str(data_folder / "oracle" / f"{kind}_goals_prices.json.gz"))
    load = load_file(data_folder, kind)
    goals = catalogue.goals(kind)
    assert len(goals) == count
    assert [written(goal) for goal in goals[:known]] == load["goals"]
    assert all(goal.price_upper > catalogue.price(goal.asin) for goal in goals)
    assert {asin: catalogue.price(asin) for asin in load["prices"]} == load["prices"]


def test_without_a_load_only_prices_and_limits_differ(data_folder):
    load = load_file(data_folder, "synthetic")
    drawn = open_catalogue(str(data_folder)).goals("synthetic")
    same = ("index", "asin", "attributes", "goal_options", "weight")
    assert [[written(goal)[name] for name in same] for goal in drawn[:700]] == [[row[name] for name in same] for row in load["goals"]]
    equal = sum(goal.price_upper == row["price_upper"] for goal, row in zip(drawn, load["goals"], strict=False))
    assert 0.1 < equal / 700 < 0.6


def test_all_goals_of_one_wish_share_the_recorded_limit(data_folder):
    load = load_file(data_folder, "synthetic")
    recorded = {row["asin"]: row["price_upper"] for row in load["goals"]}
    path = str(data_folder / "oracle" / "synthetic_goals_prices.json.gz")
    goals = open_catalogue(str(data_folder), prices=path).goals("synthetic")
    assert all(goal.price_upper == recorded[goal.asin] for goal in goals if goal.asin in recorded)
    assert any(goal.asin not in recorded for goal in goals)


def test_a_synthetic_goal_names_one_value_of_every_option_in_the_order_of_names(shop):
    catalogue = open_catalogue(shop())
    goals = catalogue.goals("synthetic")
    assert len(goals) == 5
    assert Counter(goal.asin for goal in goals) == {"B000000001": 4, "B000000003": 1}
    combinations = {tuple(goal.options.items()) for goal in goals if goal.asin == "B000000001"}
    assert combinations == {(("color", c), ("size", s)) for c in ("heather | blue", "royal blue") for s in ("small", "large")}
    told = {goal.instruction for goal in goals}
    limit = next(goal.price_upper for goal in goals if goal.asin == "B000000001")
    assert f"Find me dishwasher safe cups with color: royal blue, and size: large, and price lower than {limit:.2f} dollars" in told
    assert [goal.weight for goal in goals if goal.asin == "B000000003"] == [1.0]
    assert [goal.weight for goal in goals if goal.asin == "B000000001"] == [0.25] * 4


def test_a_human_goal_keeps_values_without_names_and_loses_its_dot(shop):
    (goal,) = open_catalogue(shop()).goals("human")
    assert goal.instruction == f"i want a blue cup, and price lower than {goal.price_upper:.2f} dollars"
    assert (goal.options, goal.attributes, goal.weight) == (("heather | blue", "small"), ("hand made",), 1.0)


def test_indices_slices_and_ends(shop):
    goals = open_catalogue(shop()).goals("synthetic")
    assert [goal.index for goal in goals] == list(range(5))
    assert goals[-1] == goals[4]
    assert [goal.index for goal in goals[1:3]] == [1, 2]
    for index in (5, -6):
        with pytest.raises(IndexError, match="there are 5 goals"):
            goals[index]


def test_drawn_prices_and_limits_depend_on_nothing_but_their_key(shop):
    folder = shop()
    first, again, other = (open_catalogue(folder, price_seed=seed) for seed in (0, 0, 1))
    assert again is first
    assert first.price("B000000001") == other.price("B000000001") == 12.5
    assert 5.0 <= first.price("B000000002") <= 8.0
    assert first.price("B000000002") != other.price("B000000002")
    assert first.digest != other.digest
    assert drawn_price((8.0, 5.0), 0, "X") == drawn_price((8.0, 5.0), 0, "X")
    assert 5 <= drawn_price((8.0, 5.0), 0, "X") <= 8


def test_a_limit_is_the_larger_of_two_of_the_next_four_tens():
    drawn = Counter(drawn_limit(12.5, seed, "X", 0) for seed in range(600))
    assert set(drawn) == {30.0, 40.0, 50.0}
    assert drawn[30.0] < drawn[40.0] < drawn[50.0]
    assert drawn_limit(20.0, 0, "X", 0) > 30
    assert {drawn_limit(975.0, seed, "X", 0) for seed in range(20)} == {990.0}
    assert drawn_limit(985.0, 0, "X", 0) == drawn_limit(5000, 0, "X", 0) == NO_LIMIT


def test_no_limit_no_clause(shop, make_item):
    entry = {"attributes": ["fine"], "instruction": "Find me a fine thing", "instruction_attributes": ["fine"]}
    data = {"items_shuffle.json": [make_item("A1", pricing="$4,999.00")], "items_ins_v2.json": {"A1": entry}, "name_nouns.json": {"A1": []}}
    (goal,) = open_catalogue(shop(**data)).goals("synthetic")
    assert (goal.instruction, goal.price_upper) == ("Find me a fine thing", NO_LIMIT)


def test_splits_are_disjoint_by_product_and_about_seventy_fifteen_fifteen(data_folder):
    catalogue = open_catalogue(str(data_folder))
    assert catalogue.split_rule.startswith("by product")
    split_of = {}
    for goal in catalogue.goals("synthetic"):
        assert split_of.setdefault(goal.asin, goal.split) == goal.split
    shares = Counter(split_of.values())
    assert shares["train"] / 415 == pytest.approx(0.70, abs=0.06)
    assert shares["dev"] / 415 == pytest.approx(0.15, abs=0.05)
    assert shares["test"] / 415 == pytest.approx(0.15, abs=0.05)


def test_the_official_splits_hold_for_the_full_set_only(shop, monkeypatch):
    folder = shop()
    assert [goal.split for goal in open_catalogue(folder).goals("synthetic")] != ["test"] * 5
    monkeypatch.setattr(catalogues, "_FULL_PRODUCTS", 2)
    monkeypatch.setattr(catalogues, "_FULL_GOALS", 1)
    catalogue = open_catalogue(folder, price_seed=77)
    assert catalogue.split_rule.startswith("official")
    assert [goal.split for goal in catalogue.goals("synthetic")] == ["test"] * 5


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_the_form_of_a_file_of_prices_does_not_matter(shop, tmp_path, suffix):
    folder = shop()
    drawn = open_catalogue(folder)
    prices = dict.fromkeys(("B000000001", "B000000002", "B000000003"), 20.0)
    row = {**written(drawn.goals("human")[0]), "price_upper": 60.0}
    raw = json.dumps({"prices": prices, "goals": [row]}).encode()
    path = tmp_path / f"load{suffix}"
    path.write_bytes(gzip.compress(raw) if suffix == ".json.gz" else raw)
    catalogue = open_catalogue(folder, prices=str(path))
    assert catalogue.goals("human")[0].price_upper == 60.0
    assert catalogue.price("B000000002") == 20.0
    assert catalogue.digest == catalogues._digest(catalogue._header["digest"], catalogues.Load(str(path)), 0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"asin": "B000000003"}, "its goal 0 is for B000000003, the data's for B000000001: it belongs to other data"),
        ({"goal_options": ["royal blue"]}, "it belongs to other data"),
        ({"attributes": ["other"]}, "it belongs to other data"),
        ({"index": 7}, "has a goal 7, but the data make 1 such goals"),
        *(({"price_upper": wrong}, "is no file of prices and goals") for wrong in ("much", None, float("nan"), float("inf"), 10**400)),
        *(({"index": wrong}, "is no file of prices and goals") for wrong in ("0", 0.5, None)),
        ({"goal_options": None}, "it belongs to other data"),
    ],
)
def test_a_load_of_other_data_is_refused(shop, tmp_path, change, reason):
    folder = shop()
    row = {**written(open_catalogue(folder).goals("human")[0]), **change}
    path = tmp_path / "load.json"
    path.write_text(json.dumps({"prices": dict.fromkeys(("B000000001", "B000000002", "B000000003"), 1.0), "goals": [row]}))
    with pytest.raises(DataError, match=reason):
        open_catalogue(folder, prices=str(path))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged or cut"),
        (b"[1, 2]", "is no file of prices and goals"),
        (b'{"prices": {"B000000001": 1}}', "has no price for 2 of 3 products"),
        (b'{"prices": {"B000000001": "x"}}', "is no file of prices and goals"),
        (b'{"goals": []}', "is no file of prices and goals"),
        (b"\xff\xfe", "damaged or cut"),
    ],
)
def test_a_damaged_load_is_refused(shop, tmp_path, content, reason):
    path = tmp_path / "load.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=reason):
        open_catalogue(shop(), prices=str(path))
    with pytest.raises(DataError, match="there is no such file of prices"):
        open_catalogue(shop(), prices=str(tmp_path / "none.json"))
