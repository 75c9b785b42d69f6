"""Who wins over whom, and a trajectory as one sequence of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xplearn import ContractError, LocalPolicy, Step, Trajectory

NAME = "baselines.eto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two trajectories of one episode, one better than the other."""

    winner: Trajectory
    loser: Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A whole conversation as the policy reads it."""

    ids: tuple[int, ...]
    """Its T tokens."""
    acted: tuple[bool, ...]
    """Per token, whether the agent said it. The rest is the environment's and takes no part in a loss."""


def pairs(batch: Sequence[Trajectory], *, margin: float) -> list[Pair]:
    """The best trajectory of every episode against each that scores more than ``margin`` less, in the order of the batch.

    An episode is one task, environment seed and arm. Of equals the expert is the best; trajectories with an error take no part.
    """
    episodes: dict[tuple[str, str, int, str], list[Trajectory]] = {}
    for item in batch:
        if item.error is None and item.steps:
            episodes.setdefault((item.task.env, item.task.id, item.seed, item.arm), []).append(item)
    found = []
    for rivals in episodes.values():
        best = max(rivals, key=lambda item: (item.score, item.source == "demonstration"))
        found += [Pair(winner=best, loser=item) for item in rivals if best.score - item.score > margin]
    return found


def line(trajectory: Trajectory, policy: LocalPolicy) -> Line | None:
    """A trajectory as one sequence; None where its prompts do not extend one another, so that no sequence holds them all.

    Tokens are those that were drawn. Where a later prompt spells them otherwise (free text has many spellings), the trajectory is
    transcribed: the same text, as the policy itself would read it.

    Raises:
        ContractError: a step carries no tokens, or was conditioned on latent memory.
    """
    steps = [step for step in trajectory.steps if step.completion.finish != "context"]
    if not all(step.completion.prompt_ids and step.completion.token_ids for step in steps):
        raise ContractError(NAME, f"trajectory '{trajectory.id}' has steps without tokens; demonstrations are transcribed before learning")
    if any(step.conditioning.memory is not None for step in steps):
        raise ContractError(NAME, "DPO reads tokens and no latent memory; take a conditioner that shows text, or arms: plain")
    return joined(steps) or joined(_transcribed(steps, policy))


def joined(steps: Sequence[Step]) -> Line | None:
    """Prompts and completions as one sequence, or None where a prompt does not extend what was there."""
    ids: tuple[int, ...] = ()
    acted: tuple[bool, ...] = ()
    for step in steps:
        prompt, said = step.completion.prompt_ids, step.completion.token_ids
        if prompt[: len(ids)] != ids:
            return None
        acted += (False,) * (len(prompt) - len(ids)) + (True,) * len(said)
        ids = prompt + said
    return Line(ids=ids, acted=acted)


def _transcribed(steps: Sequence[Step], policy: LocalPolicy) -> list[Step]:
    completions = policy.transcribe([step.conditioning for step in steps], [step.completion.text for step in steps])
    whole = [(step, completion) for step, completion in zip(steps, completions, strict=True) if completion.finish != "context"]
    return [replace(step, completion=completion) for step, completion in whole]
