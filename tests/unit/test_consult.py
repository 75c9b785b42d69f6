from dataclasses import dataclass, field
from typing import ClassVar

from xplearn.agent import Agent
from xplearn.builtin.selectors import AllSelector, NoneSelector
from xplearn.encoders.hashing import HashingEncoder
from xplearn.interfaces import Conditioner
from xplearn.policies.scripted import ScriptedPolicy
from xplearn.rollout.collector import assignments, collect
from xplearn.stores.memory import MemoryStore
from xplearn.testing.samples import task
from xplearn.types import Answer, Conditioning, Experience, Sampling

from .test_collector import Walk


@dataclass(kw_only=True)
class Library(Conditioner):
    """Answers completions that begin with 'ask', twice an episode."""

    on_request: ClassVar[bool] = True
    asked: list[str] = field(default_factory=list)

    def condition(self, queries, selections):
        return [Conditioning(messages=query.messages) for query in queries]

    def consult(self, query, selection, completion):
        before = sum(message["content"].startswith("ask") for message in query.messages if message["role"] == "assistant")
        if not completion.text.startswith("ask") or before >= 2:
            return None
        self.asked.append(completion.text)
        return Answer(text=f"{len(selection.experiences)} books", selection=selection)


def play(lines, *, arm="experience", max_steps=None, filled=True):
    store, pool = MemoryStore(), Walk(1)
    library = Library()
    agent = Agent(
        policy=ScriptedPolicy(lines=lines), encoder=HashingEncoder(), store=store, selector=AllSelector(), conditioner=library, seed=0
    )
    agent.setup()
    if filled:
        store.add([Experience(id="e", kind="card", key="k", content="c", task="another")])
    episodes = assignments([task(0)], [arm], 1, phase="p", scope=("s",))
    (trajectory,) = collect(agent, pool, episodes, sampling=Sampling(), max_steps=max_steps)
    return trajectory, library


def test_the_bank_answers_and_the_environment_hears_nothing_of_it():
    trajectory, library = play(["ask for maps", "up", "up"])
    assert [step.action for step in trajectory.steps] == ["", "up", "up"]
    assert trajectory.success
    assert trajectory.steps[1].query.messages[-2:] == (
        {"role": "assistant", "content": "ask for maps"},
        {"role": "user", "content": "1 books"},
    )
    assert trajectory.steps[0].reward == 0.0
    assert trajectory.steps[0].valid
    assert library.asked == ["ask for maps"]
    assert [len(step.selection.experiences) for step in trajectory.steps] == [1, 0, 0]


def test_what_is_not_answered_goes_to_the_environment():
    trajectory, library = play(["ask", "ask", "ask", "up", "up"])
    assert [step.action for step in trajectory.steps] == ["", "", "ask", "up", "up"]
    assert [step.valid for step in trajectory.steps] == [True, True, False, True, True]
    assert len(library.asked) == 2


def test_nobody_is_asked_without_experience():
    for how in ({"arm": "plain"}, {"filled": False}):
        trajectory, library = play(["ask", "up", "up", "up"], **how)
        assert [step.action for step in trajectory.steps] == ["ask", "up", "up"]
        assert library.asked == []


def test_asking_counts_as_a_step_of_the_run():
    trajectory, _ = play(["ask", "ask", "up"], max_steps=2)
    assert len(trajectory.steps) == 2
    assert trajectory.steps[-1].truncated
    assert not trajectory.success


def test_everything_is_one_selection_until_the_bank_changes():
    store, selector = MemoryStore(), AllSelector()
    store.setup(None)
    store.add([Experience(id="a", kind="card", key="k", content="c", task="t-0")])
    query = play(["up", "up"])[0].steps[0].query
    first, second = selector.select([query, query], store)
    assert first is second
    store.add([Experience(id="b", kind="card", key="k", content="c", task=query.task.id)])
    (third,) = selector.select([query], store)
    assert [experience.id for experience in third.experiences] == ["a"]
    assert NoneSelector().select([query], store)[0].experiences == ()
