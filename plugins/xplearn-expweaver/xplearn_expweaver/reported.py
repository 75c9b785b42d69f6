"""What ExpWeaver's paper reports, as public accounts of it tell; its table by task is not to be had."""

from __future__ import annotations

from xplearn import Reported

GENERIC = "ExpBench Generic, 10 tasks"
SCIENCE = "ExpBench Sci (Chem-TDC)"
RANKING = "ExpBench Rec"


def rows() -> list[Reported]:
    """Every figure that is known."""
    return [
        Reported(
            paper="ExpWeaver, arXiv 2606.01041",
            method=method,
            policy="Qwen2.5-3B-Instruct" if method == "ExpWeaver" else "not stated",
            domain=domain,
            split="not stated",
            figure=figure,
            value=value,
            note=note,
        )
        for method, domain, figure, value, note in (
            ("ExpWeaver", GENERIC, "mean score, %", 78.25, ""),
            ("Search-R1", GENERIC, "mean score, %", 73.27, "the strongest baseline there"),
            ("ExpWeaver", SCIENCE, "score, %", 69.58, ""),
            ("Search-R1", SCIENCE, "score, %", 63.78, "the strongest baseline there"),
            ("ExpWeaver", RANKING, "mean NDCG@10, ×100", 44.40, ""),
            ("IRanker", RANKING, "mean NDCG@10, ×100", 37.90, "the strongest baseline there"),
            (
                "ExpWeaver",
                GENERIC,
                "gain over the strongest baseline, %",
                6.80,
                "inferred from 78.25 and 73.27; the abstract says over 6.8",
            ),
            ("ExpWeaver", "zero-shot transfer", "gain over the strongest baseline, %", 16.32, "protocol not found"),
            ("ExpWeaver", "few-shot transfer", "gain over the strongest baseline, %", 15.21, "protocol not found"),
        )
    ]
