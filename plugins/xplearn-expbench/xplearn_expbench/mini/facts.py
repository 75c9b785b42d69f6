"""Own rows of the question-answering and multiple-choice tasks."""

from __future__ import annotations

from xplearn_expbench.mini.answers import nq_open, popqa, trivia_qa
from xplearn_expbench.mini.choices import arc_challenge, commonsense_qa, mmlu, openbook_qa
from xplearn_expbench.mini.hops import hotpot_qa

__all__ = ["arc_challenge", "commonsense_qa", "hotpot_qa", "mmlu", "nq_open", "openbook_qa", "popqa", "trivia_qa"]
