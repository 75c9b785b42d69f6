"""What a task of ExpBench is made of: rows, verdicts, and the specification that ties them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["qa", "choice", "maths", "code", "chemistry", "ranking"]
"""How a task is asked and checked."""

Tier = Literal["mini", "official"]
"""``mini``: own rows, offline. ``official``: the published files, by path."""

Status = Literal["correct", "wrong", "unparsed", "timed-out", "crashed", "not-run"]
"""What became of an answer. ``unparsed``: no answer could be read; ``not-run``: code, and running it is not allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One question, as loaded or generated, before any prompt."""

    id: str
    """Stable and unique within its task."""
    question: str
    """What is asked, without options and without the form of the answer."""
    answer: Any
    """JSON, by kind. ``qa``: list of accepted texts, the primary one first. ``choice``: 0-based index of the right option. ``maths``: text
    of the answer. ``code``: reference solution as source text. ``chemistry``: ``yes`` or ``no``, or a molecule that meets the constraints.
    ``ranking``: the target, one of the candidates."""
    choices: tuple[str, ...] = ()
    """``choice``: the options in the source's order. ``ranking``: the candidates."""
    split: str = ""
    """``train``, ``dev`` or ``test`` where the source has splits; empty where a stable hash decides."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """JSON: what the checker needs beside the answer (tests, entry point, constraints), and what describes the row (subject, level)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a checker says of an answer."""

    score: float
    """In [0, 1]."""
    status: Status
    """``correct`` only where the answer is wholly right."""
    parsed: str = ""
    """What was read from the completion."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Further figures in [0, 1] by name: ``em``, ``f1``, ``ndcg@10``, ``hr@10`` …"""


Checker = Callable[[Row, str], Verdict]
"""Judges a completion; any text, never an exception for a bad one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """One task of the benchmark."""

    name: str
    """Registered as ``expbench.<name>``."""
    group: Literal["generic", "science", "recommendation", "open"]
    """Scenario of the paper; ``open`` is beyond its thirteen."""
    kind: Kind
    mini: str
    """``module:function`` that gives the own rows; empty where there are none."""
    official: str
    """``module:function`` that reads the published rows from a path; empty where there is no public form."""
    checker: str
    """``module:function`` or, for code, ``module:Class``."""
    prompt: str
    """``module:function`` that builds the text shown from a row."""
    metric: str
    """What the score is: ``accuracy``, ``exact match``, ``pass@1``, ``NDCG@10`` …"""
    chance: float
    """Score of guessing blindly, in [0, 1], on the mini rows."""
    licence: str
    """Of the published rows."""
    source: str
    """Where the published rows come from, and whom to cite."""
    files: Mapping[str, int] = field(default_factory=dict)
    """Rows that each published file must have, by its usual name."""


@dataclass(kw_only=True)
class Execution:
    """Whether and how programs that a model wrote are run. Isolated, not secure."""

    allow: bool = False
    """Run them at all. Without it, tasks of kind ``code`` are refused."""
    seconds: float = 10.0
    """Wall-clock limit of one program."""
    memory_mb: int = 1024
    """Address space of one program."""
    namespaces: Literal["auto", "always", "never"] = "auto"
    """Linux namespaces, in which a program has no network, sees the standard library and an empty folder alone, and dies with its tests:
    where the system lets us, or refuse to run without, or not at all."""
