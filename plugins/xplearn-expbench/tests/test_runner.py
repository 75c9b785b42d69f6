"""Programs and their tests: verdicts, order, refusals, and ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from xplearn_expbench.runner import Program, Runner, process
from xplearn_expbench.spec import Execution

from xplearn import ConfigError, ContractError


@pytest.fixture(scope="module")
def runner():
    return Runner(execution=Execution(allow=True))


def program(code, tests, *names, preamble=""):
    return Program(code=textwrap.dedent(code), tests=textwrap.dedent(tests), names=names or ("f",), preamble=preamble)


@pytest.mark.parametrize(
    ("code", "ending", "detail"),
    [
        ("def f(x): return x + 1", "passed", ""),
        ("def f(x): return x", "wrong", "AssertionError: one more (line 2 of the tests)"),
        ("def f(x): return None", "wrong", "TypeError"),
        ("def f(x): return 1 / 0", "crashed", "ZeroDivisionError: division by zero (line 1 of the tests)"),
        ("import nowhere_to_be_found", "crashed", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("def g(x): return x + 1", "crashed", "does not define f"),
    ],
)
def test_each_ending_says_why(runner, code, ending, detail):
    outcome = runner.run(program(code, "assert f(1) - 1 < 2\nassert f(1) == 2, 'one more'"))
    assert (outcome.ending, outcome.code) == (ending, code)
    assert outcome.detail.startswith(detail)
    assert outcome.seconds > 0


def test_outcomes_come_in_the_order_of_the_programs_whatever_they_take(runner):
    codes = [f"import time\ntime.sleep({(5 - n) / 50})\ndef f(): return {n}" for n in range(5)]
    outcomes = runner.run_all(program(code, f"assert f() == {n if n != 3 else -1}") for n, code in enumerate(codes))
    assert [outcome.ending for outcome in outcomes] == ["passed", "passed", "passed", "wrong", "passed"]
    assert [outcome.code for outcome in outcomes] == codes


def test_no_program_is_no_outcome(runner):
    assert runner.run_all([]) == []


def test_helpers_recursion_and_imports_share_one_namespace(runner):
    code = """
    import math
    from dataclasses import dataclass
    LIMIT = 3
    @dataclass
    class Point:
        x: "int"
    def help(n): return 1 if n == 0 else n * help(n - 1)
    def f(n): return [help(i) + Point(0).x for i in range(LIMIT)] == [math.factorial(i) for i in range(LIMIT)]
    """
    assert runner.run(program(code, "assert f(1) is True")).ending == "passed"


def test_demonstrations_under_the_main_guard_do_not_run(runner):
    assert runner.run(program("def f(): return 1\nif __name__ == '__main__': input()", "assert f() == 1")).ending == "passed"


def test_a_fresh_interpreter_for_each_program(runner):
    poison = program("import math, builtins\nmath.pi = 3\nbuiltins.abs = None\ndef f(): return 1", "assert f() == 1")
    clean = program("import math\ndef f(): return abs(math.pi) > 3", "assert f() == True")
    assert [outcome.ending for outcome in runner.run_all([poison, clean, poison, clean])] == ["passed"] * 4


def test_the_order_of_a_set_is_the_same_each_time(runner):
    code = "def f(): return [*{'ant', 'bee', 'cow', 'dog', 'elk', 'fox'}]"
    first = runner.run(program(code, "assert f() == ''")).detail
    probe = program(code + "\nprint(f())", "assert len(f()) == 6")
    outputs = {outcome.output for outcome in runner.run_all([probe] * 4)}
    assert len(outputs) == 1
    assert first


def test_objects_of_the_programs_classes_can_be_made_changed_and_handed_back(runner):
    code = """
    class Node:
        def __init__(self, value): self.value, self.left = value, None
    def f(node): return 0 if node is None else node.value + f(node.left)
    """
    tests = """
    root = Node(1)
    root.left = Node(2)
    root.left.left = Node(3)
    assert f(root) == 6
    assert root.left.value == 2
    assert Node(1) != Node(1)
    """
    assert runner.run(program(code, tests, "Node", "f")).ending == "passed"


def test_iterators_are_read_and_other_objects_are_neither_true_nor_equal(runner):
    assert runner.run(program("def f(n): return (i for i in range(n))", "assert tuple(f(3)) == (0, 1, 2)")).ending == "passed"
    assert runner.run(program("def f(n): return object()", "assert f(3)")).ending == "wrong"
    assert runner.run(program("import re\ndef f(n): return re.match('a', 'a')", "assert not f(3)")).ending == "wrong"


def test_exceptions_reach_tests_that_expect_them(runner):
    code = "class Mine(Exception): pass\ndef f(x):\n    if x: raise ValueError('no')\n    raise Mine"
    tests = """
    def raised(x):
        try: f(x)
        except ValueError as error: return str(error)
        except Exception as error: return type(error).__name__ + ' ' + str(error)
    assert raised(1) == 'no'
    assert raised(0) == 'RuntimeError Mine: '
    """
    assert runner.run(program(code, tests)).ending == "passed"


def test_tests_that_catch_everything_do_not_hide_an_early_exit(runner):
    tests = "try: f(1)\nexcept: pass"
    assert runner.run(program("import os\ndef f(x): os._exit(0)", tests)).ending == "crashed"


def test_names_win_over_the_preamble_and_the_preamble_over_the_program(runner):
    code = "def f(x): return 1\ndef check(x): return True\ndef len(x): return 4"
    tests = "assert check(f(1))\nassert len([1]) == 1"
    assert runner.run(program(code, tests, preamble="def f(x): return 2\ndef check(x): return x == 1")).ending == "passed"


@pytest.mark.parametrize("kind", ["StopIteration", "StopAsyncIteration", "GeneratorExit"])
@pytest.mark.parametrize(
    "tests", ["assert all(map(f, [2, 3]))", "for got, want in zip(map(f, [2]), [4]): assert got == want", "[*map(f, [1])]"]
)
def test_no_exception_of_a_program_ends_the_loops_of_its_tests(runner, kind, tests):
    outcome = runner.run(program(f"def f(x): raise {kind}", tests))
    assert outcome.ending == "crashed"
    assert kind in outcome.detail


@pytest.mark.parametrize(("part", "value"), [("tests", "assert f( =="), ("preamble", "import nowhere_to_be_found")])
def test_tests_that_cannot_run_are_an_error_and_no_verdict(runner, part, value):
    parts = {"tests": "assert f() == 1", part: value}
    with pytest.raises(ContractError, match="the tests of a program cannot be run"):
        runner.run(Program(code="def f(): return 1", names=("f",), **parts))


def test_nothing_runs_unless_allowed():
    with pytest.raises(ConfigError, match=r"execution.allow: is false; set execution.allow=true"):
        Runner(execution=Execution())


@pytest.mark.parametrize(("field", "value"), [("seconds", 0), ("seconds", float("inf")), ("memory_mb", 1)])
def test_limits_out_of_range_are_refused(field, value):
    with pytest.raises(ConfigError, match=f"execution.{field}"):
        Runner(execution=Execution(allow=True, **{field: value}))


def test_at_least_one_program_at_a_time():
    with pytest.raises(ConfigError, match="parallel"):
        Runner(execution=Execution(allow=True), parallel=0)


def test_an_interpreter_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="/nowhere/python"):
        Runner(execution=Execution(allow=True), python="/nowhere/python").run(program("def f(): return 1", "assert f() == 1"))


def test_without_unshare_auto_does_without_and_always_refuses(monkeypatch):
    monkeypatch.setattr(process, "_UNSHARE", ("/nowhere/unshare",))
    assert Runner(execution=Execution(allow=True)).isolation == "process"
    with pytest.raises(ConfigError, match=r"nowhere/unshare.*set execution.namespaces=auto to do without"):
        Runner(execution=Execution(allow=True, namespaces="always")).run_all([])


def test_other_systems_are_refused_by_name(monkeypatch):
    fresh = Runner(execution=Execution(allow=True))
    monkeypatch.setattr(os, "name", "nt")
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ConfigError, match="not on win32"):
        fresh.run_all([])


KILLED = """
import sys
from xplearn_expbench.runner import Program, Runner
from xplearn_expbench.spec import Execution
code = "import subprocess, time\\nsubprocess.Popen(['/bin/sleep', '%s'], start_new_session=True)\\ntime.sleep(600)"
Runner(execution=Execution(allow=True, seconds=600, namespaces=sys.argv[2])).run(Program(code=code % sys.argv[1], tests="", names=()))
"""


INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process started in the background ignores it
from xplearn_expbench.runner import Program, Runner
from xplearn_expbench.spec import Execution
runner = Runner(execution=Execution(allow=True, seconds=600))
runner.cell
runner.run_all([Program(code="while True: pass", tests="", names=())] * 30)
"""


def sleepers(mark):
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in found if line.endswith(f"/bin/sleep {mark}")]


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="processes are found by /proc")
@pytest.mark.parametrize("namespaces", ["auto", "never"])
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_programs_and_folders_end_with_the_process_that_asked_however_it_ends(namespaces, ending, tmp_path):
    mark = f"77{os.getpid()}{len(namespaces)}{ending:d}"
    asking = subprocess.Popen(
        [sys.executable, "-c", KILLED, mark, namespaces], start_new_session=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    try:
        assert wait_for(lambda: sleepers(mark))
    finally:
        asking.send_signal(ending)
        asking.wait()
    assert wait_for(lambda: not sleepers(mark))
    assert wait_for(lambda: not list(tmp_path.iterdir()))


def test_an_interrupt_ends_what_runs_and_starts_nothing_more(tmp_path):
    asking = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)], stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    time.sleep(0.3)
    asking.send_signal(signal.SIGINT)
    asking.wait(300)
    assert list(tmp_path.iterdir()) == []
