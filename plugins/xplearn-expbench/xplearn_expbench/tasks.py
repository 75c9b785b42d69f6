"""The environment of each task, ``expbench.<name>``."""

from __future__ import annotations

from xplearn_expbench.environment import OneTask


class ArcChallenge(OneTask):
    """School science that word overlap does not answer, four options (ARC, Challenge set)."""

    task = "arc_challenge"


class CommonsenseQa(OneTask):
    """Everyday knowledge, five options (CommonsenseQA)."""

    task = "commonsense_qa"


class GpqaDiamond(OneTask):
    """Science for experts, four options (GPQA, Diamond): from the published file alone."""

    task = "gpqa_diamond"


class Mmlu(OneTask):
    """Many subjects, four options (MMLU)."""

    task = "mmlu"


class OpenbookQa(OneTask):
    """Elementary science applied, four options (OpenBookQA)."""

    task = "openbook_qa"


class Gsm8k(OneTask):
    """Word problems of grade school, a number (GSM8K)."""

    task = "gsm8k"


class GsmSymbolic(OneTask):
    """Word problems from templates, a number (GSM-Symbolic)."""

    task = "gsm_symbolic"


class Math(OneTask):
    """Competition mathematics, an expression (MATH, MATH-500)."""

    task = "math"


class HumanEval(OneTask):
    """A Python function to its docstring, run against tests (HumanEval, HumanEval+)."""

    task = "humaneval"


class Mbpp(OneTask):
    """A Python function to a sentence, run against tests (MBPP, MBPP+)."""

    task = "mbpp"


class Chemistry(OneTask):
    """Properties of molecules, yes or no, and molecules that meet constraints (in place of Chem-TDC)."""

    task = "chemistry"


class RecMovies(OneTask):
    """Which film comes next, candidates in order (in place of the paper's first set)."""

    task = "rec_movies"


class RecBeauty(OneTask):
    """Which product comes next, candidates in order (in place of the paper's second set)."""

    task = "rec_beauty"


class NqOpen(OneTask):
    """Questions people searched for, a few words (NQ-open). Beyond the thirteen."""

    task = "nq_open"


class TriviaQa(OneTask):
    """Trivia, a few words (TriviaQA). Beyond the thirteen."""

    task = "trivia_qa"


class PopQa(OneTask):
    """Facts about rare and well-known things, a few words (PopQA). Beyond the thirteen."""

    task = "popqa"


class HotpotQa(OneTask):
    """Questions over two facts, a few words (HotpotQA without its paragraphs). Beyond the thirteen."""

    task = "hotpot_qa"
