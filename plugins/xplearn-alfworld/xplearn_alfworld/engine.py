"""The text game: commands in, sentences out, as TextWorld 1.7.0 plays ALFWorld 0.4.2."""

from __future__ import annotations

from xplearn_alfworld import goal, text
from xplearn_alfworld.actions import options, perform
from xplearn_alfworld.problem import Problem
from xplearn_alfworld.world import Action, Options, State, World

RULES = "0.4.2"
"""The version of ALFWorld's rules and sentences."""

_IDLE = frozenset({"look", "inventory", "help", "examine"})
"""Verbs that change nothing."""


class Engine:
    """One game in progress. There is no step limit, and playing on after the goal is reached is possible.

    ``snapshot`` and ``restore`` cost microseconds and ``copy`` shares everything that never changes, so trying out actions is cheap.
    Raises ``DataError`` when a problem names what it does not contain.
    """

    _options: Options | None
    _commands: tuple[str, ...] | None

    def __init__(self, problem: Problem, sentence: str) -> None:
        """A game at its start. ``sentence`` states the goal in words."""
        self.world = World(problem)
        self.sentence = sentence
        self._resume(self.world.start())

    @property
    def state(self) -> State:
        """The present state: to be read, not written."""
        return self._state

    @property
    def won(self) -> bool:
        """Whether the goal holds."""
        return self._won

    def intro(self) -> str:
        """The first observation, the goal included."""
        return text.intro(self.world, self.world.start(), self.sentence)

    def options(self) -> Options:
        """What can be done now, by command."""
        if self._options is None:
            self._options = options(self.world, self._state)
        return self._options

    def commands(self) -> tuple[str, ...]:
        """The admissible commands, in alphabetical order."""
        if self._commands is None:
            self._commands = tuple(sorted(self.options()))
        return self._commands

    def act(self, command: str) -> str | None:
        """Carry a command out and return what is seen; None where nothing happens. Commands must match to the letter."""
        action = self.options().get(command)
        return None if action is None else self._perform(action)

    def snapshot(self) -> State:
        """The present state, to come back to."""
        return self._state.copy()

    def restore(self, state: State) -> None:
        """Go on from a snapshot of this game. The snapshot stays as it is."""
        self._resume(state.copy())

    def copy(self) -> Engine:
        """The same game in the same state, to be played on separately."""
        twin = object.__new__(Engine)
        twin.world, twin.sentence = self.world, self.sentence
        twin._resume(self._state.copy())
        return twin

    def _perform(self, action: Action) -> str:
        seen = perform(self.world, self._state, action)
        if action.verb not in _IDLE:
            self._options = self._commands = None
            self._won = goal.won(self.world, self._state)
        return seen

    def _resume(self, state: State) -> None:
        self._state = state
        self._options = self._commands = None
        self._won = goal.won(self.world, state)
