"""Running programs that a policy wrote: isolated, not secure."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from xplearn import ConfigError, ContractError
from xplearn_expbench.runner import leftovers
from xplearn_expbench.runner.process import Cell, Halt
from xplearn_expbench.runner.program import Outcome, Program
from xplearn_expbench.spec import Execution

_PROBE = Program(code="def answer():\n    return 42", tests="assert answer() == 42", names=("answer",))


@dataclass(kw_only=True)
class Runner:
    """Runs programs with their tests, each in interpreters of its own that nothing outlives.

    A program sees an empty environment, a temporary folder, no input, the standard library alone, and limits on processor time, wall
    clock, memory, file size, open files and processes. The tests run in another process than the program, which is asked for values over a
    pipe; results are compared as built-in types, and a pass is a fresh random token that only the tests' process knows. So a program cannot
    pass by exiting, by objects that equal everything, by looking for the token or by reading the tests. On Linux, where the system lets us,
    user, process, network and mount namespaces hide other processes, the network, and every file but the system's (``/usr`` and the like),
    the interpreter's without its packages, and an empty folder: no data, no source of ours, no sockets or pipes of other programs.

    **Not stopped**: reading the system's files, and taking the memory that is allowed once for each of up to 64 processes. Where
    ``isolation`` is ``namespaces``, reading and writing this user's files, the reference solutions among them, and speaking to programs
    over their sockets. Where it is ``process`` also using the network, and killing this user's processes: a program that kills its judge
    is found and ended by the limits it cannot shed, but one that kills this process too lives until the next runner is made, and off
    Linux for good. Holes of the kernel are not ours to close. Run what you do not trust in a virtual machine.
    """

    execution: Execution
    """Whether and within which limits."""
    parallel: int = 2
    """Programs at one time."""
    python: str = ""
    """Interpreter of the programs, 3.11 or later; empty: this one."""
    _cell: Cell | None = field(default=None, init=False, repr=False)
    _sealed: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        execution = self.execution
        if not execution.allow:
            raise ConfigError(
                "execution.allow", "is false; set execution.allow=true to run programs that a policy wrote (isolated, not secure: see docs)"
            )
        if not 0 < execution.seconds < math.inf:
            raise ConfigError("execution.seconds", f"must be above 0, not {execution.seconds}")
        if execution.memory_mb < 64:
            raise ConfigError("execution.memory_mb", f"must be at least 64, not {execution.memory_mb}")
        if self.parallel < 1:
            raise ConfigError("parallel", f"must be at least 1, not {self.parallel}")

    def run(self, program: Program) -> Outcome:
        """Run one program.

        Raises:
            ConfigError: programs cannot be run here, or not within namespaces as asked.
            ContractError: the tests are no Python or their preamble fails.
            EnvironmentDiedError: the machine starts no more processes.
        """
        return self._run(self.cell, program, Halt())

    def run_all(self, programs: Iterable[Program]) -> list[Outcome]:
        """Run programs, ``parallel`` at a time; outcomes in the order of the programs. Errors as in ``run``; one ends all that run."""
        cell, halt = self.cell, Halt()
        with ThreadPoolExecutor(self.parallel, thread_name_prefix="xplearn-code") as pool:
            try:
                return list(pool.map(lambda program: self._run(cell, program, halt), programs))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                halt.call()
                raise

    @property
    def cell(self) -> Cell:
        """How programs are shut in here: found by trying, once.

        Raises:
            ConfigError: nothing works; says what was tried.
            EnvironmentDiedError: the machine starts no more processes.
        """
        if self._cell is None:
            self._cell = self._probe()
        return self._cell

    @property
    def isolation(self) -> str:
        """In words for the record: ``namespaces, files hidden``, ``namespaces`` or ``process``, from most to least shut in."""
        if not self.cell.namespaces:
            return "process"
        return "namespaces, files hidden" if self._sealed else "namespaces"

    def _probe(self) -> Cell:
        if os.name != "posix":
            raise ConfigError("execution.allow", f"programs can be run on Linux and other POSIX systems, not on {sys.platform}")
        leftovers.remove_folders()
        leftovers.end_strays()
        failures = []
        for cell in self._cells():
            report = _attempt(cell)
            if report["status"] == "passed":
                self._sealed = bool(report["sealed"])
                return cell
            failures.append(f"{'with' if cell.namespaces else 'without'} namespaces: {report['detail']}")
        hint = "; set execution.namespaces=auto to do without" if self.execution.namespaces == "always" else ""
        raise ConfigError("execution.namespaces", f"no program can be run here ({'; '.join(failures)}){hint}")

    def _cells(self) -> Iterator[Cell]:
        execution = self.execution
        most = max(execution.seconds, 10.0)
        cell = Cell(python=self.python or sys.executable, seconds=most, memory_mb=execution.memory_mb, namespaces=False)
        if execution.namespaces != "never":
            yield replace(cell, namespaces=True)
        if execution.namespaces != "always":
            yield cell

    def _run(self, cell: Cell, program: Program, halt: Halt) -> Outcome:
        started = time.monotonic()
        report = replace(cell, seconds=self.execution.seconds).run(program, halt)
        if report["status"] == "invalid":
            raise ContractError("expbench", f"the tests of a program cannot be run: {report['detail']}")
        seconds = time.monotonic() - started
        return Outcome(ending=report["status"], detail=report["detail"], output=report["output"], seconds=seconds, code=program.code)


def _attempt(cell: Cell) -> dict[str, Any]:
    try:
        return cell.run(_PROBE, Halt())
    except OSError as error:
        return {"status": "crashed", "detail": f"{error.filename}: {error.strerror}"}
