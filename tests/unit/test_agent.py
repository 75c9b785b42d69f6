from dataclasses import dataclass, replace

import pytest

from xplearn.agent import Agent
from xplearn.builtin.conditioners import NoneConditioner, PromptConditioner
from xplearn.encoders.hashing import HashingEncoder
from xplearn.errors import ContractError
from xplearn.interfaces import Conditioner, Selector
from xplearn.policies.scripted import ScriptedPolicy
from xplearn.stores.memory import MemoryStore
from xplearn.testing.samples import query
from xplearn.types import Conditioning, Experience, Selection


@dataclass(kw_only=True)
class Listed(Selector):
    """Selects given experiences and counts its queries."""

    def __post_init__(self):
        self.experiences = ()
        self.asked = []

    def select(self, queries, store):
        self.asked.append(len(queries))
        return [Selection(experiences=self.experiences, scores=tuple(range(len(self.experiences)))) for _ in queries]


class EachStep(Listed):
    every = "step"


def agent(selector, conditioner=None):
    return Agent(
        policy=ScriptedPolicy(),
        encoder=HashingEncoder(),
        store=MemoryStore(),
        selector=selector,
        conditioner=conditioner or PromptConditioner(),
    )


def experience(id, task):
    return Experience(id=id, kind="card", key=id, content=f"do {id}", task=task)


def test_plain_arm_gets_the_bare_conversation_and_the_selector_is_not_asked():
    selector = Listed()
    selector.experiences = (experience("a", "other"),)
    selections, conditionings = agent(selector).condition([query(0), query(1)], ["plain", "experience"])
    assert selector.asked == [1]
    assert selections[0] == Selection()
    assert conditionings[0].messages == query(0).messages
    assert "do a" in conditionings[1].messages[1]["content"]


def test_selection_is_kept_through_an_episode():
    selector = Listed()
    selector.experiences = (experience("a", "other"),)
    kept = Selection(experiences=(experience("b", "other"),), scores=(1.0,))
    selections, _ = agent(selector).condition([query(0, steps=1)], ["experience"], [kept])
    assert selections == [kept]
    assert selector.asked == []


def test_an_empty_selection_is_kept_too():
    selector = Listed()
    selections, _ = agent(selector).condition([query(0, steps=1)], ["experience"], [Selection()])
    assert (selections, selector.asked) == ([Selection()], [])


def test_selector_that_chooses_each_step_is_asked_again():
    selector = EachStep()
    selector.experiences = (experience("a", "other"),)
    kept = Selection(experiences=(experience("b", "other"),), scores=(1.0,))
    selections, _ = agent(selector).condition([query(0, steps=1)], ["experience"], [kept])
    assert [found.id for found in selections[0].experiences] == ["a"]


def test_experience_of_the_task_at_hand_is_dropped_whatever_the_selector_says():
    selector = Listed()
    own = query(0).task.id
    selector.experiences = (experience("a", "x"), experience("leak", own), experience("b", "y"))
    selections, conditionings = agent(selector).condition([query(0)], ["experience"])
    assert [found.id for found in selections[0].experiences] == ["a", "b"]
    assert selections[0].scores == (0, 2)
    assert "leak" not in str(conditionings[0].messages)


def test_selector_that_answers_short_is_named():
    class Short(Listed):
        def select(self, queries, store):
            return []

    with pytest.raises(ContractError, match="Short: returned 0 selections for 1 queries"):
        agent(Short()).condition([query(0)], ["experience"])


@dataclass(kw_only=True)
class Bare(Selector):
    """Returns experiences where selections are wanted."""

    def select(self, queries, store):
        return [[experience("a", "other")] for _ in queries]


@dataclass(kw_only=True)
class Talker(Conditioner):
    """Returns messages where conditionings are wanted."""

    def condition(self, queries, selections):
        return [query.messages for query in queries]


def test_answers_of_another_kind_are_refused_with_the_name_of_the_part():
    with pytest.raises(ContractError, match="Bare: returned a list for a query; want a Selection for each"):
        agent(Bare()).condition([query(0)], ["experience"])
    with pytest.raises(ContractError, match="Talker: returned a tuple for a query; want a Conditioning for each"):
        agent(Listed(), Talker()).condition([query(0)], ["experience"])


def test_conditioner_that_touches_the_plain_arm_is_refused():
    class Loud(NoneConditioner, Conditioner):
        def condition(self, queries, selections):
            return [Conditioning(messages=(*q.messages, {"role": "user", "content": "hint"})) for q in queries]

    with pytest.raises(ContractError, match="an empty selection must leave the messages unchanged"):
        agent(Listed(), Loud()).condition([query(0)], ["plain"])


def test_conditioner_may_return_equal_messages_instead_of_the_same():
    class Copying(NoneConditioner):
        def condition(self, queries, selections):
            return [Conditioning(messages=tuple(dict(message) for message in q.messages)) for q in queries]

    _, conditionings = agent(Listed(), Copying()).condition([replace(query(0))], ["plain"])
    assert conditionings[0].messages == query(0).messages
