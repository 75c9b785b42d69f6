"""What EDGE's paper reports."""

from __future__ import annotations

from xplearn import Reported


def rows() -> list[Reported]:
    """Every figure that is known; evaluated without a bank."""
    return [
        Reported(
            paper="EDGE, arXiv 2608.21946",
            method=method,
            policy="Qwen2.5-7B-Instruct",
            domain=domain,
            split="not stated",
            figure=figure,
            value=value,
            note=note,
        )
        for method, domain, figure, value, note in (
            ("GRPO", "ALFWorld", "success, %", 82.1, ""),
            ("EDGE", "ALFWorld", "success, %", 90.4, ""),
            ("EDGE, no gain gate", "ALFWorld", "success, %", 72.3, ""),
            ("EDGE, no distillation", "ALFWorld", "success, %", 83.6, ""),
            ("EDGE, no pruning", "ALFWorld", "success, %", 86.7, ""),
            ("GRPO", "WebShop", "success, %", 70.1, "inferred from EDGE's 82.6 and its gain of 12.5 points"),
            ("EDGE", "WebShop", "success, %", 82.6, ""),
            ("EDGE", "not stated", "retention, %", 96.0, "score kept without the bank; which of the figures above is which is not stated"),
        )
    ]
