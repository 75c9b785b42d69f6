from dataclasses import dataclass, field

import pytest

from xplearn.agent import Agent
from xplearn.builtin.conditioners import NoneConditioner
from xplearn.builtin.selectors import NoneSelector
from xplearn.encoders.hashing import HashingEncoder
from xplearn.errors import ContractError, EnvironmentDiedError
from xplearn.interfaces import Policy
from xplearn.policies.scripted import RandomPolicy
from xplearn.rollout.collector import Assignment, assignments, collect
from xplearn.rollout.pool import EnvironmentPool, Start, Turn
from xplearn.stores.memory import MemoryStore
from xplearn.testing.samples import task
from xplearn.types import Completion, Observation, Outcome, Sampling

ACTIONS = ("up", "down", "stay")


class Walk(EnvironmentPool):
    """Reach +2 from 0; the episode of task n is cut off after 4 + n steps. Tasks in ``dying`` die at their second step."""

    version, splits, provides = "1", ("train",), frozenset({"env.actions"})

    def __init__(self, slots, dying=(), deaths=10**9):
        self.slots, self.dying, self.deaths = slots, set(dying), deaths
        self.state, self.resets = {}, []

    def tasks(self, split):
        return [task(number) for number in range(4)]

    def reset(self, requests):
        for slot, (which, seed) in requests.items():
            self.state[slot] = [which, 0, 0]
            self.resets.append((which.id, seed))
        return {
            slot: Start(observation=Observation(text=f"seed {seed}", actions=ACTIONS), messages=({"role": "user", "content": which.goal},))
            for slot, (which, seed) in requests.items()
        }

    def step(self, completions):
        return {slot: self._step(slot, text) for slot, text in reversed(completions.items())}

    def _step(self, slot, text):
        state = self.state[slot]
        state[2] += 1
        if state[0].id in self.dying and state[2] == 2 and self.deaths > 0:
            self.deaths -= 1
            return EnvironmentDiedError("walk", "gone")
        state[1] += {"up": 1, "down": -1}.get(text.strip(), 0)
        limit = 4 + int(state[0].id.rpartition("-")[2])
        won = state[1] == 2
        outcome = Outcome(
            observation=Observation(text=f"at {state[1]}", actions=ACTIONS),
            reward=0.5,
            terminated=won,
            truncated=not won and state[2] == limit,
            info={"valid": text.strip() in ACTIONS, "score": max(state[1], 0) / 2, "success": won},
        )
        return Turn(action=text.strip(), outcome=outcome)

    def demonstrate(self, requests):
        raise NotImplementedError

    def close(self):
        pass


@dataclass(kw_only=True)
class Talker(Policy):
    """Says one text; runs out of context at a given step."""

    text: str = "up"
    full_at: int = 10**9
    prompt: tuple[int, ...] = field(default_factory=tuple)

    def generate(self, conditionings, sampling, keys, choices=None):
        said = [sum(message["role"] == "assistant" for message in c.messages) for c in conditionings]
        return [
            Completion(
                text="" if n >= self.full_at else self.text,
                prompt_ids=self.prompt,
                finish="context" if n >= self.full_at else "stop",
                sampling=sampling,
            )
            for n in said
        ]


def agent(policy=None):
    return Agent(
        policy=policy or RandomPolicy(),
        encoder=HashingEncoder(),
        store=MemoryStore(),
        selector=NoneSelector(),
        conditioner=NoneConditioner(),
        seed=7,
    )


def jobs(count=4, arms=("plain", "experience"), replicas=2):
    return assignments([task(number) for number in range(count)], arms, replicas, phase="train/0/0", scope=("train", 0, 0))


def played(width, policy=None, pool=None, episodes=None, **options):
    found = collect(agent(policy), pool or Walk(width), episodes or jobs(), sampling=Sampling(temperature=1.0), **options)
    return {trajectory.id: trajectory for trajectory in found}


def bare(trajectory):
    return [(step.query.messages, step.action, step.reward, step.terminated, step.truncated) for step in trajectory.steps]


@pytest.mark.parametrize("width", [3, 8, 100])
def test_batch_width_does_not_change_what_an_episode_holds(width):
    one, many = played(1), played(width)
    assert one.keys() == many.keys()
    assert len(one) == 16
    for id, trajectory in one.items():
        assert bare(trajectory) == bare(many[id])
        assert (trajectory.score, trajectory.success, trajectory.seed) == (many[id].score, many[id].success, many[id].seed)
    assert len({str(bare(trajectory)) for trajectory in one.values()}) > 4, "the episodes must differ, or the test proves nothing"


def test_both_arms_meet_the_same_environment_and_noise_and_replicas_do_not():
    found = played(3)
    plain, with_experience = found["train/0/0/boil-0/plain/0"], found["train/0/0/boil-0/experience/0"]
    assert plain.seed == with_experience.seed
    assert bare(plain) == bare(with_experience)
    assert found["train/0/0/boil-0/plain/1"].seed != plain.seed
    assert plain.group == "train/0/0/boil-0"


def test_keys_differ_by_scope_task_replica_and_step_but_not_by_phase_name_or_arm():
    first, *_ = jobs()
    keys = {first.key(7, 0), first.key(7, 1), jobs()[2].key(7, 0), jobs()[4].key(7, 0), first.key(8, 0)}
    assert len(keys) == 5
    other = Assignment(task=first.task, arm="experience", replica=0, phase="eval/3/x", scope=first.scope)
    assert other.key(7, 0) == first.key(7, 0)


def test_conversation_alternates_between_what_was_said_and_seen():
    (trajectory,) = played(1, Talker(text=" up\n"), episodes=jobs(1, ("plain",), 1)).values()
    assert [step.action for step in trajectory.steps] == ["up", "up"]
    last = trajectory.steps[-1].query
    assert [message["content"] for message in last.messages] == [task(0).goal, " up\n", "at 1"]
    assert (last.index, last.candidates, trajectory.final) == (1, ACTIONS, "at 2")
    assert (trajectory.success, trajectory.score, trajectory.source) == (True, 1.0, "rollout")
    assert trajectory.seconds > 0


def test_extra_step_limit_truncates_and_is_no_success():
    (trajectory,) = played(1, Talker(text="down"), episodes=jobs(1, ("plain",), 1), max_steps=2).values()
    assert [step.truncated for step in trajectory.steps] == [False, True]
    assert not trajectory.success


def test_step_limit_at_the_winning_step_leaves_it_terminated():
    (trajectory,) = played(1, Talker(), episodes=jobs(1, ("plain",), 1), max_steps=2).values()
    assert (trajectory.steps[-1].terminated, trajectory.steps[-1].truncated) == (True, False)


def test_full_context_ends_the_episode_as_truncated():
    (trajectory,) = played(1, Talker(text="stay", full_at=2), episodes=jobs(1, ("plain",), 1)).values()
    assert [step.truncated for step in trajectory.steps] == [False, True]
    assert trajectory.error is None


def test_opening_past_the_context_is_an_error_with_numbers_and_advice():
    expected = r"'boil-0' takes 9 tokens and does not fit the context with 32 new tokens; show less experience, raise"
    with pytest.raises(ContractError, match=expected):
        played(1, Talker(full_at=0, prompt=tuple(range(9))))


def test_dead_environment_is_played_again_from_the_start():
    pool = Walk(2, dying=["boil-0"], deaths=1)
    found = played(2, Talker(), pool, jobs(2, ("plain",), 1))
    assert [trajectory.error for trajectory in found.values()] == [None, None]
    assert len(found["train/0/0/boil-0/plain/0"].steps) == 2
    assert [id for id, _ in pool.resets].count("boil-0") == 2
    assert len({seed for id, seed in pool.resets if id == "boil-0"}) == 1


def test_environment_that_dies_twice_is_recorded_with_its_error_and_the_others_go_on():
    found = played(2, Talker(), Walk(2, dying=["boil-0"]), jobs(3, ("plain",), 1))
    dead = found["train/0/0/boil-0/plain/0"]
    assert dead.error == "environment 'walk': gone"
    assert (dead.score, dead.success) == (0.0, False)
    assert all(trajectory.success for id, trajectory in found.items() if trajectory is not dead)
    assert len(found) == 3


def test_policy_that_answers_short_is_named():
    class Short(Talker):
        def generate(self, *args, **kwargs):
            return []

    with pytest.raises(ContractError, match="Short: returned 0 completions for 1"):
        played(1, Short())
