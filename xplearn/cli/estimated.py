"""What ``xplearn check --estimate`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xplearn.experiment.estimate import Counts, StageCount
    from xplearn.plugins import Plugins
    from xplearn.policies.estimate import Footprint
    from xplearn.schema import Experiment

GIB = 2**30


def print_estimate(experiment: Experiment, plugins: Plugins) -> None:
    """Episodes, parameters and memory, and in one line what is needed."""
    from xplearn.experiment.build import build_parts
    from xplearn.experiment.estimate import count, to_fetch, tokens_at_once

    parts = build_parts(experiment, plugins.registry)
    policy, tokens = parts.one("policy"), tokens_at_once(parts)
    print("\nestimate (nothing was loaded or played)")
    print_counts(count(experiment, plugins))
    if "policy.train" not in policy.provides:
        needed = "no local weights, so the policy needs no memory here"
    else:
        from xplearn.policies.estimate import footprint

        found = footprint(policy)
        most = tokens_at_once(parts, found.context) if found else None
        needed = _needed(found, tokens, most) if found else "this policy's memory is known to its plugin alone"
        if found:
            print_memory(found, tokens, most)
    print(f"in short: {needed}; {_fetched(to_fetch(parts))}")


def print_memory(found: Footprint, tokens: int | None, most: int | None) -> None:
    """Exact parameters and estimated bytes, training with ``tokens`` at once and with ``most``, where the policy is trained."""
    kind = "a LoRA adapter" if found.lora else "all of them"
    print(f"parameters       {found.backbone:,}, trained {found.trainable:,} ({kind}); sizes from {found.origin}")
    rows = [
        ("weights", found.weights, found.dtype),
        ("adapter", found.adapter, "float32"),
        ("cache", found.cached * found.cache_tokens, f"keys and values of {found.cache_tokens:,} tokens, all live conversations together"),
        ("acting", found.acting, "weights, adapter, cache"),
    ]
    if tokens and most:
        rows += [
            ("optimiser", found.states, "gradients, two moments, copies to go back to"),
            ("activations", found.activations(tokens), f"{tokens:,} tokens at once"),
            ("training", found.training(tokens), "weights, adapter, optimiser, activations"),
            ("training, most", found.training(most), f"{most:,} tokens at once: trajectories that fill the context of {found.context:,}"),
        ]
    for name, size, what in rows:
        print(f"{name:<15}{size / GIB:>8.1f} GiB  {what}")
    print("memory is an estimate; how close it comes and what is not in it: docs/how-to/backbones.md")


def print_counts(counts: Counts) -> None:
    """Episodes by stage, and of evaluation."""
    head = ("stage", "", "shown", "played", "steps", "written", "studied", "replayed")
    rows = [head, *(_stage(stage) for stage in counts.stages)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        cells = [
            cell.ljust(width) if column < 2 else cell.rjust(width) for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells))
    print("shown by the expert; steps at max_steps an episode; written: handed to record; studied and replayed: at most, an epoch")
    replicas = f" × {counts.replicas} replicas" if counts.replicas > 1 else ""
    tasks = " + ".join(f"{number:,} {name}" for name, number in counts.panels.items())
    print(f"evaluation: {len(counts.points)} points × {counts.arms} arms{replicas} × ({tasks}) = {counts.evaluated:,} episodes, ", end="")
    print(f"{_known(counts.steps)} steps at max_steps")


def _stage(stage: StageCount) -> Sequence[str]:
    numbers = (stage.shown, stage.played, stage.steps, stage.recorded, stage.studied, stage.replayed)
    return (f"{stage.path}{' warm-up' if stage.warmup else ''}", stage.env, *map(_known, numbers))


def _known(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _needed(found: Footprint, tokens: int | None, most: int | None) -> str:
    acting = f"acting {'' if tokens else 'needs a device of '}{found.acting / GIB:.1f} GiB"
    if not tokens or not most:
        return acting
    usual, largest = (found.training(held) / GIB for held in (tokens, most))
    return f"training needs a device of {largest:.1f} GiB at most ({usual:.1f} where trajectories are short), {acting}"


def _fetched(commands: Mapping[str, str]) -> str:
    return "; ".join(f"first fetch {model}: {command}" for model, command in commands.items()) or "no model needs fetching"
