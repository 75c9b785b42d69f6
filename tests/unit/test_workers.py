from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.waiting import wait_for
from xplearn.errors import ConfigError, ContractError, DataError, EnvironmentDiedError, UnknownComponentError
from xplearn.rollout import wire, workers
from xplearn.rollout.pool import open_pool
from xplearn.schema import EnvSpec
from xplearn.types import Task

TRICKY = '''
import dataclasses, os, subprocess, sys, time
from dataclasses import dataclass
import xplearn
from xplearn.builtin.toys import Counting

@dataclass(kw_only=True)
class Tricky(Counting):
    """Counting, with a few actions that misbehave."""

    def reset(self, task, *, seed):
        if seed == 666:
            os._exit(3)
        return super().reset(task, seed=seed)

    def step(self, action):
        if action == "sleep":
            time.sleep(3600)
        if action == "exit":
            os._exit(7)
        if action == "sys.exit":
            sys.exit(3)
        if action == "nothing":
            return None
        if action == "object":
            return dataclasses.replace(super().step(action), info={"what": object()})
        if action == "crash":
            raise ZeroDivisionError("oh")
        if action == "print":
            print("{not json")
            os.write(1, b"{neither}")
            subprocess.run(["echo", "nor this"])
            assert sys.stdin.read() == ""
        outcome = super().step(action)
        text = {"broken": "half a pair \\ud83d and the rest", "pid": str(os.getpid())}.get(action, outcome.observation.text)
        return dataclasses.replace(outcome, observation=dataclasses.replace(outcome.observation, text=text))

    def demonstrate(self, task, *, seed):
        if task.meta["start"] % 30 == 0:
            time.sleep(0.2)
        return super().demonstrate(task, seed=seed)

@xplearn.hookimpl
def xplearn_register(registry):
    registry.add("environment", "env", "tricky:Tricky")
'''


@pytest.fixture
def tricky(tmp_path, monkeypatch):
    (tmp_path / "tricky.py").write_text(TRICKY)
    info = tmp_path / "tricky-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tricky\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[xplearn]\ntricky = tricky\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pools = []

    def make(**options):
        settings = {"slots": 2, "workers": 2, "step_seconds": 60.0, **options}
        pools.append(open_pool(EnvSpec(name="tricky.env", fields={"length": 50}), **settings))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def begin(pool, *slots):
    task = pool.tasks("train")[0]
    pool.reset({slot: (task, slot) for slot in slots})
    return task.meta["start"]


def alive(pid):
    """Whether it runs: where nobody waits for it, what has ended is still there as a zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()


@pytest.mark.parametrize("count", [1, 2])
def test_workers_play_what_this_process_plays(count):
    spec = EnvSpec(name="core.errands", fields={"per_kind": 2})
    transcripts = []
    for number in (0, count):
        pool = open_pool(spec, slots=3, workers=number)
        tasks = pool.tasks("test")[:3]
        starts = pool.reset({slot: (task, 5) for slot, task in enumerate(tasks)})
        turns = [pool.step(dict.fromkeys(range(3), action)) for action in ("open drawer", "go to attic", "fly")]
        transcripts.append((pool.version, pool.splits, pool.provides, list(pool.tasks("dev")), starts, turns))
        pool.close()
    assert transcripts[0] == transcripts[1]


def test_demonstrations_keep_their_order_over_all_workers_and_arrive_whole(tricky):
    pool = tricky()
    here = open_pool(EnvSpec(name="core.counting", fields={"length": 50}), slots=1)
    requests = [(task, 0) for task in pool.tasks("train")[:9]]
    assert list(pool.demonstrate(requests)) == list(here.demonstrate(requests))


def test_demonstrations_in_flight_are_bounded_and_may_be_given_up(tricky, monkeypatch):
    monkeypatch.setattr(workers, "WINDOW", 1)
    pool = tricky()
    begin(pool, 0, 1)
    shown = pool.demonstrate([(task, 0) for task in pool.tasks("train")])
    assert next(shown).task == pool.tasks("train")[0]
    shown.close()
    assert [trajectory.task.id for trajectory in pool.demonstrate([(pool.tasks("train")[4], 0)])] == ["train/4"]


def test_an_environment_over_its_limit_is_ended_and_starts_anew(tricky):
    pool = tricky(step_seconds=2.0)
    start = begin(pool, 0, 1)
    turns = pool.step({0: "sleep", 1: str(start + 1)})
    pool._limit = 60.0
    assert isinstance(turns[0], EnvironmentDiedError)
    assert "no answer to 'step' within 2 s" in str(turns[0])
    assert turns[1].outcome.info["score"] == 1 / 50
    assert isinstance(pool.step({0: "1"})[0], EnvironmentDiedError)
    begin(pool, 0)
    assert pool.step({0: str(start + 1)})[0].outcome.info["score"] == 1 / 50
    assert pool.step({1: str(start + 2)})[1].outcome.info["score"] == 2 / 50


def test_every_slot_of_a_dead_worker_is_lost_until_its_reset(tricky):
    pool = tricky(slots=3, workers=1)
    start = begin(pool, 0, 1, 2)
    turns = pool.step({0: str(start + 1), 1: "exit", 2: str(start + 1)})
    assert turns[0].outcome.info["score"] == 1 / 50
    assert "ended with code 7" in str(turns[1])
    assert isinstance(turns[2], EnvironmentDiedError)
    assert isinstance(pool.step({0: str(start + 2)})[0], EnvironmentDiedError)
    begin(pool, 0, 2)
    assert pool.step({2: str(start + 1)})[2].outcome.info["score"] == 1 / 50
    assert isinstance(pool.step({1: "1"})[1], EnvironmentDiedError)


def test_a_reset_that_kills_its_worker_leaves_the_other_resets_to_a_new_one(tricky):
    pool = tricky(slots=3, workers=1)
    task = pool.tasks("train")[0]
    starts = pool.reset({0: (task, 0), 1: (task, 666), 2: (task, 0)})
    assert [isinstance(starts[slot], EnvironmentDiedError) for slot in range(3)] == [False, True, False]
    assert isinstance(pool.step({0: "1"})[0], EnvironmentDiedError)
    assert pool.step({2: "1"})[2].action == "1"


def test_an_unexpected_exception_loses_one_episode_and_keeps_the_worker(tricky):
    pool = tricky(slots=2, workers=1)
    start = begin(pool, 0, 1)
    turns = pool.step({0: "crash", 1: str(start + 1)})
    assert "ZeroDivisionError('oh')" in str(turns[0])
    assert pool.step({1: str(start + 2)})[1].outcome.info["score"] == 2 / 50


def test_what_an_environment_prints_does_not_disturb_the_protocol(tricky, capfd):
    pool = tricky()
    begin(pool, 0)
    assert pool.step({0: "print"})[0].action == "print"
    assert pool.step({0: "pid"})[0].action == "pid"
    seen = capfd.readouterr()
    assert seen.out == ""
    assert "{neither}" in seen.err
    assert "nor this" in seen.err


def test_lone_surrogates_survive_both_ways(tricky):
    pool = tricky()
    begin(pool, 0)
    assert pool.step({0: "broken"})[0].outcome.observation.text == "half a pair \ud83d and the rest"
    assert pool.step({0: "\udc80?"})[0].action == "\udc80?"


def test_errors_come_back_as_what_they_were():
    pool = open_pool(EnvSpec(name="core.counting"), slots=1, workers=1)
    with pytest.raises(ContractError, match=r"core\.counting: no episode is in progress") as caught:
        pool.step({0: "1"})
    assert caught.value.component == "core.counting"
    with pytest.raises(DataError) as missing:
        pool.reset({0: (Task(id="nowhere", env="other", split="train", goal="?"), 0)})
    assert missing.value.path == "nowhere"
    with pytest.raises(ConfigError, match="weekend"):
        pool.tasks("weekend")
    pool.close()


def test_wrong_names_and_fields_fail_when_the_pool_is_opened():
    with pytest.raises(UnknownComponentError, match=r"core\.counting"):
        open_pool(EnvSpec(name="core.countin"), slots=1, workers=1)
    with pytest.raises(ConfigError, match="length"):
        open_pool(EnvSpec(name="core.counting", fields={"lenght": 1}), slots=2, workers=2)


def test_another_interpreter_plays_in_a_worker(tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexport FOREIGN=1\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    pool = open_pool(EnvSpec(name="core.counting", python=str(python)), slots=2)
    assert pool.version == "counting 1, 5 turns"
    assert len(list(pool.demonstrate([(task, 0) for task in pool.tasks("test")]))) == 20
    pool.close()


def script(path, *lines):
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def opened_with(python, **settings):
    return open_pool(EnvSpec(name="core.counting", python=python), slots=1, **settings)


def test_an_interpreter_that_cannot_play_is_named_with_the_command_to_type(tmp_path):
    with pytest.raises(ConfigError, match=r"env\.python: '.*no-python' is not an executable"):
        opened_with(str(tmp_path / "no-python"))
    with pytest.raises(ConfigError, match=r"No module named 'xplearn'.*bare -m pip install xplearn"):
        opened_with(script(tmp_path / "bare", f'exec "{sys.executable}" -S -I "$@"'))


def test_what_is_no_interpreter_is_not_told_to_install_anything(tmp_path):
    for text in ("exit 1", "echo hello", 'echo "$@" | tr -d x'):
        with pytest.raises(ConfigError, match=r"no-python' is no Python interpreter; give the path of one$"):
            opened_with(script(tmp_path / "no-python", text))
    (tmp_path / "data").write_bytes(b"\x7fELF and nothing more")
    (tmp_path / "data").chmod(0o755)
    with pytest.raises(ConfigError, match=r"data' can't be run"):
        opened_with(str(tmp_path / "data"))


def test_what_a_wrapper_prints_before_the_worker_speaks_is_left_out(tmp_path):
    noise = ["echo activating", """echo '{"a": 1}'""", """echo '{"value": 7}'""", "echo", r"printf '\377\036 without an end: '"]
    pool = opened_with(script(tmp_path / "python", *noise, f'exec "{sys.executable}" "$@"'))
    assert len(pool.tasks("test")) == 20
    pool.close()


def test_an_interpreter_that_hangs_is_given_up_in_time_with_the_command_to_try(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "START_SECONDS", 0.5)
    with pytest.raises(EnvironmentDiedError, match=r"core\.counting.*not ready within 0\.5 s.*python -P -c 'import xplearn"):
        opened_with(script(tmp_path / "python", "exec sleep 3600"), step_seconds=30)


def test_a_request_has_its_time_from_when_the_worker_has_started(monkeypatch):
    monkeypatch.setattr(workers, "START_SECONDS", 100.0)
    process = workers._Process(sys.executable, {"protocol": wire.PROTOCOL}, queue.SimpleQueue())
    starting = process.deadline
    process.send({"verb": "describe"}, 30.0)
    assert process.deadline == starting
    before = time.monotonic()
    process.open()
    assert before + 30.0 <= process.deadline <= time.monotonic() + 30.0
    process.end()


def test_faults_of_an_environment_name_it(tricky):
    pool = tricky(slots=1, workers=1)
    begin(pool, 0)
    assert str(pool.step({0: "sys.exit"})[0]).startswith("environment 'tricky.env': step raised SystemExit(3) in ")
    for action, reason in (("nothing", "step must return an Outcome, but returned None"), ("object", "not JSON serializable")):
        begin(pool, 0)
        with pytest.raises(ContractError, match=f"tricky.env: .*{reason}"):
            pool.step({0: action})


def test_a_worker_that_exits_reports_its_own_code(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "CLOSE_SECONDS", 60.0)
    pool = opened_with(script(tmp_path / "python", f'"{sys.executable}" "$@"', "exec 1>&-", "sleep 0.3", "exit 3"))
    pool._processes[0].hang_up()
    with pytest.raises(EnvironmentDiedError, match="ended with code 3"):
        pool.tasks("test")
    pool.close()


def test_workers_of_another_protocol_are_refused(monkeypatch):
    monkeypatch.setattr(wire, "PROTOCOL", wire.PROTOCOL + 1)
    with pytest.raises(ConfigError, match="same version"):
        open_pool(EnvSpec(name="core.counting"), slots=1, workers=1)


def test_closing_ends_the_workers_and_may_be_repeated(tricky):
    pool = tricky(slots=1, workers=1)
    begin(pool, 0)
    pid = int(pool.step({0: "pid"})[0].outcome.observation.text)
    assert alive(pid)
    pool.close()
    assert not alive(pid)
    pool.close()


def test_a_worker_ends_when_nobody_listens_any_more(tricky, tmp_path):
    script = tmp_path / "owner.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, signal
            from xplearn.rollout.pool import open_pool
            from xplearn.schema import EnvSpec
            pool = open_pool(EnvSpec(name="tricky.env"), slots=1, workers=1)
            pool.reset({0: (pool.tasks("train")[0], 0)})
            print(pool.step({0: "pid"})[0].outcome.observation.text, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
            """
        )
    )
    owner = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert owner.returncode == -signal.SIGKILL
    assert wait_for(lambda: not alive(int(owner.stdout)))
