"""A little shop written for these tests, and the published data where they are at hand."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("XPLEARN_TEST_DATA", Path(__file__).parents[4] / "shared" / "data")) / "webshop"


@pytest.fixture(scope="session")
def cache_root(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module", autouse=True)
def _own_cache(cache_root):
    """Compiled data of these tests stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XPLEARN_CACHE", str(cache_root))
        yield


@pytest.fixture(scope="session")
def data_folder():
    """The published 1,000 products and the recorded episodes."""
    if not DATA.is_dir():
        reason = f"the published WebShop data are not in {DATA}; set XPLEARN_TEST_DATA to the folder that holds webshop/"
        if os.environ.get("CI") == "true":
            pytest.fail(f"needed in CI: {reason}")
        pytest.skip(reason)
    return DATA


@pytest.fixture(scope="session")
def recorded(data_folder):
    """Recorded episodes: ``recorded(kind)``."""

    def read(kind):
        with gzip.open(data_folder / "oracle" / f"{kind}_traces.jsonl.gz", "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    return read


def item(asin, name="Plain Cup", **changes):
    """A product in the published schema."""
    return {
        "asin": asin,
        "name": name,
        "full_description": "It holds tea.",
        "small_description": ["Made of clay.", "Dishwasher safe."],
        "pricing": "$12.50",
        "images": ["https://pictures.example/cup.jpg"],
        "product_category": "Home › Kitchen › Cups",
        "customization_options": "",
        "category": "garden",
        "query": "Tea Cups",
        "page": 1,
        "average_rating": "",
        **changes,
    }


def values(*names):
    return [{"value": name, "image": None, "is_available": True} for name in names]


LITTLE = {
    "items_shuffle.json": [
        item(
            "B000000001",
            "Blue Cup",
            customization_options={"Color": values("Heather/Blue", " Royal Blue "), "Size": values("Small", "Large")},
        ),
        item("B000000002", "Red Plate", pricing="$5.00$8.00", query="plates", product_category="Home › Kitchen › Plates"),
        item("B000000003", "Garden Chair", pricing="", query="chairs", product_category="Outdoor › Seats"),
    ],
    "items_ins_v2.json": {
        "B000000001": {
            "attributes": ["dishwasher safe", "hand made"],
            "instruction": "Find me dishwasher safe cups",
            "instruction_attributes": ["dishwasher safe"],
        },
        "B000000002": {"attributes": []},
        "B000000003": {"attributes": ["easy care"], "instruction": "Find me an easy care chair", "instruction_attributes": ["easy care"]},
    },
    "items_human_ins.json": {
        "B000000001": [
            {
                "instruction": "i want a blue cup.",
                "instruction_attributes": ["hand made"],
                "instruction_options": ["heather | blue", "small"],
            },
            {"instruction": "something nice", "instruction_attributes": [], "instruction_options": []},
        ]
    },
    "name_nouns.json": {"B000000001": ["cup"], "B000000002": ["plate"], "B000000003": ["garden", "chair"]},
}


@pytest.fixture(scope="session")
def make_item():
    """A product in the published schema: ``make_item(asin, name, **changes)``."""
    return item


@pytest.fixture
def shop(tmp_path):
    """Writes a little shop's files and gives the folder: ``shop(**{"items_shuffle.json": …})``; None leaves a file out."""

    def write(**changes):
        folder = tmp_path / f"shop{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        for name, content in {**LITTLE, **changes}.items():
            if content is not None:
                raw = content if isinstance(content, bytes) else json.dumps(content).encode()
                (folder / name).write_bytes(raw)
        return str(folder)

    return write
