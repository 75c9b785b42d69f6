"""The tasks of the benchmark: what each asks, where its rows come from, how an answer is judged.

The paper has three scenarios and thirteen tasks, ten of them generic [P], hence one of science and two of recommendation [I]. Its own list
is not public: the ten generic names are those of the same authors' neighbouring papers [L], the other three are ours [OURS]. The field
``mix`` of ``expbench.suite`` says which tasks a run asks.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from xplearn import ConfigError, PluginError
from xplearn.errors import nearest
from xplearn_expbench.spec import Row, TaskSpec

_PACKAGE = "xplearn_expbench"

_EXTRAS = {"math_verify": "maths", "reasoning_gym": "maths", "rdkit": "chemistry"}
"""Which extra of this distribution brings a package."""

ALONE = frozenset(
    {
        "GSM_p1.jsonl",
        "GSM_p2.jsonl",
        "HumanEvalPlus.jsonl",
        "MbppPlus.jsonl",
        "NQ-open.efficientqa.dev.1.1.jsonl",
        "hotpot_dev_fullwiki_v1.json",
    }
)
"""Files that stand for, or go beyond, those beside them: of a folder they are read only where no other is there."""

_GENERIC = (
    TaskSpec(
        name="arc_challenge",
        group="generic",
        kind="choice",
        mini=f"{_PACKAGE}.mini.facts:arc_challenge",
        official=f"{_PACKAGE}.official.arc:load",
        checker=f"{_PACKAGE}.checkers.choice:check",
        prompt=f"{_PACKAGE}.prompts:CHOICE",
        metric="accuracy",
        chance=0.25,
        licence="CC BY-SA 4.0",
        source="ARC, Challenge set, allenai.org/data/arc (Clark et al., 2018, arXiv 1803.05457)",
        files={
            "ARC-Challenge-Train.jsonl": 1119,
            "ARC-Challenge-Dev.jsonl": 299,
            "ARC-Challenge-Test.jsonl": 1172,
            "train.jsonl": 1119,
            "validation.jsonl": 299,
            "test.jsonl": 1172,
        },
    ),
    TaskSpec(
        name="commonsense_qa",
        group="generic",
        kind="choice",
        mini=f"{_PACKAGE}.mini.facts:commonsense_qa",
        official=f"{_PACKAGE}.official.commonsense_qa:load",
        checker=f"{_PACKAGE}.checkers.choice:check",
        prompt=f"{_PACKAGE}.prompts:CHOICE",
        metric="accuracy",
        chance=0.2,
        licence="MIT",
        source="CommonsenseQA 1.11, random split, tau-nlp.org/commonsenseqa (Talmor et al., 2019, arXiv 1811.00937)",
        files={"train_rand_split.jsonl": 9741, "dev_rand_split.jsonl": 1221},
    ),
    TaskSpec(
        name="gpqa_diamond",
        group="generic",
        kind="choice",
        mini="",
        official=f"{_PACKAGE}.official.gpqa:load",
        checker=f"{_PACKAGE}.checkers.choice:check",
        prompt=f"{_PACKAGE}.prompts:CHOICE",
        metric="accuracy",
        chance=0.25,
        licence="CC BY 4.0; its authors ask that no plain text of it be published",
        source="GPQA, Diamond, github.com/idavidrein/gpqa (Rein et al., 2023, arXiv 2311.12022)",
        files={"gpqa_diamond.csv": 198},
    ),
    TaskSpec(
        name="mmlu",
        group="generic",
        kind="choice",
        mini=f"{_PACKAGE}.mini.facts:mmlu",
        official=f"{_PACKAGE}.official.mmlu:load",
        checker=f"{_PACKAGE}.checkers.choice:check",
        prompt=f"{_PACKAGE}.prompts:CHOICE",
        metric="accuracy over rows (micro)",
        chance=0.25,
        licence="MIT",
        source="MMLU, github.com/hendrycks/test (Hendrycks et al., 2021, arXiv 2009.03300)",
        files={"dev": 285, "val": 1531, "test": 14042},
    ),
    TaskSpec(
        name="openbook_qa",
        group="generic",
        kind="choice",
        mini=f"{_PACKAGE}.mini.facts:openbook_qa",
        official=f"{_PACKAGE}.official.openbook_qa:load",
        checker=f"{_PACKAGE}.checkers.choice:check",
        prompt=f"{_PACKAGE}.prompts:CHOICE",
        metric="accuracy",
        chance=0.25,
        licence="Apache-2.0",
        source="OpenBookQA, Main, allenai.org/data/open-book-qa (Mihaylov et al., 2018, arXiv 1809.02789)",
        files={"train.jsonl": 4957, "dev.jsonl": 500, "test.jsonl": 500},
    ),
    TaskSpec(
        name="gsm8k",
        group="generic",
        kind="maths",
        mini=f"{_PACKAGE}.mini.maths:gsm8k",
        official=f"{_PACKAGE}.official.gsm8k:load",
        checker=f"{_PACKAGE}.checkers.maths:check",
        prompt=f"{_PACKAGE}.prompts:NUMBER",
        metric="exact match",
        chance=0.0,
        licence="MIT",
        source="GSM8K, github.com/openai/grade-school-math (Cobbe et al., 2021, arXiv 2110.14168)",
        files={"train.jsonl": 7473, "test.jsonl": 1319},
    ),
    TaskSpec(
        name="gsm_symbolic",
        group="generic",
        kind="maths",
        mini=f"{_PACKAGE}.mini.maths:gsm_symbolic",
        official=f"{_PACKAGE}.official.gsm_symbolic:load",
        checker=f"{_PACKAGE}.checkers.maths:check",
        prompt=f"{_PACKAGE}.prompts:NUMBER",
        metric="exact match",
        chance=0.0,
        licence="CC BY-NC-ND 4.0",
        source="GSM-Symbolic, github.com/apple/ml-gsm-symbolic (Mirzadeh et al., 2024, arXiv 2410.05229)",
        files={"GSM_symbolic.jsonl": 5000, "GSM_p1.jsonl": 5000, "GSM_p2.jsonl": 2500},
    ),
    TaskSpec(
        name="math",
        group="generic",
        kind="maths",
        mini=f"{_PACKAGE}.mini.maths:math",
        official=f"{_PACKAGE}.official.math:load",
        checker=f"{_PACKAGE}.checkers.maths:check",
        prompt=f"{_PACKAGE}.prompts:BOXED",
        metric="exact match",
        chance=0.0,
        licence="MIT",
        source="MATH and its subset MATH-500, github.com/hendrycks/math (Hendrycks et al., 2021, arXiv 2103.03874)",
        files={"math500.jsonl": 500, "test.jsonl": 500},
    ),
    TaskSpec(
        name="humaneval",
        group="generic",
        kind="code",
        mini=f"{_PACKAGE}.mini.coding:humaneval",
        official=f"{_PACKAGE}.official.code:humaneval",
        checker=f"{_PACKAGE}.checkers.code:CodeChecker",
        prompt=f"{_PACKAGE}.prompts:CODE",
        metric="pass@1",
        chance=0.0,
        licence="MIT; HumanEval+ Apache-2.0",
        source="HumanEval, github.com/openai/human-eval (Chen et al., 2021, arXiv 2107.03374); HumanEval+: Liu et al., 2023",
        files={"HumanEval.jsonl": 164, "HumanEvalPlus.jsonl": 164},
    ),
    TaskSpec(
        name="mbpp",
        group="generic",
        kind="code",
        mini=f"{_PACKAGE}.mini.coding:mbpp",
        official=f"{_PACKAGE}.official.code:mbpp",
        checker=f"{_PACKAGE}.checkers.code:CodeChecker",
        prompt=f"{_PACKAGE}.prompts:CODE",
        metric="pass@1",
        chance=0.0,
        licence="CC BY 4.0; MBPP+ Apache-2.0",
        source="MBPP, github.com/google-research/google-research (Austin et al., 2021, arXiv 2108.07732); MBPP+: as HumanEval+",
        files={"mbpp.jsonl": 974, "MbppPlus.jsonl": 378},
    ),
)

_SPECIAL = (
    TaskSpec(
        name="chemistry",
        group="science",
        kind="chemistry",
        mini=f"{_PACKAGE}.mini.molecules:chemistry",
        official=f"{_PACKAGE}.official.molecules:load",
        checker=f"{_PACKAGE}.checkers.chemistry:check",
        prompt=f"{_PACKAGE}.prompts:MOLECULE",
        metric="accuracy",
        chance=0.25,
        licence="CC0 as a collection; that of each measurement varies",
        source="MoleculeNet, moleculenet.org (Wu et al., 2018, arXiv 1703.00564), in place of the paper's Chem-TDC",
    ),
    TaskSpec(
        name="rec_movies",
        group="recommendation",
        kind="ranking",
        mini=f"{_PACKAGE}.mini.recommendation:rec_movies",
        official=f"{_PACKAGE}.official.sequences:load",
        checker=f"{_PACKAGE}.checkers.ranking:check",
        prompt=f"{_PACKAGE}.prompts:RANKING",
        metric="NDCG@10",
        chance=0.227,
        licence="GroupLens: research only, not to be passed on",
        source="MovieLens 100K or 1M, grouplens.org/datasets/movielens (Harper and Konstan, 2015); the paper's own data are not public",
        files={"u.data": 2829, "ml-100k.inter": 2829, "ratings.dat": 18120},
    ),
    TaskSpec(
        name="rec_beauty",
        group="recommendation",
        kind="ranking",
        mini=f"{_PACKAGE}.mini.recommendation:rec_beauty",
        official=f"{_PACKAGE}.official.sequences:load",
        checker=f"{_PACKAGE}.checkers.ranking:check",
        prompt=f"{_PACKAGE}.prompts:RANKING",
        metric="NDCG@10",
        chance=0.227,
        licence="none is stated; the reviews are Amazon's",
        source="Amazon Beauty, 5-core, cseweb.ucsd.edu/~jmcauley/datasets.html (McAuley et al., 2015); the paper's own data are not public",
        files={"Beauty.txt": 67089},
    ),
)

_OPEN = (
    TaskSpec(
        name="nq_open",
        group="open",
        kind="qa",
        mini=f"{_PACKAGE}.mini.facts:nq_open",
        official=f"{_PACKAGE}.official.nq:load",
        checker=f"{_PACKAGE}.checkers.qa:check",
        prompt=f"{_PACKAGE}.prompts:QA",
        metric="exact match",
        chance=0.0,
        licence="CC BY-SA 3.0",
        source="NQ-open, github.com/google-research-datasets/natural-questions (Lee et al., 2019, arXiv 1906.00300)",
        files={"NQ-open.train.jsonl": 87925, "NQ-open.dev.jsonl": 3610, "NQ-open.efficientqa.dev.1.1.jsonl": 1800},
    ),
    TaskSpec(
        name="trivia_qa",
        group="open",
        kind="qa",
        mini=f"{_PACKAGE}.mini.facts:trivia_qa",
        official=f"{_PACKAGE}.official.trivia:load",
        checker=f"{_PACKAGE}.checkers.qa:check",
        prompt=f"{_PACKAGE}.prompts:QA",
        metric="exact match",
        chance=0.0,
        licence="Apache-2.0",
        source="TriviaQA, nlp.cs.washington.edu/triviaqa (Joshi et al., 2017, arXiv 1705.03551)",
        files={"unfiltered-web-train.json": 87622, "unfiltered-web-dev.json": 11313},
    ),
    TaskSpec(
        name="popqa",
        group="open",
        kind="qa",
        mini=f"{_PACKAGE}.mini.facts:popqa",
        official=f"{_PACKAGE}.official.popqa:load",
        checker=f"{_PACKAGE}.checkers.qa:check",
        prompt=f"{_PACKAGE}.prompts:QA",
        metric="exact match",
        chance=0.0,
        licence="MIT",
        source="PopQA, github.com/AlexTMallen/adaptive-retrieval (Mallen et al., 2023, arXiv 2212.10511)",
        files={"popQA.tsv": 14267},
    ),
    TaskSpec(
        name="hotpot_qa",
        group="open",
        kind="qa",
        mini=f"{_PACKAGE}.mini.facts:hotpot_qa",
        official=f"{_PACKAGE}.official.hotpot:load",
        checker=f"{_PACKAGE}.checkers.qa:check",
        prompt=f"{_PACKAGE}.prompts:QA",
        metric="exact match",
        chance=0.0,
        licence="CC BY-SA 4.0",
        source="HotpotQA without its paragraphs, hotpotqa.github.io (Yang et al., 2018, arXiv 1809.09600)",
        files={"hotpot_train_v1.1.json": 90447, "hotpot_dev_distractor_v1.json": 7405, "hotpot_dev_fullwiki_v1.json": 7405},
    ),
)

TASKS: Mapping[str, TaskSpec] = {spec.name: spec for spec in (*_GENERIC, *_SPECIAL, *_OPEN)}
"""Every task by name."""

THIRTEEN = tuple(spec.name for spec in (*_GENERIC, *_SPECIAL))
"""The thirteen in the order of the scenarios: generic, science, recommendation."""


def task(name: str) -> TaskSpec:
    """The task of this name. Raises ``ConfigError`` with the nearest and all known names."""
    if name not in TASKS:
        hint = nearest(name, TASKS)
        guess = f"; did you mean '{hint}'?" if hint else ""
        raise ConfigError("mix", f"no task is called '{name}'{guess} (known: {', '.join(TASKS)})")
    return TASKS[name]


def resolve(target: str) -> Any:
    """What a ``module:attribute`` names."""
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


@contextmanager
def needing_extras(spec: TaskSpec) -> Iterator[None]:
    """Tell a missing package by the extra that brings it.

    Raises:
        PluginError: the package of an extra is missing; with the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise PluginError("expbench", f"{spec.name} needs the package '{error.name}': pip install 'xplearn-expbench[{extra}]'") from error


def require_comparing(spec: TaskSpec, rows: Iterable[Row]) -> None:
    """Say before anything is asked that answers which are expressions can't be compared.

    Raises:
        PluginError: math-verify is needed and not installed; with the command that installs it.
    """
    if any(row.meta.get("form") == "expression" for row in rows) and importlib.util.find_spec("math_verify") is None:
        raise PluginError("expbench", f"{spec.name} compares expressions by 'math-verify': pip install 'xplearn-expbench[maths]'")
