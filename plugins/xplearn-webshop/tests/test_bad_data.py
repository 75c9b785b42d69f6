from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from xplearn_webshop import nouns as noun_ways
from xplearn_webshop import streaming
from xplearn_webshop.catalogue import open_catalogue
from xplearn_webshop.streaming import array, mapping

from xplearn import DataError

GOOD = json.dumps([{"asin": f"B{number}", "name": "x"} for number in range(5)]).encode()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("items_shuffle.json", b"", "ends too early"),
        ("items_shuffle.json", GOOD[:-1], "ends too early"),
        ("items_shuffle.json", GOOD[:-20], "ends too early|something else than JSON"),
        ("items_shuffle.json", b"{}", "is not a list"),
        ("items_shuffle.json", b"[]", "holds no products"),
        ("items_shuffle.json", b"[1]", "product 0 has no asin or no name"),
        ("items_shuffle.json", b'[{"asin": "B1"}]', "product 0 has no asin or no name"),
        ("items_shuffle.json", b'[{"name": "B1"}]', "product 0 has no asin or no name"),
        ("items_shuffle.json", GOOD + b" more", "goes on after its end"),
        ("items_shuffle.json", GOOD.replace(b", {", b" {", 1), "has no ','"),
        ("items_shuffle.json", b"[" * 200_000, "nests too deeply"),
        ("items_shuffle.json", b'["\xff"]', "cannot be read on"),
        ("items_shuffle.json", b"version https://git-lfs.github.com/spec/v1\n", "is not a list"),
        ("items_ins_v2.json", b"[]", "is not an object"),
        ("items_ins_v2.json", b"{}", "the file of instructions knows 0 of the 3 products"),
        ("items_ins_v2.json", b'{"B000000001": 3}', "the instructions of B000000001 are no dict"),
        ("items_ins_v2.json", b'{"B000000001" {}}', "has no ':'"),
        ("items_human_ins.json", b'{"B000000001": {}}', "the instructions of B000000001 are no list"),
        ("items_human_ins.json", b'{"B000000001": [1]}', "the instructions of B000000001 are no list"),
        ("items_human_ins.json", b"{}", "the instructions make no human goals; WebShop's setup.sh"),
        ("items_human_ins.json", b'{"B00000000X": [{"instruction_attributes": ["a"]}]}', "the instructions make no human goals"),
        *(
            ("name_nouns.json", f'{{"B000000001": {wrong}}}'.encode(), "lacks|are no list of words")
            for wrong in ("null", "3", '"cup"', "[1]", "{}")
        ),
        ("name_nouns.json", b"{}", "the file of nouns lacks B000000001 among others; it has 0 products"),
    ],
)
def test_damaged_files_are_refused_with_their_reason(shop, name, content, reason):
    with pytest.raises(DataError, match=reason) as caught:
        open_catalogue(shop(**{name: content})).goals("human")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["items_shuffle.json", "items_ins_v2.json"])
def test_a_missing_file_is_named_with_the_way_to_get_it(shop, name):
    with pytest.raises(DataError, match=f"holds no {name} or {name[:-5]}_1000.json; WebShop's setup.sh downloads"):
        open_catalogue(shop(**{name: None}))


def test_a_missing_folder_is_named_with_the_way_to_get_it():
    with pytest.raises(DataError, match=r"^/no/such/place: there is no such folder; WebShop's setup\.sh downloads"):
        open_catalogue("/no/such/place")


def test_without_human_instructions_there_are_synthetic_goals_only(shop):
    catalogue = open_catalogue(shop(**{"items_human_ins.json": None}))
    assert len(catalogue.goals("synthetic")) == 5
    with pytest.raises(DataError, match=r"there is no items_human_ins\.json for human goals"):
        catalogue.goals("human")


def test_instructions_of_another_size_are_refused_with_counts(shop, make_item):
    products = [make_item(f"C{number}") for number in range(10)] + [make_item("B000000001")]
    with pytest.raises(DataError, match="knows 1 of the 11 products: it is one of another size, or partial"):
        open_catalogue(shop(**{"items_shuffle.json": products}), nouns="words")


@pytest.mark.parametrize("cut", ["items_shuffle_1000.json", "items_human_ins.json"])
def test_a_partial_copy_of_the_published_set_is_refused_with_counts(data_folder, tmp_path, cut):
    for path in data_folder.glob("*.json"):
        shutil.copy(path, tmp_path)
    whole = json.loads((data_folder / cut).read_text())
    part = whole[:990] if isinstance(whole, list) else dict(list(whole.items())[:9])
    (tmp_path / cut).write_text(json.dumps(part))
    reason = "990 products instead of 1,000" if isinstance(whole, list) else "9 human goals instead of 13"
    with pytest.raises(DataError, match=reason):
        open_catalogue(str(tmp_path))


@pytest.mark.parametrize("path", ["~no-such-user-here/shop", "x" * 5000])
def test_impossible_paths_are_one_line(shop, path):
    for fields in ({"data": path}, {"data": shop(), "nouns": path}, {"data": shop(), "prices": path}):
        with pytest.raises(DataError, match="cannot be opened") as caught:
            open_catalogue(**fields)
        assert str(caught.value).startswith(f"{path}: ")


def test_a_folder_that_cannot_be_read_is_not_taken_for_an_empty_one(shop, monkeypatch):
    folder = shop()

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DataError, match=r"cannot be read \(Permission denied\)"):
        open_catalogue(folder)


@pytest.mark.parametrize("target", ["nowhere", "items_shuffle.json"])
def test_links_to_nothing_and_in_circles_are_one_line(shop, target):
    folder = Path(shop(**{"items_shuffle.json": None}))
    (folder / "items_shuffle.json").symlink_to(target)
    with pytest.raises(DataError, match=r"items_shuffle\.json: cannot be opened"):
        open_catalogue(str(folder))


def test_more_combinations_than_memory_are_refused(shop, make_item):
    many = {f"option {number}": [{"value": f"{value}"} for value in range(50)] for number in range(30)}
    with pytest.raises(DataError, match=r"^B000000001: its options combine in [\d,]+ ways, and more than 100,000,000 synthetic goals"):
        open_catalogue(shop(**{"items_shuffle.json": [make_item("B000000001", customization_options=many)]}))


def test_lone_surrogates_in_any_text_are_replaced(shop, make_item):
    fields = {"full_description": "\ud800", "customization_options": {"\ud800": [{"value": "\ud800"}]}}
    entry = {"attributes": ["\ud800"], "instruction": "\ud800", "instruction_attributes": ["\ud800"]}
    wish = {"instruction": "\ud800", "instruction_attributes": ["\ud800"], "instruction_options": ["\ud800"]}
    files = {
        "items_shuffle.json": [make_item("B000000001", "\ud800", **fields)],
        "items_ins_v2.json": {"B000000001": entry},
        "items_human_ins.json": {"B000000001": [wish]},
    }
    catalogue = open_catalogue(shop(**files))
    for shown in (catalogue.product("B000000001"), *catalogue.goals("synthetic"), *catalogue.goals("human")):
        assert repr(shown).count("\ufffd") > 2
        assert "ud800" not in repr(shown)


def test_both_sizes_in_one_folder_need_a_choice(shop):
    folder = Path(shop())
    shutil.copy(folder / "items_shuffle.json", folder / "items_shuffle_1000.json")
    with pytest.raises(DataError, match=r"holds items_shuffle\.json, items_shuffle_1000\.json: give data= the one file"):
        open_catalogue(str(folder))
    assert len(open_catalogue(str(folder / "items_shuffle.json"))) == 3


def test_a_cut_archive_is_refused(shop):
    folder = Path(shop(**{"items_shuffle.json": None}))
    (folder / "items_shuffle.json.gz").write_bytes(gzip.compress(GOOD)[:-12])
    with pytest.raises(DataError, match=r"items_shuffle\.json\.gz: cannot be read on"):
        open_catalogue(str(folder))


@pytest.mark.parametrize("what", ["items_shuffle.json", "prices.json"])
def test_a_damaged_archive_is_refused(shop, what):
    folder = Path(shop(**{"items_shuffle.json": None} if what == "items_shuffle.json" else {}))
    packed = bytearray(gzip.compress(os.urandom(10_000).hex().encode()))
    packed[3000:3010] = b"damaged..."
    (folder / f"{what}.gz").write_bytes(packed)
    with pytest.raises(DataError, match=r"\.json\.gz: (cannot be read on|cannot be read as JSON|is not a list)"):
        open_catalogue(str(folder), prices=str(folder / "prices.json.gz") if what == "prices.json" else "")


def test_without_nouns_both_ways_out_are_told(shop, monkeypatch):
    monkeypatch.setattr(noun_ways, "_MODELS", ("no_such_model",))
    with pytest.raises(DataError, match=r"nouns=FILE, or pip install 'xplearn-webshop\[spacy\]', or give nouns=words"):
        open_catalogue(shop(**{"name_nouns.json": None}))
    words = open_catalogue(shop(**{"name_nouns.json": None}), nouns="words")
    assert words.product("B000000003").nouns == ("garden", "chair")
    with pytest.raises(DataError, match="there is no such file of nouns"):
        open_catalogue(shop(), nouns="missing.json")


@pytest.mark.parametrize("chunk", [1, 2, 7, 1000])
def test_streams_give_the_same_whatever_their_window(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(streaming, "_CHUNK", chunk)
    values = [1, -2.5e3, 'a\\"ü☃', {"x": [1, {"y": None}], "": True}, [], {}, 12345678901234567890]
    path = tmp_path / "values.json"
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False), encoding="utf-8-sig")
    assert list(array(path)) == values
    entries = {f"k{number}": value for number, value in enumerate(values)}
    path.write_text(json.dumps(entries, indent=1))
    assert {name: json.loads(text) for name, text in mapping(path)} == entries
    path.write_text(" { } ")
    assert list(mapping(path)) == []


def test_a_value_that_never_closes_is_given_up_on(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_LONGEST", 10_000)
    monkeypatch.setattr(streaming, "_CHUNK", 1000)
    path = tmp_path / "values.json"
    path.write_text('["' + "x" * 100_000)
    with pytest.raises(DataError, match="something else than JSON"):
        list(array(path))
