"""How a question is put and how its answer is to be written, by form. Nothing here looks at the answer but ``gold``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_uppercase

from xplearn_expbench.spec import Row

INSTRUCTIONS = "Answer the question in the form it asks for."

LISTED = 200
"""Candidates beyond which they are not spelled out: a policy that ranks is given them anyway."""

_REPLY = "Reply with one line: Answer: and"
_FENCE = "```"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way of asking. Called with a row it gives the text that stands below the question."""

    asked: Callable[[Row], str]
    """Options or candidates, and how to answer."""
    gold: Callable[[Row], str]
    """The right answer as the text asks for it."""
    marker: str
    """What announces an answer; empty where the whole completion is one."""

    def __call__(self, row: Row) -> str:
        return self.asked(row)


def _always(text: str) -> Callable[[Row], str]:
    def asked(_: Row) -> str:
        return text

    return asked


def _options(row: Row) -> str:
    lines = [f"{letter}. {option}" for letter, option in zip(ascii_uppercase, row.choices, strict=False)]
    return "\n".join([*lines, "", f"{_REPLY} the letter of the right option."])


def _candidates(row: Row) -> str:
    many = len(row.choices)
    listed = [f"{number}. {candidate}" for number, candidate in enumerate(row.choices, 1)] if many <= LISTED else []
    form = "Order all of them, the one that is chosen next first: one a line, by its name, and nothing else."
    return "\n".join([f"There are {many} candidates.", *listed, "", form])


def _program(row: Row) -> str:
    """One of the tests is shown where a question does not say what the function is called and takes."""
    test = row.meta.get("shown_test")
    shown = f"This has to hold:\n\n{test}\n\n" if test else ""
    form = f"Answer with the whole program, what is given above included, in one block from {_FENCE}python to {_FENCE}."
    return shown + form


def _molecule(row: Row) -> str:
    return f"{_REPLY} {'the SMILES of one molecule' if row.meta.get('form') == 'design' else 'yes or no'}."


def _ordered(row: Row) -> str:
    return "\n".join([row.answer, *(candidate for candidate in row.choices if candidate != row.answer)])


QA = Form(
    asked=_always(f"{_REPLY} a few words."),
    gold=lambda row: f"Answer: {row.answer[0]}",
    marker="Answer:",
)
CHOICE = Form(asked=_options, gold=lambda row: f"Answer: {ascii_uppercase[row.answer]}", marker="Answer:")
NUMBER = Form(
    asked=_always("End with one line: #### and the number, without its unit."),
    gold=lambda row: f"#### {row.answer}",
    marker="####",
)
BOXED = Form(asked=_always("End with the answer in \\boxed{}."), gold=lambda row: f"\\boxed{{{row.answer}}}", marker="\\boxed{")
CODE = Form(
    asked=_program,
    gold=lambda row: f"{_FENCE}python\n{row.answer.rstrip()}\n{_FENCE}",
    marker=f"{_FENCE}python",
)
MOLECULE = Form(asked=_molecule, gold=lambda row: f"Answer: {row.answer}", marker="Answer:")
RANKING = Form(asked=_candidates, gold=_ordered, marker="")
