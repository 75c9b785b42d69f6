import dataclasses

import pytest

from xplearn.agent import Agent
from xplearn.builtin.conditioners import PromptConditioner
from xplearn.builtin.selectors import AllSelector
from xplearn.encoders.hashing import HashingEncoder
from xplearn.errors import ContractError
from xplearn.policies.scripted import ScriptedPolicy
from xplearn.rollout.dress import dress
from xplearn.stores.memory import MemoryStore
from xplearn.testing.samples import task, trajectory
from xplearn.types import Completion, Experience


class Speller(ScriptedPolicy):
    """Tokens are characters; fits prompts of at most ``limit`` characters."""

    limit = 10**9

    @property
    def provides(self):
        return frozenset({"policy.score"})

    def transcribe(self, conditionings, texts):
        prompts = ["".join(message["content"] for message in conditioning.messages) for conditioning in conditionings]
        return [
            Completion(
                text=text,
                prompt_ids=tuple(map(ord, prompt)),
                token_ids=tuple(map(ord, text)),
                finish="stop" if len(prompt) <= self.limit else "context",
            )
            for prompt, text in zip(prompts, texts, strict=True)
        ]


def agent(policy):
    store = MemoryStore()
    for number in (0, 1):
        store.add([Experience(id=f"card-{number}", kind="card", key="k", content=f"hint {number}", task=task(number).id)])
    return Agent(policy=policy, encoder=HashingEncoder(), store=store, selector=AllSelector(), conditioner=PromptConditioner())


def raw(number=0):
    return dataclasses.replace(trajectory(number), group=f"train/0/0/{task(number).id}")


def test_each_arm_gets_its_own_dressed_demonstration():
    plain, with_experience = dress([raw()], agent(ScriptedPolicy()), ["plain", "experience"])
    assert (plain.id, with_experience.id) == ("train/0/0/boil-0/plain/0", "train/0/0/boil-0/experience/0")
    assert plain.steps[0].conditioning.messages == raw().steps[0].query.messages
    assert all("hint 1" in step.conditioning.messages[1]["content"] for step in with_experience.steps)
    assert with_experience.score == raw().score


def test_own_card_is_never_shown():
    (dressed,) = dress([raw(1)], agent(ScriptedPolicy()), ["experience"])
    assert [found.id for found in dressed.steps[0].selection.experiences] == ["card-0"]


def test_tokens_come_from_the_policy_with_the_experience_in_the_prompt():
    (dressed,) = dress([raw()], agent(Speller()), ["experience"])
    step = dressed.steps[1]
    assert "".join(map(chr, step.completion.token_ids)) == step.action == "open door 1"
    assert "hint 1" in "".join(map(chr, step.completion.prompt_ids))


def test_steps_past_the_context_are_left_out():
    policy = Speller()
    policy.limit = len("".join(message["content"] for message in raw().steps[1].query.messages))
    (dressed,) = dress([raw()], agent(policy), ["plain"])
    assert len(dressed.steps) == 2


def test_opening_past_the_context_is_an_error():
    policy = Speller()
    policy.limit = 3
    with pytest.raises(ContractError, match="the opening of task 'boil-0' takes"):
        list(dress([raw()], agent(policy), ["plain"]))
