"""Programs that mean harm, each contained: with namespaces, and as plain processes as far as those go."""

from __future__ import annotations

import json
import secrets

import pytest
from xplearn_expbench.runner import process

TESTS = "assert f(2) == 4\nassert f(3) == 9"
RIGHT = "\ndef f(x):\n    return x * x\n"
WRONG = "\ndef f(x):\n    return 1\n"


DEAF = """
import json, os, time
body = json.dumps({"value": {"dict": [["f", {"object": 0}]]}}).encode()
os.read(3, 10_000)
os.write(4, len(body).to_bytes(4, "big") + body)
time.sleep(600)
"""
TESTS_OF_LATE = {
    "endless list": "for item in f(2): pass",
    "deaf to requests": "f('x' * 10**6)",
    "right, with tests that do not end": "while True: pass",
    "right, with tests that catch the alarm": "while True:\n    try: f(2)\n    except BaseException: break",
    "right, with tests that calculate without end": "sum(range(10**15))",
    "a range without end": "sum(f(2))",
}
LATE = {
    "right, with tests that catch the alarm": RIGHT,
    "right, with tests that calculate without end": RIGHT,
    "a range without end": "def f(x):\n    return range(10**15)",
    "endless loop": "while True: pass",
    "endless loop in a call": "def f(x):\n    while True: pass",
    "sleep": "import time\ntime.sleep(600)",
    "endless output": "while True: print('x' * 1000)",
    "right, with tests that do not end": RIGHT,
    "deaf to requests": DEAF,
    "deaf to signals": "import signal\nfor n in {*range(1, 32)} - {9, 19}: signal.signal(n, signal.SIG_IGN)\nwhile True: pass",
    "stopped": "import os\nos.kill(os.getpid(), 19)",
    "endless list": "def f(x):\n    while True: yield x",
}


@pytest.mark.parametrize("name", LATE)
def test_what_does_not_end_is_ended(run, mode, name):
    tests = TESTS_OF_LATE.get(name, TESTS)
    outcome = run(mode, LATE[name], tests, seconds=0.5, memory_mb=512 if name != "endless list" else 16_384)
    assert outcome.ending == "timed-out", outcome.detail


def test_processor_time_in_threads_is_bounded_too(run, mode):
    spin = "import threading, time\ndef spin():\n    while True: hash('x' * 100_000)\n"
    code = spin + "for _ in range(4): threading.Thread(target=spin).start()\ntime.sleep(60)"
    assert run(mode, code, seconds=0.5).ending == "timed-out"


CRASHES = {
    "8 GB": ("x = bytearray(8 * 2**30)", "MemoryError"),
    "8 GB in pieces": ("x = []\nwhile True: x.append(bytearray(2**24))", "MemoryError"),
    "big file": ("with open('big', 'wb') as file:\n    while True: file.write(bytes(2**20))", "File too large"),
    "recursion": ("def f(x):\n    return f(x)", "RecursionError"),
    "endless recursion": ("import sys\nsys.setrecursionlimit(2**30)\ndef f(x):\n    return sorted([x], key=f)", "SIGSEGV"),
    "reads its input": ("input()", "EOFError"),
    "os._exit(0)": ("import os\nos._exit(0)", "exited with status 0"),
    "os._exit(0) in a call": ("import os\ndef f(x):\n    os._exit(0)", "exited with status 0"),
    "sys.exit(0)": ("import sys\nsys.exit(0)", "SystemExit"),
    "sys.exit(0) in a call": ("import sys\ndef f(x):\n    sys.exit(0)", "SystemExit"),
    "raises a base exception": ("class E(BaseException): pass\ndef f(x):\n    raise E", "E"),
    "an exception that cannot be printed": ("class E(Exception):\n    def __str__(self): raise self\ndef f(x):\n    raise E", "E"),
    "kills itself": ("import os\nos.kill(os.getpid(), 9)", "SIGKILL"),
    "closes every file": ("import os\nos.closerange(0, 100)", ""),
    "closes the pipe, then sleeps": ("import os, time\nos.close(4)\ntime.sleep(60)", "closed the pipe"),
    "writes nonsense to the pipe": ("import os\nos.write(4, b'\\0\\0\\0\\5hello')\ndef f(x):\n    return 4", "makes no sense"),
    "announces 4 GB on the pipe": ("import os\nos.write(4, b'\\xff' * 8)", "makes no sense"),
    "answers with nesting": ("def f(x):\n    y = []\n    for _ in range(100_000): y = [y]\n    return y", "Recursion"),
    "answers with itself": ("def f(x):\n    y = []\n    y.append(y)\n    return y", "Recursion"),
    "answers with 64 MB": ("def f(x):\n    return 'x' * 2**26", "larger than"),
    "opens many files": ("import os\nx = [open(os.devnull) for _ in range(10_000)]", "Too many open files"),
    "no Python": ("def f(x) return x", "SyntaxError"),
    "deep source": ("x = " + "(" * 5000, "SyntaxError"),
    "no such function": ("def g(x):\n    return 4", "does not define f"),
}


@pytest.mark.parametrize("name", CRASHES)
def test_what_breaks_a_rule_crashes_alone(run, mode, name):
    code, detail = CRASHES[name]
    outcome = run(mode, code, memory_mb=512)
    assert outcome.ending == "crashed"
    assert detail in outcome.detail


LIAR = "    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
FAKES = {
    "equals everything": f"class A:\n{LIAR}def f(x):\n    return A()",
    "a number that equals everything": f"class A(int):\n{LIAR}def f(x):\n    return A(1)",
    "claims to be a number": f"class A:\n    __class__ = property(lambda self: int)\n{LIAR}def f(x):\n    return A()",
    "exits at the end": "import atexit, os\natexit.register(os._exit, 0)" + WRONG,
    "prints a verdict": f"print({json.dumps({'token': '', 'status': 'passed'})!r})" + WRONG,
    "patches its interpreter": "import builtins, json\nbuiltins.bool = lambda *_: True\njson.loads = lambda *_: []" + WRONG,
}


@pytest.mark.parametrize("name", FAKES)
def test_what_pretends_does_not_pass(run, mode, name):
    assert run(mode, FAKES[name]).ending in {"wrong", "crashed"}


@pytest.mark.parametrize("value", ["[A()]", "{'a': A()}", "(A(),)", "L([1])", "D(a=1)", "S('z')"])
def test_equality_is_decided_by_values_and_never_by_methods(run, mode, value):
    kinds = "".join(
        f"class {name}({base}):\n{LIAR}    def __ne__(self, other): return False\n"
        for name, base in {"A": "object", "L": "list", "D": "dict", "S": "str"}.items()
    )
    tests = "assert f(2) == [4] or f(2) == {'a': 4} or f(2) == (4,) or f(2) == 'four'"
    outcome = run(mode, f"{kinds}def f(x):\n    return {value}", tests)
    assert outcome.ending == "wrong"


FORGER = """
import json, os
def answer(value):
    body = json.dumps({"value": value}).encode()
    os.write(4, len(body).to_bytes(4, "big") + body)
answer({"dict": [["f", {"object": 0}], ["__same__", {"object": 1}], ["AssertionError", {"type": "int"}], ["abs", {"object": 2}]]})
while True:
    size = int.from_bytes(os.read(3, 4), "big")
    os.read(3, size)
    answer(True)
"""


@pytest.mark.parametrize("tests", [TESTS, "assert abs(f(2) - 4) < 1"])
def test_answers_forged_on_the_pipe_are_no_more_than_wrong_answers(run, mode, tests):
    assert run(mode, FORGER, tests, seconds=3).ending == "wrong"


SEARCH = """
import gc, re, sys
def f(planted):
    kept = planted * 4 if planted else None
    frame, texts = sys._getframe(), []
    while frame:
        texts += [repr(frame.f_locals), repr(frame.f_globals)]
        frame = frame.f_back
    texts += [item for thing in gc.get_objects() if isinstance(thing, dict) for item in list(thing.values()) if isinstance(item, str)]
    found = sum(len(re.findall("(?:feedface){4}|0xC0[F]FEE", text)) for text in texts)
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if " rw" in line and "[v" not in line:
                memory.seek(start)
                found += len(re.findall(b"(?:feedface){4}|0xC0[F]FEE", memory.read(end - start)))
    return found > 0
"""


@pytest.mark.parametrize(("planted", "found"), [("", False), ("feedface", True)])
def test_neither_token_nor_tests_can_be_found_in_the_programs_memory(run, mode, planted, found, monkeypatch):
    monkeypatch.setattr(secrets, "token_hex", lambda size: "feedface" * 4)
    outcome = run(mode, SEARCH, f"secret = '0xC0FFEE'\nassert f({planted!r}) is {found}")
    assert outcome.ending == "passed", outcome.detail


INTRUDER = """
import ctypes, os
def f(x):
    judge, won = os.getppid(), []
    for file, flags in (("mem", os.O_RDWR), ("fd/1", os.O_WRONLY), ("fd/0", 0), ("environ", 0), ("root", 0), ("cwd", 0)):
        try:
            won.append(os.open(f"/proc/{judge}/{file}", flags))
        except OSError:
            pass
    if ctypes.CDLL(None).ptrace(16, judge, 0, 0) == 0:
        won.append("traced")
    return won
"""


def test_the_process_of_the_tests_cannot_be_opened_or_traced(run, mode):
    outcome = run(mode, INTRUDER, "assert f(2) == []")
    assert outcome.ending == "passed", outcome.detail


def test_only_the_pipes_of_a_program_are_open_in_it(run, mode):
    code = "import os\ndef f(x):\n    return sorted(int(name) for name in os.listdir('/proc/self/fd'))[:-1]"
    outcome = run(mode, code, "assert f(2) == [0, 1, 2, 3, 4]")
    assert outcome.ending == "passed", outcome.detail


def test_secrets_in_the_environment_are_not_inherited(run, mode, monkeypatch):
    monkeypatch.setenv("XPLEARN_API_KEY", "hush")
    known = ["HOME", "LC_CTYPE", "TMPDIR", "PYTHONHASHSEED", *process._THREADS]
    code = f"import os\ndef f(x):\n    return [name for name in os.environ if name not in {known}]"
    outcome = run(mode, code, "assert f(2) == []")
    assert outcome.ending == "passed", outcome.detail


def test_output_is_cut_and_does_not_fail_a_right_program(run, mode):
    outcome = run(mode, "import sys\nfor _ in range(500): print('x' * 10_000)\nprint('y', file=sys.stderr)" + RIGHT)
    assert outcome.ending == "passed"
    assert outcome.output == ("x" * 10_000)[:4096]
