"""Processes that a program starts, or means to end: none outlives it."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

import pytest
from xplearn_expbench.runner import Program, process
from xplearn_expbench.runner.inside import limits

from xplearn import EnvironmentDiedError

TESTS = "assert f(2) == 4\nassert f(3) == 9"
RIGHT = "\ndef f(x):\n    return x * x\n"
WRONG = "\ndef f(x):\n    return 1\n"


def alive(mark):
    def command(folder):
        try:
            return (folder / "cmdline").read_bytes()
        except OSError:
            return b""

    return [folder.name for folder in Path("/proc").glob("[0-9]*") if mark.encode() in command(folder)]


def assert_nothing_lives(mark):
    deadline = time.monotonic() + 120
    while alive(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(mark) == []


@pytest.fixture
def mark():
    """An argument of ``sleep`` that no other process has."""
    return f"54{secrets.randbelow(10**9):09d}"


SESSION = "import subprocess\nsubprocess.Popen(['/bin/sleep', '{mark}'], start_new_session=True)\n"
DAEMON = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        os.chdir('/')
        os.execv('/bin/sleep', ['sleep', '{mark}'])
    os._exit(0)
os.wait()
"""
TREE = """
import os
for _ in range(5):
    os.fork()
if os.getpid() != os.getpgid(0):
    os.setsid()
os.execv('/bin/sleep', ['sleep', '{mark}'])
"""


@pytest.mark.parametrize("program", [SESSION + RIGHT, DAEMON + RIGHT, SESSION + "while True: pass", DAEMON + "import os\nos._exit(0)"])
def test_children_in_sessions_of_their_own_do_not_outlive_a_program(run, mode, program, mark):
    outcome = run(mode, program.replace("{mark}", mark), seconds=1)
    assert outcome.ending in {"passed", "timed-out", "crashed"}
    assert_nothing_lives(mark)


def test_a_tree_of_processes_is_felled(run, mode, mark):
    assert run(mode, TREE.replace("{mark}", mark), seconds=1).ending in {"crashed", "timed-out"}
    assert_nothing_lives(mark)


def test_a_fork_bomb_is_contained(run, inside_namespaces):
    outcome = run("always", "import os\nwhile True: os.fork()", seconds=20)
    assert outcome.ending in ("crashed", "timed-out"), outcome.detail  # too many are seen at once, unless the machine is busy


BOUND = Path("/proc/sys/kernel/pid_max")


def test_a_namespace_bounds_the_processes_of_root_and_leaves_the_machine_its_own_bound(run, sealed):
    if not limits.bounds_namespaces():
        pytest.skip("processes are bounded by namespace from Linux 6.14 on")
    before = BOUND.read_text()
    read = f"def f(x): return int(open('{BOUND}').read())"
    assert run("always", read, tests=f"assert f(0) == {limits.NAMESPACE_PROCESSES}").ending == "passed"
    raised = run("always", f"open('{BOUND}', 'w').write('30000')\n" + RIGHT)
    assert (raised.ending, "Read-only" in raised.detail) == ("crashed", True), raised.detail
    assert BOUND.read_text() == before


@pytest.fixture
def refusing(monkeypatch, tmp_path):
    """Let the machine refuse so many times to start the processes of a namespace."""

    def refuse(times):
        counter, script = tmp_path / "counter", tmp_path / "unshare"
        counter.write_text("." * times)
        script.write_text(
            f"#!/bin/sh\nif [ -s {counter} ]; then\n  truncate -s -1 {counter}\n"
            '  echo "unshare: fork failed: Resource temporarily unavailable" >&2\n  exit 1\nfi\nexec unshare "$@"\n'
        )
        script.chmod(0o700)
        monkeypatch.setattr(process, "_UNSHARE", (str(script), *process._UNSHARE[1:]))

    return refuse


def test_a_machine_that_starts_no_process_for_a_while_is_asked_again(run, inside_namespaces, refusing):
    refusing(3)
    assert run("always", RIGHT).ending == "passed"


def test_a_machine_that_starts_no_process_at_all_is_no_verdict_on_a_program(run, inside_namespaces, refusing, monkeypatch):
    monkeypatch.setattr(process, "_PATIENCE_SECONDS", 0.5)
    refusing(1000)
    with pytest.raises(EnvironmentDiedError, match="starts no process for a program: unshare: fork failed"):
        run("auto", RIGHT)


def test_many_processes_are_too_many_even_for_root(run, mode):
    code = "import os, time\nfor _ in range(10): os.fork()\ntime.sleep(600)"
    outcome = run(mode, code, seconds=120)
    assert outcome.ending == "crashed", outcome.detail
    assert "started more than" in outcome.detail or "BlockingIOError" in outcome.detail


SHEDDING = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        os.chdir('/')
        os.execve('/bin/sleep', ['sleep', '{mark}'], {})
    os._exit(0)
os.wait()
time.sleep(0.2)
os.kill(os.getppid(), 9)
time.sleep(600)
"""


def test_what_sheds_session_environment_and_judge_does_not_survive(run, mode, mark):
    assert run(mode, SHEDDING.replace("{mark}", mark), seconds=5).ending in {"crashed", "timed-out"}
    assert_nothing_lives(mark)


def test_ending_the_strays_of_one_program_leaves_other_programs_alone(runner, mark):
    slow = "import subprocess, time\nsubprocess.Popen(['/bin/sleep', '30'], start_new_session=True)\ntime.sleep(1.5)" + RIGHT
    programs = [Program(code=code, tests=TESTS, names=("f",)) for code in (slow, SHEDDING.replace("{mark}", mark))]
    assert [outcome.ending for outcome in runner("never").run_all(programs)] == ["passed", "crashed"]
    assert_nothing_lives(mark)


KILLERS = {
    "its parent": "os.kill(os.getppid(), 9)",
    "its group": "os.killpg(0, 9)",
    "its parent, softly": "os.kill(os.getppid(), 15)",
    "its parent, by stopping it": "os.kill(os.getppid(), 19)",
}


@pytest.mark.parametrize("name", KILLERS)
def test_killing_whoever_judges_brings_no_pass_and_leaves_nothing(run, mode, name, mark, monkeypatch):
    monkeypatch.setattr(process, "_GRACE_SECONDS", 1.0)
    outcome = run(mode, SESSION.replace("{mark}", mark) + f"import os, time\n{KILLERS[name]}\ntime.sleep(0.2)" + WRONG, seconds=2)
    assert outcome.ending != "passed"
    assert_nothing_lives(mark)


def test_killing_everything_reaches_no_further_than_the_namespace(run, inside_namespaces, mark):
    code = SESSION.replace("{mark}", mark) + "import os\nif os.getppid() == 1: os.kill(-1, 9)" + WRONG
    assert run("always", code).ending == "wrong"
    assert_nothing_lives(mark)
