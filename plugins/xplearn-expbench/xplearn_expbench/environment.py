"""One question, one answer: what the environments of all tasks have in common, and the environment of a single one."""

from __future__ import annotations

import importlib.metadata
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, get_args

from xplearn import ConfigError, ContractError, DataError, Environment, Message, Observation, Outcome, Task, Trajectory
from xplearn_expbench.catalogue import TASKS, needing_extras, require_comparing, resolve
from xplearn_expbench.overlap import Overlap, identity
from xplearn_expbench.presenting import presented
from xplearn_expbench.prompts import INSTRUCTIONS, Form
from xplearn_expbench.questions import Questions, Reading, open_questions, require_examples
from xplearn_expbench.spec import Checker, Execution, Row, Status, TaskSpec, Tier, Verdict
from xplearn_expbench.splits import SPLITS, By

PLUGIN = "expbench"

GRAMMAR = 2
"""Grows when the same answer may be read, or the same question put, in another way than before."""

_TOLD: Mapping[Status, str] = {
    "correct": "That is right.",
    "wrong": "That is wrong.",
    "unparsed": "No answer was found in that.",
    "timed-out": "The program ran out of time.",
    "crashed": "The program failed.",
    "not-run": "The program was not run.",
}
"""What is seen after the answer: never the right one."""


@dataclass(kw_only=True)
class OneStep(Environment):
    """Questions that are answered with one action, the whole completion.

    ``info``: ``valid`` (an answer could be read), ``score`` in [0, 1], ``success``, ``status``, and ``parts``, further figures by name.
    """

    max_steps: ClassVar[int] = 1
    """An episode is one answer."""

    tier: Tier = "mini"
    """``mini``: own questions, offline. ``official``: the published files in ``data``."""
    data: str = ""
    """Published file or folder; with several tasks a folder that has one of each task's name."""
    subset: bool = False
    """Accept files with other numbers of rows than were published."""
    rows: int | None = None
    """At most this many rows of a task in all, drawn by key, each split in proportion; the paper's group samples 1500."""
    splits_by: By = "source"
    """``source``: the source's splits, and a hash of the question where it has none. ``hash``: always the hash."""
    test_share: float = 0.3
    """Share of the questions without a split that is for testing."""
    dev_share: float = 0.1
    """Share of them that is for choosing settings."""
    overlap: Overlap = "drop"
    """What becomes of a question that two splits have: kept in the later one alone (test, dev, train) and counted, or refused."""
    shots: int = 0
    """Solved examples before each question, as turns of the conversation, drawn from the training rows by key."""
    shuffle: bool = True
    """Show options in an order drawn by key, not the source's."""
    candidates: int = 20
    """Candidates of a ranking, the target among them; 0 for all that the user has not had."""
    require_marker: bool = False
    """Reward only an answer whose marker stands in the completion exactly once. The score does not ask for it."""
    seed: int = 0
    """Of what is drawn by key: sample, examples, options, candidates."""
    execution: Execution = field(default_factory=Execution)
    """Whether and how programs that the policy wrote are run."""

    def __post_init__(self) -> None:
        self._require_known()
        self._require_sizes()
        self._asked: tuple[TaskSpec, Row] | None = None
        self._checkers: dict[str, Checker] = {}

    def _require_known(self) -> None:
        for name, kind in (("tier", Tier), ("splits_by", By), ("overlap", Overlap)):
            if getattr(self, name) not in get_args(kind):
                raise ConfigError(name, f"is '{getattr(self, name)}'; want one of {', '.join(get_args(kind))}")
        if self.data and self.tier == "mini":
            raise ConfigError("data", "is read with tier=official alone; say that, or leave it out")

    def _require_sizes(self) -> None:
        for name, least in (("rows", 1), ("shots", 0), ("candidates", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ConfigError(name, f"is {value}; want at least {least}")
        if self.candidates == 1:
            raise ConfigError("candidates", "is 1, the target alone; want at least 2, or 0 for all")
        if not (0 <= self.test_share <= 1 and 0 <= self.dev_share <= 1 - self.test_share):
            raise ConfigError("test_share", f"is {self.test_share} beside dev_share {self.dev_share}; want shares that sum to at most 1")
        for name, lowest in (("seconds", 0.1), ("memory_mb", 64)):
            limit = getattr(self.execution, name)
            if not lowest <= limit < math.inf:
                raise ConfigError(f"execution.{name}", f"is {limit}; want at least {lowest}")

    @property
    @abstractmethod
    def name(self) -> str:
        """As registered."""

    @abstractmethod
    def specs(self) -> tuple[TaskSpec, ...]:
        """The tasks that are asked. Raises ``ConfigError`` where one has no rows in this tier."""

    @abstractmethod
    def path(self, spec: TaskSpec) -> str:
        """Where the published rows of a task are."""

    def shots_of(self, spec: TaskSpec) -> int:
        """How many examples are shown with a question of this task."""
        return self.shots

    @property
    def provides(self) -> frozenset[str]:
        ranking = {"env.ranking"} if any(spec.kind == "ranking" for spec in self.specs()) else set()
        return frozenset({"env.demos", "env.replay"} | ranking)

    @property
    def version(self) -> str:
        told = [self._told(spec) for spec in self.specs()]
        options = f"options {'shuffled' if self.shuffle else 'as listed'}, seed {self.seed}"
        marked = ", one marker required" if self.require_marker else ""
        plugin = importlib.metadata.version("xplearn-expbench")
        return f"expbench {plugin}, grammar {GRAMMAR}, {self.tier} tier, {options}{marked}: {'; '.join(told)}"

    def _told(self, spec: TaskSpec) -> str:
        questions = self.questions(spec)
        words = [f"{spec.name} {questions.digest}"]
        words += [f"{questions.dropped} repeated in a later split left out"] if questions.dropped else []
        words += [f"{self.shots_of(spec)} shots"] if self.shots_of(spec) else []
        words += [f"{self.candidates or 'all'} candidates"] if spec.kind == "ranking" else []
        words += [f"{self.execution.seconds:g} s and {self.execution.memory_mb} MB a program"] if spec.kind == "code" else []
        return ", ".join(words)

    @property
    def instructions(self) -> str:
        return INSTRUCTIONS

    def splits(self) -> tuple[str, ...]:
        return tuple(split for split in SPLITS if any(split in self.questions(spec).by_split for spec in self.specs()))

    def tasks(self, split: str) -> Sequence[Task]:
        """Every question of a split, task after task.

        Raises:
            ConfigError: there is no such split, a task asks for programs and none may be run, or there are too few rows for the shots.
        """
        if split not in self.splits():
            raise ConfigError("split", f"no split is called '{split}' (known: {', '.join(self.splits())})")
        for spec in self.specs():
            self._require_playable(spec)
        found = ((spec, row) for spec in self.specs() for row in self.questions(spec).by_split.get(split, ()))
        return [Task(id=f"{spec.name}/{row.id}", env=self.name, split=split, goal=row.question, kind=spec.name) for spec, row in found]

    def reset(self, task: Task, *, seed: int) -> Observation:
        self._asked = None
        spec, row = self._wanted(task)
        self._require_playable(spec)
        row = self._presented(spec, row)
        self._asked = spec, row
        return Observation(text=_form(spec)(row), actions=row.choices if spec.kind == "ranking" and self.listing else None)

    def opening(self, task: Task, observation: Observation) -> tuple[Message, ...]:
        """Instructions, examples as turns that were answered, then the question and how to answer it."""
        return (
            {"role": "system", "content": self.instructions},
            *self._examples(*self._wanted(task)),
            {"role": "user", "content": f"{task.goal}\n\n{observation.text}"},
        )

    def parse(self, completion: str) -> str:
        """The whole completion: answers may have lines."""
        return completion

    def step(self, action: str) -> Outcome:
        if self._asked is None:
            raise ContractError(self.name, "no question is open; call reset")
        if not isinstance(action, str):
            raise ContractError(self.name, f"an action is text, not {type(action).__name__}")
        (spec, row), self._asked = self._asked, None
        verdict = self._checker(spec)(row, action)
        marker = _form(spec).marker
        unmarked = self.require_marker and marker and action.count(marker) != 1
        return Outcome(
            observation=Observation(text=_said(verdict)),
            reward=0.0 if unmarked else verdict.score,
            terminated=True,
            truncated=False,
            info=_info(verdict),
        )

    def demonstrate(self, task: Task, *, seed: int) -> Trajectory:
        """The right answer in the form that is asked for."""
        spec, row = self._wanted(task)
        return self.replay(task, [_form(spec).gold(self._presented(spec, row))], seed=seed)

    def close(self) -> None:
        self._asked = None
        for checker in self._checkers.values():
            close = getattr(checker, "close", None)
            if close is not None:
                close()
        self._checkers.clear()

    def questions(self, spec: TaskSpec) -> Questions:
        """The questions of one of the tasks. Raises as ``open_questions``."""
        reading = Reading(
            tier=self.tier,
            data=self.path(spec),
            subset=self.subset,
            rows=self.rows,
            splits_by=self.splits_by,
            test_share=self.test_share,
            dev_share=self.dev_share,
            overlap=self.overlap,
            seed=self.seed,
        )
        return open_questions(spec.name, reading)

    def _require_playable(self, spec: TaskSpec) -> None:
        if spec.kind == "code" and not self.execution.allow:
            raise ConfigError(
                "execution.allow",
                f"{spec.name} runs programs that the policy wrote, isolated but not secure; to allow it: stream.0.env.execution.allow=true"
                + self._way_out(spec),
            )
        require_examples(spec, self.questions(spec), self.shots_of(spec))
        if spec.kind == "maths" and self.tier == "official":
            require_comparing(spec, self.questions(spec).by_id.values())

    def _way_out(self, spec: TaskSpec) -> str:
        """What else to type where programs may not be run."""
        return ""

    def _wanted(self, task: Task) -> tuple[TaskSpec, Row]:
        if not isinstance(task, Task):
            raise ContractError(self.name, f"reset takes a Task, not {type(task).__name__}; tasks() lists them")
        name, _, id = task.id.partition("/")
        spec = next((spec for spec in self.specs() if spec.name == name), None)
        if spec is None or task.env != self.name:
            raise DataError(task.id, f"is not a task of {self.name}; ids look like {self.specs()[0].name}/<row>")
        row = self.questions(spec).by_id.get(id)
        if row is None:
            raise DataError(task.id, f"there is no such row among the {len(self.questions(spec).by_id)} of {name}")
        return spec, row

    def _presented(self, spec: TaskSpec, row: Row) -> Row:
        return presented(spec, row, seed=self.seed, shuffle=self.shuffle, candidates=self.candidates)

    def _examples(self, spec: TaskSpec, asked: Row) -> list[Message]:
        """Solved rows, never one that asks the same."""
        count = self.shots_of(spec)
        if not count:
            return []
        own = identity(spec.kind, asked)
        others = (row for row in self.questions(spec).examples if row.id != asked.id and identity(spec.kind, row) != own)
        form = _form(spec)
        shown = [self._presented(spec, row) for row in islice(others, count)]
        return [turn for row in shown for turn in _answered(f"{row.question}\n\n{form(row)}", form.gold(row))]

    def _checker(self, spec: TaskSpec) -> Checker:
        if spec.name not in self._checkers:
            with needing_extras(spec):
                found = resolve(spec.checker)
            self._checkers[spec.name] = found(self.execution) if isinstance(found, type) else found
        return self._checkers[spec.name]


@dataclass(kw_only=True)
class OneTask(OneStep):
    """The questions of one task."""

    task: ClassVar[str]
    """Its name in the catalogue."""

    @property
    def name(self) -> str:
        return f"{PLUGIN}.{self.task}"

    def specs(self) -> tuple[TaskSpec, ...]:
        return (TASKS[self.task],)

    def path(self, spec: TaskSpec) -> str:
        return self.data


def _form(spec: TaskSpec) -> Form:
    form: Form = resolve(spec.prompt)
    return form


def _answered(question: str, answer: str) -> tuple[Message, Message]:
    return {"role": "user", "content": question}, {"role": "assistant", "content": answer}


def _said(verdict: Verdict) -> str:
    told = _TOLD[verdict.status]
    return f"{told} Score: {verdict.score:.2f} of 1." if 0.0 < verdict.score < 1.0 else told


def _info(verdict: Verdict) -> dict[str, Any]:
    return {
        "valid": verdict.status != "unparsed",
        "score": verdict.score,
        "success": verdict.status == "correct",
        "status": verdict.status,
        "parts": dict(verdict.parts),
    }
