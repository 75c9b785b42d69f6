from __future__ import annotations

import gzip
import itertools
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import pytest
from xplearn_webshop import build, compiled, loading
from xplearn_webshop.catalogue import open_catalogue
from xplearn_webshop.parsing import options_of, prices_of
from xplearn_webshop.streaming import array

from xplearn import DataError


def test_the_published_set_has_its_published_counts(data_folder):
    catalogue = open_catalogue(str(data_folder))
    assert catalogue.counts == {"products": 1000, "human goals": 13, "synthetic goals": 6910} == {**loading.COUNTS_OF_1000}
    assert len(catalogue) == 1000
    products = [catalogue.product(raw["asin"]) for raw in array(data_folder / "items_shuffle_1000.json")]
    assert sum(not product.attributes for product in products) == 185
    assert sum(any(product.options.values()) for product in products) == 423
    assert sum(len(product.prices) == 2 for product in products) == 93
    assert sum(product.prices[0] > product.prices[-1] for product in products) == 3
    assert sum(product.price_text == "$100.0" for product in products) == 89


def test_a_product_has_the_form_of_the_pages(shop):
    product = open_catalogue(shop()).product("B000000001")
    assert product.options == {"color": ("heather | blue", "royal blue"), "size": ("small", "large")}
    assert (product.name, product.price_text, product.prices, product.query) == ("Blue Cup", "$12.5", (12.5,), "tea cups")
    assert product.bullets == ("Made of clay.", "Dishwasher safe.")
    assert (product.attributes, product.nouns) == (("dishwasher safe", "hand made"), ("cup",))
    assert open_catalogue(shop()).product("B000000002").price_text == "$5.0 to $8.0"


def test_what_is_there_and_what_is_not(shop):
    catalogue = open_catalogue(shop())
    assert "B000000001" in catalogue
    assert all(name not in catalogue for name in ("b000000001", "", "B00000000", "B000000001\x00", "B" * 1000, "\ud800", None, 3))
    for name in ("b000000001", "", "Z" * 5000):
        with pytest.raises(KeyError):
            catalogue.product(name)


@pytest.mark.parametrize(
    ("pricing", "prices"),
    [
        ("$9.99", (9.99,)),
        ("$1,299.00", (1299.0,)),
        ("$9.99$11.99", (9.99, 11.99)),
        ("$23.99 to $21.59", (23.99, 21.59)),
        ("$5.99 ($0.50 / Ounce) $1", (5.99, 0.5)),
        ("", (100.0,)),
        (None, (100.0,)),
        ("9.99", (100.0,)),
        ("$", (100.0,)),
        ("$free", (100.0,)),
        ("$1.2.3$4", (4.0,)),
        ("$" + "9" * 500, (100.0,)),
        (7, (7.0,)),
        (["$3"], (3.0,)),
        (True, (100.0,)),
    ],
)
def test_prices_are_read_as_the_original_reads_them_and_odd_ones_are_none(pricing, prices):
    assert prices_of(pricing) == prices


@pytest.mark.parametrize(
    ("raw", "options"),
    [
        ("", {}),
        (None, {}),
        ([{"value": "x"}], {}),
        ({"Color": None, "SIZE": [{"value": " A/B "}]}, {"size": ("a | b",)}),
        ({"Color": []}, {"color": ()}),
        ({"Color": ["Red", {"value": 3}, {}, None]}, {"color": ("red", "3", "", "")}),
    ],
)
def test_options_are_lower_case_with_spaced_bars(raw, options):
    assert options_of(raw) == options


def test_hostile_products_stay_data(shop, make_item):
    odd = [
        make_item("B1", "<script>alert(1)</script> & 'x' ☃ \ud800", small_description="one text", images=None),
        make_item("B2", "Ünïcode 漢字 Tasse", small_description=[], images=[], full_description=None),
        {"asin": "B3", "name": None},
        make_item("nan"),
        make_item("B0000000012345"),
        make_item("b1", "the first of an id is kept"),
        make_item("B4", "DROP TABLE", customization_options={"'; --": [{"value": "../../etc"}]}, query=3, category=["x"]),
    ]
    described = {asin: {"attributes": None} for asin in ("B1", "B2", "B3", "B4")}
    catalogue = open_catalogue(shop(**{"items_shuffle.json": odd, "items_ins_v2.json": described}), nouns="words")
    assert len(catalogue) == 4
    first = catalogue.product("B1")
    assert (first.name, first.bullets, first.image) == ("<script>alert(1)</script> & 'x' ☃ \ufffd", ("one text",), "")
    assert catalogue.product("B3").name == ""
    assert (catalogue.product("B2").description, catalogue.product("B2").bullets) == ("", ())
    assert catalogue.product("B4").options == {"'; --": ("..  | ..  | etc".replace("  |", " |"),)}
    assert catalogue.search("script ☃") == ("B1",)
    assert catalogue.search("字") == ("B2",)
    assert catalogue.counts["synthetic goals"] == 0


def test_the_same_arguments_give_the_same_object(shop):
    folder = shop()
    assert open_catalogue(folder) is open_catalogue(folder)
    assert open_catalogue(folder) is not open_catalogue(folder, nouns="words")


def test_the_digest_is_that_of_the_content_wherever_and_however_it_is_stored(shop, tmp_path):
    plain, packed = Path(shop()), tmp_path / "packed"
    packed.mkdir()
    for number, path in enumerate(sorted(plain.iterdir())):
        pack, ending = ((gzip.compress, ".gz"), (lzma.compress, ".xz"))[number % 2]
        (packed / f"{path.name}{ending}").write_bytes(pack(path.read_bytes()))
    assert open_catalogue(str(packed)).digest == open_catalogue(str(plain)).digest
    assert open_catalogue(str(plain), nouns="words").digest != open_catalogue(str(plain)).digest
    nouns = tmp_path / "nouns.json"
    nouns.write_text(json.dumps({"B000000001": ["cup"], "B000000002": ["plate"], "B000000003": ["garden", "chair"]}))
    assert open_catalogue(str(plain), nouns=str(nouns)).digest == open_catalogue(str(plain)).digest


def test_changed_files_are_compiled_again(shop, make_item):
    folder = shop()
    before = open_catalogue(folder)
    (Path(folder) / "items_shuffle.json").write_text(json.dumps([make_item("B000000001", "Green Mug")]))
    after = open_catalogue(folder)
    assert (before.product("B000000001").name, after.product("B000000001").name) == ("Blue Cup", "Green Mug")
    assert before.digest != after.digest


def folder_of(data):
    from xplearn_webshop.nouns import tagger

    source = loading.files(data)
    return compiled.compiled(source, tagger("", source))[0]


@pytest.mark.parametrize("damage", ["cut", "byte", "gone", "header", "old", "empty"])
def test_a_damaged_or_older_cache_is_built_anew(shop, damage):
    data = shop()
    folder = folder_of(data)
    target = folder / "products.bin"
    good = target.read_bytes()
    match damage:
        case "cut":
            target.write_bytes(good[:-3])
        case "byte":
            target.write_bytes(bytes([good[0] ^ 1]) + good[1:])
        case "gone":
            (folder / "weights.npy").unlink()
        case "header":
            (folder / "header.json").write_bytes(b'{"format": 1, "files": ')
        case "old":
            header = json.loads((folder / "header.json").read_bytes())
            (folder / "header.json").write_text(json.dumps({**header, "format": 0}))
        case "empty":
            shutil.rmtree(folder)
            folder.mkdir()
    assert folder_of(data) == folder
    assert target.read_bytes() == good
    assert [path.name for path in folder.parent.iterdir() if path.is_dir() and path.name[0] == "."] == []


def test_a_build_that_fails_leaves_nothing_behind(shop, cache_root):
    before = set(cache_root.rglob("*"))
    with pytest.raises(DataError):
        open_catalogue(shop(**{"items_shuffle.json": b'[{"asin": "B1", "name": "x"}, {"as'}))
    assert {path for path in set(cache_root.rglob("*")) - before if path.suffix != ".lock"} == set()


SEARCH = """
from xplearn_webshop.catalogue import open_catalogue
catalogue = open_catalogue({!r})
print(catalogue.digest, *catalogue.search("cup chair"), len(catalogue.goals("synthetic")))
"""


def test_processes_that_start_together_all_end_well_and_agree(shop, tmp_path):
    environ = {**os.environ, "XPLEARN_CACHE": str(tmp_path / "fresh")}
    code = SEARCH.format(shop())
    started = [subprocess.Popen([sys.executable, "-c", code], env=environ, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    told = {process.communicate(timeout=300)[0] for process in started}
    assert [process.returncode for process in started] == [0] * 4
    assert len(told) == 1
    assert len([path for path in (tmp_path / "fresh" / "webshop").iterdir() if path.is_dir()]) == 1


def test_without_a_writable_cache_small_data_work_and_large_data_say_what_to_set(shop, tmp_path, monkeypatch, capsys):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("XPLEARN_CACHE", str(blocked / "cache"))
    assert len(open_catalogue(shop())) == 3
    assert "set XPLEARN_CACHE" in capsys.readouterr().err
    monkeypatch.setattr(compiled, "_LARGE", 10)
    with pytest.raises(DataError, match=r"cannot be written .*; set XPLEARN_CACHE"):
        open_catalogue(shop())


def test_without_any_folder_to_write_to_the_error_says_what_to_set(shop, tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.touch()
    monkeypatch.setattr(tempfile, "tempdir", str(blocked))
    monkeypatch.setenv("XPLEARN_CACHE", str(blocked))
    with pytest.raises(DataError, match=r"cannot be written .*; set XPLEARN_CACHE .*; nor can a temporary folder") as caught:
        open_catalogue(shop())
    assert len(str(caught.value).splitlines()) == 1
    monkeypatch.setenv("XPLEARN_CACHE", "~no-such-user-here/cache")
    with pytest.raises(DataError, match=r"^~no-such-user-here/cache: cannot be opened"):
        open_catalogue(shop())


def test_long_builds_say_what_they_do(shop, monkeypatch, capsys):
    clock = itertools.count(0, 3)
    monkeypatch.setattr(build, "time", types.SimpleNamespace(monotonic=lambda: next(clock)))
    open_catalogue(shop())
    assert "(once): 3 products read" in capsys.readouterr().err


def test_short_builds_say_nothing(shop, capsys, monkeypatch):
    monkeypatch.setattr(build, "time", types.SimpleNamespace(monotonic=lambda: 0))
    open_catalogue(shop())
    assert capsys.readouterr().err == ""


def test_the_own_catalogue_has_goals_that_can_be_met():
    catalogue = open_catalogue(price_seed=5)
    assert 300 <= len(catalogue) <= 500
    for kind in ("human", "synthetic"):
        goals = catalogue.goals(kind)
        split_of = {}
        assert {goal.split for goal in goals} == {"train", "dev", "test"}
        assert all(split_of.setdefault(goal.asin, goal.split) == goal.split for goal in goals)
        assert all(catalogue.price(goal.asin) <= goal.price_upper for goal in goals)


def test_what_a_killed_build_left_is_removed_by_the_next(shop):
    data = shop()
    folder = folder_of(data)
    left = folder.with_name(f".{folder.name}.killed")
    shutil.copytree(folder, left)
    shutil.rmtree(folder)
    assert folder_of(data) == folder
    assert not left.exists()
