"""From trajectories to what one forward pass scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from xplearn.errors import ContractError
from xplearn.interfaces.policy import LocalPolicy
from xplearn.seeding import Key, shuffled
from xplearn.types import Completion, Conditioning, Sampling, Step, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The steps of one trajectory as rows for ``LocalPolicy.score``."""

    conditionings: tuple[Conditioning, ...]
    completions: tuple[Completion, ...]
    positions: int
    """Tokens that a packed forward pass reads: shared prompt prefixes count once."""
    targets: int
    """Tokens whose log-probability is maximised."""


def sample(trajectory: Trajectory, *, learner: str) -> Sample:
    """The valid steps of a trajectory that fit the context, to be scored at temperature 1 without masking.

    Raises:
        ContractError: a step carries no tokens, or an order of candidates instead; ``learner`` names who asked.
    """
    steps = [step for step in trajectory.steps if step.valid and step.completion.finish != "context"]
    if any(step.completion.sampling.choices == "rank" for step in steps):
        raise ContractError(learner, f"trajectory '{trajectory.id}' ranks candidates and says no text; learn from it with core.grpo")
    rows = tuple(replace(step.completion, sampling=Sampling(temperature=1.0), logprobs=None) for step in steps)
    if not all(row.token_ids for row in rows):
        raise ContractError(
            learner, f"trajectory '{trajectory.id}' has steps without tokens; demonstrations are transcribed before learning"
        )
    return Sample(
        conditionings=tuple(step.conditioning for step in steps),
        completions=rows,
        positions=packed_length(rows),
        targets=sum(len(row.token_ids) for row in rows),
    )


def whole(item: Sample) -> Sample:
    """The same conversations with every token a target but the first: a row for each run of steps whose prompts extend one another."""
    last: list[int] = []
    prompt: tuple[int, ...] = ()
    for at, row in enumerate(item.completions):
        if last and row.prompt_ids[: len(prompt)] == prompt:
            last.pop()
        last.append(at)
        prompt = row.prompt_ids
    tokens = [item.completions[at].prompt_ids + item.completions[at].token_ids for at in last]
    rows = (replace(item.completions[at], prompt_ids=ids[:1], token_ids=ids[1:]) for at, ids in zip(last, tokens, strict=True))
    return Sample(
        conditionings=tuple(item.conditionings[at] for at in last),
        completions=tuple(rows),
        positions=item.positions,
        targets=sum(len(ids) - 1 for ids in tokens),
    )


def undressed(trajectory: Trajectory, policy: LocalPolicy) -> Trajectory:
    """The same actions, shown without experience."""
    bare = [Conditioning(messages=step.query.messages) for step in trajectory.steps]
    prompts = policy.transcribe(bare, [step.completion.text for step in trajectory.steps])
    steps = tuple(_swap(step, plain, prompt) for step, plain, prompt in zip(trajectory.steps, bare, prompts, strict=True))
    return replace(trajectory, steps=steps)


def _swap(step: Step, plain: Conditioning, prompt: Completion) -> Step:
    return replace(step, conditioning=plain, completion=replace(step.completion, prompt_ids=prompt.prompt_ids))


def packed_length(rows: Sequence[Completion]) -> int:
    """Tokens of the sequences into which rows, in order, pack: one sequence as long as each prompt extends the one before."""
    prompt: tuple[int, ...] = ()
    total = current = 0
    for row in rows:
        if row.prompt_ids[: len(prompt)] != prompt or not prompt:
            total, current = total + current, 0
        prompt = row.prompt_ids
        current = max(current, len(row.prompt_ids) + len(row.token_ids))
    return total + current


def order(samples: Sequence[Sample], size: int, seed: int, *key: Key) -> list[list[Sample]]:
    """All samples once, in an order fixed by the key, in batches of ``size`` (the last may be smaller)."""
    mixed = shuffled(samples, seed, *key)
    return [mixed[start : start + size] for start in range(0, len(mixed), size)]


def micro_batches(samples: Iterable[Sample], tokens: int) -> list[list[Sample]]:
    """Samples grouped so that one padded forward pass reads at most ``tokens`` positions (or holds a single sample), long ones first."""
    groups: list[list[Sample]] = []
    for item in sorted(samples, key=lambda item: -item.positions):
        if groups and (len(groups[-1]) + 1) * groups[-1][0].positions <= tokens:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups
