from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from xplearn_webshop import html, pages, text
from xplearn_webshop.records import Product

NASTY = Product(
    asin="B0NASTY001",
    name="<script>alert(1)</script> & \"co\" 'n'",
    description="a\n</p><img src=x onerror=alert(1)>\x00\ud800",
    bullets=("one ", "", "two"),
    price_text="$1.0",
    category="fashion",
    query="shirts",
    product_category="Clothing",
    options={"size": ('28" x 28"', "a & b", "'"), "color": ("red",)},
)
PAGES = {
    "search": pages.search_page("u/3", "buy <b>it</b> & go"),
    "results": pages.results_page("u", "buy it", [NASTY, NASTY], number=2, total=12, seen={"B0NASTY001"}),
    "no results": pages.results_page("u", "buy it", [], number=1, total=0),
    "item": pages.item_page('u/{"color": "red"}', "buy it", NASTY),
    "description": pages.details_page("u", "buy it", NASTY, "Description"),
    "features": pages.details_page("u", "buy it", NASTY, "Features"),
    "done": pages.done_page("u", "B0NASTY001", {"size": "a & b"}, 0.5),
}


class Reader(HTMLParser):
    """Visible text nodes, tags and the actions of buttons; checks that tags are closed in order."""

    VOID = ("meta", "input")

    def __init__(self, document):
        super().__init__()
        self.open, self.seen, self.tags, self.actions, self.texts = [], [], [], [], []
        self.feed(document)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "button" and dict(attributes).get("name") == "action":
            self.actions.append(dict(attributes)["value"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "title"} & set(self.open):
            self.texts.append(data)


@pytest.mark.parametrize("name", PAGES)
def test_visible_text_is_that_of_the_plain_text(name):
    shown = " [SEP] ".join(piece.strip() for piece in Reader(html.document(PAGES[name])).texts)
    assert shown == re.sub("[\x00\ud800]", "\ufffd", text.plain(PAGES[name]))


@pytest.mark.parametrize("name", PAGES)
def test_every_label_is_a_button_that_posts_its_click(name):
    page = PAGES[name]
    reader = Reader(html.document(page))
    labels = [label for label in page.clickables if label != "search"]
    assert set(reader.actions) == {f"click[{label}]" for label in labels}
    forms = [attributes for tag, attributes in reader.tags if tag == "form"]
    assert {(form["method"], form["action"]) for form in forms} <= {("post", "/act")}
    assert len(forms) >= len(labels)


def test_search_box_posts_words_and_a_template():
    inputs = [attributes for tag, attributes in Reader(html.document(PAGES["search"])).tags if tag == "input"]
    assert {"type": "hidden", "name": "template", "value": "search[%s]"} in inputs
    assert [box["name"] for box in inputs if box["type"] == "search"] == ["text"]
    assert all("aria-label" in box for box in inputs if box["type"] == "search")


@pytest.mark.parametrize("name", PAGES)
def test_nothing_runs_nothing_is_fetched_and_all_can_be_written(name):
    document = html.document(PAGES[name])
    reader = Reader(document)
    tags = {tag for tag, _ in reader.tags}
    assert not tags & {"script", "img", "link", "iframe", "object", "a"}
    assert not {key for _, attributes in reader.tags for key in attributes} & {"src", "href", "style", "onclick", "onerror"}
    assert "http" not in document
    assert "url(" not in document
    document.encode()


@pytest.mark.parametrize("name", PAGES)
def test_document_has_language_title_main_and_top_heading(name):
    reader = Reader(html.document(PAGES[name]))
    tags = [tag for tag, _ in reader.tags]
    assert tags[0] == "html"
    assert reader.tags[0][1] == {"lang": "en"}
    assert tags.count("title") == tags.count("main") == 1
    assert tags.count("h1") == (0 if PAGES[name].kind == "details" else 1)


def test_chosen_options_are_pressed_buttons():
    tags = Reader(html.document(PAGES["item"])).tags
    pressed = {attributes["value"]: attributes["aria-pressed"] for tag, attributes in tags if "aria-pressed" in attributes}
    assert pressed == {'click[28" x 28"]': "false", "click[a & b]": "false", "click[']": "false", "click[red]": "true"}
