from __future__ import annotations

import sys
from collections import Counter

import pytest

from xplearn.errors import ContractError
from xplearn.policies.scripted import RandomPolicy, ScriptedPolicy
from xplearn.testing import samples
from xplearn.types import Conditioning, Sampling


def conditionings(*turns: int, number: int = 0) -> list[Conditioning]:
    return [Conditioning(messages=samples.query(number, steps=steps).messages) for steps in turns]


def said(policy: ScriptedPolicy, rows: list[Conditioning]) -> list[str]:
    return [completion.text for completion in policy.generate(rows, Sampling(), [0] * len(rows))]


def test_line_follows_the_number_of_turns_spoken():
    assert said(ScriptedPolicy(lines=["a", "b", "c"]), conditionings(2, 0, 1)) == ["c", "a", "b"]


def test_past_the_end_it_says_nothing_or_starts_over():
    assert said(ScriptedPolicy(lines=["a", "b"]), conditionings(2, 3)) == ["", ""]
    assert said(ScriptedPolicy(lines=["a", "b"], cycle=True), conditionings(2, 3)) == ["a", "b"]
    assert said(ScriptedPolicy(cycle=True), conditionings(0)) == [""]


def test_script_is_chosen_by_the_first_user_turn():
    policy = ScriptedPolicy(lines=["other"], scripts={"boil object": ["boil it", "eat it"], "fetch": ["fetch it"]})
    rows = [*conditionings(0, 1, number=0), *conditionings(0, number=1), *conditionings(0, number=2)]
    assert said(policy, rows) == ["boil it", "eat it", "fetch it", "other"]


def test_completion_carries_no_tokens_and_its_sampling():
    sampling = Sampling(max_new_tokens=3)
    (completion,) = ScriptedPolicy(lines=["a"]).generate(conditionings(0), sampling, [7])
    assert (completion.prompt_ids, completion.token_ids, completion.logprobs) == ((), (), None)
    assert completion.sampling is sampling


def test_random_draws_by_key_alone_and_evenly():
    actions = ("look", "wait", "go")
    policy, keys = RandomPolicy(), list(range(3000))
    rows = conditionings(0) * len(keys)
    drawn = [completion.text for completion in policy.generate(rows, Sampling(), keys, [actions] * len(keys))]
    alone = [policy.generate(rows[:1], Sampling(), [key], [actions])[0].text for key in keys[:50]]
    assert drawn[:50] == alone
    assert all(900 < count < 1100 for count in Counter(drawn).values())
    assert set(drawn) == set(actions)


@pytest.mark.parametrize("choices", [None, [None], [()]])
def test_random_without_actions_says_what_it_needs(choices):
    with pytest.raises(ContractError, match=r"sampling\.choices=admissible"):
        RandomPolicy().generate(conditionings(0), Sampling(), [1], choices)


def test_capabilities():
    assert ScriptedPolicy().provides == RandomPolicy().provides == {"policy.keyed"}
    assert ScriptedPolicy().requires == frozenset()
    assert RandomPolicy().requires == {"env.actions"}


def test_importing_them_imports_no_torch():
    import subprocess

    code = "import sys, xplearn.policies.scripted; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"
