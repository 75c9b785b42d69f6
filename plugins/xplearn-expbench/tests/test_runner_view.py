"""What a program can see, import, reach and leave behind."""

from __future__ import annotations

import os
import socket
import subprocess

import pytest
from xplearn_expbench.runner import leftovers

TESTS = "assert f(2) == 4\nassert f(3) == 9"
RIGHT = "\ndef f(x):\n    return x * x\n"
WRONG = "\ndef f(x):\n    return 1\n"


def test_the_network_is_out_of_reach(run, inside_namespaces):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        code = f"import socket\nsocket.create_connection({server.getsockname()!r}, timeout=2)" + RIGHT
        assert run("always", code).ending == "crashed"
        with pytest.raises(TimeoutError):
            server.accept()


def test_other_processes_are_out_of_sight(run, inside_namespaces, monkeypatch):
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
def test_files_outside_the_folder_cannot_be_written(run, sealed, tmp_path, escape):
    target = tmp_path / "escaped"
    outcome = run("always", f"{escape}\nopen({str(target)!r}, 'w').write('x')" + RIGHT)
    assert outcome.ending == "crashed"
    assert "No such file" in outcome.detail
    assert not target.exists()


@pytest.mark.parametrize("path", ["/usr/escaped", "/escaped", "/etc/escaped"])
def test_no_file_of_the_system_can_be_written(run, sealed, path):
    assert "Read-only file system" in run("always", f"open({path!r}, 'w')" + RIGHT).detail


CHEATS = {
    "imports the reference": "from xplearn_expbench.mini.coding import problems",
    "imports with every finder": "import sys\nsys.path += __import__('glob').glob('/**/site-packages')\nimport xplearn_expbench",
    "imports what is installed": "import numpy",
    "looks among the modules": "import sys\nassert [name for name in sys.modules if 'expbench' in name or name.startswith('inside')]",
}


@pytest.mark.parametrize("name", CHEATS)
def test_no_program_can_import_what_is_installed(run, mode, name):
    assert run(mode, CHEATS[name] + RIGHT).ending == "crashed"


def test_the_tests_may_import_what_is_installed(run, mode):
    assert run(mode, RIGHT, "import xplearn_expbench\nassert f(2) == 4").ending == "passed"


def test_only_the_systems_files_have_a_path(run, sealed, tmp_path):
    import xplearn_expbench

    (tmp_path / "data.jsonl").write_text("{}")
    places = [str(tmp_path / "data.jsonl"), str(tmp_path), xplearn_expbench.__file__, "/run", "/var", "/home", "/etc/shadow", "/dev/kmsg"]
    code = f"import os\ndef f(x):\n    return [path for path in {places} if os.path.lexists(path)]"
    outcome = run("always", code, "assert f(2) == []")
    assert outcome.ending == "passed", outcome.detail


def test_a_packages_folder_of_the_interpreter_is_empty(run, sealed):
    code = "import glob, sys\ndef f(x):\n    return [path for path in glob.glob(sys.base_prefix + '/lib/python3*/site-packages/*')]"
    outcome = run("always", code, "assert f(2) == []")
    assert outcome.ending == "passed", outcome.detail


def test_sockets_and_pipes_of_other_programs_are_out_of_reach(run, sealed, tmp_path, monkeypatch):
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


def test_only_processes_of_the_program_are_listed(run, sealed):
    code = "import os\ndef f(x):\n    return sorted(name for name in os.listdir('/proc') if name.isdigit())"
    outcome = run("always", code, "assert f(2) == ['1', '2']")
    assert outcome.ending == "passed", outcome.detail


def test_processes_can_share_the_work_of_a_program(run, mode):
    code = "from multiprocessing import Pool\ndef g(x):\n    return x * x\ndef f(x):\n    with Pool(2) as pool: return pool.map(g, [x])[0]"
    outcome = run(mode, code)
    assert outcome.ending == "passed", outcome.detail


def test_the_folder_can_be_written_and_not_filled(run, sealed):
    assert run("always", "open('note', 'w').write('x')\nassert open('note').read() == 'x'" + RIGHT).ending == "passed"
    flood = "for n in range(100):\n    with open(str(n), 'wb') as file: file.write(bytes(2**23))"
    assert "No space left" in run("always", flood).detail


def test_no_capability_is_left(run, inside_namespaces):
    lines = "[line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapPrm', 'CapEff', 'NoNewPrivs'))]"
    code = f"def f(x):\n    return {lines}"
    outcome = run("always", code, f"assert f(2) == ['{0:016x}', '{0:016x}', '1']")
    assert outcome.ending == "passed", outcome.detail


def test_temporary_folders_are_removed(run, mode, tmp_path, monkeypatch):
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
