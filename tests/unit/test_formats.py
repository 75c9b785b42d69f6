import dataclasses
import json

import numpy as np
import pytest

from xplearn.metrics.cost import shared_prefix, tokens
from xplearn.metrics.scores import episode_result, evaluated
from xplearn.record.formats import dump_trajectory, load_trajectory
from xplearn.record.tensors import load_state, remove_state, save_state
from xplearn.testing.samples import query, task, trajectory
from xplearn.types import Completion, Conditioning, Experience, Memory, Sampling, Selection, Step


def rich_step(index, prompt):
    asked = query(1, steps=index)
    card = Experience(id="card", kind="card", key="k", content="hint", created=(0, 1, 2), meta={"a": [1]})
    return Step(
        query=asked,
        selection=Selection(experiences=(card,), scores=(0.1 + 0.2,)),
        conditioning=Conditioning(messages=({"role": "user", "content": "hint"}, *asked.messages)),
        completion=Completion(
            text="open\ud800 \u2028 door",
            prompt_ids=prompt,
            token_ids=(7, 8),
            logprobs=(-0.1234567890123456, -1e-300),
            sampling=Sampling(temperature=0.7, stop=("\n", "END")),
            policy_version=3,
            finish="length",
        ),
        action="open door",
        reward=1 / 3,
        terminated=False,
        truncated=index == 1,
        valid=False,
    )


def rich():
    first = tuple(range(50))
    return dataclasses.replace(trajectory(1), steps=(rich_step(0, first), rich_step(1, (*first, 7, 8, 60, 61))), seconds=0.25, seed=2**62)


GIVEN = [trajectory(0), trajectory(1, length=1), dataclasses.replace(trajectory(0), steps=(), error="gone"), rich()]


@pytest.mark.parametrize("given", GIVEN)
def test_trajectory_comes_back_equal(given):
    assert load_trajectory(dump_trajectory(given)) == given


def test_prompt_that_lost_its_beginning_comes_back_equal():
    given = dataclasses.replace(rich(), steps=(rich_step(0, tuple(range(50))), rich_step(1, (0, 1, 2, 99)), rich_step(2, ())))
    assert load_trajectory(dump_trajectory(given)) == given


def test_a_line_grows_with_the_episode_not_with_its_square():
    def size(length):
        steps, prompt = [], tuple(range(1000))
        for index in range(length):
            steps.append(rich_step(index, prompt))
            prompt = (*prompt, 7, 8, *range(20))
        return len(dump_trajectory(dataclasses.replace(trajectory(1), steps=tuple(steps))))

    assert size(80) < 2.2 * size(40)
    assert len(dump_trajectory(rich()).splitlines()) == 1


def test_memory_comes_back_as_tensor():
    torch = pytest.importorskip("torch")
    memory = Memory(states=torch.tensor([[1.5, -2.0]], dtype=torch.bfloat16), ids=("card",))
    steps = tuple(dataclasses.replace(step, conditioning=Conditioning(messages=(), memory=memory)) for step in rich().steps)
    found = load_trajectory(dump_trajectory(dataclasses.replace(rich(), steps=steps)))
    first, second = (step.conditioning.memory for step in found.steps)
    assert first is second
    assert first.ids == ("card",)
    assert torch.equal(first.states, memory.states.float())


def test_growing_conversation_is_counted_once():
    assert tokens(rich()) == (50 + 2, 4)
    result = episode_result(rich(), "eval/2/toy/x#2")
    assert (result.tokens_in, result.tokens_out, result.length, result.truncated, result.task) == (52, 4, 2, True, task(1).id)
    assert evaluated(result.phase) == (2, "toy/x#2")
    assert evaluated("train/0/0") is None


def test_episode_that_died_scores_nothing():
    result = episode_result(dataclasses.replace(trajectory(0), score=0.5, error="gone"), "train/0/0")
    assert (result.score, result.success, result.error) == (0.0, False, "gone")


PREFIXES = [("", "", 0), ("abc", "abcd", 3), ("abcd", "abxd", 2), ("x", "y", 0), ("abc" * 99, "abc" * 98 + "abx", 296)]


@pytest.mark.parametrize(("left", "right", "length"), PREFIXES)
def test_shared_prefix(left, right, length):
    assert shared_prefix(tuple(left), tuple(right)) == length


def test_state_of_json_values_comes_back(tmp_path):
    state = {"count": 3, "by_id": {"a": [1, 2.5, None]}, "ints": {0: "x", 1: {"y": True}}}
    save_state(tmp_path / "deep" / "part", state)
    assert load_state(tmp_path / "deep" / "part") == state
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["part.json"]


def test_state_with_arrays_comes_back(tmp_path):
    save_state(tmp_path / "part", {"a": np.arange(3, dtype=np.int16), "n": np.float64(0.5), "rest": "x"})
    found = load_state(tmp_path / "part")
    assert found["a"].dtype == np.int16
    assert found["a"].tolist() == [0, 1, 2]
    assert (found["n"], found["rest"]) == (0.5, "x")


def test_state_with_tensors_comes_back_bit_for_bit(tmp_path):
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.randn(3, 2, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16))
    optimizer = torch.optim.AdamW([weight], lr=0.1)
    weight.sum().backward()
    optimizer.step()
    save_state(tmp_path / "part", {"weight": weight, "optimizer": optimizer.state_dict(), "array": np.ones(2)})
    found = load_state(tmp_path / "part")
    assert torch.equal(found["weight"], weight.detach())
    assert isinstance(found["array"], np.ndarray)
    again = torch.optim.AdamW([torch.nn.Parameter(weight.detach().clone())], lr=0.5)
    again.load_state_dict(found["optimizer"])
    assert again.param_groups[0]["lr"] == 0.1
    assert torch.equal(again.state_dict()["state"][0]["exp_avg"], optimizer.state_dict()["state"][0]["exp_avg"])


def test_missing_state_is_none_and_removed_state_is_missing(tmp_path):
    assert load_state(tmp_path / "part") is None
    save_state(tmp_path / "part", {"a": 1})
    remove_state(tmp_path / "part")
    assert load_state(tmp_path / "part") is None


def test_no_pickle_is_ever_written(tmp_path):
    with pytest.raises(TypeError):
        save_state(tmp_path / "part", {"a": object()})
    assert list(tmp_path.iterdir()) == []
    assert json.loads(dump_trajectory(rich()))["id"] == rich().id
