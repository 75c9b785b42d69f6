"""From a completion to a verdict: where the program is found, how it is judged, and pass@k."""

from __future__ import annotations

import itertools
import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xplearn_expbench.checkers.code import CodeChecker, pass_at_k
from xplearn_expbench.checkers.source import program
from xplearn_expbench.spec import Execution, Row

from xplearn import ConfigError, ContractError

PROMPT = 'import math\n\n\ndef area(r):\n    """Area of a circle.\n\n    >>> area(0)\n    0.0\n    """\n'
RIGHT = "def area(r):\n    return math.pi * r * r"
TESTS = "import math\nassert abs(area(1) - math.pi) < 1e-9\nassert area(0) == 0.0"
ROW = Row(
    id="area",
    question=PROMPT,
    answer=PROMPT + "    return math.pi * r * r\n",
    meta={"entry_point": "area", "names": ["area"], "prompt": PROMPT, "tests": TESTS},
)
PLAIN = Row(
    id="twice",
    question="Write a function `twice(x)`.",
    answer="def twice(x):\n    return 2 * x",
    meta={"entry_point": "twice", "names": ["twice"], "tests": "assert twice(2) == 4"},
)


@pytest.fixture(scope="module")
def checker():
    checker = CodeChecker(Execution(allow=True, seconds=2))
    yield checker
    checker.close()


COMPLETIONS = {
    "a fenced block": f"Here you are:\n```python\n{RIGHT}\n```\nDone.",
    "a fence without language": f"```\n{RIGHT}\n```",
    "a fence that never closes": f"```python\n{RIGHT}\n",
    "carriage returns": f"```python\n{RIGHT}\n```".replace("\n", "\r\n"),
    "the last of two drafts": f"```python\ndef area(r):\n    return 0\n```\nBetter:\n```python\n{RIGHT}\n```",
    "an example after the answer": f"```python\n{RIGHT}\n```\nUse it so:\n```python\nprint(area(2))\n```",
    "a shell block after the answer": f"```python\n{RIGHT}\n```\n```bash\npython area.py\n```",
    "bare code": RIGHT,
    "bare code after a sentence": f"Sure, the function is:\n\n{RIGHT}\n\nThis multiplies the square of r by pi.",
    "bare code before a list": f"{RIGHT}\n\n- It uses math.pi.\n- It's quick.",
    "the whole prompt again": ROW.answer,
    "a body": "    return math.pi * r * r\n",
    "a body that runs on": "    return math.pi * r * r\n\n\nprint(area(input()))\n\ndef other():\n    pass",
    "a body without its first indentation": "if r < 0:\n        raise ValueError\n    return math.pi * r * r",
    "a body without indentation": "s = r * r\nreturn math.pi * s",
    "a fenced body": "```python\n    return math.pi * r * r\n```",
    "a lambda": "area = lambda r: math.pi * r * r",
    "a class": "class area(float):\n    def __new__(cls, r): return float.__new__(cls, math.pi * r * r)",
    "a future import": "from __future__ import annotations\nimport math\n" + RIGHT,
    "an unknown escape": "def area(r):\n    '\\d'\n    return math.pi * r * r",
}


@pytest.mark.parametrize("name", COMPLETIONS)
def test_the_program_is_found_in(checker, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdict = checker(ROW, COMPLETIONS[name])
    assert (verdict.score, verdict.status) == (1.0, "correct"), verdict.parsed


UNREADABLE = {
    "nothing": "",
    "blanks": " \n\t\n ",
    "prose": "I cannot write that, since circles aren't square.",
    "another function": "```python\ndef volume(r):\n    return r\n```",
    "broken code": "def twice(x):\n  return ((x",
    "an empty fence": "```python\n```",
    "a long row of minus signs": "x = " + "-" * 200_000 + "1",
    "parentheses": "(" * 50_000,
    "a null character": "def twice(x):\n    return '\0'",
    "surrogates": "\ud800",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_without_a_program_the_answer_is_unparsed(checker, name):
    verdict = checker(PLAIN, UNREADABLE[name])
    assert (verdict.score, verdict.status, verdict.parsed) == (0.0, "unparsed", "")


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("def twice(x):\n    return 2 * x", "correct"),
        ("def twice(x):\n    return x", "wrong"),
        ("def twice(x):\n    return y", "crashed"),
        ("def twice(x):\n    while True: pass", "timed-out"),
        ("def twice(x): pass\nimport os\nos._exit(0)", "crashed"),
    ],
)
def test_endings_stay_apart(checker, code, status):
    verdict = checker(PLAIN, f"```python\n{code}\n```")
    assert (verdict.status, verdict.score) == (status, float(status == "correct"))
    assert verdict.parsed.strip() == code


def test_many_answers_are_judged_in_order(checker):
    verdicts = checker.check_all([(PLAIN, "nothing"), (PLAIN, PLAIN.answer), (ROW, "    return r"), (PLAIN, ""), (ROW, RIGHT)])
    assert [verdict.status for verdict in verdicts] == ["unparsed", "correct", "wrong", "unparsed", "correct"]


def test_code_is_not_run_without_leave():
    with pytest.raises(ConfigError, match=r"execution\.allow=true"):
        CodeChecker(Execution())


def test_a_row_whose_tests_are_broken_is_an_error(checker):
    row = Row(id="x", question="", answer="", meta={**PLAIN.meta, "tests": "assert ("})
    with pytest.raises(ContractError, match="tests"):
        checker(row, PLAIN.answer)


@given(st.text(alphabet=st.sampled_from("def twice(x):\n return`python'\"#\\ \t\0"), max_size=200))
def test_any_text_is_read_without_an_exception(text):
    found = program(text, entry="twice", prompt=PROMPT)
    assert found is None or compile(found, "", "exec")


def test_pass_at_k_is_the_share_of_draws_with_a_pass():
    for samples in range(1, 7):
        for passed, k in itertools.product(range(samples + 1), range(1, samples + 1)):
            draws = list(itertools.combinations([True] * passed + [False] * (samples - passed), k))
            assert math.isclose(pass_at_k(samples, passed, k), sum(map(any, draws)) / len(draws))


@pytest.mark.parametrize("given", [(5, 6, 1), (5, -1, 1), (5, 2, 6), (5, 2, 0)])
def test_pass_at_k_refuses_what_cannot_be(given):
    with pytest.raises(ValueError, match="makes no sense"):
        pass_at_k(*given)
