from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import pytest

from tests.waiting import wait_for
from xplearn.capability import WHY
from xplearn.cli import main
from xplearn.config import load_experiment
from xplearn.errors import ConfigError, ContractError, EndpointError, IncompatibleError
from xplearn.experiment.build import check_experiment
from xplearn.experiment.run import run_experiment
from xplearn.hookspecs import hookimpl
from xplearn.interfaces import Conditioner
from xplearn.plugins import Plugins, installed
from xplearn.policies.openai import OpenAiPolicy
from xplearn.record.reader import load
from xplearn.testing.agents import FakeAgent
from xplearn.testing.server import ChatServer, completion
from xplearn.types import Conditioning, Memory, Sampling

FREE = Sampling(max_new_tokens=12, temperature=0.7, top_p=0.9)
CHOOSE = Sampling(choices="admissible")
ACTIONS = ("look around", "Go to hall", "take cup", "take  Cup")
URL = "http://127.0.0.1:9/v1"
"""Where nobody listens: nothing is asked there."""


@pytest.fixture
def server():
    with ChatServer(lambda number, request: completion("look around")) as found:
        yield found


@pytest.fixture
def policy(server):
    with FakeAgent() as agent:
        found = made(server.url)
        found.setup(agent)
        yield found
        found.close()


def made(url=URL, **fields):
    return OpenAiPolicy(**{"url": url, "model": "small", "timeout_seconds": 60.0, "retries": 2, "backoff_seconds": 0.01, **fields})


def told(number):
    return Conditioning(messages=({"role": "user", "content": f"Room {number}."},))


def say(policy, sampling=FREE, rows=1, choices=None):
    return policy.generate([told(number) for number in range(rows)], sampling, list(range(rows)), choices)


def test_sampling_messages_and_a_seed_of_the_key_are_sent(server, policy):
    policy.generate([told(0), told(1), told(0)], FREE, [1, 1, 2])
    settings = {"temperature": 0.7, "top_p": 0.9, "max_tokens": 12, "stop": ["\n"]}
    seeds = [request.pop("seed") for request in sorted(server.requests, key=str)]
    assert sorted(server.requests, key=str) == [{"model": "small", "messages": list(told(room).messages), **settings} for room in (0, 0, 1)]
    assert len(set(seeds)) == 2
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert policy.generate([], FREE, []) == []


def test_no_text_ends_a_completion_where_none_is_to(server, policy):
    server.script(completion("One.\nTwo."))
    assert say(policy, Sampling(stop=()))[0].text == "One.\nTwo."
    assert "stop" not in server.requests[0]


def test_a_server_that_does_not_heed_stop_texts_is_cut_short(server, policy):
    server.script(completion("look around\nThen, I", "length"))
    (found,) = say(policy, Sampling(stop=("Then", "\n")))
    assert (found.text, found.finish) == ("look around", "stop")


def test_a_completion_knows_no_tokens_and_why_it_ended(server, policy):
    server.script(completion("look", "length"))
    (found,) = say(policy)
    assert (found.text, found.finish, found.sampling, found.policy_version) == ("look", "length", FREE, 0)
    assert (found.prompt_ids, found.token_ids, found.logprobs) == ((), (), None)


def test_rows_come_back_in_order_whatever_answers_first(server, policy):
    def by_room(number, request):
        room = request["messages"][0]["content"]
        time.sleep(0.1 if room in {"Room 0.", "Room 5."} else 0.0)
        return completion(f"In {room}")

    server.reply = by_room
    assert [found.text for found in say(policy, rows=12)] == [f"In Room {number}." for number in range(12)]


def test_a_row_asks_the_same_beside_others_as_alone(server, policy):
    say(policy, CHOOSE, rows=4, choices=[ACTIONS] * 4)
    together = sorted(server.requests, key=str)
    server.requests.clear()
    for number in range(4):
        policy.generate([told(number)], CHOOSE, [number], [ACTIONS])
    assert sorted(server.requests, key=str) == together


@pytest.mark.parametrize("parallel", [1, 3])
def test_no_more_requests_are_under_way_than_allowed(server, policy, parallel):
    policy.parallel = parallel
    lock, now, most = threading.Lock(), [], []

    def slowly(number, request):
        with lock:
            now.append(number)
            most.append(len(now))
        time.sleep(0.02)
        with lock:
            now.remove(number)
        return completion("wait")

    server.reply = slowly
    say(policy, rows=9)
    assert max(most) == parallel


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("look around", "look around"),
        ("  Look   around. ", "look around"),
        ('"go to hall"', "Go to hall"),
        ("> **Go to Hall!**", "Go to hall"),
        ("take cup", "take cup"),
        ("TAKE CUP", "TAKE CUP"),
        ("go to the hall", "go to the hall"),
        ("Action: look around", "Action: look around"),
        ("", ""),
    ],
)
def test_an_answer_is_the_action_it_says_or_stays_as_it_is(server, policy, text, action):
    server.script(completion(text))
    assert say(policy, CHOOSE, choices=[ACTIONS])[0].text == action


def test_without_admissible_actions_text_is_free(server, policy):
    server.script(completion("Look Around"))
    assert say(policy, CHOOSE)[0].text == "Look Around"
    assert say(policy, CHOOSE, choices=[None])[0].text == "Look Around"
    assert say(policy, FREE, choices=[ACTIONS])[0].text == "Look Around"


def test_a_guided_choice_is_the_servers(server, policy):
    policy.guided = True
    server.script(completion("Go to hall"))
    assert say(policy, CHOOSE, choices=[ACTIONS])[0].text == "Go to hall"
    say(policy, FREE, choices=[ACTIONS])
    chosen, free = server.requests
    assert chosen["structured_outputs"] == {"choice": list(ACTIONS)}
    assert "stop" not in chosen
    assert "structured_outputs" not in free


def test_extra_is_sent_along_and_null_leaves_a_setting_out(server):
    with FakeAgent() as agent:
        policy = made(server.url, extra={"seed": None, "max_tokens": None, "max_completion_tokens": 9, "chat": {"thinking": False}})
        policy.setup(agent)
        say(policy)
    (request,) = server.requests
    assert request.keys() == {"model", "messages", "temperature", "top_p", "stop", "max_completion_tokens", "chat"}
    assert (request["max_completion_tokens"], request["chat"]) == (9, {"thinking": False})


@pytest.mark.parametrize(
    ("fields", "path", "reason"),
    [
        ({"url": "localhost:8000"}, "url", "is no web address"),
        ({"model": ""}, "model", "name the model"),
        ({"key_env": "sk-secret"}, "key_env", "is no name of an environment variable"),
        ({"parallel": 0}, "parallel", "at least 1"),
        ({"extra": {"messages": []}}, "extra.messages", "the policy says it itself"),
        ({"extra": {"stream": True}}, "extra.stream", "the policy says it itself"),
        ({"extra": {"temperature": 0.2}}, "extra.temperature", "is said by sampling"),
        ({"extra": {"bias": float("nan")}}, "extra", "cannot be sent"),
        ({"extra": {"bias": {1, 2}}}, "extra", "cannot be sent"),
    ],
)
def test_settings_are_checked(fields, path, reason):
    with pytest.raises(ConfigError, match=reason) as caught:
        made(**fields)
    assert caught.value.path == path
    assert "secret" not in str(caught.value)


def test_the_key_is_read_at_setup_and_stands_in_no_record(server, monkeypatch):
    monkeypatch.setenv("XPLEARN_TEST_KEY", "secret")
    policy = made(server.url, key_env="XPLEARN_TEST_KEY")
    with FakeAgent() as agent:
        policy.setup(agent)
        say(policy)
        assert server.headers[0][1]["Authorization"] == "Bearer secret"
        assert "secret" not in repr(policy) + repr(policy.state_dict()) + repr(server.requests)
        monkeypatch.delenv("XPLEARN_TEST_KEY")
        with pytest.raises(ConfigError, match="export XPLEARN_TEST_KEY="):
            policy.setup(agent)


def test_before_setup_it_says_so():
    with pytest.raises(ContractError, match=r"core\.openai: used before setup"):
        say(made())


@pytest.mark.parametrize("bad", [ChatServer.HANG, (429, b""), (503, b"busy"), (200, b"{"), (200, b'{"choices": []}')])
def test_what_may_pass_is_asked_again(server, policy, bad):
    answers = [bad, bad, completion("wait")]

    def reply(number, request):
        policy.timeout_seconds = 60.0 if number else 1.0  # of the next: an answer has more time than silence
        return answers[number]

    policy.timeout_seconds, server.reply = 1.0, reply
    assert say(policy)[0].text == "wait"
    assert len(server.requests) == 3
    assert server.requests[0] == server.requests[1]


def test_a_server_that_stays_silent_is_given_up_in_one_line(server, policy):
    server.script((503, b"loading\nthe model"))
    with pytest.raises(EndpointError) as caught:
        say(policy)
    assert str(caught.value) == (
        f"{server.url}: no answer to 3 requests, at last answers 503 'loading the model'; "
        "see that it is up; the same command then goes on where it stopped"
    )
    server.close()
    with pytest.raises(EndpointError, match="no answer to 3 requests, at last ConnectionRefusedError"):
        say(policy)


def test_a_request_that_the_server_does_not_take_is_not_repeated(server, policy):
    server.script((400, b"unknown field: seed"))
    with pytest.raises(EndpointError, match=r"answers 400 'unknown field: seed'; .*policy\.extra=\{seed: null\}"):
        say(policy)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [307, 401, 404])
def test_a_server_that_refuses_us_is_a_fault_of_the_configuration(server, policy, status):
    server.script((status, b"no such model"))
    with pytest.raises(ConfigError, match=f"answers {status} 'no such model'; check url, model and key_env"):
        say(policy)
    assert len(server.requests) == 1


def test_the_first_failure_ends_all_requests_under_way(server, policy):
    policy.timeout_seconds, policy.retries = 30.0, 100
    server.reply = lambda number, request: (401, b"") if "Room 0." in str(request) else ChatServer.HANG
    began = time.monotonic()
    with pytest.raises(ConfigError, match="answers 401"):
        say(policy, rows=20)
    assert time.monotonic() - began < 25
    assert len(server.requests) <= 2 * policy.parallel


@pytest.fixture
def interruptible():
    """A process started in the background ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_does_not_wait_for_the_server(server, policy, interruptible):
    policy.timeout_seconds = 30.0
    server.script(ChatServer.HANG)

    def interrupt():
        if wait_for(lambda: server.requests):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    began = time.monotonic()
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        say(policy, rows=20)
    assert time.monotonic() - began < 25


def test_a_conversation_that_does_not_fit_comes_back_empty(server, policy):
    server.script((400, b"This model's maximum context length is 64 tokens."))
    (found,) = say(policy, CHOOSE, choices=[ACTIONS])
    assert (found.text, found.finish) == ("", "context")


def test_what_it_cannot_do_is_said_with_a_way_out(policy):
    with pytest.raises(ContractError, match=r"cannot order candidates: .* take a policy of this process"):
        say(policy, Sampling(choices="rank"), choices=[ACTIONS])
    latent = Conditioning(messages=told(0).messages, memory=Memory(states=None, ids=("card",)))
    with pytest.raises(ContractError, match=r"takes no latent memory; .*core\.prompt"):
        policy.generate([latent], FREE, [0])


# ---------------------------------------------------------------- in an experiment


@dataclass(kw_only=True)
class Latent(Conditioner):
    """Asks for what a latent conditioner asks for."""

    @property
    def provides(self):
        return frozenset({"conditioner.latent"})

    @property
    def requires(self):
        return frozenset({"policy.memory", "policy.encode", "learner.conditioned"})

    def condition(self, queries, selections):
        raise NotImplementedError


class LatentPlugin:
    @hookimpl
    def xplearn_register(self, registry):
        registry.add("conditioner", "latent", f"{__name__}:Latent")


@pytest.fixture
def plugins():
    found = Plugins().discover()
    found.add("fake", LatentPlugin())
    return found


def mix(url, tmp_path, **changes):
    policy = {"name": "core.openai", "url": url, "model": "owner/small", "retries": 0, "key_env": "", **changes.pop("policy", {})}
    stream = [{"env": "core.errands", "tasks": {"limit": 2}}]
    evaluate = {"tasks": {"split": "test", "limit": 2}, "resamples": 100}
    return {"stream": stream, "policy": policy, "evaluate": evaluate, "run": {"dir": str(tmp_path)}, **changes}


def test_a_mix_that_needs_more_than_text_is_refused_with_what_would_do_before_anything_is_asked(server, plugins, tmp_path):
    pytest.importorskip("torch")
    harness = {"selector": "core.nearest", "record": "core.record", "conditioner": "fake.latent", "learner": "core.clone"}
    experiment, given = load_experiment(mix(server.url, tmp_path, **harness), [], plugins.registry)
    found = {(problem.slot, problem.name, problem.capability): str(problem) for problem in check_experiment(experiment, plugins)}
    for key in [
        ("conditioner", "fake.latent", "policy.encode"),
        ("conditioner", "fake.latent", "policy.memory"),
        ("learner", "core.clone", "policy.score"),
        ("learner", "core.clone", "policy.train"),
    ]:
        lines = found[key].splitlines()
        assert lines[1].strip() == f"{WHY[key[2]]},"
        assert lines[2].strip() == "but no policy in [core.openai] provides it"
        assert "core.hf" in lines[3]
        assert lines[4].strip().startswith("for example: policy: core.")
    with pytest.raises(IncompatibleError, match=r"requires 'policy\.memory'"):
        run_experiment(experiment, plugins=plugins, given=given)
    assert server.requests == []
    assert list(tmp_path.iterdir()) == []


def test_a_run_acts_through_the_server_and_goes_on_when_it_is_back(server, tmp_path):
    plugins = installed()
    lines = ["sampling.choices=admissible", "run.batch=2", "policy.key_env=XPLEARN_TEST_KEY"]
    experiment, given = load_experiment(mix(server.url, tmp_path), lines, plugins.registry)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XPLEARN_TEST_KEY", "very-secret")
        server.reply = lambda number, request: completion("look around") if number < 3 else (503, b"")
        with pytest.raises(EndpointError, match="no answer to 1 requests"):
            run_experiment(experiment, plugins=plugins, given=given)
        server.reply = lambda number, request: completion("look around")
        folder = run_experiment(experiment, plugins=plugins, given=given).folder
    run = load(folder)
    assert run.header.status == "finished"
    assert {episode.tokens_in + episode.tokens_out for episode in run.episodes()} == {0}
    assert all(b"very-secret" not in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def counting(usage):
    answer = json.loads(completion("look around")[1])
    return 200, json.dumps({**answer, "usage": usage}).encode()


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34}, (30, 4)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (0, 0)),
        ({"prompt_tokens": 30}, None),
        ({"prompt_tokens": "30", "completion_tokens": 4}, None),
        ({"prompt_tokens": -1, "completion_tokens": True}, None),
        ([30, 4], None),
        (None, None),
    ],
)
def test_tokens_are_what_the_server_counts_if_it_does(server, policy, usage, counted):
    server.script(counting(usage))
    assert [found.counted for found in say(policy)] == [counted]


def test_tokens_that_the_server_counts_are_recorded_and_a_turn_counts_what_is_new_in_it(server, tmp_path):
    server.reply = lambda number, request: counting({"prompt_tokens": 100 + 20 * len(request["messages"]), "completion_tokens": 4})
    plugins = installed()
    experiment, given = load_experiment(mix(server.url, tmp_path), ["sampling.choices=admissible"], plugins.registry)
    run = load(run_experiment(experiment, plugins=plugins, given=given).folder)
    assert {episode.length for episode in run.episodes()} != {1}
    played = {found.id: found for phase in {episode.phase for episode in run.episodes()} for found in run.trajectories(phase)}
    for episode in run.episodes():
        last = played[episode.id].steps[-1].completion.counted[0]
        assert (episode.tokens_in, episode.tokens_out) == (last - 4 * (episode.length - 1), 4 * episode.length)


def test_check_asks_nobody_and_nothing_need_be_fetched(server, tmp_path, capsys):
    policy = f"policy={{name: core.openai, url: '{server.url}', model: owner/small, key_env: XPLEARN_UNSET_KEY}}"
    assert main(["check", "--estimate", "stream=[{env: core.errands, tasks: {limit: 2}}]", policy]) == 0
    printed = capsys.readouterr().out
    assert "no local weights, so the policy needs no memory here; no model needs fetching" in printed
    assert server.requests == []


def test_it_is_loaded_without_torch():
    code = "import sys, xplearn; xplearn.make('policy', 'core.openai', url='http://h/v1', model='m'); assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ranking_is_refused_before_anything_is_asked(server, plugins, tmp_path):
    pytest.importorskip("torch")
    experiment, _ = load_experiment(mix(server.url, tmp_path), ["sampling.choices=rank"], plugins.registry)
    found = {problem.capability: str(problem) for problem in check_experiment(experiment, plugins) if problem.slot == "sampling"}
    assert "core.hf" in found["policy.rank"]
    assert server.requests == []
