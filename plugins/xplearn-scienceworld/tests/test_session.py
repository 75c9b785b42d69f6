from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from xplearn_scienceworld.environment import ScienceWorld
from xplearn_scienceworld.jvm import Launch, Simulator

from xplearn import EnvironmentDiedError

WALK = ["go to kitchen", "open cupboard", "pick up thermometer", "open drawer", "look around", "inventory"]


@pytest.fixture(scope="module")
def env():
    """One for all: whatever befalls its simulator, its next reset finds one."""
    part = ScienceWorld()
    part.listing = False
    yield part
    part.close()


def state(pid):
    """As the system names it: ``T`` where it is stopped, ``Z`` where it has ended and nobody has asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "gone"


def becomes(pid, *states):
    deadline = time.monotonic() + 120
    while state(pid) not in states and time.monotonic() < deadline:
        time.sleep(0.02)
    return state(pid) in states


def is_gone(pid):
    return becomes(pid, "Z", "gone")


def walk(env, die_before=()):
    env.reset(env.tasks("train")[0], seed=0)
    texts = []
    for index, action in enumerate(WALK):
        if index in die_before:
            os.kill(env._session.pid, signal.SIGKILL)
        texts.append(env.step(action))
    return texts


def test_one_simulator_serves_all_episodes_and_starts_when_first_needed():
    env = ScienceWorld()
    env.listing = False
    task = env.tasks("train")[0]
    assert env._session.pid is None
    env.reset(task, seed=0)
    pid = env._session.pid
    env.demonstrate(env.tasks("test")[0], seed=0)
    env.reset(task, seed=1)
    assert env._session.pid == pid
    env.close()
    assert is_gone(pid)


def test_a_simulator_that_dies_is_replaced_and_nobody_notices(env):
    undisturbed, before = walk(env), env.restarts
    assert walk(env, die_before=(2, 5)) == undisturbed
    assert env.restarts == before + 2


def test_a_question_in_the_air_survives_a_restart(env):
    env.reset(env.tasks("train")[0], seed=0)
    env.step("open door")
    os.kill(env._session.pid, signal.SIGKILL)
    assert env.step("1").observation.text == "The door is already open."


def test_listing_and_reset_survive_a_dead_simulator_too(env):
    task, before = env.tasks("train")[0], env.restarts
    env.reset(task, seed=0)
    listed = env.admissible()
    os.kill(env._session.pid, signal.SIGKILL)
    assert env.admissible() == listed
    os.kill(env._session.pid, signal.SIGKILL)
    assert env.reset(task, seed=0).text.startswith("This room is called")
    assert env.restarts == before + 2


def test_a_simulator_that_keeps_dying_is_one_clear_error_and_reset_starts_anew(env, monkeypatch):
    env.reset(env.tasks("train")[0], seed=0)
    call = Simulator.call

    def deadly(self, method, *arguments, limit):
        if method == "step" and arguments == ("wait",):
            os.kill(self.pid, signal.SIGKILL)
        return call(self, method, *arguments, limit=limit)

    monkeypatch.setattr(Simulator, "call", deadly)
    with pytest.raises(EnvironmentDiedError, match="its Java process is gone"):
        env.step("wait")
    assert env.reset(env.tasks("train")[0], seed=0).text


def test_a_world_that_came_back_different_is_not_passed_off_as_the_same(env, monkeypatch):
    env.reset(env.tasks("train")[0], seed=0)
    env.step("go to kitchen")
    env._session._sent[:] = ["go to bedroom"]
    os.kill(env._session.pid, signal.SIGKILL)
    with pytest.raises(EnvironmentDiedError, match="led elsewhere"):
        env.step("look around")


def test_a_hanging_simulator_is_ended_at_the_limit(env, monkeypatch):
    env.reset(env.tasks("train")[0], seed=0)
    monkeypatch.setattr(env._session, "limit", 1.0)
    pid = env._session.pid
    os.kill(pid, signal.SIGSTOP)
    assert becomes(pid, "T"), "until then it may answer"
    with pytest.raises(EnvironmentDiedError, match="within 1 s"):
        env.step("look around")
    assert is_gone(pid)


def test_java_exceptions_are_reported_in_one_line():
    simulator = Simulator(Launch())
    with pytest.raises(EnvironmentDiedError, match="Java raised in 'load'"):
        simulator.call("load", "boil", -1, "easy", False, limit=30)
    assert simulator.closed


def test_an_interrupted_call_does_not_leave_its_answer_to_the_next(env, monkeypatch):
    env.reset(env.tasks("train")[0], seed=0)
    expected = env.step("inventory").observation.text
    line = env._session._simulator._line
    reader = line._reader

    class Interrupted:
        def readline(self):
            raise KeyboardInterrupt

        def close(self):
            reader.close()

    line._reader = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        env._session.send("look around")
    assert env._session.send("inventory").text == expected


def test_a_forked_child_gets_a_simulator_of_its_own_and_leaves_the_parents_alone(env):
    first = walk(env)[-1]
    pid = env._session.pid
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            same = env.step("inventory").observation.text == first.observation.text and env._session.pid != pid
            os.write(writer, b"same" if same else b"different")
            env.close()
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"same"
    os.close(reader)
    assert env._session.pid == pid
    assert env.step("inventory").observation.text == first.observation.text


@pytest.mark.parametrize("ending", ["os.kill(os.getpid(), 9)", "os._exit(1)", "sys.exit(0)", "raise RuntimeError", "busy()"])
def test_no_simulator_outlives_its_python(ending, tmp_path):
    script = tmp_path / "owner.py"
    script.write_text(
        "import os, sys, threading\n"
        "from xplearn_scienceworld.environment import ScienceWorld\n"
        "def busy():\n"
        "    threading.Timer(0.2, os.kill, (os.getpid(), 9)).start()\n"
        "    while True: env.gold_path(env.tasks('train')[-1]); env._gold.clear()\n"
        "env = ScienceWorld()\n"
        "env.reset(env.tasks('train')[0], seed=0)\n"
        "print(env._session.pid, flush=True)\n"
        f"{ending}\n"
    )
    owner = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert is_gone(int(owner.stdout))


@pytest.mark.parametrize(
    ("says", "reason"), [("", "said nothing for"), ("echo 'no room for the heap' >&2", "no room for the heap; see whether heap_mb fits")]
)
def test_a_java_that_does_not_start_is_told_with_the_way_out(tmp_path, says, reason):
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{says}\n")
    java.chmod(0o755)
    with pytest.raises(EnvironmentDiedError, match=f"java did not start the simulator: .*{reason}.*leave 'java' empty"):
        Simulator(Launch(java=str(java)))
