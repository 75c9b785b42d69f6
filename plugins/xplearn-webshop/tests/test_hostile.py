"""Two thousand actions that nobody should say."""

from __future__ import annotations

import json
import random

import pytest
from xplearn_webshop.environment import WebShop

from xplearn import ContractError

PIECES = (
    *"[]{}()<>\"'\\/&%#+;:,.|*?$^~`=-_!@ \n\r\t\x00\x07\x0b\x1b\x1c\x7f\x85\xa0\u2028\u202e\ufeff\ufffe\ud800\udfff\U0001f6aa\u0130ß漢́",
    *("search[", "click[", "]", "search", "click", "Buy Now", "< prev", "next >", "b0", "mug", "the", "'s", "0", "9" * 30, "../", "%s"),
    *("</p><script>", "{{7*7}}", "${x}", "' OR 1=1 --", "<r>", "<q> x", "[SEP]", "search_results", "item_page", "done", "None"),
)


def strings(count):
    draw = random.Random(17)
    for number in range(count):
        body = "".join(draw.choices(PIECES, k=draw.randrange(12)))
        verb = draw.choice(("", "search[", "click["))
        yield f"{verb}{body}]" if verb and number % 3 else body
    for piece in ("a", "a ", "[", "]", "[]", "\ud800", "é", "漢", "'", "search[", "\n", "1.", "\U0001f6aa"):
        yield f"search[{piece * (100_000 // len(piece))}]"
        yield piece * (100_000 // len(piece))


@pytest.mark.parametrize("form", ["text", "text_rich", "html"])
def test_any_string_is_answered_with_text_that_can_be_written(form):
    env = WebShop(observation=form)
    tasks = env.tasks("train")
    env.reset(tasks[0], seed=0)
    answered = 0
    for number, action in enumerate(strings(2_000)):
        outcome = env.step(action if number % 2 else env.parse(action))
        answered += 1
        outcome.observation.text.encode()
        outcome.info["url"].encode()
        json.dumps(dict(outcome.info)).encode()
        outcome.info.get("reason", "").encode(errors="strict")
        env.page().encode()
        if outcome.terminated or outcome.truncated:
            env.reset(tasks[number % len(tasks)], seed=0)
    assert answered > 2_000


def test_hostile_actions_leave_no_trace_in_the_next_episode():
    env, fresh = WebShop(), WebShop()
    task = env.tasks("train")[0]
    for action in strings(50):
        env.reset(task, seed=0)
        env.step(action)
    again, first = env.demonstrate(task, seed=0), fresh.demonstrate(task, seed=0)
    assert again == first


@pytest.mark.parametrize("action", [None, 3, b"click[x]", ["search[x]"]])
def test_what_is_no_text_is_refused_and_costs_no_step(action):
    env = WebShop(max_steps=1)
    env.reset(env.tasks("train")[0], seed=0)
    with pytest.raises(ContractError, match="an action is text, not"):
        env.step(action)
    assert env.step("search[mug]").info["valid"]
