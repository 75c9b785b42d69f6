from __future__ import annotations

from types import SimpleNamespace

from xplearn.capability import WHY, check


def part(provides: str = "", requires: str = "", **ways_out: str) -> SimpleNamespace:
    if ways_out:
        return SimpleNamespace(**vars(part(provides, requires)), ways_out={name.replace("_", "."): line for name, line in ways_out.items()})
    return SimpleNamespace(provides=frozenset(provides.split()), requires=frozenset(requires.split()))


def test_sound_mix_has_no_problems():
    assert check([("store", "s", part("store.filled")), ("selector", "b", part("selector.act", "store.filled"))]) == []
    assert check([]) == []


def test_a_part_may_meet_its_own_need():
    assert check([("learner", "l", part("x.y", "x.y"))]) == []


def test_every_unmet_need_is_a_problem_in_order_of_the_parts():
    problems = check([("selector", "b", part("", "store.filled")), ("conditioner", "c", part("", "policy.memory policy.encode"))])
    assert [(problem.slot, problem.name, problem.capability) for problem in problems] == [
        ("selector", "b", "store.filled"),
        ("conditioner", "c", "policy.encode"),
        ("conditioner", "c", "policy.memory"),
    ]


def test_problem_says_who_what_why_and_what_fits():
    mix = [
        ("conditioner", "expweaver.latent", part("", "learner.conditioned")),
        ("record", "core.record", part("store.filled")),
        ("learner", "edge.distill", part()),
    ]
    (problem,) = check(mix, lambda capability: {"learner": ["core.clone", "core.grpo"], "store": []})
    assert str(problem).splitlines() == [
        "  conditioner 'expweaver.latent' requires 'learner.conditioned'",
        f"      {WHY['learner.conditioned']},",
        "      but no learner in [core.record, edge.distill] provides it",
        "      learners that do: core.clone, core.grpo",
        "      for example: learner: [edge.distill, core.clone]",
    ]


def test_single_slot_is_replaced_in_the_example():
    mix = [("policy", "core.random", part("", "env.actions")), ("environment", "silent.text", part())]
    (problem,) = check(mix, lambda capability: {"environment": ["core.counting"]})
    assert "no environment in [silent.text] provides it" in str(problem)
    assert str(problem).endswith("for example: environment: core.counting")


def test_a_fitting_part_joins_those_of_its_own_list_and_nobody_is_named_twice():
    mix = [("conditioner", "c", part("", "learner.conditioned")), ("record", "core.record", part()), ("record", "core.record", part())]
    (problem,) = check(mix, lambda capability: {"learner": ["core.clone"]})
    assert "but no learner in [core.record] provides it" in str(problem)
    assert str(problem).endswith("for example: learner: [core.clone]")


def test_a_part_may_offer_a_way_out_of_what_it_asks_for():
    asking = part("", "policy.reference env.actions", policy_reference="record: {name: cards, writer: rules}")
    mix = [("record", "cards", asking), ("policy", "core.random", part()), ("environment", "silent.text", part())]
    actions, reference = check(mix, lambda capability: {"policy": ["core.hf"]} if capability.startswith("policy") else {})
    assert "or:" not in str(actions)
    assert str(reference).splitlines()[-2:] == [
        "      for example: policy: core.hf",
        "      or: record: {name: cards, writer: rules}",
    ]


def test_every_space_is_needed_for_the_same_reason():
    (problem,) = check([("selector", "core.nearest", part("", "store.space:key")), ("record", "plain", part())])
    assert str(problem).splitlines() == [
        "  selector 'core.nearest' requires 'store.space:key'",
        "      vectors of the bank's experience in the space 'key' are searched or compared,",
        "      but no store or record in [plain] provides it",
    ]


def test_unknown_capability_and_empty_slot_still_read_well():
    (problem,) = check([("selector", "s", part("", "mine.special"))])
    text = str(problem)
    assert "no mine of this mix provides it" in text
    assert "for example" not in text
