"""An expert that knows only what it has seen: it searches the room, so that what it does can be learned from what is shown."""

from __future__ import annotations

from collections import Counter

from xplearn_alfworld import goal
from xplearn_alfworld.engine import Engine
from xplearn_alfworld.oracle import Script


def explore(engine: Engine) -> tuple[str, ...]:
    """Admissible commands that win a game from its start, found by looking into one receptacle after the other.

    Only receptacles that the thing may be in are searched: kinds of which there are few before kinds of which there are many, each in
    order of their numbers. The engine stays as it is. Raises ``DataError`` where the game cannot be won.
    """
    return _Explorer(engine.copy()).solve()


class _Explorer(Script):
    """The oracle's script, with eyes instead of knowledge."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._seen: set[int] = set()

    def look(self) -> None:
        while not (self._within_sight() and self._lamps()) and self._look_into_another():
            pass
        super().look()

    def place_one(self) -> None:
        while not self._promising() and self._look_into_another():
            pass
        super().place_one()

    def _promising(self) -> bool:
        """Whether something in sight would join what is in its place already, rather than be moved about."""
        ready = {thing for thing in self.world.wanted if goal.ready(self.world, self.state, thing)}
        placed = max((len(ready.intersection(self.state.contents[target])) for target in self.world.targets), default=0)
        return self.engine.won or any(-sorting[0] >= placed for sorting, _, _ in self._pairs())

    def _look_into_another(self) -> bool:
        """Look into the likeliest receptacle not seen yet; False where none is left."""
        unseen = [place for place in range(len(self.world.places)) if place not in self._seen]
        if unseen:
            self._access(min(unseen, key=self._unlikeliness))
        return bool(unseen)

    def _unlikeliness(self, place: int) -> tuple[bool, int, str, int]:
        kinds = Counter(receptacle.kind for receptacle in self.world.receptacles)
        kind, number = self.world.receptacles[place].kind, int(self.world.places[place].rpartition(" ")[2])
        return not any(place in self.world.fits[thing] for thing in self._missing()), kinds[kind], kind, number

    def _missing(self) -> tuple[int, ...]:
        """What is looked for: the thing, and once that is in sight the lamp."""
        return tuple(self.world.lamps) if self._within_sight() and self.world.lamps else self.world.wanted

    def _access(self, place: int) -> None:
        before = len(self.commands)
        super()._access(place)
        if len(self.commands) == before and place not in self._seen:
            self._do(f"examine {self.world.places[place]}")
        self._seen.add(place)

    def _distance(self, place: int) -> int:
        if place in self._seen:
            return super()._distance(place)
        return (self.world.location[place] != self.state.here) + self.world.receptacles[place].openable  # it may stand open: nobody knows

    def _holders(self, thing: int) -> list[int]:
        return [place for place in super()._holders(thing) if place in self._seen]
