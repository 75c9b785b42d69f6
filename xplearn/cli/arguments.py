"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, NoReturn

from xplearn.errors import nearest
from xplearn.report.printable import printable

Commands = Any
"""What ``add_subparsers`` returns; argparse gives its type no public name."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong on one line, with the nearest valid word; the parsers of its commands do as well.

    What is parsed knows, as ``parser``, which of them was the last.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.set_defaults(parser=self)

    def error(self, message: str) -> NoReturn:
        self.exit(2, printable(f"{self.prog}: {message} (see: {self.prog} --help)") + "\n")

    def unrecognized(self, word: str) -> NoReturn:
        """End with what is wrong with a word that nothing takes."""
        name = word.partition("=")[0]
        if not name.startswith("-"):
            self.error(f"unrecognized argument: {word}")
        long = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        self.error(f"no option is called '{name}'{_meant(name, long)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        kind = "value" if action.option_strings else str(action.metavar or action.dest).lower()
        known = [str(choice) for choice in action.choices]
        raise argparse.ArgumentError(
            action if action.option_strings else None,
            f"no {kind} is called '{value}'{_meant(str(value), known)} (known: {', '.join(known)})",
        )


def _meant(name: str, known: Iterable[str]) -> str:
    """A question after the known name most like one that is not, dashes in front aside."""
    bare = {option.lstrip("-"): option for option in known}
    found = nearest(name.lstrip("-"), bare)
    return f"; did you mean '{bare[found]}'?" if found else ""


def add_command(commands: Commands, name: str, summary: str, examples: str) -> argparse.ArgumentParser:
    """A subcommand whose help shows examples."""
    raw = argparse.RawDescriptionHelpFormatter
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=summary, epilog=f"examples:\n{examples}", formatter_class=raw
    )
    return parser


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """``[FILE|PRESET] [key=value …]``."""
    parser.add_argument("overrides", nargs="*", metavar="FILE|PRESET key=value", help="an experiment file or preset, then overrides")


def split_experiment(words: list[str]) -> tuple[str | None, list[str]]:
    """The source, if the first word is one, and the overrides."""
    if words and "=" not in words[0]:
        return words[0], words[1:]
    return None, words
