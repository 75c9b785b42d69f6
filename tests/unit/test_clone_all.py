"""``core.clone`` with ``targets: all``: every token of a conversation is learned, each once."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from xplearn.learning.batching import Sample, sample, whole  # noqa: E402
from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.fakes import FakePolicy  # noqa: E402
from xplearn.types import Completion, Conditioning, Trajectory  # noqa: E402


@pytest.fixture
def agent():
    with FakeAgent(policy=FakePolicy()) as agent:
        yield agent


def told(policy, number) -> Trajectory:
    """A sample trajectory with the tokens of its actions."""
    item = samples.trajectory(number)
    said = policy.transcribe([step.conditioning for step in item.steps], [step.action for step in item.steps])
    return replace(item, steps=tuple(replace(step, completion=row) for step, row in zip(item.steps, said, strict=True)))


def test_all_tokens_of_a_conversation_but_the_first_are_targets_once(agent):
    item = sample(told(agent.policy, 0), learner="test")
    every, last = whole(item), item.completions[-1]
    (row,) = every.completions
    assert row.prompt_ids + row.token_ids == last.prompt_ids + last.token_ids
    assert (len(row.prompt_ids), every.targets, every.positions) == (1, len(row.token_ids), item.positions)
    with torch.no_grad():
        scores = agent.policy.score(every.conditionings, every.completions)
        spoken = agent.policy.score(item.conditionings, item.completions)
    assert scores.logprobs[0, -len(last.token_ids) :] == pytest.approx(spoken.logprobs[-1][spoken.mask[-1]], abs=1e-4)


def test_a_conversation_that_begins_anew_is_another_row():
    row = Completion(text="a", prompt_ids=(1, 2), token_ids=(3,))
    rows = (row, replace(row, prompt_ids=(1, 2, 3, 4), token_ids=(5, 6)), replace(row, prompt_ids=(1, 9), token_ids=(7,)))
    every = whole(Sample(conditionings=(Conditioning(messages=()),) * 3, completions=rows, positions=9, targets=4))
    assert [found.prompt_ids + found.token_ids for found in every.completions] == [(1, 2, 3, 4, 5, 6), (1, 9, 7)]
    assert (every.targets, len(every.conditionings)) == (7, 2)


def test_the_loss_is_the_mean_over_all_of_them(agent):
    batch = [told(agent.policy, number) for number in range(2)]
    learner = CloneLearner(targets="all", arms="both", max_steps=1, batch=2)
    every = [whole(sample(item, learner="test")) for item in batch]
    scores = agent.policy.score([row for item in every for row in item.conditionings], [row for item in every for row in item.completions])
    expected = -float(scores.logprobs[scores.mask].detach().mean())
    assert learner.learn(batch, agent)["loss_first"] == pytest.approx(expected, rel=1e-5)
