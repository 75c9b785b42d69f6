"""What HaMo's paper reports, as one summary of it tells."""

from __future__ import annotations

from functools import partial

from xplearn import Reported

PAPER = "HaMo (number and authors not found)"
INFERRED = "inferred from the order of the terms of the sum"


def rows() -> list[Reported]:
    """Every figure that is known; scores are means over tasks, 0 to 100, WebShop's the mean reward times 100."""
    return [*in_domain(), *across_domains(), *other_orders()]


def in_domain() -> list[Reported]:
    """ScienceWorld's training tasks in four parts that hold every type of task; the whole test set after each."""
    row = partial(Reported, paper=PAPER, domain="ScienceWorld, four parts", split="test, all")
    found = []
    for policy, stages, mean, harness, base in (
        ("Qwen3-8B", {"after stage 1": 38.13, "after stage 4": 60.49}, 52.22, 38.34, 37.55),
        ("Qwen3-14B", {"after stage 1": 38.61, "after stage 4": 61.15}, 53.09, 40.65, 39.95),
    ):
        found.append(row(method="Base", policy=policy, figure="score", value=base))
        found.append(row(method="Base+Harness", policy=policy, figure="score, mean over stages", value=harness))
        found += [row(method="HaMo", policy=policy, figure=f"score, {stage}", value=value) for stage, value in stages.items()]
        found.append(row(method="HaMo", policy=policy, figure="score, mean over stages", value=mean))
    return found


def across_domains() -> list[Reported]:
    """ScienceWorld, then ALFWorld, then WebShop."""
    row = partial(Reported, paper=PAPER, policy="Qwen3-8B", split="not stated")
    return [
        row(method=method, domain=domain, figure=figure, value=value, note=_NOTES.get(method, ""))
        for method, domain, figure, value in (
            ("Base", "ScienceWorld", "score", 37.55),
            ("Base", "ALFWorld", "score", 44.53),
            ("Base", "WebShop", "score", 45.68),
            ("Base+Harness", "WebShop", "score, final", 43.42),
            ("HaMo", "ScienceWorld", "score, after ScienceWorld", 52.43),
            ("HaMo", "ScienceWorld", "score, after ALFWorld", 54.19),
            ("HaMo", "ScienceWorld", "score, final", 52.43),
            ("HaMo", "ALFWorld", "score, after ALFWorld", 70.08),
            ("HaMo", "ALFWorld", "score, final", 66.79),
            ("HaMo", "WebShop", "score, final", 59.64),
            ("Model-only", "ScienceWorld", "score, after ScienceWorld", 53.98),
            ("Model-only", "ScienceWorld", "score, after ALFWorld", 22.18),
            ("Model-only", "ScienceWorld", "score, final", 24.57),
            ("Model-only", "ALFWorld", "score, final", 69.34),
            ("Model-only", "WebShop", "score, final", 58.74),
            ("AgentTuning", "ScienceWorld", "score, after ScienceWorld", 26.24),
            ("AgentTuning", "ScienceWorld", "score, final", 3.13),
            ("ETO", "ScienceWorld", "score, after ScienceWorld", 20.16),
            ("ETO", "ScienceWorld", "score, final", 3.20),
            ("strongest other", "ScienceWorld", "score, final", 39.41),
            ("strongest other", "ALFWorld", "score, final", 47.08),
            ("strongest other", "WebShop", "score, final", 54.48),
        )
    ]


_NOTES = {
    "Model-only": "no harness, no replay",
    "strongest other": "whichever other method was strongest there, Model-only aside",
}


def other_orders() -> list[Reported]:
    """The three final scores added up, by the order of the stream; and the one sum whose terms are told."""
    row = partial(Reported, paper=PAPER, policy="Qwen3-8B", split="not stated")
    last = "stream WebShop, ScienceWorld, ALFWorld"
    sums = {
        ("HaMo", "stream ScienceWorld, ALFWorld, WebShop"): 178.86,
        ("Model-only", "stream ScienceWorld, ALFWorld, WebShop"): 152.65,
        ("HaMo", "stream ALFWorld, WebShop, ScienceWorld"): 188.41,
        ("HaMo", last): 181.94,
    }
    summed = [
        row(method=method, domain="all three", figure="sum of final scores", value=value, note=stream)
        for (method, stream), value in sums.items()
    ]
    terms = [
        row(method="HaMo", domain=domain, figure="score, final", value=value, note=f"{last}; {INFERRED}")
        for domain, value in {"ScienceWorld": 47.42, "ALFWorld": 74.09, "WebShop": 60.43}.items()
    ]
    return [*summed, *terms, row(method="HaMo", domain="ScienceWorld", figure="score, earlier", value=55.19, note=last)]
