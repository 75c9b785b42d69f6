"""Which runs may stand in one table, and what to read it with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from xplearn.errors import RecordError
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.record.header import Header, in_words

if TYPE_CHECKING:
    from xplearn.record.reader import Run

UNKNOWN = "unknown"
"""A version that a header does not name, or an environment does not give."""


def apart(run: Run, other: Run) -> RecordError | None:
    """Why two runs must not stand in one table; None where they may.

    What is asked must be the same: domains that both were evaluated on are of one environment version, one panel and one limit of steps.
    An unknown version is nobody's, not even that of another unknown one. Where both keep a bank of vectors, one encoder must have made
    them: what is found in a bank depends on it. A run whose header names no encoder has no such bank, so it may stand beside any.

    How a policy answers (its weights, tokenizer, template, sampling) is what is compared, and so is what its bank holds.
    """
    ours, theirs = run.header, other.header
    common = sorted(ours.panels.keys() & theirs.panels.keys())
    for domain in common:
        versions = version(ours, domain), version(theirs, domain)
        if versions[0] != versions[1] or UNKNOWN in versions:
            return _refused(run, other, f"environment version of '{domain}'", *versions)
        if ours.panels[domain] != theirs.panels[domain]:
            return _refused(run, other, f"panel of '{domain}'", ours.panels[domain], theirs.panels[domain])
    if common and steps(ours) != steps(theirs):
        return _refused(run, other, "limit of steps (run.max_steps)", steps(ours), steps(theirs))
    if ours.encoder and theirs.encoder and ours.encoder != theirs.encoder:
        return RecordError(
            run.path,
            f"its bank has vectors of encoder '{ours.encoder}', that in {other.path} of '{theirs.encoder}': figures of the two must not"
            " stand in one table. Show each by itself, or run both with one encoder",
        )
    return None


def alike(runs: Iterable[Run]) -> tuple[list[list[Run]], RecordError | None]:
    """Runs in groups that may stand in one table, in order, and why they are not one group."""
    found: list[list[Run]] = []
    reason = None
    for run in runs:
        for group in found:
            problem = next(filter(None, (apart(run, other) for other in group)), None)
            if problem is None:
                group.append(run)
                break
            reason = reason or problem
        else:
            found.append([run])
    return found, reason


def bootstrap(runs: Collection[Run]) -> Bootstrap:
    """How intervals of one table are drawn: as the most cautious of its runs asked."""
    evaluates = [run.header.resolved["evaluate"] for run in runs]
    return Bootstrap(confidence=max(of["confidence"] for of in evaluates), resamples=max(of["resamples"] for of in evaluates))


def otherwise(runs: Mapping[str, Run]) -> list[str]:
    """In what runs were evaluated differently though they may be compared, a line for each setting: how their policies answered.

    Args:
        runs: by what they are called.
    """
    found = {name: _answering(run.header) for name, run in runs.items()}
    keys = dict.fromkeys(key for settings in found.values() for key in settings)
    varying = [key for key in keys if len({repr(settings.get(key)) for settings in found.values()}) > 1]
    return [f"{key}: {', '.join(f'{settings.get(key)!r} in {name}' for name, settings in found.items())}" for key in varying]


def _refused(run: Run, other: Run, what: str, ours: Any, theirs: Any) -> RecordError:
    return RecordError(
        run.path,
        f"its {what} is {in_words(ours)}, in {other.path} it is {in_words(theirs)}: figures of the two must not stand in one table."
        " Show each by itself",
    )


def version(header: Header, domain: str) -> str:
    """Of the environment that a domain was evaluated in; ``UNKNOWN`` where a header does not say."""
    return header.environments.get(domain) or UNKNOWN


def steps(header: Header) -> Any:
    """Limit of steps of a run, beside the one that each environment has, which is a part of its version."""
    return header.resolved["run"].get("max_steps") or "none"


def _answering(header: Header) -> dict[str, Any]:
    sampling = header.resolved["evaluate"].get("sampling")
    return {f"evaluate.sampling.{key}": value for key, value in sampling.items()} if isinstance(sampling, dict) else {}
