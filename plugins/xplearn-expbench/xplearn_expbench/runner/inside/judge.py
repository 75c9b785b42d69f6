"""The process that runs the tests: it starts the program in another one, asks that for values and compares them here.

The program is never in one process with the tests, the expected values or the token, so it can neither read nor forge them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import site
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from . import candidate, limits, view
from .compare import FILE, SAME, compiled, same
from .descendants import end_all
from .remote import Program
from .watch import End, Watch

_REQUESTS, _ANSWERS = 3, 4


def main(lifeline: int, *, seconds: float, memory_mb: int, namespaces: bool) -> NoReturn:
    """Judge the program that standard input holds, and write ``{token, status, detail, output, sealed}`` to standard output."""
    limits.resources(seconds=seconds, memory_mb=memory_mb)
    if namespaces:
        limits.namespace()
    else:
        limits.adopt_orphans()
    requests, answers, output = os.pipe(), os.pipe(), os.pipe()
    process = _fork()
    if not process:
        _become_program(requests[0], answers[1], output[1], lifeline, namespaces=namespaces)
    for theirs in (requests[0], answers[1], output[1]):
        os.close(theirs)
    limits.hide()
    site.main()  # only now, so that the program's process has never heard of what is installed
    job = json.load(sys.stdin.buffer)
    watch = Watch(process=process, answers=answers[0], output=output[0], lifeline=lifeline, seconds=seconds, namespaces=namespaces)
    program = Program(watch, requests[1])
    with program.limit(seconds):
        program.greet()
        status, detail = verdict(job, program)
    if not namespaces:
        end_all(os.getpid())
    if watch.abandoned:
        shutil.rmtree(os.getcwd(), ignore_errors=True)
    report = {"token": job["token"], "status": status, "detail": detail[:500], "output": watch.said(), "sealed": program.sealed}
    os.write(1, json.dumps(report).encode())
    os._exit(0)


def _fork() -> int:
    try:
        return os.fork()
    except OSError as error:
        sys.stderr.write(f"fork: {error.strerror}")
        os._exit(limits.NOT_BEGUN)


def verdict(job: Mapping[str, Any], program: Program) -> tuple[str, str]:
    """Status and reason. ``invalid``: the tests themselves are no Python, or their preamble fails."""
    scope: dict[str, Any] = {"__name__": "__tests__", SAME: same}
    try:
        preamble, tests = (compiled(job[part]) for part in ("preamble", "tests"))
        exec(preamble, scope)  # noqa: S102 - the tests come with the task, not from a policy
    except End as end:
        return end.status, str(end)
    except Exception as error:
        return "invalid", _named(error)
    try:
        # a program that writes to the pipe itself may send more names, ours among them
        defined = dict(program.ask("load", job["code"], job["names"]))
        if missing := [name for name in job["names"] if name not in defined]:
            return "crashed", f"does not define {', '.join(missing)}"
        scope |= {name: defined[name] for name in job["names"]}
        exec(tests, scope)  # noqa: S102
    except End as end:
        return end.status, str(end)
    except Exception as error:
        return ("crashed" if error is program.fault else "wrong"), _named(error)
    return (program.end.status, str(program.end)) if program.end else ("passed", "")


def _named(error: Exception) -> str:
    step, line = error.__traceback__, 0
    while step:
        line = step.tb_lineno if step.tb_frame.f_code.co_filename == FILE else line
        step = step.tb_next
    return f"{type(error).__name__}: {error}" + (f" (line {line} of the tests)" if line else "")


def _become_program(requests: int, answers: int, output: int, lifeline: int, *, namespaces: bool) -> NoReturn:
    """In the new process, forked while nothing about the job is known yet: leave no more open than the program needs, and serve."""
    with contextlib.suppress(BaseException):
        os.close(lifeline)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        kept = os.dup(requests), os.dup(answers)
        os.dup2(kept[0], _REQUESTS, inheritable=False)
        os.dup2(kept[1], _ANSWERS, inheritable=False)
        os.closerange(_ANSWERS + 1, limits.OPEN_FILES)
        sealed = namespaces and view.narrow(os.getcwd())
        limits.processes(namespaces=namespaces)
        limits.renounce()
        candidate.serve(_REQUESTS, _ANSWERS, sealed=sealed)
    os._exit(1)
