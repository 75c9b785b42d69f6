"""The embedded backbone for real: it loads, learns from demonstrations and keeps what it learned. Never asks for a particular sentence."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

from dataclasses import replace  # noqa: E402

from xplearn.errors import DataError  # noqa: E402
from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.policies.backbone import resolve  # noqa: E402
from xplearn.policies.hf import HfPolicy  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.types import Sampling  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.weights]

ADMISSIBLE = Sampling(temperature=0.0, choices="admissible")


@pytest.fixture
def agent():
    try:
        resolve("smollm2")
    except DataError as error:
        pytest.skip(str(error))
    with FakeAgent(policy=HfPolicy(model="smollm2")) as agent:
        yield agent


def _demonstrations(policy, count):
    for number in range(count):
        item = samples.trajectory(number)
        completions = policy.transcribe([step.conditioning for step in item.steps], [step.action for step in item.steps])
        steps = tuple(replace(step, completion=completion) for step, completion in zip(item.steps, completions, strict=True))
        yield replace(item, steps=steps)


def _correct(policy, demonstrations):
    steps = [step for item in demonstrations for step in item.steps]
    choices = [tuple(dict.fromkeys([step.action, "look", "wait", "open door 0", "open door 1", "open door 2"])) for step in steps]
    said = policy.generate([step.conditioning for step in steps], ADMISSIBLE, list(range(len(steps))), choices)
    return sum(completion.text == step.action for completion, step in zip(said, steps, strict=True)) / len(steps)


def test_cloning_smollm2_raises_held_out_accuracy_and_a_reloaded_adapter_keeps_it(agent, tmp_path):
    policy = agent.policy
    demonstrations = list(_demonstrations(policy, 9))
    lessons, held = demonstrations[:6], demonstrations[6:]
    before = _correct(policy, held)
    figures = CloneLearner(arms="plain", epochs=3, batch=2, lr=1e-3).learn(lessons, agent)
    after = _correct(policy, held)
    assert figures["loss_last"] < 0.5 * figures["loss_first"]
    assert after > before
    assert after > 0.9
    policy.save(tmp_path / "policy")
    assert (tmp_path / "policy" / "adapter_model.safetensors").stat().st_size < 60e6
    with FakeAgent(policy=HfPolicy(model="smollm2")) as other:
        other.policy.load(tmp_path / "policy")
        assert _correct(other.policy, held) == after
    with policy.reference():
        assert _correct(policy, held) == before


def test_smollm2_says_something_and_scores_it_as_it_was_drawn(agent):
    policy = agent.policy
    query = samples.query(0)
    conditioning = samples.trajectory(0).steps[0].conditioning
    said = policy.generate([conditioning], Sampling(temperature=1.0, max_new_tokens=12), [5])[0]
    assert said.token_ids
    assert said.prompt_ids
    with torch.no_grad():
        scores = policy.score([conditioning], [said])
    # bf16: two ways through the same network differ by rounding
    torch.testing.assert_close(scores.logprobs[0], torch.tensor(said.logprobs), atol=0.15, rtol=0.05)
    assert policy.generate([conditioning], ADMISSIBLE, [5], [query.candidates])[0].text in query.candidates
