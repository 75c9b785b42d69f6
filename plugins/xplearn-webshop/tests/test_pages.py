from __future__ import annotations

import pytest
from xplearn_webshop import pages, text
from xplearn_webshop.records import Product

SHIRT = Product(
    asin="B0SHIRT001",
    name="Shirt & Tie <Set>",
    description="",
    bullets=("Cotton ", "", " \n ", "&amp; stays"),
    price_text="$9.99 to $11.5",
    category="fashion",
    query="shirts",
    product_category="Clothing › Shirts",
    options={"color": ("red", "blue | grey"), "size": ('28" x 28"', "größe 5")},
)
URL = "http://127.0.0.1:3000/item_page/3/B0SHIRT001/shirt/1/{}"


def item(options):
    return pages.item_page(URL.format(options), "buy a shirt", SHIRT)


def test_first_page_in_both_forms():
    page = pages.search_page("http://127.0.0.1:3000/3", "buy a shirt")
    assert text.plain(page) == "WebShop [SEP] Instruction: [SEP] buy a shirt [SEP] Search"
    assert text.rich(page) == "WebShop\nInstruction: \nbuy a shirt\n[button] Search [button_]\n"
    assert page.available == {"has_search_bar": True, "clickables": ["search"]}


def test_only_pages_after_the_first_have_a_way_back():
    first = pages.results_page("u", "i", [SHIRT], number=1, total=50)
    second = pages.results_page("u", "i", [SHIRT], number=2, total=50)
    assert first.available["clickables"] == ["back to search", "next >", "b0shirt001"]
    assert second.available["clickables"] == ["back to search", "< prev", "next >", "b0shirt001"]
    assert "Page 2 (Total results: 50) [SEP] < Prev [SEP] Next > [SEP] B0SHIRT001 [SEP] Shirt & Tie <Set> [SEP]" in text.plain(second)


def test_products_looked_at_before_show_so_without_a_line_on_top():
    page = pages.results_page("u", "i", [SHIRT], number=1, total=1, seen={"B0SHIRT001"})
    assert "\n\n[clicked button] B0SHIRT001 [clicked button_]\nShirt" in text.rich(page)
    assert text.rich(page).startswith("Instruction:\n")


def test_options_come_name_first_and_are_clicked_last():
    page = item({})
    assert page.available["clickables"][5:] == ["buy now", "red", "blue | grey", '28" x 28"', "größe 5"]
    assert "color [SEP] red [SEP] blue | grey [SEP] size [SEP]" in text.plain(page)
    assert "Price: $9.99 to $11.5 [SEP] Rating: N.A. [SEP] Description [SEP] Features" in text.plain(page)


def test_chosen_options_show_in_rich_text_last_one_on_top_and_never_in_plain_text():
    chosen = item('{"color": "red", "size": "blue | grey"}')
    assert text.rich(chosen).startswith("You have clicked blue | grey.\nYou have clicked red.\nInstruction:\n")
    assert "\n  [clicked button] red [clicked button_]\n" in text.rich(chosen)
    assert text.plain(chosen) == text.plain(item("{}"))


@pytest.mark.parametrize("value", ['{"size": "28\\" x 28\\""}', '{"size": "gr\\u00f6\\u00dfe 5"}'])
def test_values_that_look_otherwise_in_the_address_never_show_as_chosen(value):
    assert "clicked" not in text.rich(item(value))


def test_blank_pieces_shrink_to_a_space_or_vanish_with_a_line_break():
    features = pages.details_page("u", "i", SHIRT, "Features")
    assert text.rich(features).endswith("[button] < Prev [button_]\n Cotton \n \n &amp; stays\n")
    assert text.plain(features).endswith("< Prev [SEP] Cotton [SEP]  [SEP] &amp; stays")


@pytest.mark.parametrize("which", ["Description", "Reviews"])
def test_empty_details_have_nothing_but_the_buttons(which):
    page = pages.details_page("u", "i", SHIRT, which)
    assert text.plain(page) == "Instruction: [SEP] i [SEP] Back to Search [SEP] < Prev"
    assert page.available == {"has_search_bar": False, "clickables": ["back to search", "< prev"]}


def test_receipt_names_options_sorted_and_safe_for_markup():
    page = pages.done_page("u", "B0SHIRT001", {"size": "<l> & 'xl'", "color": "red"}, 2 / 3)
    assert 'options\n{"color": "red", "size": "\\u003cl\\u003e \\u0026 \\u0027xl\\u0027"}\nattrs\nNone\n' in text.rich(page)
    assert "Your score (min 0.0, max 1.0) [SEP] 0.6666666666666666 [SEP] Reward Details [SEP] None" in text.plain(page)
    assert page.available["clickables"] == []
