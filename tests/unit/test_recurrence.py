import pytest

pytest.importorskip("torch")

import torch

from xplearn.errors import ConfigError
from xplearn.policies.adapter import Recurrence
from xplearn.record.formats import dump_trajectory, load_trajectory
from xplearn.testing.fakes import ready_policy
from xplearn.types import Conditioning, Query, Sampling, Selection, Step, Task, Trajectory

ACTIONS = ("look", "go to hall", "go to kitchen", "wait")
FREE = Sampling(max_new_tokens=8, temperature=1.0, stop=())
ADMISSIBLE = Sampling(temperature=1.0, choices="admissible")
HOW = pytest.mark.parametrize("sampling", [FREE, ADMISSIBLE], ids=["free", "admissible"])


class Expected(Recurrence):
    """Adds the expected embedding of the token that was drawn."""

    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Parameter(torch.tensor(0.5))

    def think(self, hidden, logits, embeddings):
        return logits.softmax(-1) @ embeddings.float()

    def read(self, embedded, thoughts):
        return embedded + self.gate * thoughts


def thinking():
    policy = ready_policy()
    policy.attach(Expected())
    return policy


def shown(count=4, turns=1):
    talk = [{"role": "user", "content": "You see cups."}, {"role": "assistant", "content": "look"}] * (turns - 1)
    return [Conditioning(messages=(*talk, {"role": "user", "content": f"You see {row} cups."})) for row in range(count)]


@HOW
def test_drawn_and_scored_logprobs_agree(sampling):
    policy, rows = thinking(), shown()
    said = policy.generate(rows, sampling, [0, 1, 2, 3], [ACTIONS] * 4)
    scores = policy.score(rows, said, [ACTIONS] * 4).logprobs.detach()
    for row, completion in enumerate(said):
        assert scores[row, : len(completion.token_ids)].tolist() == pytest.approx(completion.logprobs, abs=1e-4)
        assert completion.thoughts.shape == (len(completion.token_ids), 32)


@HOW
def test_what_could_have_been_drawn_is_read_with_the_thoughts_that_were_carried_on(sampling):
    policy, rows = thinking(), shown()
    said = policy.generate(rows, sampling, [0, 1, 2, 3], [ACTIONS] * 4)
    for told, completion in zip(policy.likely(rows, said, [ACTIONS] * 4, k=None), said, strict=True):
        drawn = told.ids == torch.tensor(completion.token_ids)[:, None]
        assert told.logprobs[drawn].tolist() == pytest.approx(completion.logprobs, abs=1e-4)


def test_thoughts_change_what_is_said_next_and_not_the_first_token():
    bare, policy = ready_policy(), thinking()
    said = bare.generate(shown(), FREE, [0, 1, 2, 3])
    other = policy.generate(shown(), FREE, [0, 1, 2, 3])
    assert [one.token_ids[0] for one in said] == [two.token_ids[0] for two in other]
    assert [one.logprobs[0] for one in said] == pytest.approx([two.logprobs[0] for two in other], abs=1e-4)
    assert [one.logprobs[1] for one in said] != pytest.approx([two.logprobs[1] for two in other], abs=1e-3)


def test_certain_tokens_carry_nothing():
    (said,) = thinking().generate(shown(1), ADMISSIBLE, [0], [("go to hall", "go to kitchen")])
    carried = ~said.thoughts.isnan().any(-1)
    assert carried.sum() == 1


def test_thoughts_keep_their_places_where_actions_begin_alike():
    policy, actions = thinking(), ("go to the hall", "go to the house", "go to the harbour")
    (said,) = policy.generate(shown(1), ADMISSIBLE, [0], [actions])
    assert len(said.thoughts) == len(said.token_ids)
    assert said.thoughts[0].isnan().all()
    scores = policy.score(shown(1), [said], [actions]).logprobs[0].tolist()
    assert scores == pytest.approx(said.logprobs, abs=1e-4)


def test_the_cache_keeps_no_thoughts_for_the_next_turn():
    policy, rows = thinking(), shown(2)
    first = policy.generate(rows, FREE, [0, 1])
    longer = [
        Conditioning(messages=(*row.messages, {"role": "assistant", "content": said.text}, {"role": "user", "content": "And now?"}))
        for row, said in zip(rows, first, strict=True)
    ]
    warm = policy.generate(longer, FREE, [5, 6])
    cold = thinking().generate(longer, FREE, [5, 6])
    assert [one.token_ids for one in warm] == [two.token_ids for two in cold]
    assert warm[0].logprobs == pytest.approx(cold[0].logprobs, abs=1e-4)


@HOW
def test_neighbours_change_nothing(sampling):
    policy, rows = thinking(), shown(6)
    together = policy.generate(rows, sampling, list(range(6)), [ACTIONS] * 6)
    alone = [policy.generate([row], sampling, [key], [ACTIONS])[0] for key, row in enumerate(rows)]
    assert [completion.token_ids for completion in together] == [completion.token_ids for completion in alone]


def test_the_reference_does_not_think():
    policy = thinking()
    said = policy.generate(shown(), FREE, [0, 1, 2, 3])
    with policy.reference(), torch.no_grad():
        silent, drawn = policy.score(shown(), said).logprobs, policy.generate(shown(), FREE, [0, 1, 2, 3])
    with torch.no_grad():
        assert torch.equal(silent, ready_policy().score(shown(), said).logprobs)
    assert all(completion.thoughts is None for completion in drawn)


def test_gradients_reach_the_module_and_the_weights():
    policy = thinking()
    said = policy.generate(shown(), FREE, [0, 1, 2, 3])
    policy.score(shown(), said).logprobs.sum().backward()
    silent = [name for name, value in policy.parameters() if value.grad is None]
    assert not silent
    assert any(name.startswith("sites.0.input") for name, _ in policy.parameters())


def test_thoughts_survive_the_record():
    policy, (row,) = thinking(), shown(1)
    (said,) = policy.generate([row], FREE, [0])
    task = Task(id="t", env="e", split="train", goal="g")
    query = Query(purpose="act", task=task, messages=row.messages)
    how = {"reward": 0.0, "terminated": True, "truncated": False, "valid": True}
    step = Step(query=query, selection=Selection(), conditioning=row, completion=said, action=said.text, **how)
    trajectory = Trajectory(id="t", task=task, steps=(step,), arm="plain", group="g", seed=0, source="rollout")
    back = load_trajectory(dump_trajectory(trajectory)).steps[0]
    assert torch.equal(back.completion.thoughts, said.thoughts)
    assert torch.equal(policy.score([row], [back.completion]).logprobs, policy.score([row], [said]).logprobs)


def test_what_is_saved_is_restored(tmp_path):
    policy, other = thinking(), thinking()
    with torch.no_grad():
        dict(policy.parameters())["sites.0.input.gate"].fill_(0.9)
    policy.save(tmp_path / "p")
    other.load(tmp_path / "p")
    assert dict(other.parameters())["sites.0.input.gate"].item() == pytest.approx(0.9)


def test_a_second_recurrence_is_refused():
    policy = thinking()
    with pytest.raises(ConfigError, match="recurrence is attached already"):
        policy.attach(Expected())
