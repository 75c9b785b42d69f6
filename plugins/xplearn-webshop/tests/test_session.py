from __future__ import annotations

import random
import re

import pytest
from xplearn_webshop import reward, text
from xplearn_webshop.actions import Request, read
from xplearn_webshop.records import Goal, Product
from xplearn_webshop.session import Session


def product(number, **fields):
    given = {
        "asin": f"B{number:09d}",
        "name": f"Mug {number}",
        "description": f"About mug {number}",
        "bullets": ("Round ",),
        "price_text": "$5.0",
        "category": "garden",
        "query": "mugs",
        "product_category": "Kitchen › Mugs",
    }
    return Product(**(given | fields))


PRODUCTS = [
    product(0, options={"color": ("red", "blue"), "size": ("big", "it's big")}),
    product(1, options={"color": ("red",), "trim": ("red", "description", "next >")}),
    *(product(number) for number in range(2, 25)),
]
MUG = "click[b000000000]"


class Shop:
    def __init__(self):
        self.searched = []

    def product(self, asin):
        return next(product for product in PRODUCTS if product.asin == asin)

    def search(self, words, k=50):
        self.searched.append(words)
        return tuple(product.asin for product in PRODUCTS) if "mug" in words else ()


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setattr(reward, "score", lambda *given: reward.Score(value=0.75, parts={"bought": given[2], "options": dict(given[3])}))
    goal = Goal(index=7, asin="B000000000", instruction="buy a mug", attributes=(), options=(), price_upper=10.0)
    return Session(Shop(), goal, "original")


def visit(session, *actions):
    for action in actions:
        assert session.take(read(action)), action
    return session.page


def place(page):
    return page.url.removeprefix("http://127.0.0.1:3000")


@pytest.mark.parametrize(
    ("action", "request_"),
    [
        ("search[Red MUG]", Request("search", "red mug")),
        ("search[x] because I want it", Request("search", "x")),
        ("click[Buy Now]", Request("click", "buy now")),
        ("click[ buy now ]", Request("click", " buy now ")),
        ("search[ ]", Request("search", " ")),
        ("search[x]]", Request("search", "x]")),
        ("search[]x]", Request("search", "]x")),
        ("search[x][", Request("search", "x")),
        ("search[x]\nand more", Request("search", "x")),
        *((action, None) for action in ("search[]", "search[", "[x]", "Search[x]", " search[x]", "I search[x]", "think[hm]", "")),
        *((action, None) for action in ("search[a [b] c]", "search[[x]]", "search[a\nb]", "\nsearch[x]", "search[x][y]", "search x")),
    ],
)
def test_actions_are_read_as_the_original_reads_them(action, request_):
    assert read(action) == request_


def test_reading_equals_the_greedy_pattern_on_any_arrangement_of_brackets():
    pattern, draw = re.compile(r"(.+)\[(.+)\]"), random.Random(5)
    for _ in range(20_000):
        action = "click" * draw.randrange(2) + "".join(draw.choices("[]ab \n", k=draw.randrange(9)))
        match = pattern.match(action)
        expected = Request("click", match[2]) if match and match[1] == "click" else None
        assert read(action) == expected, action


def test_a_hundred_thousand_brackets_are_read_at_once():
    assert read("[" * 100_000) is None
    assert read("search" + "[]" * 50_000) is None


@pytest.mark.parametrize("action", ["think[hm]", "click[nothing]", "click[search]", "click[< prev]", "click[Next >]", "search[]"])
def test_what_is_no_request_here_leaves_the_page(session, action):
    before = session.page
    assert session.take(read(action)) is False
    assert session.page is before


def test_search_shows_ten_hits_a_page_and_next_runs_on_for_ever(session):
    pages = [visit(session, "search[mug]"), *(visit(session, "click[next >]") for _ in range(4))]
    shown = [sum(label.startswith("b0") for label in page.clickables) for page in pages]
    assert shown == [10, 10, 5, 0, 0]
    assert place(pages[4]) == "/search_results/7/mug/5"
    assert "Page 5 (Total results: 25)" in text.plain(pages[4])
    assert list(pages[4].clickables) == ["back to search", "< prev", "next >"]
    assert session._catalogue.searched == ["mug"]


def test_empty_searches_have_a_page_too(session):
    page = visit(session, "search[ ]")
    assert place(page) == "/search_results/7/+/1"
    assert "Page 1 (Total results: 0) [SEP] Next >" in text.plain(page)
    assert list(page.clickables) == ["back to search", "next >"]


def test_words_reach_search_and_address_in_lower_case_with_every_blank(session):
    page = visit(session, "search[Big  MUG/cup 50% & é?]")
    assert session._catalogue.searched == ["big  mug/cup 50% & é?"]
    assert place(page) == "/search_results/7/big++mug/cup+50%+&+é?/1"


def test_lone_surrogates_are_replaced(session):
    page = visit(session, "search[mug \ud800]")
    page.url.encode()
    assert session._catalogue.searched == ["mug \ufffd"]


def test_item_address_holds_options_as_json_and_other_pages_as_python_writes_them(session):
    page = visit(session, "search[mug]", MUG, "click[it's big]", "click[red]")
    assert place(page) == '/item_page/7/B000000000/mug/1/{"size": "it\'s big", "color": "red"}'
    assert place(visit(session, "click[Features]")) == "/item_sub_page/7/B000000000/mug/1/Features/{'size': \"it's big\", 'color': 'red'}"
    assert place(visit(session, "click[< prev]", "click[buy now]")) == "/done/7/B000000000/{'size': \"it's big\", 'color': 'red'}"
    assert session.bought.parts == {"bought": "B000000000", "options": {"size": "it's big", "color": "red"}}


def test_choosing_again_keeps_the_place_of_an_option(session):
    page = visit(session, "search[mug]", MUG, "click[red]", "click[big]", "click[blue]", "click[blue]")
    assert place(page).endswith('{"color": "blue", "size": "big"}')


def test_previous_keeps_options_on_details_and_wipes_them_on_the_item(session):
    visit(session, "search[mug]", "click[next >]", "click[< prev]", MUG, "click[red]")
    assert place(visit(session, "click[reviews]", "click[< prev]")).endswith('/1/{"color": "red"}')
    assert place(visit(session, "click[< prev]", MUG)).endswith("/1/{}")


def test_previous_on_an_item_opens_the_results_page_it_was_found_on(session):
    visit(session, "search[mug]", "click[next >]", "click[b000000012]")
    assert place(visit(session, "click[< prev]")) == "/search_results/7/mug/2"


def test_back_to_search_forgets_what_was_looked_at_and_a_new_search_does_not(session):
    visit(session, "search[mug]", MUG)
    assert "[clicked button] B000000000" in text.rich(visit(session, "search[blue mug]"))
    assert "clicked" not in text.rich(visit(session, "click[back to search]", "search[mug]"))


def test_search_is_possible_from_any_page(session):
    way = ("search[cup]", "search[mug]", MUG, "click[description]")
    for count in range(len(way) + 1):
        assert place(visit(session, *way[:count], "search[mug again]")) == "/search_results/7/mug+again/1"


def test_of_equal_values_of_two_options_the_later_is_meant(session):
    page = visit(session, "search[mug]", "click[b000000001]", "click[red]")
    assert place(page).endswith('{"trim": "red"}')
    assert text.rich(page).count("[clicked button] red") == 2


def test_a_value_named_like_a_details_button_opens_the_details(session):
    assert visit(session, "search[mug]", "click[b000000001]", "click[description]").kind == "details"


def test_a_value_named_like_a_button_of_another_page_is_chosen(session):
    page = visit(session, "search[mug]", "click[b000000001]", "click[next >]")
    assert place(page) == '/item_page/7/B000000001/mug/1/{"trim": "next >"}'


def test_quoted_words_mark_values_as_chosen_as_in_the_original(session):
    page = visit(session, 'search[mug "red"]', MUG)
    assert text.rich(page).startswith("You have clicked red.\n")


def test_words_named_like_a_place_mislead_previous_as_in_the_original(session):
    visit(session, "search[mug search_results]", MUG)
    page = visit(session, "click[< prev]")
    assert place(page) == "/search_results/7/mug+search_results/0"
    assert list(page.clickables) == ["back to search", "next >"]


def test_the_receipt_has_nothing_to_click(session):
    page = visit(session, "search[mug]", MUG, "click[buy now]")
    assert (page.kind, session.bought.value, dict(page.clickables)) == ("done", 0.75, {})
    assert "[SEP] 0.75 [SEP]" in text.plain(page)
