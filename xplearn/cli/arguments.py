"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from typing import Any

Commands = Any
"""What ``add_subparsers`` returns; argparse gives its type no public name."""


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
