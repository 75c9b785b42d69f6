"""What every bank must do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from xplearn.errors import ContractError, RecordError
from xplearn.interfaces import ExperienceStore
from xplearn.testing import samples
from xplearn.testing.contracts.store_search import DIM, Stores, StoreSearchContract, fill
from xplearn.types import Experience

if TYPE_CHECKING:
    from numpy.typing import NDArray


class StoreContract(StoreSearchContract):
    """Experiences in order, exact search, and no half-done write."""

    def test_new_store_is_empty(self, store: ExperienceStore) -> None:
        assert len(store) == 0
        assert list(store) == []
        assert store.spaces() == {}
        assert "anything" not in store

    def test_keeps_order_and_content(self, store: ExperienceStore) -> None:
        added = [samples.experience(number) for number in (3, 1, 2)]
        store.add(added[:2])
        store.add(added[2:])
        assert list(store) == added
        assert len(store) == 3
        assert store.get(["experience-2", "experience-3"]) == [added[2], added[0]]
        assert "experience-1" in store
        assert 1 not in store

    def test_any_text_survives(self, store: ExperienceStore) -> None:
        text = "Tür 门 🚪 \x00 \ud800 <|im_end|> ' \" \\ \\u0041 \n\r"
        odd = Experience(id=text, kind=text, key=text, content=text, source=text, task=text, task_kind=text, meta={text: [text, None, 1.5]})
        store.add([odd])
        assert list(store) == [odd]
        assert text in store
        assert store.from_task(text) == {text}

    def test_taken_id_is_refused_and_nothing_is_written(self, store: ExperienceStore) -> None:
        fill(store, 2)
        before = store.digest()
        for batch in ([samples.experience(5), samples.experience(1)], [samples.experience(6), samples.experience(6)]):
            with pytest.raises(ContractError, match=r"experience-[16]"):
                store.add(batch)
            assert store.digest() == before

    def test_experience_that_is_no_json_is_refused_and_nothing_is_written(self, store: ExperienceStore) -> None:
        for bad in ({"meta": {"a": object()}}, {"outcome": float("nan")}, {"key": 3}):
            with pytest.raises(ContractError, match="experience-1"):
                store.add([samples.experience(0), dataclasses.replace(samples.experience(1), **bad)])
        assert len(store) == 0

    def test_unknown_id_is_named(self, store: ExperienceStore) -> None:
        fill(store, 1)
        for act in (lambda: store.get(["nobody"]), lambda: store.remove(["nobody"]), lambda: store.update("nobody", uses=1)):
            with pytest.raises(ContractError, match="nobody"):
                act()
        with pytest.raises(ContractError, match="nobody"):
            store.vectors("key", ["nobody"])

    def test_every_field_but_id_can_be_updated(self, store: ExperienceStore) -> None:
        fill(store, 2)
        new = Experience(
            id="experience-0",
            kind="card",
            key="k",
            content="c",
            source="s",
            task="t",
            task_kind="tk",
            outcome=0.5,
            utility=-2.5,
            uses=7,
            created=(3, 2, 1),
            meta={"x": [1]},
        )
        changes = {field.name: getattr(new, field.name) for field in dataclasses.fields(new) if field.name != "id"}
        store.update("experience-0", **changes)
        assert list(store) == [new, samples.experience(1)]
        assert store.from_task("t") == {"experience-0"}
        assert store.from_task(samples.task(0).id) == frozenset()

    def test_unknown_field_cannot_be_updated(self, store: ExperienceStore) -> None:
        fill(store, 1)
        with pytest.raises(ContractError, match=r"utilty.*utility"):
            store.update("experience-0", utilty=1.0)
        assert list(store) == [samples.experience(0)]

    def test_several_are_updated_as_one_by_one(self, store: ExperienceStore, new_store: Stores) -> None:
        fill(store, 3)
        fill(other := new_store(), 3)
        store.update_many({"experience-2": {"utility": 0.5, "uses": 3}, "experience-0": {"task": "t"}})
        other.update("experience-2", utility=0.5, uses=3)
        other.update("experience-0", task="t")
        assert list(store) == list(other)
        assert store.from_task("t") == {"experience-0"}
        before = store.version
        store.update_many({})
        assert store.version == before

    def test_several_of_which_one_cannot_be_updated_stay_as_they_were(self, store: ExperienceStore) -> None:
        fill(store, 2)
        for bad in ({"nobody": {"uses": 1}}, {"experience-1": {"utilty": 1.0}}, {"experience-1": {"id": "other"}}):
            with pytest.raises(ContractError, match=r"nobody|utilty|keeps its id"):
                store.update_many({"experience-0": {"uses": 1}, **bad})
        assert [experience.uses for experience in store] == [0, 0]

    def test_later_changes_to_what_was_given_or_returned_do_not_reach_the_store(self, store: ExperienceStore) -> None:
        meta: dict[str, Any] = {"list": [1]}
        store.add([dataclasses.replace(samples.experience(0), meta=meta)])
        meta["list"].append(2)
        dict(store.get(["experience-0"])[0].meta)["list"].append(3)
        assert store.get(["experience-0"])[0].meta == {"list": [1]}

    def test_remove_forgets_experience_and_vector(self, store: ExperienceStore) -> None:
        vectors = fill(store, 5)
        store.search("key", vectors, 1)
        store.remove(["experience-1", "experience-3"])
        assert [experience.id for experience in store] == ["experience-0", "experience-2", "experience-4"]
        np.testing.assert_array_equal(store.vectors("key", ["experience-4", "experience-0"]), vectors[[4, 0]])
        assert {hit for hits in store.search("key", vectors, 5) for hit, _ in hits} == {"experience-0", "experience-2", "experience-4"}

    def test_unknown_id_among_known_ones_removes_nothing(self, store: ExperienceStore) -> None:
        fill(store, 2)
        with pytest.raises(ContractError, match="nobody"):
            store.remove(["experience-0", "nobody"])
        assert len(store) == 2

    def test_removed_id_can_be_added_again_at_the_end(self, store: ExperienceStore) -> None:
        vectors = fill(store, 3)
        store.remove(["experience-2", "experience-0"])
        store.add([samples.experience(0)], {"key": vectors[2:]})
        assert [experience.id for experience in store] == ["experience-1", "experience-0"]
        np.testing.assert_array_equal(store.vectors("key", ["experience-0"]), vectors[2:])

    def test_from_task_names_the_experiences_of_a_task(self, store: ExperienceStore) -> None:
        fill(store, 3)
        store.add([dataclasses.replace(samples.experience(9), task=samples.task(1).id)])
        assert store.from_task(samples.task(1).id) == {"experience-1", "experience-9"}
        assert store.from_task("unheard of") == frozenset()

    def test_version_grows_with_every_write_and_only_then(self, store: ExperienceStore) -> None:
        versions = [store.version]
        vectors = fill(store, 2)
        versions.append(store.version)
        store.update("experience-0", uses=1)
        versions.append(store.version)
        store.remove(["experience-0"])
        versions.append(store.version)
        assert versions == sorted(set(versions))
        store.open_space("key", encoder="e/8", dim=DIM)
        store.search("key", vectors, 1)
        store.digest()
        assert store.version == versions[-1]

    def test_frozen_store_refuses_every_write(self, store: ExperienceStore, tmp_path: Path) -> None:
        vectors = fill(store, 2)
        store.snapshot(str(tmp_path / "copy"))
        before = store.digest()
        with store.frozen(), store.frozen():
            pass
        with store.frozen():
            with store.frozen():
                pass
            writes: list[Callable[[], None]] = [
                lambda: store.add([samples.experience(5)]),
                lambda: store.remove(["experience-0"]),
                lambda: store.update("experience-0", uses=1),
                lambda: store.update_many({"experience-0": {"uses": 1}}),
                lambda: store.open_space("new", encoder="e", dim=2),
                lambda: store.restore(str(tmp_path / "copy")),
            ]
            for write in writes:
                with pytest.raises(ContractError, match="frozen"):
                    write()
            store.open_space("key", encoder="e/8", dim=DIM)
            assert store.search("key", vectors, 1)
        assert store.digest() == before
        store.update("experience-0", uses=1)

    def test_store_thaws_after_an_error(self, store: ExperienceStore) -> None:
        with pytest.raises(KeyError), store.frozen():
            raise KeyError
        fill(store, 1)

    def test_digest_tells_content_apart(self, store: ExperienceStore, new_store: Stores) -> None:
        digests = {store.digest()}
        vectors = fill(store, 2)
        digests.add(store.digest())
        store.update("experience-0", utility=0.5)
        digests.add(store.digest())
        store.update("experience-0", utility=0.0)
        again = store.digest()
        assert again in digests
        for twist in ("order", "vector", "space"):
            digests.add(_twisted(new_store(), vectors, twist).digest())
        assert len(digests) == 6
        same = new_store()
        fill(same, 2)
        assert same.digest() == again

    def test_snapshot_restores_everything(self, store: ExperienceStore, new_store: Stores, tmp_path: Path) -> None:
        vectors = fill(store, 4)
        path = str(tmp_path / "deep" / "copy")
        store.snapshot(path)
        digest = store.digest()
        for target in (store, new_store()):
            fill(target, 3, first=20)
            target.search("key", vectors, 1)
            version = target.version
            target.restore(path)
            assert target.version > version
            assert target.digest() == digest
            assert list(target) == [samples.experience(number) for number in range(4)]
            assert [hits[0][0] for hits in target.search("key", vectors, 1)] == [f"experience-{number}" for number in range(4)]
            fill(target, 1, first=30)
        assert list(tmp_path.glob("deep/*")) == [tmp_path / "deep" / "copy"]

    def test_snapshot_replaces_an_older_one(self, store: ExperienceStore, new_store: Stores, tmp_path: Path) -> None:
        path = str(tmp_path / "copy")
        fill(store, 1)
        store.snapshot(path)
        fill(store, 1, first=1)
        store.snapshot(path)
        other = new_store()
        other.restore(path)
        assert len(other) == 2

    def test_missing_or_damaged_snapshot_changes_nothing(self, store: ExperienceStore, tmp_path: Path) -> None:
        fill(store, 2)
        before = store.digest()
        (tmp_path / "damaged").write_bytes(b"no snapshot at all" * 100)
        for name in ("missing", "damaged"):
            with pytest.raises(RecordError, match=name):
                store.restore(str(tmp_path / name))
        assert store.digest() == before

    def test_iteration_survives_writes(self, store: ExperienceStore) -> None:
        fill(store, 5)
        for experience in store:
            store.update(experience.id, uses=experience.uses + 1)
        assert [experience.uses for experience in store] == [1] * 5


def _twisted(store: ExperienceStore, vectors: NDArray[np.float32], twist: str) -> ExperienceStore:
    experiences, rows = [samples.experience(0), samples.experience(1)], vectors.copy()
    if twist == "order":
        experiences, rows = experiences[::-1], rows[::-1]
    if twist == "vector":
        rows[0, 0] += 0.5
    store.open_space("key", encoder="other" if twist == "space" else "e/8", dim=DIM)
    store.add(experiences, {"key": rows})
    return store
