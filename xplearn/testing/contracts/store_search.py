"""What every bank must do with vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from xplearn.errors import ContractError
from xplearn.interfaces import ExperienceStore
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts.component import ComponentContract

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIM = 8
Stores = Callable[[], ExperienceStore]


def unit(count: int, *, dim: int = DIM, seed: int = 0) -> NDArray[np.float32]:
    """Random unit vectors ``[count, dim]``, float32."""
    rows = np.random.default_rng(seed).normal(size=(count, dim))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def fill(store: ExperienceStore, count: int, *, first: int = 0) -> NDArray[np.float32]:
    """Add sample experiences with vectors in the space ``key``; returns the vectors."""
    vectors = unit(count, seed=first)
    store.open_space("key", encoder="e/8", dim=DIM)
    store.add([samples.experience(first + i) for i in range(count)], {"key": vectors})
    return vectors


class StoreSearchContract(ComponentContract):
    """Spaces that remember their encoder, and exact search in them."""

    @pytest.fixture
    def new_store(self, make: Callable[[], ExperienceStore], agent: FakeAgent) -> Iterator[Stores]:
        """Builds empty stores, set up, and closes them at the end."""
        built: list[ExperienceStore] = []

        def new() -> ExperienceStore:
            built.append(make())
            built[-1].setup(agent)
            return built[-1]

        yield new
        for store in built:
            store.close()

    @pytest.fixture
    def store(self, new_store: Stores) -> ExperienceStore:
        """One empty store."""
        return new_store()

    def test_space_remembers_encoder_and_dimension(self, store: ExperienceStore) -> None:
        fill(store, 1)
        store.open_space("other", encoder="f/4", dim=4)
        assert store.spaces() == {"key": ("e/8", DIM), "other": ("f/4", 4)}
        for encoder, dim in (("f/4", DIM), ("e/8", 4)):
            with pytest.raises(ContractError, match=rf"e/8.*8.*{encoder}.*{dim}"):
                store.open_space("key", encoder=encoder, dim=dim)

    def test_experience_may_have_no_vector(self, store: ExperienceStore) -> None:
        vectors = fill(store, 1)
        store.add([samples.experience(1)])
        assert [id for id, _ in store.search("key", vectors, 5)[0]] == ["experience-0"]
        with pytest.raises(ContractError, match="experience-1"):
            store.vectors("key", ["experience-1"])

    def test_a_space_names_those_in_it_in_order(self, store: ExperienceStore) -> None:
        fill(store, 4)
        store.add([samples.experience(5)])
        store.remove(["experience-1"])
        assert store.ids("key") == ExperienceStore.ids(store, "key") == ["experience-0", "experience-2", "experience-3"]
        store.open_space("other", encoder="f/4", dim=4)
        assert store.ids("other") == []
        with pytest.raises(ContractError, match="nowhere"):
            store.ids("nowhere")

    def test_vectors_come_back_as_given(self, store: ExperienceStore) -> None:
        vectors = fill(store, 6)
        ids = [f"experience-{number}" for number in (5, 0, 3, 0)]
        found = store.vectors("key", ids)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, vectors[[5, 0, 3, 0]])
        assert store.vectors("key", []).shape == (0, DIM)

    @pytest.mark.parametrize(
        "bad",
        [unit(2, dim=4), unit(3), unit(2)[0], np.full((2, DIM), np.nan), np.full((2, DIM), np.inf), [["a"] * DIM] * 2],
        ids=["width", "rows", "rank", "nan", "inf", "text"],
    )
    def test_unfit_vectors_are_refused_and_nothing_is_written(self, store: ExperienceStore, bad: Any) -> None:
        fill(store, 1)
        before = store.digest(), store.version
        with pytest.raises(ContractError, match="key"):
            store.add([samples.experience(7), samples.experience(8)], {"key": bad})
        assert (store.digest(), store.version) == before

    def test_unopened_space_is_named(self, store: ExperienceStore) -> None:
        fill(store, 1)
        with pytest.raises(ContractError, match="summary"):
            store.add([samples.experience(1)], {"summary": unit(1)})
        with pytest.raises(ContractError, match="summary"):
            store.search("summary", unit(1), 1)
        assert len(store) == 1

    def test_search_finds_what_a_full_comparison_finds(self, store: ExperienceStore) -> None:
        vectors = fill(store, 300)
        queries = unit(40, seed=99)
        scores = queries.astype(np.float64) @ vectors.astype(np.float64).T
        for row, hits in enumerate(store.search("key", queries, 7)):
            best = np.argsort(-scores[row], kind="stable")[:7]
            assert [id for id, _ in hits] == [f"experience-{number}" for number in best]
            np.testing.assert_allclose([score for _, score in hits], scores[row, best], atol=1e-6)

    def test_a_hit_does_not_depend_on_the_other_queries(self, store: ExperienceStore) -> None:
        fill(store, 300)
        queries = unit(40, seed=99)
        together = store.search("key", queries, 5)
        assert [store.search("key", queries[row : row + 1], 5)[0] for row in range(40)] == together

    def test_ties_come_in_order_of_insertion(self, store: ExperienceStore) -> None:
        store.open_space("key", encoder="e/8", dim=DIM)
        same = np.repeat(unit(1), 200, axis=0)
        store.add([samples.experience(number) for number in range(200)], {"key": same})
        for count in (1, 30):
            hits = store.search("key", np.repeat(same[:1], count, axis=0), 3, exclude=[{"experience-1"}] * count)
            assert [[id for id, _ in found] for found in hits] == [["experience-0", "experience-2", "experience-3"]] * count

    def test_excluded_entries_are_not_found(self, store: ExperienceStore) -> None:
        vectors = fill(store, 50)
        most = [f"experience-{number}" for number in range(45)]
        hits = store.search("key", vectors[:3], 3, exclude=[most, (), {"experience-2", "elsewhere"}])
        assert {id for id, _ in hits[0]} <= {f"experience-{number}" for number in range(45, 50)}
        assert [len(found) for found in hits] == [3, 3, 3]
        assert hits[1][0][0] == "experience-1"
        assert hits[2][0][0] != "experience-2"
        assert store.search("key", vectors[:1], 3, exclude=[[experience.id for experience in store]]) == [[]]

    def test_k_may_exceed_the_space(self, store: ExperienceStore) -> None:
        vectors = fill(store, 3)
        assert [len(hits) for hits in store.search("key", vectors, 10)] == [3, 3, 3]
        assert store.search("key", vectors, 0) == [[], [], []]
        assert store.search("key", vectors[:0], 2) == []

    def test_empty_space_finds_nothing(self, store: ExperienceStore) -> None:
        store.open_space("key", encoder="e/8", dim=DIM)
        assert store.search("key", unit(2), 3) == [[], []]

    def test_unfit_queries_are_refused(self, store: ExperienceStore) -> None:
        fill(store, 3)
        for bad in (unit(2, dim=4), unit(2)[0], np.full((1, DIM), np.nan)):
            with pytest.raises(ContractError, match="key"):
                store.search("key", bad, 1)
        with pytest.raises(ContractError, match="exclude"):
            store.search("key", unit(2), 1, exclude=[()])

    def test_search_sees_what_was_added_since(self, store: ExperienceStore) -> None:
        store.search("key", fill(store, 3), 1)
        later = fill(store, 3, first=10)
        assert [hits[0][0] for hits in store.search("key", later, 1)] == ["experience-10", "experience-11", "experience-12"]
