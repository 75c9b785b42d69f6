"""What a part provides and requires, and whether a mix of parts is sound.

The check runs on classes and configuration alone, before anything heavy is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

Capability = str
"""A dotted name, ``<slot>.<what>``; a plugin may define its own under its own name.

``policy.score .train .encode .memory .reference .rank .keyed .pretrained .distribution`` ·
``env.replay .actions .demos .ranking .pages`` · ``selector.act .study .none .all .selects`` ·
``conditioner.text .latent .shows .none .uses`` · ``learner.conditioned .drawn`` · ``store.filled`` · ``store.space:<name>`` ·
``sampling.words``
"""

WHY: dict[Capability, str] = {
    "policy.score": "log-probabilities of given completions are needed",
    "policy.train": "the policy's weights must be trainable here",
    "policy.encode": "texts must be encoded by the policy's own hidden states",
    "policy.memory": "latent experience must enter the policy's forward pass",
    "policy.reference": "the policy before training must stay reachable",
    "policy.rank": "candidates must be put in order by the policy",
    "policy.keyed": "samples must depend on their key alone",
    "policy.pretrained": "a trainer of another library must get at the transformers model",
    "policy.distribution": "probabilities of tokens that were not drawn are needed",
    "env.replay": "the same task and seed must give the same episode",
    "env.actions": "the environment must list its admissible actions",
    "env.demos": "the environment must show how an expert solves a task",
    "env.ranking": "the task must ask for an order of candidates",
    "env.pages": "the environment must show itself as a web page",
    "selector.act": "experience must be chosen at a decision point",
    "selector.selects": "experience must be selected when acting: else both arms are the same",
    "selector.study": "trajectories must be chosen for training",
    "conditioner.text": "experience must be shown as text",
    "conditioner.latent": "experience must be shown as latent memory",
    "conditioner.shows": "what is selected must be in the policy's input, unasked: else acting with experience is acting without",
    "learner.conditioned": "gradients must reach its adapter through the conditioned forward pass",
    "learner.drawn": "gradients must reach it through completions that the policy drew itself, for it acts on drawn tokens only",
    "store.filled": "something must have written the bank",
    "sampling.words": "the policy must be free to ask in its own words: among given actions it cannot",
}

IMPLIED: dict[Capability, tuple[frozenset[Capability], Capability]] = {
    "selector.selects": (frozenset({"selector.act"}), "selector.none"),
    "conditioner.uses": (frozenset(), "conditioner.none"),
}
"""What nearly every part of a slot has and therefore need not say: a part that provides the first has it, unless it provides the second."""

SPACE = "store.space:"


def why(capability: Capability) -> str:
    """What a capability is needed for, in words."""
    if capability.startswith(SPACE):
        return f"vectors of the bank's experience in the space '{capability.removeprefix(SPACE)}' are searched or compared"
    return WHY.get(capability, "it builds on what that part leaves behind")


class Part(Protocol):
    """The face of a component that the check reads; ``ways_out`` too, where there is one."""

    @property
    def provides(self) -> frozenset[Capability]: ...
    @property
    def requires(self) -> frozenset[Capability]: ...


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One unmet requirement."""

    slot: str
    """Slot of the part that asks, e.g. ``conditioner``."""
    name: str
    """Its registered name."""
    capability: Capability
    """What it asks for."""
    why: str
    """What the capability is needed for."""
    present: tuple[str, ...] = ()
    """Parts of the mix that could have provided it and do not."""
    listed: tuple[str, ...] = ()
    """Those of them that stand in the list which a fitting one would join."""
    fitting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Registered parts that would, by slot."""
    way_out: str = ""
    """What else to write or do, by the part that asks; empty where it knows nothing else."""

    def __str__(self) -> str:
        lines = [f"  {self.slot} '{self.name}' requires '{self.capability}'", f"      {self.why},"]
        lines.append(f"      but {self._absent()} provides it")
        for slot, names in self.fitting.items():
            lines.append(f"      {SLOT_PLURAL.get(slot, slot + 's')} that do: {', '.join(names)}")
        example = self._example()
        if example:
            lines.append(f"      for example: {example}")
        if self.way_out:
            lines.append(f"      or: {self.way_out}")
        return "\n".join(lines)

    def _absent(self) -> str:
        slot = self.capability.partition(".")[0]
        slot = {"env": "environment", "store": "store or record"}.get(slot, slot)
        return f"no {slot} in [{', '.join(self.present)}]" if self.present else f"no {slot} of this mix"

    def _example(self) -> str:
        for slot, names in self.fitting.items():
            if slot in LIST_SLOTS:
                return f"{slot}: [{', '.join([*self.listed, names[0]])}]"
            return f"{slot}: {names[0]}"
        return ""


LIST_SLOTS = frozenset({"record", "learner", "warmup"})
"""Slots of a mix that hold a list of parts."""

SLOT_PLURAL = {"record": "learners under 'record'", "policy": "policies"}

Catalogue = Callable[[Capability], Mapping[str, Sequence[str]]]
"""Which registered parts provide a capability, by slot."""


def offered(slot: str, part: Part) -> frozenset[Capability]:
    """What a part of a slot provides, said or implied."""
    implied = {
        capability
        for capability, (said, lack) in IMPLIED.items()
        if slot == capability.partition(".")[0] and said <= part.provides and lack not in part.provides
    }
    return part.provides | implied


def check(parts: Iterable[tuple[str, str, Part]], catalogue: Catalogue | None = None) -> list[Problem]:
    """Every unmet requirement of a mix.

    Args:
        parts: ``(slot, name, part)`` for each part of the mix.
        catalogue: look-up of registered parts by capability, to say what would fit.

    Returns:
        The problems in order of the parts; empty when the mix is sound.
    """
    mix = list(parts)
    provided: set[Capability] = set()
    for slot, _, part in mix:
        provided |= offered(slot, part)
    return [_problem(asking, capability, mix, catalogue) for asking in mix for capability in sorted(asking[2].requires - provided)]


def _problem(
    asking: tuple[str, str, Part], capability: Capability, mix: Sequence[tuple[str, str, Part]], catalogue: Catalogue | None
) -> Problem:
    slot, name, part = asking
    wanted = {"env": ("environment",), "store": ("store", "record"), "learner": ("learner", "record", "warmup")}
    wanted["sampling"] = ("sampling", "evaluate.sampling")
    head = capability.partition(".")[0]
    slots = wanted.get(head, (head,))
    found = catalogue(capability) if catalogue else {}
    fitting = {"record" if head == "store" and key == "learner" else key: tuple(names) for key, names in found.items() if names}
    return Problem(
        slot=slot,
        name=name,
        capability=capability,
        why=why(capability),
        present=tuple(dict.fromkeys(other for kind, other, _ in mix if kind in slots)),
        listed=tuple(dict.fromkeys(other for kind, other, _ in mix if kind in LIST_SLOTS and kind == next(iter(fitting), ""))),
        fitting=fitting,
        way_out=getattr(part, "ways_out", {}).get(capability, ""),
    )
