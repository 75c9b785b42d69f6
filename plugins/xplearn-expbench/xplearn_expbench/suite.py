"""Several tasks as one environment, ``expbench.suite``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from xplearn import ConfigError
from xplearn_expbench import catalogue, sources
from xplearn_expbench.environment import PLUGIN, OneStep
from xplearn_expbench.spec import TaskSpec


@dataclass(kw_only=True)
class Suite(OneStep):
    """The benchmark, or any tasks of it, as one environment: the kind of a task is its name, so ``kinds`` takes some of them.

    Train on some and test on others, in one stream: ``tasks: {kinds: [gsm8k, mmlu]}`` beside ``evaluate.tasks: {kinds: [chemistry]}``.
    """

    mix: list[str] = field(default_factory=list)
    """Names of tasks; empty for those of the thirteen that the tier has. ``mini`` has no ``gpqa_diamond``."""
    shots_in: list[str] = field(default_factory=list)
    """Tasks that ``shots`` is for; empty for all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.mix:
            self._named("mix", name)
        if len(set(self.mix)) < len(self.mix):
            raise ConfigError("mix", "names a task twice")
        for name in self.shots_in:
            if self._named("shots_in", name) not in self.specs():
                raise ConfigError("shots_in", f"'{name}' is not asked here (asked: {', '.join(spec.name for spec in self.specs())})")
        if self.shots_in and not self.shots:
            raise ConfigError("shots_in", "names tasks while shots is 0; say how many, e.g. shots=4")

    def _named(self, field_name: str, name: str) -> TaskSpec:
        try:
            spec = catalogue.task(name)
            sources.require_tier(spec, self.tier)
        except ConfigError as error:
            raise ConfigError(field_name, str(error).removeprefix(f"{error.path}: ")) from None
        return spec

    @property
    def name(self) -> str:
        return f"{PLUGIN}.suite"

    def specs(self) -> tuple[TaskSpec, ...]:
        chosen = [catalogue.TASKS[name] for name in self.mix or catalogue.THIRTEEN]
        return tuple(spec for spec in chosen if (spec.mini if self.tier == "mini" else spec.official))

    def path(self, spec: TaskSpec) -> str:
        return str(Path(self.data) / spec.name) if self.data else ""

    def shots_of(self, spec: TaskSpec) -> int:
        return self.shots if not self.shots_in or spec.name in self.shots_in else 0

    @property
    def version(self) -> str:
        left = [name for name in catalogue.THIRTEEN if not self.mix and catalogue.TASKS[name] not in self.specs()]
        return super().version + (f"; without {', '.join(left)}, which the {self.tier} tier lacks" if left else "")

    def _way_out(self, spec: TaskSpec) -> str:
        others = ", ".join(other.name for other in self.specs() if other.kind != "code")
        return f"; or leave it out: stream.0.env.mix=[{others}]" if others else ""
