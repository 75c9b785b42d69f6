"""Numbers and expressions: the same value counts however it is written, another one never does."""

from __future__ import annotations

import itertools
import json
import threading

import pytest
from xplearn_expbench.checkers import maths, verifier
from xplearn_expbench.spec import Row

from xplearn import DataError, PluginError


def number(gold, completion):
    return maths.check(Row(id="r", question="?", answer=gold, meta={"form": "number"}), completion)


def expression(gold, completion):
    return maths.check(Row(id="r", question="?", answer=gold, meta={"form": "expression"}), completion)


@pytest.mark.parametrize(
    ("gold", "completion"),
    [
        ("18", "#### 18"),
        ("18", "####18"),
        ("18", "#### $18."),
        ("18", "ANSWER: 18"),
        ("18", "Answer: **18**"),
        ("18", "**Answer:** 18"),
        ("18", "Answer:\n18"),
        ("18", "The answer is 18."),
        ("18", "The answer is: 18 dollars per day"),
        ("18", r"\boxed{18}"),
        ("18", r"\boxed{18 \text{ dollars}}"),
        ("18", r"Answer: $\boxed{18}$"),
        ("18", "16 - 3 - 4 = 9\n9 * 2 = 18"),
        ("18", "It makes 18"),
        ("18", "It makes 18."),
        ("18", "**18**"),
        ("18", "18th"),
        ("18", "```\n18\n```"),
        ("18", "18.00"),
        ("18.00", "18"),
        ("1.5", "1.50"),
        ("1.5", "Answer: 3/2"),
        ("0.5", "Answer: 1/2"),
        ("0.5", "Answer: .5"),
        ("0.5", r"\boxed{\frac{1}{2}}"),
        ("0.5", r"\boxed{\dfrac12}"),
        ("-0.5", r"\boxed{-\frac{1}{2}}"),
        ("-0.5", r"\boxed{\frac{-1}{2}}"),
        ("1.8", r"\boxed{1\frac{4}{5}}"),
        ("3.5", "Answer: 3 1/2 cups"),
        ("50", "#### 50%"),
        ("50", r"\boxed{50\%}"),
        ("1,080", "#### 1080"),
        ("1080", "#### 1,080"),
        ("1080", r"#### \$1,080.00"),
        ("1080", r"\boxed{1{,}080}"),
        ("1080", r"\boxed{1,\!080}"),
        ("1080", "It is 1\u00a0080 in all"),
        ("1234567", "Answer: 1,234,567"),
        ("100000", "Answer: 1,00,000"),
        ("1080", "Answer: €1,080"),
        ("18000", "Answer: 18e3"),
        ("-5", "#### -5"),
        ("-5", "#### \u22125"),
        ("-5", "the answer is -$5"),
        ("-5", "the answer is $-5"),
        ("-5", "the answer is minus 5"),
        ("-5", "Answer: negative 5"),
        ("-5", "Answer: - 5"),
        ("-5", "Answer: (-5)"),
        ("-5", "so x = -5"),
        ("5", "#### +5"),
        ("5", "Answer:\n- 5"),
        ("5", "- 3\n- 5"),
        ("3", "16-3"),
        ("3", "16 - 3"),
        ("18", "Answer: 18, as 2 are left"),
        ("18", "Answer: 18 (16 + 2 = 18)"),
        ("18", "Answer: 9 * 2 = 18"),
        ("18", "Answer: 9 dollars * 2 = 18"),
        ("18", "The answer is easy: 9 × 2 = 18."),
        ("18", "Answer: x = 18"),
        ("18", "#### 18 and then some"),
        ("18", "#### 7\nNo, wrong.\n#### 18"),
        ("18", "ANSWER: 7\nANSWER: 18"),
        ("18", "#### Step 1: 4\n#### Final Answer: 18"),
        ("18", "#### 18\n\nQuestion: Tom has 5 apples.\n#### 7"),
        ("18", "9 * 2 = 18\n\nQ: Tom has 5 apples"),
        ("18", "Question: Tom has 5 apples\nAnswer: 18"),
        ("18", "#### 18<|im_end|>#### 7"),
        ("18", "<think>7? #### 7</think>#### 18"),
        ("18", "\u200f18\u202c"),
        ("18", "####\x00 18"),
        ("18", "\uff11\uff18"),
        ("0", "#### 0"),
        ("0", "#### -0"),
        ("18", "#### 18 kg"),
        ("18", "#### 18kg"),
        ("18", "#### 18 apples"),
        ("18", "Answer: the total over the week is 18"),
        ("18", "Answer: about 18"),
        ("18", "Answer: Total (18)"),
        ("18", r"\boxed{18^\circ}"),
        ("18", r"\boxed{\textbf{18}}"),
        ("18", "It doesn't rain, so it is 18"),
        ("18", "Yes! 18"),
        ("18", "So it is *18*"),
        ("18", "Not 7. 18"),
    ],
)
def test_these_numbers_are_right(gold, completion):
    verdict = number(gold, completion)
    assert (verdict.score, verdict.status) == (1.0, "correct"), verdict


@pytest.mark.parametrize(
    ("gold", "completion"),
    [
        ("15", "#### 1.5"),
        ("1.5", "#### 15"),
        ("18", "#### 1800"),
        ("18", "#### 18.5"),
        ("18", "#### 118"),
        ("5", "#### -5"),
        ("-5", "#### 5"),
        ("1", "#### 1,080"),
        ("80", "#### 1,080"),
        ("2", "Answer: 1/2"),
        ("0.5", "#### 50%"),
        ("18", "#### 18\n#### 7"),
        ("18", r"#### 18 is wrong, \boxed{7}"),
        ("7", "#### 18\n\nQuestion: Tom?\n#### 7"),
        ("9", "Answer: 9 * 2 = 18"),
        ("-3", "16-3"),
        ("18", "7 <think>18</think> 7"),
    ],
)
def test_these_numbers_are_wrong(gold, completion):
    verdict = number(gold, completion)
    assert (verdict.score, verdict.status) == (0.0, "wrong"), verdict


@pytest.mark.parametrize(
    "completion",
    [
        "",
        " \n",
        "eighteen",
        "####",
        "#### none",
        "Answer:",
        "#### 10-12",
        "Answer: 9 * 2",
        "#### 1,5",
        "#### 3:30",
        "#### 18.5.2",
        "#### 18/0",
        "#### x2",
        "<think>18",
        "B12",
        "\x00",
        f"#### {'9' * 5000}",
        "9" * 5000,
        "#### 1e999",
        "#### 10^5",
        "#### 18 or 19",
        "#### 18 or 2.5",
        "#### 18 apples or 19 apples",
        "#### 18 or maybe 19",
        "#### 18, 19",
        "#### 18; 19",
        "#### 18 19 20",
        "#### 18 to 20",
        "#### 18 – 20",
        "Answer: between 18 and 20",
        "Between 20 and 18",
        "17 or 18",
        "#### not 18",
        "The answer is not 18",
        "The answer isn't 18.",
        "Answer: neither 18 nor 19",
        "Answer: anything but 18",
        "It is not 18",
        "#### 18k",
        "#### $18k",
        "#### 18 k",
        "#### 18 thousand",
        "#### 18 million",
        "It makes 18 million",
        "#### 18 dozen",
        "#### 18 hundred",
        "#### 18 and a half",
        "#### 18 dollars and 50 cents",
        "#### 18 hours 30 minutes",
        "#### <18",
        "#### > 18",
        "#### ≥18",
        r"\boxed{\leq 18}",
        "Answer: at least 18",
        "Answer: less than 18",
        "#### 18!",
        "#### 18x",
        "#### 18x^2",
        "#### 18i",
        "#### 18n",
        r"#### 18\pi",
        "#### 18π",
        "#### 18²",
        "#### 18 squared",
        "#### 18^x",
        "#### 18**2",
        "#### 2**18",
        "#### 1**8",
        "Answer: sqrt(18)",
        r"\boxed{\sqrt{18}}",
        "#### √18",
        "Answer: log 18",
        "Answer: f(18)",
        "#### -(18)",
        "#### 18+",
        "#### 18-",
        "#### 18 000",
        "#### 18_000",
        "#### 18 – no, 19",
        "#### 18. No, wait: 19",
        "#### 18 is wrong",
    ],
)
def test_these_are_no_numbers(completion):
    verdict = number("18", completion)
    assert (verdict.score, verdict.status, verdict.parsed) == (0.0, "unparsed", "")


@pytest.mark.parametrize("completion", ["#### 18 and then 25 more", "#### 1 000", "#### 1 000 000", "#### 1 080"])
def test_a_number_that_another_follows_is_not_told_from_it(completion):
    assert {number(gold, completion).status for gold in ("18", "25", "1", "1080", "1000", "1000000")} == {"unparsed"}


@pytest.mark.parametrize(
    ("gold", "completion"),
    [
        (r"\frac{14}{3}", r"\boxed{\frac{14}{3}}"),
        (r"\frac{14}{3}", r"\boxed{14/3}"),
        (r"\frac43", r"\boxed{\dfrac{4}{3}}"),
        (r"\frac9{19}", r"\boxed{\frac{9}{19}}"),
        (r"\frac 59", r"\boxed{\tfrac{5}{9}}"),
        (r"\frac{3}{4}", r"\boxed{0.75}"),
        (r"1\frac{4}{5}", r"\boxed{\frac{9}{5}}"),
        (r"137 \frac{1}{2}", r"\boxed{137.5}"),
        (r"-\frac{24}{25}", r"\boxed{\frac{-24}{25}}"),
        (".35625", r"\boxed{0.35625}"),
        (".0000672", r"\boxed{6.72 \times 10^{-5}}"),
        (r"10,\!080", r"\boxed{10080}"),
        (r"11,\! 111,\! 111,\! 100", r"\boxed{11,111,111,100}"),
        (r"\$32,\!348", r"\boxed{32,348}"),
        (r"\$18.90", r"\boxed{\$18.9}"),
        ("58,500", r"\boxed{58500}"),
        ("50", r"\boxed{50\%}"),
        (r"30^\circ", r"\boxed{30}"),
        ("30", r"\boxed{30^{\circ}}"),
        (r"5.4 \text{ cents}", r"\boxed{5.4}"),
        (r"15\mbox{ cm}^2", r"\boxed{15 \text{ cm}^2}"),
        (r"\frac{270}7\text{ degrees}", r"\boxed{\frac{270}{7}^\circ}"),
        ("x=5", r"\boxed{5}"),
        ("5", r"\boxed{x = 5}"),
        ("4", r"\boxed{2+2=4}"),
        ("4", r"\boxed{x = 2+2 = 4}"),
        ("4", r"\boxed{\text{Area} = 4}"),
        ("4", r"\boxed{AB = 4}"),
        ("7x-2", r"\boxed{y=7x-2}"),
        ("7x-2", r"\boxed{f(x) = 7x-2}"),
        ("y=7x-2", r"\boxed{7x - 2}"),
        ("y=7x-2", r"\boxed{$y = 7x-2$}"),
        (r"\theta = \pi", r"\boxed{\pi}"),
        ("1,2", r"\boxed{x=1, x=2}"),
        ("x^2+y^2=1", r"\boxed{x^2 + y^2 = 1}"),
        (r"x \in [-2,7]", r"\boxed{[-2, 7]}"),
        (r"\text{Evelyn}", r"\boxed{Evelyn}"),
        (r"\text{Evelyn}", r"\boxed{\textbf{evelyn}}"),
        (r"\text{(C)}", r"\boxed{C}"),
        ("52_8", r"\boxed{52_{8}}"),
        (r"4210_{5}", r"\boxed{4210_5}"),
        (r"11\sqrt2", r"\boxed{11 \sqrt{2}}"),
        (r"\left( 3, \frac{\pi}{2} \right)", r"\boxed{(3,\frac{\pi}{2})}"),
        ("p - q", "Answer: $p-q$."),
        ("-50", "\\boxed{\u221250}"),
        ("2", r"\boxed{1} no, \boxed{2}"),
        ("2", r"\boxed{1 \boxed{2}"),
        ("2", r"{ \boxed{2}"),
        (r"\frac{1}{2}", r"\boxed{\frac{1}{2}} }}}"),
        ("2", r"\boxed 2"),
        ("2", r"\fbox{2}"),
        ("4", "4"),
        ("4", "Answer: 4 apples"),
        (r"\pi", "π"),
        ("2k+2", "\u200f\\boxed{2k+2}\x00"),
        ("2k+2", "```latex\n\\boxed{2k+2}\n```"),
    ],
)
def test_normal_forms_decide_that_these_expressions_are_right(gold, completion, monkeypatch):
    monkeypatch.setattr(verifier.Verifier, "compare", None)
    verdict = expression(gold, completion)
    assert (verdict.score, verdict.status) == (1.0, "correct"), verdict


@pytest.mark.parametrize(
    ("gold", "completion"),
    [
        ("4", r"\boxed{14}"),
        ("14", r"\boxed{4}"),
        ("4", r"\boxed{42}"),
        ("4", r"\boxed{-4}"),
        ("4", r"\boxed{2+2}"),
        ("4", r"\boxed{4 \text{ or } 5}"),
        ("4", r"\boxed{4, 5}"),
        ("4", r"\boxed{I do not know}"),
        ("4", r"\boxed{\frac{4}{0}}"),
        ("4", r"\boxed{\pi}"),
        ("4", r"\boxed{4} or rather \boxed{5}"),
        ("4", "The result is 4"),
        (r"\frac{1}{3}", r"\boxed{0.333}"),
        ("1.5", r"\boxed{15}"),
        ("52_8", r"\boxed{52}"),
        ("52_8", r"\boxed{52_9}"),
        ("52_8", r"\boxed{42}"),
        (r"\text{even}", r"\boxed{odd}"),
        (r"\text{(C)}", r"\boxed{\text{(D)}}"),
        ("58,500", r"\boxed{58}"),
        ("7x-2", r"\boxed{12x=7x-2}"),
        ("7x-2", r"\boxed{a=b=7x-2}"),
        ("7x-2", r"\boxed{7x-2=7x-2}"),
        ("7x-2", r"\boxed{x=7x-2}"),
        ("7x-2", r"\boxed{7x-2=0}"),
        ("y=2x+1", r"\boxed{z=2x+1}"),
        ("x=5", r"\boxed{y=5}"),
        ("5", r"\boxed{2x=5}"),
        ("5", r"\boxed{x+2=5}"),
        ("5", r"\boxed{a=b=5}"),
        ("(1,2)", r"\boxed{\{1,2\}}"),
        (r"\{1,2\}", r"\boxed{(1,2)}"),
    ],
)
def test_normal_forms_decide_that_these_expressions_are_wrong(gold, completion, monkeypatch):
    monkeypatch.setattr(verifier.Verifier, "compare", None)
    verdict = expression(gold, completion)
    assert (verdict.score, verdict.status) == (0.0, "wrong"), verdict


@pytest.mark.parametrize(
    "completion",
    [
        "",
        r"\boxed{}",
        r"\boxed{4",
        "Answer:",
        "Answer: 4}+{1",
        "Answer: {4",
        "First 4.\nThen 5.",
        r"<think>\boxed{4}",
        rf"\boxed{{{'4+' * 400}4}}",
    ],
)
def test_these_are_no_expressions(completion):
    assert expression("4", completion).status == "unparsed"
    assert expression(r"\pi", completion).status == "unparsed"


@pytest.mark.parametrize(
    ("gold", "completion", "status"),
    [
        (r"3\sqrt{13}", r"\boxed{\sqrt{117}}", "correct"),
        ("6 - 5i", r"\boxed{-5i+6}", "correct"),
        ("1,-2", r"\boxed{-2, 1}", "correct"),
        ("0.5", r"\boxed{50\%}", "correct"),
        ("x^5 - x", r"\boxed{x(x^4-1)}", "correct"),
        (r"\cot x", r"\boxed{\frac{\cos x}{\sin x}}", "correct"),
        (r"1 \pm \sqrt{19}", r"\boxed{1-\sqrt{19}, 1+\sqrt{19}}", "correct"),
        (r"\begin{pmatrix} -1/3 \\ 2/3 \end{pmatrix}", r"\boxed{\begin{pmatrix} -\frac{1}{3} \\ \frac23 \end{pmatrix}}", "correct"),
        ("(3,4]", r"\boxed{(3,4)}", "wrong"),
        ("2k", r"\boxed{2n}", "wrong"),
        (r"1 \pm \sqrt{19}", r"\boxed{1 + \sqrt{19}}", "wrong"),
        ("(1,2)", r"\boxed{(2,1)}", "wrong"),
        (r"\pi", r"\boxed{3.14}", "wrong"),
        (r"\pi", r"\boxed{\frac{}{}}", "wrong"),
        (r"\pi", r"\boxed{I do not know}", "wrong"),
        (r"\pi", "\\boxed{\ud800}", "wrong"),
    ],
)
def test_math_verify_decides_where_forms_cannot(gold, completion, status):
    pytest.importorskip("math_verify")
    assert expression(gold, completion).status == status


def test_the_question_repeated_is_no_answer(monkeypatch):
    monkeypatch.setattr(verifier.Verifier, "compare", lambda *_: "equal")

    def repeated(answer, gold="7x-2"):
        row = Row(id="r", question=r"Simplify $3x + 4x - 2$, Evelyn.", answer=gold, meta={"form": "expression"})
        return maths.check(row, rf"\boxed{{{answer}}}").status

    assert repeated("3x+4x-2") == repeated(r"3x\,+\,4x - 2") == "wrong"
    assert repeated("7x-2") == repeated("-2+7x") == "correct"
    assert repeated("Evelyn", r"\text{Evelyn}") == "correct"


def test_a_comparison_beyond_its_time_is_ended_and_the_next_one_works():
    pytest.importorskip("math_verify")
    asked = verifier.Verifier(seconds=10)
    try:
        assert asked.compare(r"\pi", r"2\pi/2") == "equal"
        asked.seconds = 0.5
        assert asked.compare(r"\pi", "9^{9^{9^{9}}}") == "timed-out"
        asked.seconds = 10
        assert asked.compare(r"\pi", r"2\pi/2") == "equal"
        child = asked._child.process
        child.kill()
        child.wait()
        assert asked.compare(r"\pi", r"2\pi") == "crashed"
        assert asked.compare(r"\pi", r"2\pi") == "different"
    finally:
        asked.close()
    assert asked._child is None


def test_one_child_answers_all_threads():
    pytest.importorskip("math_verify")
    asked, outcomes = verifier.Verifier(), {}

    def ask(number):
        outcomes[number] = asked.compare(rf"{number}\pi", rf"\pi \cdot {number - number % 2}")

    try:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(2, 14)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        asked.close()
    assert outcomes == {number: "different" if number % 2 else "equal" for number in range(2, 14)}


@pytest.mark.parametrize("outcome", ["timed-out", "crashed"])
def test_what_became_of_the_comparison_is_not_called_wrong(outcome, monkeypatch):
    monkeypatch.setattr(verifier.Verifier, "compare", lambda *_: outcome)
    verdict = expression(r"\pi", r"\boxed{2\pi}")
    assert (verdict.status, verdict.score, verdict.parsed) == (outcome, 0.0, r"2\pi")


def test_without_math_verify_an_answer_that_needs_it_is_not_called_wrong(tmp_path, monkeypatch):
    worker = tmp_path / "worker.py"
    worker.write_text("import json; print(json.dumps({'absent': \"No module named 'math_verify'\"}), flush=True)")
    monkeypatch.setattr(verifier, "_WORKER", str(worker))
    monkeypatch.setattr(maths, "shared", verifier.Verifier())
    assert expression("4", r"\boxed{4}").status == "correct"
    with pytest.raises(PluginError, match=r"pip install 'xplearn-expbench\[maths\]'"):
        expression(r"\pi", r"\boxed{2\pi}")


def test_a_child_that_does_not_start_is_told(tmp_path, monkeypatch):
    worker = tmp_path / "worker.py"
    worker.write_text("raise SystemExit(3)")
    monkeypatch.setattr(verifier, "_WORKER", str(worker))
    with pytest.raises(PluginError, match="does not start"):
        verifier.Verifier().compare("a", "b")


@pytest.mark.parametrize(
    ("answer", "form"),
    [("18", None), ("18", "integer"), ("eighteen", "number"), ("", "number"), ("1,5", "number"), ("", "expression"), (18, "expression")],
)
def test_a_row_that_cannot_be_judged_is_refused_by_name(answer, form):
    with pytest.raises(DataError, match="row-7"):
        maths.check(Row(id="row-7", question="?", answer=answer, meta={"form": form}), "18")


def test_a_whole_number_may_be_the_answer_of_form_number():
    assert number(18, "#### 18").status == "correct"


@pytest.mark.parametrize("split", ["test", "train"])
def test_every_answer_of_gsm8k_is_right_against_itself(data_folder, split):
    for line in (data_folder / "gsm8k" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines():
        solution = json.loads(line)["answer"]
        gold = solution.rpartition("####")[2].strip()
        for completion in (solution, f"ANSWER: {gold}", f"The answer is ${gold}.", rf"\boxed{{{gold}}}", f"It is {gold}"):
            assert number(gold, completion).status == "correct", (gold, completion)


def test_every_answer_of_math_500_is_right_against_itself(data_folder, monkeypatch):
    monkeypatch.setattr(verifier.Verifier, "compare", None)
    golds = [json.loads(line)["answer"] for line in (data_folder / "math500" / "math500.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(golds) == 500
    for gold in golds:
        for completion in (rf"So it is $\boxed{{{gold}}}$.", f"Answer: ${gold}$", f"The answer is {gold}."):
            assert expression(gold, completion).status == "correct", (gold, completion)


@pytest.mark.slow
def test_every_answer_of_math_500_is_right_against_itself_by_math_verify(data_folder):
    pytest.importorskip("math_verify")
    golds = [json.loads(line)["answer"] for line in (data_folder / "math500" / "math500.jsonl").read_text(encoding="utf-8").splitlines()]
    wrong = [gold for gold in golds if verifier.shared.compare(gold, gold) != "equal"]
    assert wrong == []


@pytest.mark.slow
def test_no_answer_of_math_500_is_right_against_another_ones(data_folder):
    pytest.importorskip("math_verify")
    golds = [json.loads(line)["answer"] for line in (data_folder / "math500" / "math500.jsonl").read_text(encoding="utf-8").splitlines()]
    golds = list(dict.fromkeys(golds))
    alike = [(one, other) for one, other in itertools.pairwise(golds) if expression(one, rf"\boxed{{{other}}}").status != "wrong"]
    assert alike == []
