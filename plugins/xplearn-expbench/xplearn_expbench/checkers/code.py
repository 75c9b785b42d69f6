"""Code: a completion is right when the program in it passes the row's tests."""

from __future__ import annotations

import math
from collections.abc import Iterable

from xplearn_expbench.checkers import source
from xplearn_expbench.runner import Outcome, Program, Runner
from xplearn_expbench.spec import Execution, Row, Status, Verdict

_STATUS: dict[str, Status] = {"passed": "correct", "wrong": "wrong", "crashed": "crashed", "timed-out": "timed-out"}


class CodeChecker:
    """Finds the program in a completion (``checkers.source.program``) and runs it with the tests of the row.

    Raises:
        ConfigError: running programs is not allowed, or a limit is out of range; on the first call: programs cannot be run here.
    """

    def __init__(self, execution: Execution, *, parallel: int = 2) -> None:
        self.runner = Runner(execution=execution, parallel=parallel)

    def __call__(self, row: Row, completion: str) -> Verdict:
        """The verdict on one completion, the program in ``parsed``.

        Raises:
            ContractError: the tests of the row cannot be run.
        """
        return self.check_all([(row, completion)])[0]

    def check_all(self, answers: Iterable[tuple[Row, str]]) -> list[Verdict]:
        """Verdicts in the order of the answers, several programs at a time."""
        programs = [_program(row, completion) for row, completion in answers]
        outcomes = iter(self.runner.run_all([program for program in programs if program is not None]))
        return [_verdict(next(outcomes)) if program else Verdict(score=0.0, status="unparsed") for program in programs]

    def close(self) -> None:
        """Nothing is kept between calls."""


def reference(row: Row) -> Program:
    """The reference solution of a row with the row's tests."""
    return _with_tests(row, row.answer)


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """Chance that at least one of ``k`` programs passes, estimated without bias from ``passed`` of ``samples`` (Chen et al. 2021).

    Raises:
        ValueError: not ``1 <= k <= samples`` or not ``0 <= passed <= samples``.
    """
    if not 1 <= k <= samples or not 0 <= passed <= samples:
        raise ValueError(f"pass@{k} of {passed} passed among {samples} makes no sense")
    return 1 - math.comb(samples - passed, k) / math.comb(samples, k)


def _program(row: Row, completion: str) -> Program | None:
    code = source.program(completion, entry=row.meta["entry_point"], prompt=row.meta.get("prompt", ""))
    return None if code is None else _with_tests(row, code)


def _with_tests(row: Row, code: str) -> Program:
    meta = row.meta
    return Program(code=code, tests=meta["tests"], names=tuple(meta["names"]), preamble=meta.get("preamble", ""))


def _verdict(outcome: Outcome) -> Verdict:
    status = _STATUS[outcome.ending]
    return Verdict(score=float(status == "correct"), status=status, parsed=outcome.code)
