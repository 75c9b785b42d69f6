"""Principles that a policy or a model behind an endpoint writes: asked as a whole, saved, asked again, given up."""

from __future__ import annotations

import contextlib
import dataclasses
import json

import pytest
from xplearn_edge.contrasts import Contrast
from xplearn_edge.prompts import EXAMPLE_REQUEST, conversation
from xplearn_edge.reading import read
from xplearn_edge.writers import EndpointWriter, PolicyWriter
from xplearn_edge.writing import Writing

from xplearn import Completion, ConfigError, Policy
from xplearn.endpoint import EndpointConfig
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.server import ChatServer, completion

ANSWER = json.dumps({"principles": [{"title": "Doors", "when": "a door is shut", "do": "open it", "avoid": "waiting", "scope": "task"}]})
GOOD = completion(ANSWER)


@dataclasses.dataclass(kw_only=True)
class TellingPolicy(Policy):
    """Says one thing; remembers what it was asked, and whether as its former self."""

    said: str = ANSWER

    def setup(self, agent):
        self.calls, self.former = [], False

    def generate(self, conditionings, sampling, keys, choices=None):
        self.calls.append((list(conditionings), sampling, list(keys), self.former))
        return [Completion(text=self.said) for _ in conditionings]

    @contextlib.contextmanager
    def reference(self):
        self.former = True
        yield
        self.former = False


def contrast(number=0):
    return Contrast(
        success=samples.trajectory(2 * number), failure=dataclasses.replace(samples.trajectory(2 * number, length=1), success=False)
    )


def requests(count=1):
    return {str(number): conversation(contrast(number), ["task"]) for number in range(count)}


@pytest.fixture
def model():
    with ChatServer(lambda number, request: GOOD) as server:
        yield server


@pytest.fixture
def config(model):
    return EndpointConfig(url=model.url, model="small", timeout_seconds=60.0, retries=2, backoff_seconds=0.01)


def writer(config):
    return EndpointWriter(config, max_new_tokens=99, usable=lambda said: bool(read(said, ["task"]).principles))


def test_a_request_shows_goal_start_and_both_ways_after_an_example():
    system, asked, answered, request = conversation(contrast(), ["task"])
    assert [message["role"] for message in (system, asked, answered, request)] == ["system", "user", "assistant", "user"]
    assert asked["content"] == EXAMPLE_REQUEST
    assert request["content"] == (
        "Task: boil object number 0\nStart: You are in room 0. You see a door and a lamp.\n"
        "Solved by: open door 0; open door 1; open door 2\nFailed with: open door 0\nPrinciples as JSON:"
    )
    assert 'always "task"' in system["content"]
    assert '"step"' in conversation(contrast(), ["task", "step"])[0]["content"]


def test_an_experts_way_is_shown_alone():
    shown = conversation(Contrast(success=samples.trajectory(0), failure=None), ["task"])[-1]["content"]
    assert "Failed" not in shown


def test_long_trajectories_are_shown_with_both_their_ends():
    way = samples.trajectory(0, length=500)
    shown = conversation(Contrast(success=way, failure=None), ["task"])[-1]["content"]
    assert len(shown) < 3000
    assert "open door 0;" in shown
    assert "…" in shown
    assert "open door 499" in shown


def test_the_policy_writes_greedily_and_as_it_was_before_training():
    with FakeAgent(policy=TellingPolicy()) as agent:
        asking = PolicyWriter(agent, max_new_tokens=99)
        with asking.ready():
            said = asking.answer(requests(2))
        ((conditionings, sampling, keys, former),) = agent.policy.calls
    assert said == {"0": ANSWER, "1": ANSWER}
    assert (len(conditionings), sampling.temperature, sampling.max_new_tokens, len(set(keys)), former) == (2, 0.0, 99, 2, True)


@pytest.mark.parametrize(
    "bad",
    ["hang", (500, b"oops"), (429, b""), (200, b"not json"), completion("no idea"), completion(ANSWER[:-5]), completion(None)],
    ids=["hang", "500", "429", "malformed", "no JSON", "cut off", "nothing"],
)
def test_failures_and_nonsense_are_asked_again(model, config, bad):
    def reply(number, request):
        config.timeout_seconds = 60.0  # of the next: an answer has more time than silence
        return GOOD if number else bad

    config.timeout_seconds, model.reply = 1.0, reply
    assert writer(config).answer(requests()) == {"0": ANSWER}


def test_the_last_answer_of_no_use_is_kept_so_that_its_reason_can_be_told(model, config):
    model.script(completion("no idea"), (500, b""))
    assert writer(config).answer(requests()) == {"0": "no idea"}
    assert len(model.requests) == 3


def test_an_endpoint_that_stays_silent_is_not_asked_for_ever(model, config):
    model.script((503, b""))
    config.retries = 0
    asking = writer(config)
    for _ in range(10):
        assert asking.answer(requests(4)) == dict.fromkeys("0123", "")
    assert len(model.requests) == 8


def test_a_request_that_does_not_fit_is_not_repeated(model, config):
    model.script((400, b"maximum context length is 10 tokens"))
    assert writer(config).answer(requests()) == {"0": ""}
    assert len(model.requests) == 1


def test_a_refusing_endpoint_is_an_error_that_tells_what_to_check(model, config):
    model.script((401, b"no"))
    with pytest.raises(ConfigError, match="check url, model and key_env"):
        writer(config).answer(requests())


def test_answers_are_saved_and_not_asked_for_twice():
    with FakeAgent(policy=TellingPolicy()) as agent:
        first = Writing(agent, PolicyWriter(agent, max_new_tokens=9), "policy", ["task"]).on([contrast(0)], done=0, total=2)
        again = Writing(agent, PolicyWriter(agent, max_new_tokens=9), "policy", ["task"]).on([contrast(0), contrast(1)], done=0, total=2)
        assert [len(call[0]) for call in agent.policy.calls] == [1, 1]
        assert agent.checkpoint.reports == [(1, 2, {}), (2, 2, {})]
        json.dumps(agent.checkpoint.state)
    assert again[0] == first[0]
    assert (first[0].by, first[0].usable) == ("policy", True)


def test_the_rules_stand_in_for_an_answer_of_no_use():
    with FakeAgent(policy=TellingPolicy(said="no idea")) as agent:
        (written,) = Writing(agent, PolicyWriter(agent, max_new_tokens=9), "policy", ["task"]).on([contrast()], done=0, total=1)
        (own,) = Writing(agent, None, "rules", ["task"]).on([contrast()], done=0, total=1)
    assert (written.by, written.usable, written.refused) == ("rules", False, ("no JSON in the answer",))
    assert (own.by, own.usable, own.principles) == ("rules", True, written.principles)
