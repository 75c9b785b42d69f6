"""What every environment must do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator

import pytest

from xplearn.errors import ConfigError, ContractError, DataError
from xplearn.interfaces import Environment
from xplearn.testing.contracts.component import ComponentContract
from xplearn.types import Outcome, Task, Trajectory

SEED = 7
NONSENSE = "xyzzy plugh"
HOSTILE = ("", " ", "\n\n", "\x00\x07", "\ud800 look", "\u202e\U0001f6aa", "a" * 10_000, "go " * 2_000, "0", "[](){}*?\\", "line\nline")
"""Actions that must be answered like any other."""


class EnvironmentContract(ComponentContract):
    """Tasks in disjoint splits, episodes that repeat and end, scores that mean what they say."""

    longest: int = 1000
    """No episode may last longer than this many steps."""

    @pytest.fixture
    def env(self, make: Callable[[], Environment]) -> Iterator[Environment]:
        """The environment. Override it where starting one is expensive, to share one."""
        part = make()
        yield part
        part.close()

    @pytest.fixture
    def task(self, env: Environment) -> Task:
        """A task to play: by default the first of the first split."""
        return env.tasks(env.splits()[0])[0]

    def test_version_and_instructions_say_something_and_stay(self, env: Environment, make: Callable[[], Environment]) -> None:
        assert env.version.strip()
        assert env.instructions.strip()
        other = make()
        assert (other.version, other.instructions) == (env.version, env.instructions)
        other.close()

    def test_every_split_has_tasks_and_no_task_is_in_two(self, env: Environment) -> None:
        ids = [task.id for split in env.splits() for task in env.tasks(split)]
        assert env.splits()
        assert all(env.tasks(split) for split in env.splits())
        assert len(set(ids)) == len(ids)

    def test_tasks_are_complete_stable_and_json(self, env: Environment) -> None:
        for split in env.splits():
            tasks = env.tasks(split)
            assert list(env.tasks(split)) == list(tasks)
            assert all(task.split == split and task.goal.strip() and task.env for task in tasks)
            assert [json.loads(json.dumps(dict(task.meta))) for task in tasks] == [dict(task.meta) for task in tasks]

    def test_unknown_split_is_named_with_the_known_ones(self, env: Environment) -> None:
        with pytest.raises(ConfigError, match=env.splits()[0]):
            env.tasks("no-such-split")

    def test_unknown_task_is_refused(self, env: Environment, task: Task) -> None:
        stranger = Task(id="no-such-task/-1", env=task.env, split=task.split, goal="?", kind="no-such-kind")
        with pytest.raises(DataError):
            env.reset(stranger, seed=SEED)

    def test_step_needs_a_reset(self, make: Callable[[], Environment]) -> None:
        fresh = make()
        with pytest.raises(ContractError):
            fresh.step("anything")
        fresh.close()

    def test_step_after_the_end_is_refused(self, env: Environment, task: Task) -> None:
        assert self.play_nonsense(env, task)[-1].info["valid"] is False
        with pytest.raises(ContractError):
            env.step("anything")

    def test_nonsense_is_invalid_and_does_not_last_for_ever(self, env: Environment, task: Task) -> None:
        outcomes = self.play_nonsense(env, task)
        assert not any(outcome.info["success"] for outcome in outcomes)
        assert outcomes[-1].terminated or outcomes[-1].truncated

    def test_any_string_is_answered(self, env: Environment, task: Task) -> None:
        env.reset(task, seed=SEED)
        for action in HOSTILE:
            outcome = env.step(env.parse(action))
            self.check_outcome(outcome)
            if outcome.terminated or outcome.truncated:
                env.reset(task, seed=SEED)
            outcome = env.step(action)
            self.check_outcome(outcome)
            if outcome.terminated or outcome.truncated:
                env.reset(task, seed=SEED)

    def test_actions_are_listed_when_asked_for(self, env: Environment, task: Task) -> None:
        if "env.actions" not in env.provides:
            pytest.skip("does not list its actions")
        env.listing = False
        silent = env.reset(task, seed=SEED)
        assert silent.actions is None
        on_demand = env.admissible()
        env.listing = True
        listed = env.reset(task, seed=SEED)
        assert listed.text == silent.text
        assert listed.actions == on_demand
        assert all(action == env.parse(action) for action in on_demand)
        assert len(set(on_demand)) == len(on_demand) > 0

    def test_reset_forgets_the_episode_before(self, env: Environment, task: Task) -> None:
        first = env.reset(task, seed=SEED)
        for action in list(first.actions or ("look",))[:2]:
            if env.step(action).terminated:
                break
        assert env.reset(task, seed=SEED) == first

    def test_opening_ends_with_the_first_observation(self, env: Environment, task: Task) -> None:
        observation = env.reset(task, seed=SEED)
        messages = env.opening(task, observation)
        assert messages[-1]["role"] == "user"
        assert observation.text in messages[-1]["content"]
        assert task.goal in "\n".join(message["content"] for message in messages)

    def test_same_task_and_seed_give_the_same_episode(self, env: Environment, make: Callable[[], Environment], task: Task) -> None:
        if "env.replay" not in env.provides:
            pytest.skip("is not deterministic")
        actions = self.some_actions(env, task)
        first = env.replay(task, actions, seed=SEED)
        env.replay(env.tasks(env.splits()[-1])[-1], actions[:3], seed=SEED + 1)
        assert env.replay(task, actions, seed=SEED) == first
        other = make()
        assert other.replay(task, actions, seed=SEED) == first
        other.close()

    def test_demonstrations_solve_the_task(self, env: Environment, task: Task) -> None:
        shown = self.demonstration(env, task)
        assert (shown.error, shown.source, shown.task) == (None, "demonstration", task)
        assert (shown.score, shown.success) == (1.0, True)
        assert shown.steps[-1].terminated
        assert not any(step.terminated or step.truncated for step in shown.steps[:-1])
        assert [step.query.index for step in shown.steps] == list(range(len(shown.steps)))

    def test_demonstrations_can_be_replayed(self, env: Environment, task: Task) -> None:
        shown = self.demonstration(env, task)
        if len(shown.steps) > self.longest or "env.replay" not in env.provides:
            pytest.skip("longer than an episode may be, or not deterministic")
        again = env.replay(task, [step.action for step in shown.steps], seed=SEED)
        assert (again.steps, again.score) == (shown.steps, shown.score)

    def demonstration(self, env: Environment, task: Task) -> Trajectory:
        """The expert's way, or a skipped test."""
        if "env.demos" not in env.provides:
            pytest.skip("has no demonstrations")
        return env.demonstrate(task, seed=SEED)

    def some_actions(self, env: Environment, task: Task) -> list[str]:
        """The expert's way where there is one, else the first admissible actions, else nonsense."""
        if "env.demos" in env.provides:
            return [step.action for step in env.demonstrate(task, seed=SEED).steps]
        return [*(env.reset(task, seed=SEED).actions or ())[:3], NONSENSE]

    def play_nonsense(self, env: Environment, task: Task) -> list[Outcome]:
        """An episode of nothing but nonsense."""
        env.reset(task, seed=SEED)
        outcomes = []
        for _ in range(self.longest):
            outcomes.append(env.step(NONSENSE))
            self.check_outcome(outcomes[-1])
            if outcomes[-1].terminated or outcomes[-1].truncated:
                return outcomes
        pytest.fail(f"the episode was not over after {self.longest} steps")

    def check_outcome(self, outcome: Outcome) -> None:
        """What holds of every outcome."""
        assert isinstance(outcome.observation.text, str)
        assert math.isfinite(outcome.reward)
        assert not (outcome.terminated and outcome.truncated)
        assert 0.0 <= outcome.info["score"] <= 1.0
        assert isinstance(outcome.info["valid"], bool)
        assert isinstance(outcome.info["success"], bool)
        assert outcome.terminated or not outcome.info["success"]
        json.dumps(dict(outcome.info))
