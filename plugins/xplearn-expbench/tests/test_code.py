"""From a completion to a verdict: where the program is found, how it is judged, and pass@k."""

from __future__ import annotations

import itertools
import math
import time
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
    "an end mark": f"{RIGHT}<|im_end|>\n<|im_start|>user\nThanks",
    "another end mark": f"{RIGHT}</s>",
    "an end mark after a body": "    return math.pi * r * r<|endoftext|>",
    "an end mark after a fence": f"```python\n{RIGHT}\n```</s>",
    "an end mark as a text of its own": f"{RIGHT} if '</s>' else 0",
    "an indented fence": "- So:\n    ```python\n    def area(r):\n        return math.pi * r * r\n    ```",
    "an indented block": "```python\n    def area(r):\n        return math.pi * r * r\n```",
    "a fence of tildes": f"~~~python\n{RIGHT}\n~~~",
    "a fence closed on the last line": f"```python\n{RIGHT}```",
    "backquotes within": f"```python\n{RIGHT}  # ``` is a fence\n```",
    "a helper in an earlier block": (
        "```python\ndef square(r):\n    return r * r\n```\nthen\n```python\nprint(1)\n```\n"
        "```python\ndef area(r):\n    return math.pi * square(r)\n```"
    ),
    "helpers of helpers": (
        "```python\nPI = 3.141592653589793\n```\n```python\ndef grown(r):\n    return PI * r\n```\n"
        "```python\ndef area(r):\n    return r * grown(r)\n```"
    ),
    "an example before the answer that is not needed": f"```python\nr = input()\n```\n```python\n{RIGHT}\n```",
    "a draft in finished thoughts": f"<think>\n```python\ndef area(r):\n    return 0\n```\n</think>\n{RIGHT}",
    "a draft in thoughts that the template opened": f"def area(r):\n    return 0\n</think>\n{RIGHT}",
    "thoughts that never end after it": f"{RIGHT}\n<think>\ndef area(r):\n    return 0",
    "another function after the body": "    s = r * r\n    return math.pi * s\n\ndef area(r):\n    return 0",
    "an annotated lambda": "area: object = lambda r: math.pi * r * r",
    "a definition under a condition": "```python\nif True:\n    def area(r): return math.pi * r * r\n```",
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
    "thoughts that never end": "<think>\n```python\ndef twice(x):\n    return 2 * x\n```",
    "nothing but finished thoughts": "<think>def twice(x):\n    return 2 * x</think>",
}


LONG = {
    "assignments before nonsense": "x = 1\n" * 16_000 + "def twice\n",
    "nonsense after each line": "x = 1\nthis is nonsense\n" * 4_000 + "def twice",
    "nonsense after each definition": "def twice(x): return\nthis is nonsense\ntwice = (\n" * 2_000,
    "assignments": "twice.x = 1\n" * 8_000,
    "fences": "```python\nx = 1\n```\n" * 4_500,
    "fences that define it elsewhere": "```python\nclass A:\n    twice = y\n```\n" * 2_500,
    "blocks that need each other": "".join(f"```\ndef f{n}(): f{n - 1}\n```\n" for n in range(3_000)) + "```\ndef twice(x): f2999()\n```",
    "indented nonsense": "    x = 1\n" * 9_000 + "    nonsense here\n",
    "thoughts": "<think>\n" * 12_000,
    "fences that open": "```\n" * 24_000,
    "end marks": "</s>x" * 20_000,
}


@pytest.mark.parametrize("name", LONG)
def test_long_answers_are_read_quickly(name):
    started = time.process_time()
    program(LONG[name], entry="twice", prompt=PROMPT)
    program(LONG[name], entry="twice")
    assert time.process_time() - started < 20


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
