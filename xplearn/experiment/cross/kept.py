"""Which runs of a cross were made with what is installed now: nothing is added to the others, nor are they taken for its own."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from xplearn.errors import IncompatibleError
from xplearn.experiment.build import build_parts
from xplearn.experiment.cross.ledger import header_in
from xplearn.experiment.cross.planned import Planned
from xplearn.experiment.evaluate import panels
from xplearn.experiment.pools import Pools
from xplearn.experiment.stream import domains
from xplearn.interfaces import Encoder
from xplearn.plugins import Plugins
from xplearn.record.header import Header, in_words, panel
from xplearn.schema import Experiment


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What a stream asks with the environments that are installed, by domain."""

    versions: Mapping[str, str]
    panels: Mapping[str, Any]


class Kept:
    """Finds the folder of each cell's run.

    Args:
        folder: of the cross.
        plugins: where environments are found. Those of a stream are asked once, and only where a run of it is there.
    """

    def __init__(self, folder: Path, plugins: Plugins) -> None:
        self._folder, self._plugins = folder, plugins
        self._asked: dict[str, _Asked | None] = {}

    def placed(self, cell: Planned) -> Planned:
        """The cell with a folder of its own beside those of its runs that were made with other versions."""
        while cell.experiment is not None and (header := header_in(self._folder / cell.folder)) is not None:
            outdated = self._differs(cell, cell.experiment, header)
            if not outdated:
                break
            cell = replace(cell, earlier=cell.earlier + 1, outdated=outdated)
        return cell

    def _differs(self, cell: Planned, experiment: Experiment, header: Header) -> str:
        """In what figures of a recorded run would not be comparable with those of one that began now; empty where nothing is known to."""
        asked = self._ask(cell, experiment)
        if asked is not None:
            for what, before, now in (("version", header.environments, asked.versions), ("panel", header.panels, asked.panels)):
                for domain in sorted(before.keys() & now.keys()):
                    if before[domain] != now[domain]:
                        return f"the {what} of '{domain}' was {in_words(before[domain])} and is {in_words(now[domain])} now"
        encoder = self._encoder(experiment) if header.encoder else ""
        if encoder and encoder != header.encoder:
            return f"the encoder was '{header.encoder}' and is '{encoder}' now"
        return ""

    def _ask(self, cell: Planned, experiment: Experiment) -> _Asked | None:
        """None where the environments cannot be asked, as their data or plugin is missing."""
        if cell.stream not in self._asked:
            try:
                self._asked[cell.stream] = self._read(experiment)
            except IncompatibleError:  # of this mix: another one may open the same environments
                return None
            except Exception:  # whatever ails them is told where a cell needs them
                self._asked[cell.stream] = None
        return self._asked[cell.stream]

    def _read(self, experiment: Experiment) -> _Asked:
        here = copy.copy(experiment)
        here.run = replace(experiment.run, workers=0)
        registry = self._plugins.registry
        with contextlib.closing(Pools(build_parts(here, registry), registry)) as pools:
            found, versions = panels(here, domains(here), pools)
        return _Asked(versions=versions, panels={name: panel(tasks) for name, (_, tasks) in found.items()})

    def _encoder(self, experiment: Experiment) -> str:
        """Id of the encoder; empty where only a policy that is loaded gives it one."""
        try:
            return cast(Encoder, build_parts(experiment, self._plugins.registry).one("encoder")).id
        except Exception:
            return ""
