from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from xplearn_hamo.gate import GateSelector, learned_threshold

import xplearn
from xplearn import Completion, ConfigError, ContractError, Experience, Policy, Query, Selection, Task
from xplearn.builtin.conditioners import PromptConditioner
from xplearn.builtin.nearest import NearestSelector
from xplearn.builtin.record import RecordLearner
from xplearn.testing import parts, samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.compass import Compass
from xplearn.testing.contracts import SelectorContract


class TestSimilarity(SelectorContract):
    @pytest.fixture(params=[{}, {"threshold": 0.5, "k": 3}, {"refresh": True, "refresh_below": 0.9}], ids=["learned", "given", "refresh"])
    def make(self, request):
        return parts.maker("selector", "hamo.gate", request.param)


class TestProbe(SelectorContract):
    @pytest.fixture
    def make(self):
        return parts.maker("selector", "hamo.gate", {"test": "probe", "max_new_tokens": 4, "refresh": True})

    @pytest.fixture
    def agent(self):
        pytest.importorskip("torch")
        from xplearn.testing.fakes import FakePolicy

        with FakeAgent(policy=FakePolicy(), conditioner=PromptConditioner()) as agent:
            yield agent


@dataclasses.dataclass(kw_only=True)
class Torn(Policy):
    """Says one token, sure of it as told for what it was shown; remembers what it was asked."""

    logprobs: dict[str, float | None] = dataclasses.field(default_factory=dict)

    def setup(self, agent):
        self.asked = []

    def generate(self, conditionings, sampling, keys, choices=None):
        self.asked.append(([conditioning.messages for conditioning in conditionings], sampling))
        return [self._answer(conditioning.messages) for conditioning in conditionings]

    def _answer(self, messages):
        shown = " ".join(message["content"] for message in messages)
        logprob = next((value for word, value in self.logprobs.items() if word in shown), -1.0)
        return Completion(text="go", logprobs=None if logprob is None else (logprob, logprob))


def going(*places, task="walk", goal="Walk on"):
    """The query of an episode that has seen these places."""
    messages = ({"role": "system", "content": "Answer south"},)
    for place in places:
        messages += ({"role": "user", "content": f"Task: {goal}\n\nYou face {place}"}, {"role": "assistant", "content": "go"})
    found = Task(id=task, env="sample.text", split="train", goal=goal)
    return Query(purpose="act", task=found, messages=messages[:-1], index=len(places) - 1, candidates=("go",))


def bank(agent, *places, tasks=None):
    """An experience for each place, each of a task of its own unless told."""
    agent.store.open_space("key", encoder=agent.encoder.id, dim=agent.encoder.dim)
    names = [f"card-{place}" for place in places]
    found = [
        Experience(id=name, kind="card", key=place, content=f"{name}: be quick", task=task)
        for name, place, task in zip(names, places, tasks or names, strict=True)
    ]
    agent.store.add(found, {"key": agent.encoder.encode(list(places))})


@pytest.fixture
def agent():
    with FakeAgent(encoder=Compass(), policy=Torn(), conditioner=PromptConditioner()) as agent:
        yield agent


def gate(agent, **fields):
    selector = GateSelector(**fields)
    selector.setup(agent)
    return selector


def names(selection):
    return [experience.id for experience in selection.experiences]


def test_what_is_below_the_threshold_is_left_out_and_nothing_takes_its_place(agent):
    bank(agent, "north", "northeast", "east")
    (some, none), store = gate(agent, k=3, threshold=0.6).select([going("north"), going("south")], agent.store), agent.store
    assert (names(some), some.scores) == (["card-north", "card-northeast"], pytest.approx((1.0, 0.5**0.5)))
    assert none == Selection()
    assert names(gate(agent, threshold=0.75).select([going("north")], store)[0]) == ["card-north"]


def test_with_everything_accepted_it_is_the_nearest_of_the_core():
    queries = [samples.query(number, steps=number % 3) for number in range(20)]
    with FakeAgent() as agent:
        RecordLearner().learn([samples.trajectory(number) for number in range(12)], agent)
        nearest = NearestSelector(k=3)
        nearest.setup(agent)
        assert gate(agent, k=3, threshold=-1.0).select(queries, agent.store) == nearest.select(queries, agent.store)


def test_the_threshold_is_a_quantile_of_the_banks_nearest_cosines_across_tasks():
    with FakeAgent() as agent:
        RecordLearner().learn([samples.trajectory(number) for number in range(12)] * 2, agent)
        vectors = agent.encoder.encode([experience.key for experience in agent.store])
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -1.0)
        nearest = np.sort(cosines.max(axis=1))
        for quantile in (0.0, 0.1, 0.5, 1.0):
            assert gate(agent, quantile=quantile).least(agent.store) == pytest.approx(nearest[int(quantile * 11)], abs=1e-6)


def test_keys_of_the_same_task_teach_nothing(agent):
    bank(agent, "north", "northeast", "south", tasks=["a", "a", "b"])
    assert gate(agent, quantile=1.0).least(agent.store) == pytest.approx(-(0.5**0.5))


def test_the_threshold_is_learned_anew_after_a_write_and_by_bank(agent):
    bank(agent, "north", "east")
    selector = gate(agent)
    assert selector.least(agent.store) == pytest.approx(0.0, abs=1e-6)
    bank(agent, "northeast")
    assert selector.least(agent.store) == pytest.approx(0.5**0.5)
    with FakeAgent(encoder=Compass()) as other:
        bank(other, "north", "south")
        bank(other, "east")
        assert other.store.version == agent.store.version
        assert selector.least(other.store) == pytest.approx(0.0, abs=1e-6)


def test_another_bank_of_the_same_age_gets_its_own_selections(agent):
    bank(agent, "north")
    selector = gate(agent)
    with FakeAgent(encoder=Compass()) as other:
        bank(other, "northeast")
        assert other.store.version == agent.store.version
        found = [names(selector.select([going("north")], store)[0]) for store in (agent.store, other.store, agent.store)]
    assert found == [["card-north"], ["card-northeast"], ["card-north"]]


@pytest.mark.parametrize("tasks", [["a", "a"], ["", ""]])
def test_a_bank_of_one_task_accepts_everything(agent, tasks):
    bank(agent, "north", "east", tasks=tasks)
    selector = gate(agent)
    assert names(selector.select([going("south")], agent.store)[0]) == ["card-east"]
    assert selector.least(agent.store) == -1.0


def test_large_banks_teach_from_a_spread_of_their_keys(agent, monkeypatch):
    monkeypatch.setattr("xplearn_hamo.gate._SAMPLE", 2)
    bank(agent, "north", "northeast", "east", "south")
    assert learned_threshold(agent.store, "key", 0.0) == pytest.approx(0.5**0.5), "north and east were looked at, south was not"


def test_experiences_without_a_key_do_not_disturb(agent):
    bank(agent, "north", "northeast")
    agent.store.add([samples.experience(7)])
    assert gate(agent).least(agent.store) == pytest.approx(0.5**0.5)


def test_the_probe_keeps_what_makes_the_policy_surer(agent):
    agent.policy.logprobs = {"card-north:": -0.5, "card-south:": -1.5}
    bank(agent, "north", "south")
    helped, hurt = gate(agent, test="probe").select([going("north"), going("south")], agent.store)
    assert (names(helped), hurt) == (["card-north"], Selection())


@pytest.mark.parametrize(("margin", "kept"), [(0.0, True), (0.5, True), (0.6, False)])
def test_the_probe_asks_for_a_margin(agent, margin, kept):
    agent.policy.logprobs = {"card-north:": -0.5}
    bank(agent, "north")
    (selection,) = gate(agent, test="probe", margin=margin).select([going("north")], agent.store)
    assert bool(selection.experiences) is kept


def test_experience_that_changes_nothing_is_kept_without_a_margin(agent):
    bank(agent, "north")
    assert names(gate(agent, test="probe").select([going("north")], agent.store)[0]) == ["card-north"]


def test_the_probe_asks_greedily_for_all_queries_at_once_and_only_once(agent):
    bank(agent, "north", "south")
    selector, queries = gate(agent, test="probe", max_new_tokens=5), [going("north"), going("south")]
    first = selector.select(queries, agent.store)
    later = selector.select([going("north", "east"), going("south")], agent.store)
    ((messages, sampling),) = agent.policy.asked
    assert later == first
    assert (len(messages), sampling.temperature, sampling.max_new_tokens) == (4, 0.0, 5)
    assert messages[:2] == [query.messages for query in queries]


def test_the_probe_asks_again_when_bank_or_policy_has_changed(agent):
    bank(agent, "north")
    selector = gate(agent, test="probe")
    selector.select([going("north")], agent.store)
    agent.policy.version += 1
    selector.select([going("north")], agent.store)
    bank(agent, "south")
    selector.select([going("north")], agent.store)
    assert len(agent.policy.asked) == 3


def test_experience_that_leaves_no_room_to_answer_is_rejected():
    pytest.importorskip("torch")
    from xplearn.testing.fakes import FakePolicy

    policy = FakePolicy(context=192)
    with FakeAgent(policy=policy, encoder=Compass(), conditioner=PromptConditioner()) as agent:
        bank(agent, "north")
        agent.store.update("card-north", content="be quick " * 300)
        selector = gate(agent, test="probe", margin=-100.0, max_new_tokens=4)
        assert selector.select([going("north")], agent.store) == [Selection()]
        agent.store.update("card-north", content="be quick")
        assert names(selector.select([going("north")], agent.store)[0]) == ["card-north"]
        assert selector.select([going("north", goal="Walk on " * 300)], agent.store) == [Selection()], "nor does the task itself"


def test_a_policy_without_log_probabilities_is_told(agent):
    agent.policy.logprobs = {"You": None}
    bank(agent, "north")
    with pytest.raises(ContractError, match="set test: similarity"):
        gate(agent, test="probe").select([going("north")], agent.store)


def test_experience_is_chosen_again_where_the_observation_has_moved_away(agent):
    bank(agent, "north", "northeast", "east", "south")
    selector = gate(agent, threshold=-1.0, refresh=True, refresh_below=0.6)
    episode = [going(*["north", "northeast", "east", "northeast", "south"][:seen]) for seen in range(1, 6)]
    shown = [names(selector.select([query], agent.store)[0]) for query in episode]
    assert shown == [["card-north"], ["card-north"], ["card-east"], ["card-east"], ["card-south"]]
    assert selector.every == "step"
    assert gate(agent, refresh=False).every == "episode"


def test_a_refreshed_selection_depends_on_its_query_alone(agent):
    bank(agent, "north", "northeast", "east", "south")
    episode = [going(*["north", "east", "northeast", "northeast"][:seen]) for seen in range(1, 5)]
    for fields in ({"threshold": -1.0}, {"test": "probe"}):
        walked = gate(agent, refresh=True, refresh_below=0.6, **fields)
        in_turn = [walked.select([query], agent.store)[0] for query in episode]
        resumed = [gate(agent, refresh=True, refresh_below=0.6, **fields).select([query], agent.store)[0] for query in episode]
        assert resumed == in_turn == walked.select(episode, agent.store)


def test_a_refreshed_question_is_goal_and_latest_observation(agent):
    messages = ({"role": "user", "content": "face north"}, {"role": "assistant", "content": "go"}, {"role": "user", "content": "face east"})
    query = dataclasses.replace(going("north"), messages=messages, index=1)
    bank(agent, "north", "east")
    agent.encoder.texts.clear()
    (selection,) = gate(agent, threshold=0.9, refresh=True).select([query], agent.store)
    assert names(selection) == ["card-east"]
    assert agent.encoder.texts == ["Walk on\n\nface north", "Walk on\n\nface east", "Walk on\n\nface east"]


def test_steps_that_bring_nothing_new_encode_nothing(agent):
    bank(agent, "north", "east")
    selector = gate(agent, threshold=-1.0, refresh=True)
    selector.select([going("north")], agent.store)
    agent.encoder.texts.clear()
    selector.select([going("north", "northeast")], agent.store)
    selector.select([going("north", "northeast", "north")], agent.store)
    assert [text.split()[-1] for text in agent.encoder.texts] == ["northeast"]


def test_a_refreshed_probe_asks_with_the_conversation_so_far(agent):
    bank(agent, "north", "east")
    selector = gate(agent, test="probe", refresh=True)
    selector.select([going("north", "east", "northeast")], agent.store)
    ((messages, _),) = agent.policy.asked
    assert messages[0] == going("north", "east").messages


def test_a_conversation_without_observations_asks_with_the_goal(agent):
    query = dataclasses.replace(going("north", goal="Head north"), messages=())
    bank(agent, "north", "south")
    for refresh in (False, True):
        assert names(gate(agent, threshold=0.9, refresh=refresh).select([query], agent.store)[0]) == ["card-north"]


def test_what_it_remembers_is_bounded(agent, monkeypatch):
    monkeypatch.setattr("xplearn_hamo.gate._SELECTIONS", 2)
    monkeypatch.setattr("xplearn_hamo.moments._TEXTS", 2)
    bank(agent, "north", "south")
    queries = [going("north", "east", task=f"walk-{number}") for number in range(6)]
    selector = gate(agent, threshold=-1.0, refresh=True)
    assert selector.select(queries, agent.store) == gate(agent, threshold=-1.0, refresh=True).select(queries, agent.store)
    assert (len(selector._known._held), len(selector._moments._vectors._held)) == (2, 2)


def test_only_the_probe_needs_scores_and_something_to_be_shown():
    assert GateSelector(space="card").requires == {"store.space:card"}
    assert GateSelector(test="probe").requires == {"store.space:key", "policy.score", "conditioner.shows"}


def test_study_and_use_before_setup_are_refused(agent):
    with pytest.raises(ContractError, match=r"hamo\.coverage"):
        gate(agent).select([dataclasses.replace(going("north"), purpose="study")], agent.store)
    with pytest.raises(ContractError, match="before setup"):
        GateSelector().select([going("north")], agent.store)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("k", 0),
        ("space", ""),
        ("threshold", 1.5),
        ("quantile", -0.1),
        ("margin", float("nan")),
        ("max_new_tokens", 0),
        ("refresh_below", 2.0),
    ],
)
def test_bad_fields_are_told(field, value):
    with pytest.raises(ConfigError, match=f"^{field}:"):
        GateSelector(**{field: value})


def test_a_threshold_for_the_probe_is_refused():
    with pytest.raises(ConfigError, match=r"^threshold: .*margin"):
        GateSelector(test="probe", threshold=0.3)


def test_in_a_run_the_gate_closes_for_what_is_unlike_everything_and_opens_for_the_rest(tmp_path):
    mix = {
        "stream": [{"env": "core.errands", "tasks": {"limit": 6}}],
        "policy": "core.random",
        "sampling": {"choices": "admissible"},
        "conditioner": "core.prompt",
        "record": [{"name": "hamo.cards", "writer": "rules", "source": "demonstration"}],
        "evaluate": {"tasks": {"limit": 6}, "resamples": 100, "sampling": {"choices": "admissible"}},
    }
    for threshold, expected in ((0.999, False), (-1.0, True)):
        gated = {"name": "hamo.gate", "threshold": threshold, "refresh": True, "refresh_below": 0.9}
        found = xplearn.load(xplearn.run({**mix, "selector": gated, "run": {"dir": str(tmp_path / str(threshold))}}).folder)
        phases = sorted({episode.phase for episode in found.episodes() if episode.arm == "experience"})
        steps = [step for phase in phases for played in found.trajectories(phase) if played.arm == "experience" for step in played.steps]
        assert len(steps) > 6
        assert any(step.selection.experiences for step in steps) is expected
