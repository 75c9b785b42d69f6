"""Parts of a sound mix that do nothing for one another: it runs, as a control may be meant to, and a person should know."""

from __future__ import annotations

from collections.abc import Iterator

from xplearn.capability import offered
from xplearn.experiment.build import Parts


def idle(parts: Parts) -> Iterator[str]:
    """Why acting or learning with experience cannot differ from doing so without, a line for each reason."""
    selector, conditioner = (parts.by_path[path][1] for path in ("selector", "conditioner"))
    if parts.has_experience_arm and not uses_selections(parts):
        cure = "to show it: conditioner=core.prompt; to spare the second arm: selector=core.none"
        yield f"selector '{selector}' selects and conditioner '{conditioner}' uses nothing of it, so that both arms are one; {cure}"
    both = [name for _, name, learner in parts.learners() if {"plain", "experience"} <= set(learner.plan().arms)]
    if both and not (parts.has_experience_arm and uses_selections(parts)):
        yield f"{both[0]} learns from both arms, and both are the same: nothing that is selected reaches the policy"
    name = parts.by_path["curriculum"][1]
    if parts.experiment.learner and "selector.all" not in parts.curriculum.provides and not _filled(parts):
        yield f"curriculum '{name}' chooses from a bank that nothing fills: nothing is learned; record=core.record fills it"


def uses_selections(parts: Parts) -> bool:
    """Whether anything that is selected can reach the policy."""
    return "conditioner.uses" in offered("conditioner", parts.by_path["conditioner"][2])


def _filled(parts: Parts) -> bool:
    return any("store.filled" in part.provides for slot, _, part in parts.by_path.values() if slot != "record" or parts.writes)
