"""ExpBench: the tasks of ExpWeaver's benchmark as one-step environments, each alone and all in one suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xplearn import hookimpl

if TYPE_CHECKING:
    from xplearn.registry import PluginRegistry

_TASKS = {
    "arc_challenge": ("ArcChallenge", "school science that word overlap does not answer, four options"),
    "commonsense_qa": ("CommonsenseQa", "everyday knowledge, five options"),
    "gpqa_diamond": ("GpqaDiamond", "science for experts, four options; published file only"),
    "mmlu": ("Mmlu", "many subjects, four options"),
    "openbook_qa": ("OpenbookQa", "elementary science applied, four options"),
    "gsm8k": ("Gsm8k", "word problems of grade school"),
    "gsm_symbolic": ("GsmSymbolic", "word problems from templates"),
    "math": ("Math", "competition mathematics"),
    "humaneval": ("HumanEval", "a Python function to its docstring, run against tests"),
    "mbpp": ("Mbpp", "a Python function to a sentence, run against tests"),
    "chemistry": ("Chemistry", "properties of molecules, and molecules that meet constraints"),
    "rec_movies": ("RecMovies", "which film comes next, candidates in order"),
    "rec_beauty": ("RecBeauty", "which product comes next, candidates in order"),
    "nq_open": ("NqOpen", "questions people searched for; beyond the thirteen"),
    "trivia_qa": ("TriviaQa", "trivia; beyond the thirteen"),
    "popqa": ("PopQa", "facts about rare and well-known things; beyond the thirteen"),
    "hotpot_qa": ("HotpotQa", "questions over two facts; beyond the thirteen"),
}


@hookimpl
def xplearn_register(registry: PluginRegistry) -> None:
    """Register an environment for each task, the suite, and the presets."""
    for name, (cls, help) in _TASKS.items():
        registry.add("environment", name, f"xplearn_expbench.tasks:{cls}", help=help)
    registry.add("environment", "suite", "xplearn_expbench.suite:Suite", help="several tasks in one, by default the thirteen")
    registry.add_presets("xplearn_expbench")


@hookimpl
def xplearn_cli(commands: Any) -> None:
    """Add ``xplearn expbench``."""
    from xplearn_expbench.commands import add

    add(commands)
