import contextlib
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from xplearn_edge.distill import DistillLearner  # noqa: E402
from xplearn_edge.gains import groups  # noqa: E402

import xplearn  # noqa: E402
from xplearn import ConfigError, Experience, Query, Sampling, Selection, Step, Task, Trajectory, derive  # noqa: E402
from xplearn.learning.drawn import likely, read  # noqa: E402
from xplearn.learning.grpo import GrpoLearner  # noqa: E402
from xplearn.testing.agents import FakeAgent, FakeCheckpoint  # noqa: E402
from xplearn.testing.fakes import FakePolicy  # noqa: E402

ACTIONS = ("open door to hall", "take the cup", "take the fridge", "wait")
ADMISSIBLE = Sampling(temperature=0.7, choices="admissible")
FREE = Sampling(temperature=1.3, max_new_tokens=6)
CARD = Experience(id="card", kind="principle", key="cup", content="take the cup from the table, then wait", task="another")
COMMON = {"group_size": 4, "lr": 1e-3, "max_grad_norm": 1e9, "invalid_penalty": 0.0}
GAIN, LOSS = {"experience": (1.0, 0.5), "plain": (0.5, 0.0)}, {"experience": (0.0, 0.5), "plain": (0.5, 0.2)}


@contextlib.contextmanager
def acting(**settings):
    """An agent with one card in its bank, whose policy has drifted from its first weights."""
    parts = {"conditioner": xplearn.make("conditioner", "core.prompt"), "selector": xplearn.make("selector", "core.all")}
    with FakeAgent(policy=FakePolicy(**settings), **parts) as agent:
        torch.manual_seed(3)
        with torch.no_grad():
            for _, value in agent.policy.parameters():
                value.add_(0.05 * torch.randn_like(value))
        agent.store.add([CARD])
        yield agent


@pytest.fixture
def agent():
    with acting() as agent:
        yield agent


def played(agent, scores, *, group="g", sampling=ADMISSIBLE, turns=2, **fields):
    """What the policy really draws in both arms of a group."""
    task = Task(id=group, env="toy", split="train", goal="find the cup")
    return [
        episode(agent, task, arm, replica, score, sampling, turns, fields)
        for arm, earned in scores.items()
        for replica, score in enumerate(earned)
    ]


def episode(agent, task, arm, replica, score, sampling, turns, fields):
    messages, steps = ({"role": "user", "content": "Task: find the cup\n\nYou see a cup and a door."},), []
    for turn in range(turns):
        query = Query(purpose="act", task=task, messages=messages, index=turn, candidates=ACTIONS)
        (selection,), (conditioning,) = agent.condition([query], [arm], [None])
        (said,) = agent.policy.generate([conditioning], sampling, [derive(1, task.id, arm, replica, turn)], [ACTIONS])
        steps.append(
            Step(query=query, selection=selection, conditioning=conditioning, completion=said, action=said.text, reward=0.0,
                 terminated=False, truncated=False, valid=True)
        )  # fmt: skip
        messages = (*messages, {"role": "assistant", "content": said.text}, {"role": "user", "content": f"Turn {turn}."})
    id = f"{task.id}/{arm}/{replica}"
    given = {"seed": 0, "source": "rollout", "score": score, "success": score == 1.0} | fields
    return Trajectory(id=id, task=task, steps=tuple(steps), arm=arm, group=task.id, **given)


def weights(policy):
    return {name: value.detach().clone() for name, value in policy.parameters()}


def after(agent, learner, batch):
    """Figures of a round and the weights after it; the agent is then as it was."""
    before = weights(agent.policy)
    agent.checkpoint = FakeCheckpoint()
    figures = learner.learn(batch, agent)
    found = weights(agent.policy)
    agent.policy.load_state_dict({"version": 0, **before})
    return figures, found


def gradient(agent, learner, batch):
    """What the optimiser is given in the round's only step."""
    seen = {}
    move = torch.optim.AdamW.step

    def noting(optimizer, *args, **kwargs):
        seen.update({name: value.grad.clone() for name, value in agent.policy.parameters() if value.grad is not None})
        return move(optimizer, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "step", noting)
        after(agent, learner, batch)
    return seen


def close(found, expected, tolerance=1e-6):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert torch.allclose(found[name], value, atol=tolerance, rtol=1e-4), name


def by_hand(agent, batch, divergence):
    """Gradient of the mean of ``divergence(student, teacher)`` over all tokens of the plain trajectories."""
    policy, learner = agent.policy, DistillLearner(**COMMON)
    items = [item for item in learner.credited(batch) if item.trajectory.arm == "plain"]
    terms = []
    for item in items:
        queries = [step.query for step in item.trajectory.steps]
        _, conditionings = agent.condition(queries, ["experience"] * len(queries), [Selection(experiences=(CARD,))] * len(queries))
        prompts = policy.transcribe(conditionings, ["x"] * len(queries))
        rows = tuple(replace(row, prompt_ids=prompt.prompt_ids) for row, prompt in zip(item.completions, prompts, strict=True))
        terms.append(divergence(policy, item, replace(item, conditionings=tuple(conditionings), completions=rows)))
    torch.cat(terms).mean().backward()
    found = {name: value.grad.clone() for name, value in policy.parameters() if value.grad is not None}
    for _, value in policy.parameters():
        value.grad = None
    return found


def sampled(policy, student, teacher):
    ours = read(policy, [student]).logprobs
    with torch.no_grad():
        theirs = read(policy, [teacher]).logprobs
    return (ours.detach() - theirs) * ours


def exact(policy, student, teacher):
    """Over every token that could have been drawn."""
    (told,) = likely(policy, [teacher], None, micro_tokens=4096)
    ours = read(policy, [student], [told.ids]).support
    some = told.logprobs > -torch.inf
    return torch.where(some, ours.exp() * (ours - told.logprobs), torch.zeros(())).nan_to_num(0.0).sum(-1)


# plain GRPO where nothing was gained


@pytest.mark.parametrize("scores", [LOSS, {"experience": (0.5, 0.2), "plain": (0.5, 0.2)}], ids=["it hurt", "no difference"])
def test_without_any_gain_loss_and_weights_are_those_of_grpo_on_the_students_to_the_digit(agent, scores):
    batch = played(agent, scores)
    ours, moved = after(agent, DistillLearner(**COMMON, dual_clip=None), batch)
    settings = {"betas": [0.9, 0.999], "weight_decay": 0.01, "beta": 0.0}
    plain, expected = after(agent, GrpoLearner(**COMMON, arms="plain", **settings), batch)
    assert (ours["loss"], ours["grad_norm"], ours["taught"], ours["gate_open"]) == (plain["loss"], plain["grad_norm"], 0.0, 0.0)
    assert all(torch.equal(moved[name], value) for name, value in expected.items())
    assert ours["steps"] == 1.0, "something was learned"


def test_without_gate_and_coefficient_it_is_grpo_over_both_arms(agent):
    batch = played(agent, GAIN) + played(agent, LOSS, group="h")
    ours = gradient(agent, DistillLearner(**COMMON, gate_rl=False, coefficient=0.0, dual_clip=None), batch)
    close(ours, gradient(agent, GrpoLearner(**COMMON, arms="both", beta=0.0), batch))


def test_teachers_count_in_the_policy_gradient_only_where_their_group_gained(agent):
    batch = played(agent, GAIN) + played(agent, LOSS, group="h")
    learner = DistillLearner(**COMMON)
    learner.learn(batch, agent)
    admitted = [(item.trajectory.group, item.trajectory.arm) for item in learner.credited(batch)]
    assert admitted == [("g", "experience")] * 2 + [("g", "plain")] * 2 + [("h", "plain")] * 2


def test_an_advantage_is_relative_to_whom_the_gate_lets_in(agent):
    learner = DistillLearner(**COMMON, scale="none")
    batch = played(agent, GAIN) + played(agent, LOSS, group="h")
    learner.learn(batch, agent)
    found = [item.advantages[0] for item in learner.credited(batch)]
    assert found == pytest.approx([0.5, 0.0, 0.0, -0.5, 0.15, -0.15])
    learner = DistillLearner(**COMMON, scale="none", over="arm")
    learner.learn(batch, agent)
    assert [item.advantages[0] for item in learner.credited(batch)] == pytest.approx([0.25, -0.25, 0.25, -0.25, 0.15, -0.15])


# the distillation


@pytest.mark.parametrize("sampling", [ADMISSIBLE, FREE], ids=["admissible, cold", "free, hot"])
@pytest.mark.parametrize(("rkl", "divergence"), [("sampled", sampled), ("exact", exact)])
def test_the_gradient_is_that_of_grpo_plus_the_divergence_written_down_by_hand(agent, sampling, rkl, divergence):
    batch = played(agent, GAIN, sampling=sampling)
    ours = gradient(agent, DistillLearner(**COMMON, coefficient=0.7, rkl=rkl), batch)
    grpo = gradient(agent, DistillLearner(**COMMON, coefficient=0.0), batch)
    term = by_hand(agent, batch, divergence)
    assert max(value.abs().max() for value in term.values()) > 1e-3, "the teacher says something else"
    close(ours, {name: value + 0.7 * term[name] for name, value in grpo.items()}, 1e-5)


def test_the_likeliest_tokens_of_the_teacher_are_all_tokens_where_there_are_no_more(agent):
    batch = played(agent, GAIN)
    close(*(gradient(agent, DistillLearner(**COMMON, rkl=rkl, top_k=50), batch) for rkl in ("teacher_topk", "exact")), 1e-5)


def test_few_likely_tokens_are_compared_as_if_there_were_no_others(agent):
    batch = played(agent, GAIN, sampling=FREE)

    def renormalised(policy, student, teacher):
        (told,) = likely(policy, [teacher], 3, micro_tokens=4096)
        ours = read(policy, [student], [told.ids]).support.log_softmax(-1)
        return (ours.exp() * (ours - told.logprobs.log_softmax(-1))).sum(-1)

    ours = gradient(agent, DistillLearner(**COMMON, rkl="teacher_topk", top_k=3, coefficient=0.7), batch)
    grpo, term = gradient(agent, DistillLearner(**COMMON, coefficient=0.0), batch), by_hand(agent, batch, renormalised)
    close(ours, {name: value + 0.7 * term[name] for name, value in grpo.items()}, 1e-5)


def test_the_teacher_says_the_students_tokens_after_a_prompt_with_the_experience_its_group_was_shown(agent):
    batch = played(agent, GAIN)
    agent.store.remove(["card"])  # pruned since
    learner = DistillLearner(**COMMON)
    learner.learn(batch, agent)
    assert learner._lessons.keys() == {"g/plain/0", "g/plain/1"}
    for item in learner.credited(batch):
        lesson = learner._lessons.get(item.trajectory.id)
        if lesson is not None:
            said, told = item.completions, lesson.teacher.completions
            assert [row.token_ids for row in told] == [row.token_ids for row in said]
            assert all(a.prompt_ids != b.prompt_ids for a, b in zip(told, said, strict=True))
            assert all(CARD.content in row.messages[0]["content"] for row in lesson.teacher.conditionings)
            assert lesson.teacher.positions < sum(len(row.prompt_ids) + len(row.token_ids) for row in told), "prefixes are shared"


def test_no_gradient_flows_through_the_teacher(agent, monkeypatch):
    batch, seen = played(agent, GAIN), []
    score = agent.policy.score

    def watching(conditionings, *args, **kwargs):
        taught = any(CARD.content in row.messages[0]["content"] for row in conditionings)
        seen.append((taught, torch.is_grad_enabled()))
        return score(conditionings, *args, **kwargs)

    monkeypatch.setattr(agent.policy, "score", watching)
    DistillLearner(**{**COMMON, "micro_tokens": 1}).learn([item for item in batch if item.arm == "plain" or item.score == 1.0], agent)
    assert seen.count((True, False)) == 2, "a pass for each student, without gradients"


def test_a_chosen_few_steps_are_taught_and_weighed(agent):
    batch = played(agent, GAIN)
    batch = [replace(item, score=float(item.arm == "experience"), success=item.arm == "experience") for item in batch]
    learner = DistillLearner(**COMMON, gain="same_anchor", reward="success")
    learner.learn(batch, agent)
    assert {lesson.weights for lesson in learner._lessons.values()} == {(1.0, 1.0)}
    learner = DistillLearner(**COMMON, gain="same_anchor", reward="success")
    elsewhere = [replace(item, steps=item.steps[:1]) if item.arm == "experience" else item for item in batch]
    figures = learner.learn(elsewhere, agent)
    assert {lesson.weights for lesson in learner._lessons.values()} == {(1.0, 0.0)}, "teachers were not at the second observation"
    assert figures["taught"] == sum(len(item.steps[0].completion.token_ids) for item in batch if item.arm == "plain")


def test_the_gain_itself_may_be_the_weight(agent):
    batch = played(agent, GAIN)
    whole, part = (by_weight(agent, batch, weight) for weight in ("gate", "gain"))
    for name, value in whole.items():
        assert torch.allclose(part[name], 0.5 * value, atol=1e-6)


def by_weight(agent, batch, weight):
    """The divergence's part of the gradient."""
    both, grpo = (gradient(agent, DistillLearner(**COMMON, coefficient=c, weight=weight), batch) for c in (1.0, 0.0))
    return {name: value - grpo[name] for name, value in both.items()}


def test_a_sum_over_each_trajectory_is_the_papers_average(agent):
    batch = played(agent, GAIN)
    tokens = sum(len(step.completion.token_ids) for item in batch if item.arm == "plain" for step in item.steps)
    by = {}
    for average in ("token", "trajectory"):
        both, grpo = (gradient(agent, DistillLearner(**COMMON, coefficient=c, average=average), batch) for c in (1.0, 0.0))
        by[average] = {name: value - grpo[name] for name, value in both.items()}
    for name, value in by["token"].items():
        assert torch.allclose(by["trajectory"][name], value * tokens / 2, atol=1e-4, rtol=1e-3)


def test_passes_change_nothing(agent):
    batch = played(agent, GAIN) + played(agent, GAIN, group="h")
    for rkl in ("sampled", "exact"):
        found = [gradient(agent, DistillLearner(**{**COMMON, "micro_tokens": size}, rkl=rkl), batch) for size in (1, 4096)]
        close(*found, 1e-5)


def test_the_whole_vocabulary_is_not_copied_for_every_token(agent):
    learner, batch = DistillLearner(**COMMON, rkl="exact"), played(agent, GAIN, sampling=FREE)
    learner._groups = groups(batch)
    items = learner.credited(batch)
    objective = learner.objective(items, agent.policy, agent)
    asked = objective.support(items)
    assert {ids.stride(0) for ids in asked if ids.shape[1] > 1} == {0}


def test_figures_tell_what_was_gained_and_taught(agent):
    batch = played(agent, GAIN) + played(agent, LOSS, group="h")
    batch += [item for item in played(agent, GAIN, group="i") if item.arm == "plain"]
    figures, _ = after(agent, DistillLearner(**COMMON), batch)
    assert (figures["groups"], figures["groups_one_armed"], figures["gate_open"]) == (2.0, 1.0, 0.5)
    assert figures["gain_mean"] == pytest.approx((0.5 - 0.1) / 2)
    exact_figures, _ = after(agent, DistillLearner(**COMMON, rkl="exact"), batch)
    assert exact_figures["divergence"] > 0
    assert exact_figures["taught"] == figures["taught"] > 0


def test_a_student_that_leaves_no_room_for_the_experience_is_not_taught():
    with acting(context=90) as agent:
        batch = played(agent, {"experience": (0.0, 0.0), "plain": (0.0, 0.0)}, turns=1)
        long = Experience(id="long", kind="principle", key="k", content="take the cup " * 40, task="another")
        shown = Selection(experiences=(long,), scores=(0.0,))
        gained = [replace(item, score=float(item.arm == "experience")) for item in batch]
        gained = [
            replace(item, steps=tuple(replace(step, selection=shown) for step in item.steps)) if item.arm == "experience" else item
            for item in gained
        ]
        figures = DistillLearner(**COMMON).learn(gained, agent)
        assert (figures["gate_open"], figures["taught"]) == (1.0, 0.0)


def test_where_nothing_was_in_the_bank_nothing_is_taught(agent):
    agent.store.remove(["card"])
    figures, _ = after(agent, DistillLearner(**COMMON), played(agent, GAIN))
    assert (figures["gate_open"], figures["taught"]) == (1.0, 0.0)


def test_what_came_into_the_bank_after_a_group_was_played_teaches_it_nothing(agent):
    agent.store.remove(["card"])
    batch = played(agent, GAIN)
    agent.store.add([CARD])
    figures, _ = after(agent, DistillLearner(**COMMON), batch)
    assert (figures["gate_open"], figures["taught"]) == (1.0, 0.0)


# the scaffold


def test_half_of_each_group_has_experience_until_the_scaffold_is_taken_away():
    plan = DistillLearner(group_size=8, scaffold_steps=3).plan()
    assert (plan.at(2).arms, plan.at(2).replicas) == (("experience", "plain"), 4)
    assert (plan.at(3).arms, plan.at(3).replicas) == (("plain",), 8)
    assert DistillLearner(scaffold_steps=None).plan().at(10**6).arms == ("experience", "plain")


def test_the_coefficient_follows_its_schedule_through_a_resumed_run(agent):
    batch, told = played(agent, GAIN), []
    learner = DistillLearner(**COMMON, schedule="linear", scaffold_steps=4)
    for _ in range(6):
        figures = learner.learn(batch, agent)
        told.append(figures["coefficient"])
        state, learner = learner.state_dict(), DistillLearner(**COMMON, schedule="linear", scaffold_steps=4)
        learner.load_state_dict(state)
        agent.checkpoint = FakeCheckpoint()
    assert told == pytest.approx([0.1, 0.075, 0.05, 0.025, 0.0, 0.0])
    assert (figures["groups"], figures["taught"]) == (0.0, 0.0)
    assert not {"gain_mean", "gate_open"} & figures.keys()  # no gain is not a gain of 0


# what is refused


@pytest.mark.parametrize(
    ("field", "value"),
    [("group_size", 7), ("group_size", 0), ("coefficient", -0.1), ("coefficient", float("nan")), ("top_k", 1), ("scaffold_steps", 0)],
)
def test_settings_that_mean_nothing_are_refused_by_name(field, value):
    with pytest.raises(ConfigError) as caught:
        DistillLearner(**{field: value})
    assert caught.value.path == field


def test_a_schedule_needs_an_end():
    with pytest.raises(ConfigError, match="scaffold_steps=null never ends"):
        DistillLearner(schedule="cosine", scaffold_steps=None)


def test_only_what_sees_other_tokens_needs_a_policy_that_tells_them():
    assert "policy.distribution" not in DistillLearner().requires
    assert "policy.distribution" in DistillLearner(rkl="exact").requires
    assert {"conditioner.shows", "selector.selects"} <= DistillLearner().requires
