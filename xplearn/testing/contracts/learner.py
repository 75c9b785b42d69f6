"""What every learner must do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from xplearn.interfaces import Learner
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts.component import ComponentContract
from xplearn.types import Trajectory

Agents = Callable[[], FakeAgent]


class LearnerContract(ComponentContract):
    """Learns the same from the same, and nothing from a broken episode."""

    @pytest.fixture
    def new_agent(self) -> Agents:
        """A function that builds an agent this learner can improve; always the same one. Override where the samples do not do."""
        return FakeAgent

    @pytest.fixture
    def agents(self, new_agent: Agents) -> Iterator[Agents]:
        """Builds agents, set up, and closes them at the end."""
        with ExitStack() as stack:
            yield lambda: stack.enter_context(new_agent())

    @pytest.fixture
    def agent(self, agents: Agents) -> FakeAgent:
        """One such agent."""
        return agents()

    @pytest.fixture
    def batch(self) -> list[Trajectory]:
        """What is learned from."""
        return [samples.trajectory(number) for number in range(4)]

    @pytest.fixture
    def learner(self, make: Callable[[], Learner], agent: FakeAgent) -> Iterator[Learner]:
        """The learner, set up with ``agent``."""
        part = make()
        part.setup(agent)
        yield part
        part.close()

    def test_plan_is_sound(self, make: Callable[[], Learner]) -> None:
        plan = make().plan()
        assert plan.replicas >= 1
        assert plan.arms
        assert set(plan.arms) <= {"experience", "plain"}
        assert plan.source in ("rollout", "demonstration", "both")

    def test_figures_are_finite_numbers(self, learner: Learner, agent: FakeAgent, batch: list[Trajectory]) -> None:
        figures = learner.learn(batch, agent)
        assert all(isinstance(name, str) and math.isfinite(value) for name, value in figures.items())

    def test_an_empty_batch_changes_nothing(self, learner: Learner, agent: FakeAgent) -> None:
        before = list(agent.store), agent.policy.version
        learner.learn([], agent)
        assert (list(agent.store), agent.policy.version) == before

    def test_broken_episodes_change_nothing(self, learner: Learner, agent: FakeAgent) -> None:
        before = list(agent.store), agent.policy.version
        learner.learn([samples.trajectory(number, error="the environment died") for number in range(2)], agent)
        assert (list(agent.store), agent.policy.version) == before

    def test_same_batch_gives_the_same_result(self, make: Callable[[], Learner], agents: Agents, batch: list[Trajectory]) -> None:
        results = []
        for _ in range(2):
            agent, learner = agents(), make()
            learner.setup(agent)
            figures = learner.learn(batch, agent)
            results.append((_without_times(dict(figures)), agent.store.digest(), agent.policy.version))
            learner.close()
        assert results[0] == results[1]

    def test_a_bank_it_writes_is_declared(self, learner: Learner, agent: FakeAgent, batch: list[Trajectory]) -> None:
        learner.learn(batch, agent)
        if len(agent.store):
            assert "store.filled" in learner.provides
            assert {f"store.space:{space}" for space in agent.store.spaces()} <= learner.provides

    def test_experiences_remember_task_and_trajectory(self, learner: Learner, agent: FakeAgent, batch: list[Trajectory]) -> None:
        learner.learn(batch, agent)
        tasks = {trajectory.id: trajectory.task.id for trajectory in batch}
        for experience in agent.store:
            assert experience.task in {"", *tasks.values()}
            if experience.source:
                assert tasks[experience.source] == experience.task


def _without_times(figures: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if "second" not in name}
