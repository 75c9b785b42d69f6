"""The loss of ``core.clone`` is the sum it is said to be, by hand and one forward pass a step.

L = -(1/|B|) sum over the trajectories of B, sum over their steps k, log p(a_k | goal, first observation, history, experience).
"""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from xplearn.builtin.conditioners import PromptConditioner  # noqa: E402
from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.fakes import FakePolicy, tiny_model  # noqa: E402
from xplearn.types import Conditioning, Selection  # noqa: E402

LENGTHS = (1, 2, 4)
TITLE = "Related experience:"


class Reading(FakePolicy):
    """Remembers the conversations it scored."""

    def __post_init__(self):
        super().__post_init__()
        self.read = []

    def score(self, conditionings, completions, choices=None):
        self.read += conditionings
        return super().score(conditionings, completions, choices)


@pytest.fixture
def agent():
    with FakeAgent(policy=Reading()) as agent:
        yield agent


def dressed(policy, number, *, length=1, arm="experience", shown=7):
    """A demonstration with experience number ``shown`` in the input, none in the plain arm."""
    found = samples.trajectory(number, length=length, arm=arm)
    selection = Selection() if arm == "plain" else Selection(experiences=(samples.experience(shown),), scores=(1.0,))
    given = PromptConditioner().condition([step.query for step in found.steps], [selection] * length)
    said = policy.transcribe(given, [step.action for step in found.steps])
    steps = zip(found.steps, given, said, strict=True)
    return replace(found, steps=tuple(replace(step, selection=selection, conditioning=c, completion=s) for step, c, s in steps))


def bare(policy, trajectory):
    """The same demonstration as the plain arm sees it."""
    given = [Conditioning(messages=step.query.messages) for step in trajectory.steps]
    said = policy.transcribe(given, [step.action for step in trajectory.steps])
    steps = zip(trajectory.steps, given, said, strict=True)
    return replace(trajectory, steps=tuple(replace(step, conditioning=c, completion=s) for step, c, s in steps))


def by_hand(trajectories):
    """Negative log-probability of every action token of each trajectory, from the model as transformers has it."""
    found = []
    for trajectory in trajectories:
        values = []
        for said in (step.completion for step in trajectory.steps):
            with torch.no_grad():
                logits = tiny_model()(torch.tensor([said.prompt_ids + said.token_ids])).logits[0]
            before = logits[len(said.prompt_ids) - 1 : -1].double().log_softmax(-1)
            values += (-before[range(len(said.token_ids)), list(said.token_ids)]).tolist()
        found.append(values)
    return found


def loss(agent, batch, **settings):
    """Of the first step, which sees the whole batch; a fresh adapter changes nothing yet."""
    return CloneLearner(epochs=1, batch=len(batch), **settings).learn(batch, agent)["loss_first"]


def test_the_trajectory_loss_is_the_sum_over_each_trajectory_and_the_mean_over_trajectories(agent):
    batch = [dressed(agent.policy, number, length=length) for number, length in enumerate(LENGTHS)]
    expected = sum(sum(values) for values in by_hand(batch)) / len(batch)
    assert loss(agent, batch, reduction="trajectory") == pytest.approx(expected, rel=1e-5)


def test_the_token_loss_is_the_mean_over_all_action_tokens_of_the_batch(agent):
    batch = [dressed(agent.policy, number, length=length) for number, length in enumerate(LENGTHS)]
    values = [value for trajectory in by_hand(batch) for value in trajectory]
    assert loss(agent, batch) == pytest.approx(sum(values) / len(values), rel=1e-5)
    per_trajectory = [sum(values) / len(values) for values in by_hand(batch)]
    assert sum(values) / len(values) != pytest.approx(sum(per_trajectory) / len(batch), rel=1e-3), "or the two means could be confused"


@pytest.mark.parametrize("reduction", ["token", "trajectory"])
def test_cutting_a_batch_into_forward_passes_changes_neither_loss(agent, reduction):
    batch = [dressed(agent.policy, number, length=length) for number, length in enumerate(LENGTHS)]
    whole = loss(agent, batch, reduction=reduction)
    with FakeAgent(policy=Reading()) as other:
        assert loss(other, batch, reduction=reduction, micro_tokens=1) == pytest.approx(whole, rel=1e-6)


def test_the_loss_depends_on_the_experience_shown(agent):
    seven, eight = ([dressed(agent.policy, 0, length=2, shown=shown)] for shown in (7, 8))
    losses = [loss(agent, seven, reduction="trajectory")]
    with FakeAgent(policy=Reading()) as other:
        losses.append(loss(other, eight, reduction="trajectory"))
    assert losses == pytest.approx([sum(by_hand(batch)[0]) for batch in (seven, eight)], rel=1e-5)
    assert abs(losses[0] - losses[1]) > 0.1


def test_learning_with_one_experience_shown_helps_most_where_it_is_shown(agent):
    policy = agent.policy
    shown, other = (dressed(policy, 0, length=2, shown=number) for number in (7, 8))

    def likely(trajectory):
        with torch.no_grad():
            scores = policy.score([step.conditioning for step in trajectory.steps], [step.completion for step in trajectory.steps])
        return float(scores.logprobs.sum())

    before = likely(shown), likely(other)
    CloneLearner(epochs=8, lr=5e-3).learn([shown], agent)
    gained = likely(shown) - before[0], likely(other) - before[1]
    assert gained[0] > max(gained[1], 1.0)


def test_what_is_shown_empty_is_cloned_as_the_plain_arm_sees_it(agent):
    batch = [dressed(agent.policy, number, length=2) for number in range(3)]
    expected = sum(sum(values) for values in by_hand([bare(agent.policy, item) for item in batch])) / len(batch)
    assert loss(agent, batch, reduction="trajectory", empty_share=1.0) == pytest.approx(expected, rel=1e-5)


def hidden(policy, batch, *, position=(0, 0), seed=0, share=0.25):
    """Goals of the tasks whose demonstration was shown without its experience."""
    with FakeAgent(policy=Reading(), position=position, seed=seed) as agent:
        CloneLearner(arms="both", epochs=1, batch=len(batch), empty_share=share).learn(batch, agent)
        openings = [conditioning.messages[1]["content"] for conditioning in agent.policy.read]
    return {opening.partition("\n")[0] for opening in openings if not opening.startswith(TITLE)}


def test_the_empty_share_holds_and_is_drawn_by_seed_place_in_the_stream_and_trajectory(agent):
    batch = [dressed(agent.policy, number) for number in range(120)]
    few, goals = batch[:40], {f"Task: {item.task.goal}" for item in batch[:40]}
    found = hidden(agent.policy, batch)
    assert 0.25 * 120 - 14 < len(found) < 0.25 * 120 + 14, "three standard deviations"
    assert hidden(agent.policy, few[::-1]) == goals & found
    assert hidden(agent.policy, few, position=(1, 0)) != goals & found != hidden(agent.policy, few, seed=1)
    assert hidden(agent.policy, few, share=0.0) == set()


def test_the_plain_arm_has_nothing_to_hide(agent):
    batch = [dressed(agent.policy, number, arm="plain") for number in range(4)]
    expected = sum(sum(values) for values in by_hand(batch)) / len(batch)
    assert loss(agent, batch, arms="plain", reduction="trajectory", empty_share=1.0) == pytest.approx(expected, rel=1e-5)
