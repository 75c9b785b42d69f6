"""What every selector must do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import pytest

from xplearn.interfaces import ExperienceStore, Selector
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts.component import ComponentContract
from xplearn.types import Query, Selection

_SPACE = "store.space:"


def fill(store: ExperienceStore, agent: FakeAgent, selector: Selector, count: int = 12) -> None:
    """Write sample experiences, with vectors of their keys in every space that the selector requires."""
    spaces = [capability.removeprefix(_SPACE) for capability in sorted(selector.requires) if capability.startswith(_SPACE)]
    for space in spaces:
        store.open_space(space, encoder=agent.encoder.id, dim=agent.encoder.dim)
    experiences = [samples.experience(number) for number in range(count)]
    vectors = agent.encoder.encode([experience.key for experience in experiences])
    store.add(experiences, dict.fromkeys(spaces, vectors))


class SelectorContract(ComponentContract):
    """Reads only, repeats itself, and never shows a task its own solution."""

    @pytest.fixture
    def selector(self, make: Callable[[], Selector], agent: FakeAgent) -> Iterator[Selector]:
        """The selector, set up, over the bank of ``agent``."""
        part = make()
        part.setup(agent)
        yield part
        part.close()

    @pytest.fixture
    def acting(self, selector: Selector, agent: FakeAgent) -> Selector:
        """The selector over a filled bank; skips where it does not act."""
        if "selector.act" not in selector.provides:
            pytest.skip("does not select for acting")
        fill(agent.store, agent, selector)
        return selector

    @pytest.fixture
    def studying(self, selector: Selector, agent: FakeAgent) -> Selector:
        """The selector over a filled bank; skips where it does not choose what to study."""
        if "selector.study" not in selector.provides:
            pytest.skip("does not select for study")
        fill(agent.store, agent, selector)
        return selector

    def test_provides_a_purpose(self, make: Callable[[], Selector]) -> None:
        assert make().provides & {"selector.act", "selector.study"}

    def test_one_sound_selection_per_query(self, acting: Selector, agent: FakeAgent) -> None:
        queries = _queries()
        selections = acting.select(queries, agent.store)
        assert len(selections) == len(queries)
        for selection in selections:
            ids = [experience.id for experience in selection.experiences]
            assert len(set(ids)) == len(ids) == len(selection.scores)
            assert agent.store.get(ids) == list(selection.experiences)

    def test_no_queries_give_no_selections(self, acting: Selector, agent: FakeAgent) -> None:
        assert acting.select([], agent.store) == []

    def test_empty_store_gives_empty_selections(self, selector: Selector, agent: FakeAgent) -> None:
        if "selector.act" in selector.provides:
            assert selector.select(_queries(), agent.store) == [Selection()] * len(_queries())
        if "selector.study" in selector.provides:
            assert selector.select([_study(())], agent.store) == [Selection()]

    def test_same_queries_give_same_selections(self, acting: Selector, make: Callable[[], Selector], agent: FakeAgent) -> None:
        first = acting.select(_queries(), agent.store)
        assert acting.select(_queries(), agent.store) == first
        other = make()
        other.setup(agent)
        assert other.select(_queries(), agent.store) == first
        other.close()

    def test_a_selection_does_not_depend_on_its_neighbours(self, acting: Selector, agent: FakeAgent) -> None:
        together = acting.select(_queries(), agent.store)
        assert [acting.select([query], agent.store)[0] for query in _queries()] == together

    def test_experience_of_the_task_at_hand_is_never_shown(self, acting: Selector, agent: FakeAgent) -> None:
        for query, selection in zip(_queries(), acting.select(_queries(), agent.store), strict=True):
            assert query.task.id not in [experience.task for experience in selection.experiences]

    def test_reads_only(self, acting: Selector, agent: FakeAgent) -> None:
        before = agent.store.digest(), agent.store.version
        with agent.store.frozen():
            acting.select(_queries(), agent.store)
        assert (agent.store.digest(), agent.store.version) == before

    def test_sees_what_was_written_since(self, acting: Selector, agent: FakeAgent) -> None:
        acting.select(_queries(), agent.store)
        agent.store.remove([experience.id for experience in agent.store])
        assert acting.select(_queries(), agent.store) == [Selection()] * len(_queries())

    def test_study_chooses_among_what_is_on_offer(self, studying: Selector, agent: FakeAgent) -> None:
        offer = ("experience-3", "experience-5", "experience-8")
        (selection,) = studying.select([_study(offer)], agent.store)
        chosen = [experience.id for experience in selection.experiences]
        assert set(chosen) <= set(offer)
        assert len(set(chosen)) == len(chosen) == len(selection.scores)
        assert studying.select([_study(offer)], agent.store) == [selection]


def _queries() -> list[Query]:
    return [samples.query(number) for number in (0, 3, 5, 40)]


def _study(candidates: tuple[str, ...]) -> Query:
    return dataclasses.replace(samples.query(0), purpose="study", candidates=candidates)
