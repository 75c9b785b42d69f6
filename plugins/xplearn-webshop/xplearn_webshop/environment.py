"""The environment ``webshop.text``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, overload

from xplearn import ConfigError, ContractError, DataError, Environment, Message, Observation, Outcome, Task, Trajectory
from xplearn_webshop import html, script, text
from xplearn_webshop import reward as rewards
from xplearn_webshop.actions import GRAMMAR, Request, read, written
from xplearn_webshop.catalogue import Catalogue, open_catalogue
from xplearn_webshop.goals import Goals, Kind
from xplearn_webshop.pages import SEARCH, Page
from xplearn_webshop.records import Goal
from xplearn_webshop.session import Session

NAME = "webshop.text"

ENGINE = 1
"""Grows when the same actions may lead to another page or reward than before."""

SPLITS = ("train", "dev", "test")

MANY = 100_000
"""Tasks of a split beyond which they are made only when looked at: all published products have millions of synthetic goals."""

View = Literal["text", "text_rich", "html"]

_WRITTEN = {"text": text.plain, "text_rich": text.rich, "html": html.document}

_LABELS_TOLD = 8
_LONGEST_ECHO = 40
_LONGEST_NUMBER = 12


@dataclass(kw_only=True)
class WebShop(Environment):
    """Shopping by instruction (Yao et al., 2022): search, look at products, choose options, buy one; buying ends the episode.

    A task is a goal: ``human/17``, ``synthetic/331``. Its episode is the same whatever the seed. An action that does nothing leaves
    the page as it is.

    ``info``: ``valid``; ``score`` in [0, 1], what the purchase was worth; ``success`` (a score of exactly 1); ``url``;
    ``available``, as in the original; for an invalid action ``reason``; after the purchase ``reward_info``, the parts of the score,
    and ``ceiling``, the score of the goal's own product with its options.
    """

    data: str = ""
    """Folder with the published files, or their file of products; empty for the own catalogue."""
    observation: View = "text"
    """The original's two text forms, or an HTML page of our own."""
    goals: Kind = "human"
    """Instructions in customers' words, or made from attributes and options."""
    prices: str = ""
    """File with the prices and goals of one load of the original; empty to draw them by ``price_seed``."""
    price_seed: int = 0
    """Seed of the prices within ranges and of the price limits."""
    nouns: str = ""
    """File with the nouns of the titles; ``words`` for all their words; empty for the file in ``data``, else spaCy."""
    reward: rewards.Mode = "original"
    """``strict`` without the original's side effects of colour words and near values."""
    max_steps: int = 15
    """Actions after which an episode is truncated."""

    def __post_init__(self) -> None:
        for name, known in (("observation", get_args(View)), ("goals", get_args(Kind)), ("reward", get_args(rewards.Mode))):
            if getattr(self, name) not in known:
                raise ConfigError(name, f"is '{getattr(self, name)}', want one of {', '.join(known)}")
        if self.max_steps < 1:
            raise ConfigError("max_steps", f"is {self.max_steps}, want at least 1")
        if self.prices and self.price_seed:
            raise ConfigError("price_seed", "draws nothing where 'prices' names a file; leave one of the two out")
        self._opened: Catalogue | None = None
        self._counted: Counter[str] | None = None
        self._session: Session | None = None
        self._steps = 0
        self._capped = True

    @property
    def provides(self) -> frozenset[str]:
        return frozenset({"env.actions", "env.demos", "env.replay", "env.pages", "webshop.shop"})

    @property
    def version(self) -> str:
        drawn = "prices of a file" if self.prices else f"price seed {self.price_seed}"
        return (
            f"webshop engine {ENGINE}, grammar {GRAMMAR}, data {self._catalogue.digest} ({drawn}), {self.goals} goals, "
            f"reward {self.reward}, observation {self.observation}, search bm25 0.9/0.4, {self.max_steps} steps"
        )

    @property
    def instructions(self) -> str:
        return (
            "You are in a web shop. Buy what the instruction asks for, with the right options and within the price.\n"
            "Answer each turn with one action and nothing else: search[words], or click[label] with a label of the page, for example "
            "search[red cotton shirt], click[next >], click[b07xyz1234], click[large], click[< prev], click[back to search], "
            "click[buy now]. Choose options before buying; buying ends the visit."
        )

    def splits(self) -> tuple[str, ...]:
        counts = self._counts()
        return tuple(name for name in SPLITS if counts[name])

    def tasks(self, split: str) -> Sequence[Task]:
        """All goals of a split in the canonical order; ``all`` for the goals of every split."""
        if split != "all" and split not in self.splits():
            counts = self._counts()
            known = ", ".join(f"{name} ({counts[name]})" for name in self.splits())
            raise ConfigError("split", f"'{split}' has no {self.goals} goals; there are {known}, all ({counts.total()})")
        tasks = _Tasks(self, self._goals.members(split))
        return tasks if len(tasks) > MANY else list(tasks)

    def ceiling(self, task: Task) -> float:
        """What buying the goal's own product with its options is worth, in [0, 1]: below 1 for some goals of the original reward."""
        return rewards.ceiling(self._catalogue, self._wanted(task), self.reward)

    def reset(self, task: Task, *, seed: int) -> Observation:
        self._session = None
        self._session, self._steps = Session(self._catalogue, self._wanted(task), self.reward), 0
        return self._observed()

    def step(self, action: str) -> Outcome:
        session = self._running()
        if not isinstance(action, str):
            raise ContractError(NAME, f"an action is text, not {type(action).__name__}")
        self._steps += 1
        request = read(action)
        valid = session.take(request)
        bought = session.bought is not None
        info: dict[str, Any] = {"valid": valid, "score": 0.0, "success": False, "url": self.url, "available": self.available}
        if not valid:
            info["reason"] = _reason(request, session.page)
        if session.bought is not None:
            info |= self._receipt(session.bought, session.goal)
        truncated = self._ended and not bought
        return Outcome(observation=self._observed(), reward=info["score"], terminated=bought, truncated=truncated, info=info)

    def admissible(self) -> tuple[str, ...]:
        """A click on each label; where there is a search bar, searches for what the instruction says, in fewer and fewer words.

        Where none of those would find the product, its title is offered too. Any other words may be searched for, on every page.
        """
        session = self._running()
        labels = (label for label in session.page.clickables if label != SEARCH.lower())
        clicks = filter(None, (written(Request("click", label)) for label in labels))
        said = script.searches(self._catalogue, session.goal) if session.page.kind == "search" else ()
        return (*(f"search[{words}]" for words in said), *clicks)

    def demonstrate(self, task: Task, *, seed: int) -> Trajectory:
        """The goal's product bought with its options, however many steps that takes; its score is the goal's ceiling."""
        actions = script.actions(self._catalogue, self._wanted(task))
        self._capped = False
        try:
            return self.replay(task, actions, seed=seed)
        finally:
            self._capped = True

    def opening(self, task: Task, observation: Observation) -> tuple[Message, ...]:
        """Instructions, then the first page, which says the task."""
        return ({"role": "system", "content": self.instructions}, {"role": "user", "content": observation.text})

    def page(self) -> str:
        return html.document(self._visited().page)

    @property
    def url(self) -> str:
        """Address of the current page, as in the original."""
        return self._visited().page.url

    @property
    def available(self) -> dict[str, Any]:
        """``has_search_bar`` and ``clickables`` of the current page, as in the original."""
        return self._visited().page.available

    def close(self) -> None:
        self._session = self._counted = self._opened = None

    @property
    def _catalogue(self) -> Catalogue:
        if self._opened is None:
            self._opened = open_catalogue(self.data, prices=self.prices, price_seed=self.price_seed, nouns=self.nouns)
        return self._opened

    @property
    def _goals(self) -> Goals:
        return self._catalogue.goals(self.goals)

    def _counts(self) -> Counter[str]:
        if self._counted is None:
            self._counted = Counter({name: len(self._goals.members(name)) for name in SPLITS})
        return self._counted

    def task(self, index: int) -> Task:
        """The task of the goal with this index. Raises ``IndexError`` where there is none."""
        goal = self._goals[index]
        return Task(
            id=f"{self.goals}/{goal.index}",
            env=NAME,
            split=goal.split,
            goal=goal.instruction.strip(),
            kind=self._catalogue.product(goal.asin).category,
            meta={"goal_index": goal.index},
        )

    def _wanted(self, task: Task) -> Goal:
        if not isinstance(task, Task):
            raise ContractError(NAME, f"reset takes a Task, not {type(task).__name__}; tasks() lists them")
        kind, _, number = task.id.partition("/")
        if task.env != NAME or kind != self.goals or not (number.isascii() and number.isdigit() and len(number) < _LONGEST_NUMBER):
            raise DataError(task.id, f"is not a task of these fields; ids look like {self.goals}/0")
        goals = self._goals
        if int(number) >= len(goals) or f"{int(number)}" != number:
            raise DataError(task.id, f"there are {len(goals)} {self.goals} goals, with indices from 0 to {len(goals) - 1}")
        return goals[int(number)]

    def _receipt(self, bought: rewards.Score, goal: Goal) -> dict[str, Any]:
        ceiling = rewards.ceiling(self._catalogue, goal, self.reward)
        return {"score": bought.value, "success": bought.value == 1.0, "reward_info": dict(bought.parts), "ceiling": ceiling}

    @property
    def _ended(self) -> bool:
        return self._session is not None and (self._session.bought is not None or (self._capped and self._steps >= self.max_steps))

    def _observed(self) -> Observation:
        listed = self.listing and not self._ended
        return Observation(text=_WRITTEN[self.observation](self._visited().page), actions=self.admissible() if listed else None)

    def _visited(self) -> Session:
        if self._session is None:
            raise ContractError(NAME, "no episode is in progress; call reset first")
        return self._session

    def _running(self) -> Session:
        session = self._visited()
        if self._ended:
            raise ContractError(NAME, "the episode is over; call reset")
        return session


class _Tasks(Sequence[Task]):
    """The tasks of some goals, made when they are looked at."""

    def __init__(self, shop: WebShop, indices: Sequence[int]) -> None:
        self._shop, self._indices = shop, indices

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, place: int) -> Task: ...
    @overload
    def __getitem__(self, place: slice) -> _Tasks: ...
    def __getitem__(self, place: int | slice) -> Task | _Tasks:
        if isinstance(place, slice):
            return _Tasks(self._shop, self._indices[place])
        return self._shop.task(self._indices[place])


def _reason(request: Request | None, page: Page) -> str:
    labels = list(page.clickables)
    more = f" and {len(labels) - _LABELS_TOLD} more" if len(labels) > _LABELS_TOLD else ""
    offered = ", ".join(labels[:_LABELS_TOLD]) + more
    if request is None:
        return f"an action is search[words] or click[label]; labels here: {offered}"
    return f"nothing here is called '{request.words[:_LONGEST_ECHO]}'; search[words] is possible everywhere, click on: {offered}"
