from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest
from xplearn_expbench import catalogue
from xplearn_expbench.catalogue import TASKS, THIRTEEN
from xplearn_expbench.spec import Kind

from xplearn import ConfigError, PluginError


def test_ten_are_generic_one_is_science_two_recommend_and_four_are_beyond():
    groups = [TASKS[name].group for name in THIRTEEN]
    assert (groups.count("generic"), groups.count("science"), groups.count("recommendation"), len(groups)) == (10, 1, 2, 13)
    assert [name for name in TASKS if name not in THIRTEEN] == ["nq_open", "trivia_qa", "popqa", "hotpot_qa"]


@pytest.mark.parametrize("spec", TASKS.values(), ids=TASKS)
def test_a_task_says_everything_of_itself(spec):
    assert spec.kind in get_args(Kind)
    assert 0.0 <= spec.chance < 1.0
    assert spec.metric
    assert spec.licence
    assert spec.source
    assert spec.checker.startswith("xplearn_expbench.checkers.")
    assert bool(spec.mini) == (spec.name != "gpqa_diamond")
    assert all(count > 0 for count in spec.files.values())


@pytest.mark.parametrize("spec", TASKS.values(), ids=TASKS)
def test_every_part_of_a_task_is_there(spec):
    for target in filter(None, (spec.mini, spec.official, spec.checker, spec.prompt)):
        try:
            assert callable(catalogue.resolve(target))
        except ModuleNotFoundError as error:
            assert (error.name or "").partition(".")[0] in {"rdkit", "math_verify", "reasoning_gym"}  # noqa: PT017 - an extra may be absent


def test_an_unknown_task_is_told_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'openbook_qa'"):
        catalogue.task("openbookqa")


def test_a_missing_package_is_told_by_the_extra_that_brings_it():
    told = r"chemistry needs the package 'rdkit': pip install 'xplearn-expbench\[chemistry\]'"
    with pytest.raises(PluginError, match=told), catalogue.needing_extras(TASKS["chemistry"]):
        raise ModuleNotFoundError("No module named 'rdkit'", name="rdkit")


def test_another_missing_module_is_not_taken_for_an_extra():
    with pytest.raises(ModuleNotFoundError), catalogue.needing_extras(TASKS["chemistry"]):
        raise ModuleNotFoundError("No module named 'nothing'", name="nothing")


def test_importing_and_making_every_environment_loads_nothing_heavy():
    code = (
        "import sys, xplearn\n"
        "from xplearn_expbench.catalogue import TASKS\n"
        "made = [xplearn.make('environment', f'expbench.{name}') for name in [*TASKS, 'suite']]\n"
        "assert all(env.provides for env in made)\n"
        "heavy = {'torch', 'transformers', 'rdkit', 'reasoning_gym', 'math_verify', 'sympy', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
