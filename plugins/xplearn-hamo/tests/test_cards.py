from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from xplearn_hamo.cards import CardWriter, card_id

import xplearn
from xplearn import Completion, ConfigError, IncompatibleError, Policy, Query
from xplearn.encoders.hashing import HashingEncoder
from xplearn.endpoint import EndpointConfig
from xplearn.errors import ContractError
from xplearn.keys import trajectory_key
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts import LearnerContract

OUTLINE = "1. Find the door\n2. Open it\n3. Done when the door is open"
TOY = {
    "stream": [{"env": "core.errands", "tasks": {"limit": 4}}],
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"limit": 1}, "resamples": 100},
}
BATCH = [samples.trajectory(number) for number in range(4)]


@dataclasses.dataclass(kw_only=True)
class TellingPolicy(Policy):
    """Says one thing, or another where the request holds certain words; remembers what it was asked."""

    always: str = "no idea"
    said: dict[str, str] = dataclasses.field(default_factory=dict)

    def setup(self, agent):
        self.calls = []

    def generate(self, conditionings, sampling, keys, choices=None):
        self.calls.append((list(conditionings), sampling, list(keys)))
        return [Completion(text=self._answer(conditioning.messages[-1]["content"])) for conditioning in conditionings]

    def reference(self):
        return contextlib.nullcontext()

    def _answer(self, request):
        return next((answer for words, answer in self.said.items() if words in request), self.always)


class SpyEncoder(HashingEncoder):
    """An encoder that remembers what it was given."""

    def __post_init__(self):
        super().__post_init__()
        self.texts = []

    def encode(self, texts):
        self.texts += texts
        return super().encode(texts)


def speaking(text):
    return FakeAgent(policy=TellingPolicy(always=text))


def varied(trajectory, *, goal=None, first=None, actions=None, **changes):
    """The trajectory with another goal, first observation or other actions."""
    task = trajectory.task if goal is None else dataclasses.replace(trajectory.task, goal=goal)
    steps = []
    for number, action in enumerate(actions if actions is not None else [step.action for step in trajectory.steps]):
        step = trajectory.steps[min(number, len(trajectory.steps) - 1)]
        messages = step.query.messages
        if first is not None:
            messages = (messages[0], {"role": "user", "content": first}, *messages[2:])
        steps.append(dataclasses.replace(step, action=action, query=dataclasses.replace(step.query, task=task, messages=messages)))
    return dataclasses.replace(trajectory, task=task, steps=tuple(steps), **changes)


class TestRulesWriter(LearnerContract):
    @pytest.fixture
    def make(self):
        return lambda: CardWriter(writer="rules")


class TestPolicyWriter(LearnerContract):
    @pytest.fixture
    def make(self):
        return lambda: CardWriter(writer="policy")

    @pytest.fixture
    def new_agent(self):
        return lambda: speaking(OUTLINE)


class TestTinyPolicyWriter(LearnerContract):
    @pytest.fixture
    def make(self):
        return lambda: CardWriter(writer="policy", max_new_tokens=8, batch=3)

    @pytest.fixture
    def new_agent(self):
        pytest.importorskip("torch")
        from xplearn.testing.fakes import FakePolicy

        return lambda: FakeAgent(policy=FakePolicy(context=4096))


class TestEndpointWriter(LearnerContract):
    @pytest.fixture
    def make(self, model):
        return lambda: CardWriter(writer="endpoint", endpoint=EndpointConfig(url=model.url, model="small"))


def test_a_card_holds_task_start_and_outline():
    with FakeAgent(position=(2, 1)) as agent:
        figures = CardWriter(writer="rules").learn(BATCH[:1], agent)
        (card,) = agent.store
    assert card.content == (
        "Task: boil object number 0\n"
        "Start: You are in room 0. You see a door and a lamp.\n"
        "Outline:\n"
        "1. Open a door\n"
        "2. Done when the goal holds: boil object number 0"
    )
    assert card.key == "Task: boil object number 0\n\nYou are in room 0. You see a door and a lamp."
    assert (card.kind, card.source, card.task, card.task_kind) == ("card", "train/boil-0/plain/0", "boil-0", "boil")
    assert (card.outcome, card.created) == (1.0, (2, 1, 0))
    assert card.id == card_id(BATCH[0])
    assert card.id.rpartition("/")[0] == "card/train/boil-0/plain/0"
    assert {name: card.meta[name] for name in ("outline", "writer", "usable")} == {
        "outline": ["Open a door", "Done when the goal holds: boil object number 0"],
        "writer": "rules",
        "usable": True,
    }
    assert figures == {"written": 1.0, "left_out": 0.0, "bank": 1.0, "asked": 1.0, "unusable": 0.0, "unusable_share": 0.0}


def test_the_two_spaces_hold_what_is_known_at_first_and_the_whole_card():
    with FakeAgent() as agent:
        CardWriter(writer="rules").learn(BATCH, agent)
        cards = list(agent.store)
        ids = [card.id for card in cards]
        np.testing.assert_array_equal(agent.store.vectors("key", ids), agent.encoder.encode([card.key for card in cards]))
        np.testing.assert_array_equal(agent.store.vectors("card", ids), agent.encoder.encode([card.content for card in cards]))


@pytest.mark.parametrize(
    ("goal", "first"),
    [
        ("boil water", "Task: boil water\n\nYou are in the hall."),
        ("put a mug in cabinet", "-= Welcome =-\n\nA room.\n\nYour task is to: put a mug in cabinet."),
        ("boil water", "You are in the hall."),
        ("boil water", "The hall. " * 10_000),
        ("boil water", "Task: boil water\n\n" + "The hall. " * 10_000),
        ("", "You are in the hall."),
        ("boil \ud800", "The\x00 hall"),
    ],
)
def test_a_card_is_found_by_exactly_what_the_act_time_selector_asks_with(goal, first):
    trajectory = varied(BATCH[0], goal=goal, first=first)
    selector = xplearn.make("selector", "core.nearest")
    with FakeAgent(encoder=SpyEncoder(), selector=selector) as agent:
        CardWriter(writer="rules").learn([trajectory, varied(BATCH[1], goal="other")], agent)
        agent.encoder.texts.clear()
        step = trajectory.steps[0]
        agent.selector.select([Query(purpose="act", task=trajectory.task, messages=step.query.messages)], agent.store)
        assert agent.encoder.texts == [trajectory_key(trajectory)] == [next(iter(agent.store)).key]


def test_a_key_holds_neither_outline_nor_any_later_observation():
    told = varied(BATCH[0], actions=["grasp the sword", "polish it"], final="It shines.")
    later = [message["content"] for message in told.steps[-1].query.messages[2:]]
    with speaking(OUTLINE) as agent:
        CardWriter().learn([told], agent)
        (card,) = agent.store
    assert later
    for hidden in (*later, *card.meta["outline"], "sword", "shines", "Outline"):
        assert hidden not in card.key


def test_the_policy_is_asked_greedily_in_batches_with_task_start_and_actions():
    with speaking(OUTLINE) as agent:
        figures = CardWriter(batch=3, max_new_tokens=99).learn(BATCH, agent)
        calls = agent.policy.calls
        cards = list(agent.store)
    assert [len(conditionings) for conditionings, _, _ in calls] == [3, 1]
    conditionings, sampling, keys = calls[0]
    assert (sampling.temperature, sampling.max_new_tokens, sampling.choices) == (0.0, 99, "free")
    assert len(set(keys)) == 3
    assert conditionings[0].messages[-1]["content"] == (
        "Task: boil object number 0\nStart: You are in room 0. You see a door and a lamp.\n"
        "Actions:\n- open door 0\n- open door 1\n- open door 2\nNumbered outline:"
    )
    assert all(card.content.endswith("Outline:\n1. Find the door\n2. Open it\n3. Done when the door is open") for card in cards)
    assert all((card.meta["writer"], card.meta["usable"]) == ("policy", True) for card in cards)
    assert (figures["asked"], figures["unusable_share"]) == (4.0, 0.0)


def test_unusable_outlines_give_way_to_the_rules_and_are_counted():
    with FakeAgent(policy=TellingPolicy(said={"number 0": OUTLINE, "number 2": "1. Find mug\n2. Done"})) as agent:
        figures = CardWriter().learn(BATCH, agent)
        cards = list(agent.store)
    assert [(card.meta["writer"], card.meta["usable"]) for card in cards] == [
        ("policy", True),
        ("rules", False),
        ("policy", True),
        ("rules", False),
    ]
    assert cards[1].meta["outline"] == ["Open a door", "Done when the goal holds: fetch object number 1"]
    assert (figures["unusable"], figures["unusable_share"]) == (2.0, 0.5)


def test_a_trained_policy_writes_as_it_was_before_training():
    torch = pytest.importorskip("torch")
    from xplearn.testing.fakes import FakePolicy

    def cards(tuned):
        with FakeAgent(policy=FakePolicy(context=4096)) as agent:
            if tuned:
                with torch.no_grad():
                    for _, parameter in agent.policy.parameters():
                        parameter.add_(0.5)
            said = []
            generate = agent.policy.generate
            agent.policy.generate = lambda *given: said.extend(found := generate(*given)) or found
            CardWriter(max_new_tokens=16).learn(BATCH, agent)
            return [completion.token_ids for completion in said], agent.store.digest()

    said, digest = cards(tuned=False)
    assert all(len(tokens) > 0 for tokens in said)
    assert cards(tuned=True) == (said, digest)


def test_the_width_of_a_batch_changes_nothing():
    digests = set()
    for batch in (1, 3, 8):
        with speaking(OUTLINE) as agent:
            CardWriter(batch=batch).learn(BATCH, agent)
            digests.add(agent.store.digest())
    assert len(digests) == 1


def test_an_endpoint_that_fails_loses_nothing(model):
    good = model.reply(0, None)
    model.reply = lambda number, request: good if "number 0" in str(request) else (500, b"oops")
    settings = EndpointConfig(url=model.url, model="small", retries=1, backoff_seconds=0.0)
    with FakeAgent() as agent:
        figures = CardWriter(writer="endpoint", endpoint=settings, batch=2).learn(BATCH, agent)
        cards = list(agent.store)
    assert [card.meta["writer"] for card in cards] == ["endpoint", "rules", "rules", "rules"]
    assert (figures["written"], figures["unusable_share"]) == (4.0, 0.75)
    assert len(model.requests) == 1 + 2 * 3


def test_a_missing_key_is_told_before_anything_is_played(model, monkeypatch):
    monkeypatch.delenv("HAMO_TEST_KEY", raising=False)
    settings = EndpointConfig(url=model.url, model="small", key_env="HAMO_TEST_KEY")
    with FakeAgent() as agent, pytest.raises(ConfigError, match="HAMO_TEST_KEY is not set"):
        CardWriter(writer="endpoint", endpoint=settings).setup(agent)


def test_another_encoder_than_the_banks_is_told_before_anything_is_played():
    with FakeAgent() as agent:
        CardWriter(writer="rules").learn(BATCH, agent)
        agent.encoder = HashingEncoder(dim=8)
        with pytest.raises(ContractError, match="configure that encoder"):
            CardWriter(writer="rules").setup(agent)


def test_a_batch_that_is_met_again_writes_and_asks_nothing():
    with speaking(OUTLINE) as agent:
        learner = CardWriter()
        learner.learn(BATCH, agent)
        before, calls = agent.store.digest(), len(agent.policy.calls)
        figures = learner.learn([*BATCH, *BATCH], agent)
        assert (agent.store.digest(), len(agent.policy.calls)) == (before, calls)
        assert (figures["written"], figures["left_out"], figures["asked"]) == (0.0, 8.0, 0.0)


def test_the_same_trajectory_twice_in_a_batch_is_one_card():
    with FakeAgent() as agent:
        assert CardWriter(writer="rules").learn([BATCH[0], BATCH[0]], agent)["written"] == 1.0


def test_another_way_through_the_same_task_is_another_card():
    assert card_id(BATCH[0]) != card_id(varied(BATCH[0], actions=["open door 1"]))
    assert card_id(BATCH[0]) != card_id(varied(BATCH[0], score=0.5))


def test_only_success_leaves_the_unsolved_out():
    with FakeAgent() as agent:
        figures = CardWriter(writer="rules", only_success=True).learn(BATCH, agent)
        assert [card.task for card in agent.store] == ["boil-0", "paint-2"]
    assert figures["left_out"] == 2.0


def test_trajectories_without_steps_are_left_out():
    with FakeAgent() as agent:
        figures = CardWriter(writer="rules").learn([dataclasses.replace(BATCH[0], steps=()), BATCH[1]], agent)
    assert (figures["written"], figures["left_out"]) == (1.0, 1.0)


def test_endless_and_unprintable_text_is_cut_and_cleaned_where_it_is_shown():
    wild = varied(
        BATCH[0],
        goal="boil\x1b[31m \ud800water " * 9000,
        first="Hall. " * 20_000,
        actions=["take mug 1 \ud800\x00", *(f"say {'long ' * 5000}{number}" for number in range(300))],
    )
    with speaking("no idea") as agent:
        CardWriter().learn([wild], agent)
        (card,) = agent.store
        shown = agent.policy.calls[0][0][0].messages[-1]["content"]
    assert len(card.content) < 3000
    assert len(shown) < 6000
    assert card.content.replace("\n", "").isprintable()
    assert card.meta["outline"][0].startswith("Take")


def test_the_first_observation_is_cut_on_the_card_and_not_in_the_key():
    long = varied(BATCH[0], first="Task: boil object number 0\n\n" + "A very long hall. " * 100)
    for start_chars in (300, 20, 0):
        with FakeAgent() as agent:
            CardWriter(writer="rules", start_chars=start_chars).learn([long], agent)
            (card,) = agent.store
        starts = [line.removeprefix("Start: ") for line in card.content.splitlines() if line.startswith("Start: ")]
        assert len(starts) == (start_chars > 0)
        assert all(0 < len(start) <= start_chars for start in starts)
        assert len(card.key) > 1800


def test_progress_is_reported():
    with FakeAgent() as agent:
        CardWriter(writer="rules", batch=3).learn(BATCH, agent)
        assert agent.checkpoint.reports == [(3, 4, {}), (4, 4, {})]


def test_whoever_watches_sees_that_rules_stand_in_for_an_endpoint_where_nobody_listens(model, tmp_path):
    model.close()
    settings = {"url": model.url, "model": "small", "retries": 0}
    parts = {"policy": "core.random", "record": {"name": "hamo.cards", "writer": "endpoint", "endpoint": settings}}
    file = tmp_path / "toy.yaml"
    file.write_text(json.dumps(TOY | parts | {"run": {"dir": str(tmp_path)}}))
    done = subprocess.run([sys.executable, "-m", "xplearn", "run", str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^record\.0/0/0: 4/4 in \S+ s  unusable 4$", done.stderr, re.MULTILINE), done.stderr


def test_those_that_an_earlier_try_of_the_call_left_unusable_are_told_too():
    with speaking("no idea") as agent:
        agent.policy.said = {"number 0": OUTLINE}
        CardWriter(batch=2, checkpoint_seconds=0.0).learn(BATCH[:2], agent)
        CardWriter(batch=1).learn(BATCH, agent)
    assert agent.checkpoint.reports[-2:] == [(1, 2, {"unusable": 1.0}), (2, 2, {"unusable": 2.0})]


@pytest.mark.parametrize("policy", ["core.random", "core.scripted"])
def test_a_policy_without_language_is_refused_before_anything_is_played(policy, tmp_path):
    parts = {"policy": policy, "record": "hamo.cards", "run": {"dir": str(tmp_path)}}
    with pytest.raises(IncompatibleError, match=r"record 'hamo\.cards' requires 'policy\.reference'") as told:
        xplearn.run(TOY | parts)
    assert str(told.value).endswith("\n      or: record: {name: hamo.cards, writer: rules}")
    assert list(tmp_path.iterdir()) == []


def test_only_outlines_by_the_policy_ask_for_a_language_model():
    settings = EndpointConfig(url="http://localhost/v1", model="m")
    assert not CardWriter(writer="rules").requires
    assert not CardWriter(writer="rules").ways_out
    assert not CardWriter(writer="endpoint", endpoint=settings).requires
    assert CardWriter().requires == {"policy.reference"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_steps", 2),
        ("max_new_tokens", 0),
        ("batch", 0),
        ("start_chars", -1),
        ("checkpoint_seconds", -1.0),
        ("checkpoint_seconds", float("nan")),
    ],
)
def test_fields_are_checked(field, value):
    with pytest.raises(ConfigError) as caught:
        CardWriter(**{field: value})
    assert caught.value.path == field


def test_endpoint_and_writer_belong_together():
    with pytest.raises(ConfigError, match="is missing and writer is endpoint"):
        CardWriter(writer="endpoint")
    with pytest.raises(ConfigError, match="is given and writer is policy"):
        CardWriter(endpoint=EndpointConfig(url="http://localhost/v1", model="m"))
    with pytest.raises(ConfigError, match=r"hamo\.cards\.endpoint\.url: 'x' is no web address"):
        xplearn.make("learner", "hamo.cards", writer="endpoint", endpoint={"url": "x", "model": "m"})


def test_the_expert_is_asked_for_only_where_that_is_configured():
    assert CardWriter().plan().indifferent
    plan = CardWriter(source="demonstration").plan()
    assert (plan.source, plan.indifferent) == ("demonstration", False)
