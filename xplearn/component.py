"""What every part has in common."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xplearn.capability import Capability

if TYPE_CHECKING:
    from xplearn.interfaces.agent import AgentView

State = Mapping[str, Any]
"""Tensors, numpy arrays and JSON values by name: saved as safetensors and JSON, never pickled."""


class Component(ABC):  # noqa: B024 - abstract by intent: the interfaces add the abstract methods
    """A part of an agent or experiment.

    A concrete component is a keyword-only dataclass whose fields *are* its configuration: plain, typed values with a unit in the
    name, checked in ``__post_init__`` (raise ``ConfigError`` with the field's name as path). Constructors are cheap; files,
    models and processes are opened in ``setup``. State that is not configuration is never a dataclass field.
    """

    @property
    def provides(self) -> frozenset[Capability]:
        """What this part offers the others, given its configuration."""
        return frozenset()

    @property
    def requires(self) -> frozenset[Capability]:
        """What some other part of the mix must offer, given its configuration."""
        return frozenset()

    @property
    def ways_out(self) -> Mapping[Capability, str]:
        """For some of ``requires``: what to write, or do, where it is not met and this part's own configuration can do without.

        One line each, printed after the parts that would fit; e.g. ``{"policy.reference": "record: {name: hamo.cards, writer: rules}"}``.
        """
        return {}

    def setup(self, agent: AgentView) -> None:  # noqa: B027 - most parts have nothing to set up
        """Do the expensive work, once, before first use. ``agent`` gives access to the other parts."""

    def state_dict(self) -> State:
        """Everything learned or counted since ``setup``; empty for a part without state."""
        return {}

    def load_state_dict(self, state: State) -> None:  # noqa: B027 - most parts have no state
        """Restore what ``state_dict`` returned."""

    def close(self) -> None:  # noqa: B027 - most parts hold nothing
        """Release what ``setup`` took. May be called twice, and without ``setup``."""
