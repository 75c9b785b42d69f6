from __future__ import annotations

import pytest
from xplearn_webshop.environment import WebShop
from xplearn_webshop.policies import OraclePolicy, RulePolicy, first_hit, instruction

from xplearn import Conditioning, ConfigError, Sampling

FORMS = ("text", "text_rich", "html")


def played(env, policy, task, *, led_by=""):
    observation = env.reset(task, seed=0)
    messages = list(env.opening(task, observation))
    messages[-1] = {"role": "user", "content": led_by + messages[-1]["content"]}
    for _ in range(env.max_steps):
        (completion,) = policy.generate([Conditioning(messages=tuple(messages))], Sampling(), [0])
        outcome = env.step(env.parse(completion.text))
        assert outcome.info["valid"], completion.text
        messages += [{"role": "assistant", "content": completion.text}, {"role": "user", "content": outcome.observation.text}]
        if outcome.terminated or outcome.truncated:
            break
    return outcome


@pytest.mark.parametrize("form", FORMS)
def test_instruction_and_first_hit_are_read_from_every_form(form):
    env = WebShop(observation=form)
    task = env.tasks("train")[0]
    assert instruction(env.reset(task, seed=0).text) == task.goal
    results = env.step(env.admissible()[0]).observation.text
    assert first_hit(results) == env.available["clickables"][2]
    assert first_hit(env.step("search[ ]").observation.text) == ""
    assert instruction(results.replace("nstruction", "")) == ""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("goals", ["human", "synthetic"])
def test_the_oracle_reaches_the_ceiling(form, goals):
    env, policy = WebShop(goals=goals, observation=form), OraclePolicy(goals=goals)
    env.listing = False
    for task in env.tasks("test")[:20]:
        assert played(env, policy, task).info["score"] == env.ceiling(task)
    policy.close()


@pytest.mark.parametrize("form", FORMS)
def test_experience_before_the_first_page_misleads_nobody(form):
    env, policy = WebShop(observation=form), OraclePolicy()
    task, other = env.tasks("train")[:2]
    card = env.reset(other, seed=0).text
    assert played(env, policy, task, led_by=f"Related experience:\n1. {card}\n\n").info["success"]


@pytest.mark.parametrize("form", FORMS)
def test_the_rule_agent_buys_the_first_hit_as_it_is(form):
    env = WebShop(goals="synthetic", observation=form)
    env.listing = False
    outcome = played(env, RulePolicy(), env.tasks("train")[0])
    assert outcome.terminated
    assert outcome.info["url"].endswith("/{}")


def test_the_oracle_says_that_its_fields_are_not_the_environments():
    env = WebShop(goals="synthetic")
    messages = tuple(env.opening(task := env.tasks("test")[0], env.reset(task, seed=0)))
    with pytest.raises(ConfigError, match=r"webshop\.oracle: no goal here is in the words 'Find me .*must be the environment's"):
        OraclePolicy().generate([Conditioning(messages=messages)], Sampling(), [0])


def test_the_oracle_has_no_words_where_nothing_is_sold():
    elsewhere = Conditioning(messages=({"role": "user", "content": "You are in the middle of a room."},))
    assert OraclePolicy().generate([elsewhere], Sampling(), [0])[0].text == ""


@pytest.mark.slow
def test_the_rule_agent_on_the_published_products_scores_as_measured_on_the_original(data_folder):
    env = WebShop(data=str(data_folder), goals="synthetic")
    env.listing = False
    first = {}
    for task in env.tasks("all"):
        first.setdefault(env._wanted(task).asin, task)
    outcomes = [played(env, RulePolicy(), task) for task in first.values()]
    score = 100 * sum(outcome.info["score"] for outcome in outcomes) / len(outcomes)
    success = 100 * sum(outcome.info["success"] for outcome in outcomes) / len(outcomes)
    print(f"\nrule agent on {len(outcomes)} goals: score {score:.1f}, success {success:.1f} %")
    assert len(outcomes) == 415
    assert score == pytest.approx(60.5, abs=1.5)
    assert success == pytest.approx(22.9, abs=1.5)


@pytest.mark.parametrize("policy", [RulePolicy(), OraclePolicy()])
def test_a_policy_that_only_shops_asks_for_a_shop(policy):
    assert policy.requires <= WebShop().provides
