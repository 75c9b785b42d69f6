"""A program with its tests, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Ending = Literal["passed", "wrong", "crashed", "timed-out"]
"""``wrong``: a test said no. ``crashed``: no Python, an exception of the program's, an early exit, or a limit other than time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Source text that a policy wrote, and the tests that it must pass."""

    code: str
    """What the policy wrote, run in a process of its own."""
    tests: str
    """Source that comes with the task, run in another process once ``code`` is loaded. ``assert a == b`` also asks for equal types."""
    names: tuple[str, ...]
    """Functions, classes and values that the tests take from ``code``. Arguments and results are handed over by value: what a
    function does to a list it was given, the tests do not see."""
    preamble: str = ""
    """Source that comes with the task and runs before the tests: imports and helpers of theirs. ``names`` win over its definitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a program."""

    ending: Ending
    """How it went."""
    detail: str
    """Why it did not pass, in one line; empty where it did."""
    output: str
    """The beginning of what it printed."""
    seconds: float
    """By the wall clock, the interpreter's start included."""
    code: str
    """What was run."""
