"""Every error a user can meet.

::

    XplearnError
     ├─ ConfigError            a key, value or preset is wrong; knows the dotted path
     ├─ UnknownComponentError  no part of that name in that slot; knows the near names
     ├─ PluginError            a plugin could not be imported or registered
     ├─ IncompatibleError      the parts of a mix do not fit; lists what would
     ├─ ContractError          a part broke its promise
     ├─ RecordError            a run folder or bank is damaged, newer, or of another run
     ├─ DataError              data or weights are missing or damaged; names the command that gets them
     ├─ EnvironmentDiedError   an environment died or hung; the episode is lost, the run is not
     └─ EndpointError          a server with a language model was not reached, or gave no usable answer

The first line of a message says what is wrong; what to type next follows. The command line prints the message
alone and exits with status 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xplearn.capability import Problem


class XplearnError(Exception):
    """Base of every error that xplearn raises on purpose."""


class ConfigError(XplearnError):
    """A configuration is wrong at ``path`` (dotted, e.g. ``learner.0.rank``)."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path}: {reason}" if path else reason)


class UnknownComponentError(XplearnError):
    """No registered part of this slot has this name."""

    def __init__(self, slot: str, name: str, known: Iterable[str]) -> None:
        self.slot, self.name, self.known = slot, name, tuple(sorted(known))
        hint = nearest(name, self.known)
        listed = ", ".join(self.known) or "none"
        super().__init__(f"no {slot} is called '{name}'" + (f"; did you mean '{hint}'?" if hint else "") + f" (known: {listed})")


class PluginError(XplearnError):
    """A plugin failed to import, or registered something unsound."""

    def __init__(self, plugin: str, reason: str) -> None:
        self.plugin = plugin
        super().__init__(f"plugin '{plugin}': {reason}")


class IncompatibleError(XplearnError):
    """A mix is not sound. ``problems`` says who needs what, why, and what would fit."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        head = f"this mix has {count} problem{'' if count == 1 else 's'}"
        super().__init__("\n\n".join([head, *(str(problem) for problem in self.problems)]))


class ContractError(XplearnError):
    """A part broke its contract: its name and how."""

    def __init__(self, component: str, reason: str) -> None:
        self.component = component
        super().__init__(f"{component}: {reason}")


class RecordError(XplearnError):
    """A run folder or bank cannot be used as it stands."""

    def __init__(self, path: object, reason: str) -> None:
        self.path = str(path)
        super().__init__(f"{self.path}: {reason}")


class DataError(XplearnError):
    """Data or weights are missing or damaged. The reason ends with the command that gets them."""

    def __init__(self, path: object, reason: str) -> None:
        self.path = str(path)
        super().__init__(f"{self.path}: {reason}")


class EnvironmentDiedError(XplearnError):
    """An environment's process died or exceeded its time limit."""

    def __init__(self, env: str, reason: str) -> None:
        self.env = env
        super().__init__(f"environment '{env}': {reason}")


class EndpointError(XplearnError):
    """A server with a language model was not reached, or gave no usable answer.

    ``passing`` says whether asking again may help; ``reason`` is the message without the server's address.
    """

    def __init__(self, url: str, reason: str, *, passing: bool = True) -> None:
        self.url, self.reason, self.passing = url, reason, passing
        super().__init__(f"{url}: {reason}")


_BEGUN = 3
"""Letters with which a name can be said to have been begun."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like ``name``, or None where nothing is close."""
    options = list(known)
    begun = [option for option in options if len(name) >= _BEGUN and option.startswith(name)]
    if len(begun) == 1:
        return begun[0]
    close = difflib.get_close_matches(name, options, n=1, cutoff=0.5)
    if close:
        return close[0]
    tail = name.rpartition(".")[2].lower()
    endings = [option for option in options if tail and option.rpartition(".")[2].lower() == tail]
    return endings[0] if endings else None
