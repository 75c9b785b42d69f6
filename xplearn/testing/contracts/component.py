"""What every part must do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from xplearn.testing.agents import FakeAgent


class ComponentContract:
    """A part is a data class of its configuration, says what it provides, and can be closed at any time."""

    @pytest.fixture
    def make(self) -> Callable[[], Any]:
        """A function that builds a new part. Override it."""
        raise NotImplementedError("override the fixture 'make': return a function that builds a new part")

    @pytest.fixture
    def agent(self) -> Iterator[FakeAgent]:
        """The agent that the part is set up with."""
        with FakeAgent() as agent:
            yield agent

    def test_configuration_is_a_keyword_only_dataclass(self, make: Callable[[], Any]) -> None:
        part = make()
        assert dataclasses.is_dataclass(part)
        assert all(field.kw_only for field in dataclasses.fields(part))

    def test_capabilities_are_sets_of_dotted_names(self, make: Callable[[], Any]) -> None:
        part = make()
        for capabilities in (part.provides, part.requires):
            assert isinstance(capabilities, frozenset)
            assert all("." in capability for capability in capabilities)

    def test_ways_out_are_lines_for_what_it_requires(self, make: Callable[[], Any]) -> None:
        part = make()
        assert part.ways_out.keys() <= part.requires
        assert all(line and "\n" not in line for line in part.ways_out.values())

    def test_can_be_closed_without_setup_and_twice(self, make: Callable[[], Any]) -> None:
        part = make()
        part.close()
        part.close()

    def test_state_is_plain_and_can_be_loaded_by_a_new_part(self, make: Callable[[], Any], agent: FakeAgent) -> None:
        first, second = make(), make()
        try:
            first.setup(agent)
            second.setup(agent)
            state = first.state_dict()
            assert all(isinstance(name, str) for name in state)
            second.load_state_dict(state)
            assert sorted(second.state_dict()) == sorted(state)
        finally:
            first.close()
            second.close()
