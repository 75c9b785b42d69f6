"""Policies without a model: the rule agent ``webshop.rule`` and the oracle ``webshop.oracle``."""

from __future__ import annotations

import html
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from xplearn import Capability, Completion, Conditioning, ConfigError, Message, Policy, Sampling
from xplearn_webshop import script
from xplearn_webshop.catalogue import Catalogue, open_catalogue
from xplearn_webshop.goals import Kind

ORACLE = "webshop.oracle"

_AROUND_INSTRUCTION = (
    ('<p class="instruction">', "</p>"),
    ("Instruction: [SEP] ", " [SEP] Search"),
    ("Instruction: \n", "\n[button] Search [button_]"),
)
"""What stands around it on a first page, as ``html``, ``text`` and ``text_rich``; experience may stand before all of it."""

_FIRST_HIT = (
    re.compile(r'<ol><li><form[^>]*><button name="action" value="click\[(\w+)\]"'),
    re.compile(r"Next > \[SEP\] (\w+) \[SEP\]"),
    re.compile(r"\[button\] Next > \[button_\]\n\n\[(?:clicked )?button\] (\w+) \["),
)


class _Shopper(Policy):
    """Acts by its turn: the i-th action when it has spoken i times before."""

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"policy.keyed"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"webshop.shop"})

    def generate(
        self,
        conditionings: Sequence[Conditioning],
        sampling: Sampling,
        keys: Sequence[int],
        choices: Sequence[tuple[str, ...] | None] | None = None,
    ) -> list[Completion]:
        return [Completion(text=self._said(conditioning.messages), sampling=sampling) for conditioning in conditionings]

    def _said(self, messages: Sequence[Message]) -> str:
        heard = [message["content"] for message in messages if message["role"] == "user"]
        turn = sum(message["role"] == "assistant" for message in messages)
        return self._action(turn, heard) if heard else ""

    @abstractmethod
    def _action(self, turn: int, heard: Sequence[str]) -> str:
        """The action, given what the environment said so far."""


@dataclass(kw_only=True)
class RulePolicy(_Shopper):
    """Searches for the instruction without its price, opens the first hit and buys it as it is. WebShop's rule baseline."""

    def _action(self, turn: int, heard: Sequence[str]) -> str:
        if turn == 0:
            return f"search[{script.queries(instruction(heard[0]))[0]}]"
        hit = first_hit(heard[-1])
        return f"click[{hit}]" if turn == 1 and hit else "click[buy now]"


@dataclass(kw_only=True)
class OraclePolicy(_Shopper):
    """Knows the goal by its instruction and buys its product with its options. Of goals in the same words the first counts.

    Its fields are those of the environment it plays, and must have the same values.
    """

    data: str = ""
    """The environment's."""
    goals: Kind = "human"
    """The environment's."""
    prices: str = ""
    """The environment's."""
    price_seed: int = 0
    """The environment's."""
    nouns: str = ""
    """The environment's."""

    def __post_init__(self) -> None:
        self._opened: Catalogue | None = None
        self._places: dict[str, int] = {}

    def _action(self, turn: int, heard: Sequence[str]) -> str:
        if self._opened is None:
            self._opened = open_catalogue(self.data, prices=self.prices, price_seed=self.price_seed, nouns=self.nouns)
            for goal in self._opened.goals(self.goals):
                self._places.setdefault(goal.instruction.strip(), goal.index)
        wanted = instruction(heard[0])
        place = self._places.get(wanted)
        if place is None and wanted:
            reason = f"no goal here is in the words '{wanted[:80]}': its data, goals, prices and price_seed must be the environment's"
            raise ConfigError(ORACLE, reason)
        lines = script.actions(self._opened, self._opened.goals(self.goals)[place]) if place is not None else ()
        return lines[turn] if turn < len(lines) else ""

    def close(self) -> None:
        self._opened, self._places = None, {}


def instruction(heard: str) -> str:
    """What is wanted, by a first page in any of its forms; empty where it is none."""
    for before, after in _AROUND_INSTRUCTION:
        _, found, rest = heard.rpartition(before)
        if found:
            said = rest.partition(after)[0].strip()
            return html.unescape(said) if before.startswith("<") else said
    return ""


def first_hit(heard: str) -> str:
    """The label of the first product on a page of results, in any of its forms; empty where there is none."""
    found = (pattern.search(heard) for pattern in _FIRST_HIT)
    return next((match.group(1).lower() for match in found if match), "")
