"""Programs that mean harm, each contained: with namespaces, and as plain processes as far as those go."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import time
from pathlib import Path

import pytest
from xplearn_expbench.runner import Program, Runner, leftovers, process
from xplearn_expbench.spec import Execution

from xplearn import ConfigError

TESTS = "assert f(2) == 4\nassert f(3) == 9"
RIGHT = "\ndef f(x):\n    return x * x\n"
WRONG = "\ndef f(x):\n    return 1\n"


def unavailable(reason):
    if os.environ.get("CI") == "true":
        pytest.fail(f"needed in CI: {reason}")
    pytest.skip(reason)


def runner(namespaces, **limits):
    return Runner(execution=Execution(allow=True, namespaces=namespaces, **limits))


@pytest.fixture(scope="module")
def inside_namespaces():
    try:
        return runner("always").cell.namespaces
    except ConfigError as error:
        unavailable(f"user namespaces: {error}")


@pytest.fixture(params=["always", "never"])
def mode(request):
    if request.param == "always":
        request.getfixturevalue("inside_namespaces")
    return request.param


@pytest.fixture
def sealed(inside_namespaces):
    if runner("always").isolation != "namespaces, files hidden":
        unavailable("mount_setattr (Linux 5.12)")


def run(mode, code, tests=TESTS, **limits):
    return runner(mode, **limits).run(Program(code=code, tests=tests, names=("f",)))


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
def test_what_does_not_end_is_ended(mode, name):
    tests = TESTS_OF_LATE.get(name, TESTS)
    started = time.monotonic()
    outcome = run(mode, LATE[name], tests, seconds=0.5, memory_mb=512 if name != "endless list" else 16_384)
    assert outcome.ending == "timed-out", outcome.detail
    assert time.monotonic() - started < 8


def test_processor_time_in_threads_is_bounded_too(mode):
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
def test_what_breaks_a_rule_crashes_alone(mode, name):
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
def test_what_pretends_does_not_pass(mode, name):
    assert run(mode, FAKES[name]).ending in {"wrong", "crashed"}


@pytest.mark.parametrize("value", ["[A()]", "{'a': A()}", "(A(),)", "L([1])", "D(a=1)", "S('z')"])
def test_equality_is_decided_by_values_and_never_by_methods(mode, value):
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
def test_answers_forged_on_the_pipe_are_no_more_than_wrong_answers(mode, tests):
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
def test_neither_token_nor_tests_can_be_found_in_the_programs_memory(mode, planted, found, monkeypatch):
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


def test_the_process_of_the_tests_cannot_be_opened_or_traced(mode):
    outcome = run(mode, INTRUDER, "assert f(2) == []")
    assert outcome.ending == "passed", outcome.detail


def test_only_the_pipes_of_a_program_are_open_in_it(mode):
    code = "import os\ndef f(x):\n    return sorted(int(name) for name in os.listdir('/proc/self/fd'))[:-1]"
    outcome = run(mode, code, "assert f(2) == [0, 1, 2, 3, 4]")
    assert outcome.ending == "passed", outcome.detail


def test_secrets_in_the_environment_are_not_inherited(mode, monkeypatch):
    monkeypatch.setenv("XPLEARN_API_KEY", "hush")
    known = ["HOME", "LC_CTYPE", "TMPDIR", "PYTHONHASHSEED", *process._THREADS]
    code = f"import os\ndef f(x):\n    return [name for name in os.environ if name not in {known}]"
    outcome = run(mode, code, "assert f(2) == []")
    assert outcome.ending == "passed", outcome.detail


def test_output_is_cut_and_does_not_fail_a_right_program(mode):
    outcome = run(mode, "import sys\nfor _ in range(500): print('x' * 10_000)\nprint('y', file=sys.stderr)" + RIGHT)
    assert outcome.ending == "passed"
    assert outcome.output == ("x" * 10_000)[:4096]


def alive(mark):
    def command(folder):
        try:
            return (folder / "cmdline").read_bytes()
        except OSError:
            return b""

    return [folder.name for folder in Path("/proc").glob("[0-9]*") if mark.encode() in command(folder)]


def assert_nothing_lives(mark):
    deadline = time.monotonic() + 5
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
def test_children_in_sessions_of_their_own_do_not_outlive_a_program(mode, program, mark):
    outcome = run(mode, program.replace("{mark}", mark), seconds=1)
    assert outcome.ending in {"passed", "timed-out", "crashed"}
    assert_nothing_lives(mark)


def test_a_tree_of_processes_is_felled(mode, mark):
    assert run(mode, TREE.replace("{mark}", mark), seconds=1).ending in {"crashed", "timed-out"}
    assert_nothing_lives(mark)


def test_a_fork_bomb_is_contained(inside_namespaces):
    started = time.monotonic()
    outcome = run("always", "import os\nwhile True: os.fork()", seconds=5)
    assert outcome.ending == "crashed", outcome.detail
    assert time.monotonic() - started < 15


def test_many_processes_are_too_many_even_for_root(mode):
    code = "import os, time\nfor _ in range(10): os.fork()\ntime.sleep(600)"
    outcome = run(mode, code, seconds=20)
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


def test_what_sheds_session_environment_and_judge_does_not_survive(mode, mark):
    assert run(mode, SHEDDING.replace("{mark}", mark), seconds=5).ending in {"crashed", "timed-out"}
    assert_nothing_lives(mark)


def test_ending_the_strays_of_one_program_leaves_other_programs_alone(mark):
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
def test_killing_whoever_judges_brings_no_pass_and_leaves_nothing(mode, name, mark, monkeypatch):
    monkeypatch.setattr(process, "_GRACE_SECONDS", 1.0)
    outcome = run(mode, SESSION.replace("{mark}", mark) + f"import os, time\n{KILLERS[name]}\ntime.sleep(0.2)" + WRONG, seconds=2)
    assert outcome.ending != "passed"
    assert_nothing_lives(mark)


def test_killing_everything_reaches_no_further_than_the_namespace(inside_namespaces, mark):
    code = SESSION.replace("{mark}", mark) + "import os\nif os.getppid() == 1: os.kill(-1, 9)" + WRONG
    assert run("always", code).ending == "wrong"
    assert_nothing_lives(mark)


def test_the_network_is_out_of_reach(inside_namespaces):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        code = f"import socket\nsocket.create_connection({server.getsockname()!r}, timeout=2)" + RIGHT
        assert run("always", code).ending == "crashed"
        with pytest.raises(TimeoutError):
            server.accept()


def test_other_processes_are_out_of_sight(inside_namespaces, monkeypatch):
    monkeypatch.setenv("XPLEARN_API_KEY", "hush")
    code = f"""
import os
def f(x):
    seen = []
    for action in (lambda: os.kill({os.getpid()}, 0), lambda: seen.append(open('/proc/{os.getpid()}/environ').read())):
        try:
            action()
            seen.append('done')
        except OSError:
            pass
    return seen
"""
    outcome = run("always", code, "assert f(2) == []")
    assert outcome.ending == "passed", outcome.detail


REMOUNT = "import subprocess\nsubprocess.run(['/usr/bin/unshare', '-Urm', '/bin/mount', '-o', 'remount,rw,bind', '/'])"


@pytest.mark.parametrize("escape", ["", REMOUNT])
def test_files_outside_the_folder_cannot_be_written(sealed, tmp_path, escape):
    target = tmp_path / "escaped"
    outcome = run("always", f"{escape}\nopen({str(target)!r}, 'w').write('x')" + RIGHT)
    assert outcome.ending == "crashed"
    assert "No such file" in outcome.detail
    assert not target.exists()


@pytest.mark.parametrize("path", ["/usr/escaped", "/escaped", "/etc/escaped"])
def test_no_file_of_the_system_can_be_written(sealed, path):
    assert "Read-only file system" in run("always", f"open({path!r}, 'w')" + RIGHT).detail


CHEATS = {
    "imports the reference": "from xplearn_expbench.mini.coding import problems",
    "imports with every finder": "import sys\nsys.path += __import__('glob').glob('/**/site-packages')\nimport xplearn_expbench",
    "imports what is installed": "import numpy",
    "looks among the modules": "import sys\nassert [name for name in sys.modules if 'expbench' in name or name.startswith('inside')]",
}


@pytest.mark.parametrize("name", CHEATS)
def test_no_program_can_import_what_is_installed(mode, name):
    assert run(mode, CHEATS[name] + RIGHT).ending == "crashed"


def test_the_tests_may_import_what_is_installed(mode):
    assert run(mode, RIGHT, "import xplearn_expbench\nassert f(2) == 4").ending == "passed"


def test_only_the_systems_files_have_a_path(sealed, tmp_path):
    import xplearn_expbench

    (tmp_path / "data.jsonl").write_text("{}")
    places = [str(tmp_path / "data.jsonl"), str(tmp_path), xplearn_expbench.__file__, "/run", "/var", "/home", "/etc/shadow", "/dev/kmsg"]
    code = f"import os\ndef f(x):\n    return [path for path in {places} if os.path.lexists(path)]"
    outcome = run("always", code, "assert f(2) == []")
    assert outcome.ending == "passed", outcome.detail


def test_a_packages_folder_of_the_interpreter_is_empty(sealed):
    code = "import glob, sys\ndef f(x):\n    return [path for path in glob.glob(sys.base_prefix + '/lib/python3*/site-packages/*')]"
    outcome = run("always", code, "assert f(2) == []")
    assert outcome.ending == "passed", outcome.detail


def test_sockets_and_pipes_of_other_programs_are_out_of_reach(sealed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        server.listen()
        server.settimeout(0.2)
        dial = f"import socket\nsocket.socket(socket.AF_UNIX).connect({str(tmp_path / 'socket')!r})"
        assert "No such file" in run("always", dial + RIGHT).detail
        with pytest.raises(TimeoutError):
            server.accept()
    assert "No such file" in run("always", f"import os\nos.open({str(tmp_path / 'pipe')!r}, os.O_RDWR)" + RIGHT).detail


def test_only_processes_of_the_program_are_listed(sealed):
    code = "import os\ndef f(x):\n    return sorted(name for name in os.listdir('/proc') if name.isdigit())"
    outcome = run("always", code, "assert f(2) == ['1', '2']")
    assert outcome.ending == "passed", outcome.detail


def test_processes_can_share_the_work_of_a_program(mode):
    code = "from multiprocessing import Pool\ndef g(x):\n    return x * x\ndef f(x):\n    with Pool(2) as pool: return pool.map(g, [x])[0]"
    outcome = run(mode, code)
    assert outcome.ending == "passed", outcome.detail


def test_the_folder_can_be_written_and_not_filled(sealed):
    assert run("always", "open('note', 'w').write('x')\nassert open('note').read() == 'x'" + RIGHT).ending == "passed"
    flood = "for n in range(100):\n    with open(str(n), 'wb') as file: file.write(bytes(2**23))"
    assert "No space left" in run("always", flood).detail


def test_no_capability_is_left(inside_namespaces):
    lines = "[line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapPrm', 'CapEff', 'NoNewPrivs'))]"
    code = f"def f(x):\n    return {lines}"
    outcome = run("always", code, f"assert f(2) == ['{0:016x}', '{0:016x}', '1']")
    assert outcome.ending == "passed", outcome.detail


def test_temporary_folders_are_removed(mode, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run(mode, "open('left', 'w').write('x')" + RIGHT)
    assert list(tmp_path.iterdir()) == []


def test_folders_of_dead_processes_are_removed_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    old, new, living = (tmp_path / f"xplearn-code-{name}" for name in (f"{ended.pid}-a", f"{ended.pid}-b", f"{os.getpid()}-c"))
    for folder in (old, new, living, tmp_path / "other"):
        folder.mkdir()
    for folder in (old, living):
        os.utime(folder, (0, 0))
    leftovers.remove_folders()
    assert {folder.name for folder in tmp_path.iterdir()} == {new.name, living.name, "other"}
