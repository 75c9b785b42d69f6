import pytest

pytest.importorskip("torch")

import torch

from xplearn.errors import ConfigError
from xplearn.policies.adapter import MemoryBatch, RetrievingAdapter
from xplearn.rollout.compact import compact
from xplearn.testing.contracts import AdapterContract
from xplearn.testing.fakes import GatedRead, ready_policy
from xplearn.types import Completion, Conditioning, Experience, Memory, Query, Sampling, Selection, Step, Task

WIDTH, ROWS = 32, 40
ACTIONS = ("look", "go to hall", "go to kitchen", "wait")
FREE = Sampling(max_new_tokens=8, temperature=1.0, stop=())
ADMISSIBLE = Sampling(temperature=1.0, choices="admissible")
BANK = torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(1))
IDS = tuple(f"e{row}" for row in range(ROWS))


class Nearest(RetrievingAdapter):
    """Adds the mean of the k rows with the largest products."""

    def __init__(self, k=2, every="token", gate=0.5):
        super().__init__()
        self.k, self.every, self.gate = k, every, torch.nn.Parameter(torch.tensor(gate))

    def retrieve(self, hidden, bank, barred):
        scores = hidden @ bank.T
        for row, rows in enumerate(barred):
            scores[row, :, list(rows)] = float("-inf")
        best = scores.topk(min(self.k, len(bank)), dim=-1)
        return best.indices.masked_fill(best.values == float("-inf"), -1)

    def read(self, hidden, states, mask):
        return hidden + self.gate * (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


class TestContract(AdapterContract):
    @pytest.fixture
    def make(self):
        return lambda: Nearest(gate=1e-3)


def shown(count=4, barred=lambda row: (row,), bank=BANK):
    """Conversations over one shared bank; the second one has no memory."""
    held = [Memory(states=bank, ids=IDS[: len(bank)], barred=barred(row)) if row != 1 else None for row in range(count)]
    said = [({"role": "user", "content": f"You see {row} cups."},) for row in range(count)]
    return [Conditioning(messages=messages, memory=memory) for messages, memory in zip(said, held, strict=True)]


def policy_with(**settings):
    policy = ready_policy()
    policy.attach(Nearest(**settings))
    return policy


@pytest.mark.parametrize("every", ["token", "completion"])
@pytest.mark.parametrize("sampling", [FREE, ADMISSIBLE], ids=["free", "admissible"])
def test_drawn_and_scored_logprobs_agree(every, sampling):
    policy, rows, actions = policy_with(every=every), shown(), [ACTIONS] * 4
    said = policy.generate(rows, sampling, [0, 1, 2, 3], actions)
    scores = policy.score(rows, said, actions).logprobs.detach()
    for row, completion in enumerate(said):
        assert scores[row, : len(completion.token_ids)].tolist() == pytest.approx(completion.logprobs, abs=1e-4)


@pytest.mark.parametrize("every", ["token", "completion"])
@pytest.mark.parametrize("sampling", [FREE, ADMISSIBLE], ids=["free", "admissible"])
def test_what_could_have_been_drawn_is_read_with_what_was_retrieved(every, sampling):
    policy, rows, actions = policy_with(every=every), shown(), [ACTIONS] * 4
    said = policy.generate(rows, sampling, [0, 1, 2, 3], actions)
    asked = [torch.tensor(completion.token_ids)[:, None] for completion in said]
    support = policy.score(rows, said, actions, support=asked).support.detach()
    for row, (told, completion) in enumerate(zip(policy.likely(rows, said, actions, k=None), said, strict=True)):
        assert told.logprobs[told.ids == asked[row]].tolist() == pytest.approx(completion.logprobs, abs=1e-4)
        assert support[row, : len(asked[row]), 0].tolist() == pytest.approx(completion.logprobs, abs=1e-4)


def test_scoring_reads_what_was_recorded_even_where_it_would_now_retrieve_otherwise():
    policy, rows = policy_with(), shown()
    said = policy.generate(rows, FREE, [0, 1, 2, 3])
    other = [Completion(**{**vars_of(completion), "retrieved": ((5, 6),) * len(completion.token_ids)}) for completion in said]
    before, after = (policy.score(rows, which).logprobs.detach() for which in (said, other))
    assert not torch.allclose(before[0], after[0], atol=1e-3)
    assert torch.equal(before[1], after[1])


def vars_of(value):
    return {name: getattr(value, name) for name in value.__slots__}


def test_each_token_keeps_its_own_rows_and_never_a_barred_one():
    policy = policy_with(k=3)
    said = policy.generate(shown(), FREE, [0, 1, 2, 3])
    for row, completion in enumerate(said):
        if row == 1:
            assert completion.retrieved is None
            continue
        assert [len(token) for token in completion.retrieved] == [3] * len(completion.token_ids)
        assert all(row not in token for token in completion.retrieved)
    assert any(len(set(completion.retrieved)) > 1 for completion in said if completion.retrieved)


def test_once_for_a_completion_keeps_to_the_first_rows():
    said = policy_with(every="completion").generate(shown(), FREE, [0, 1, 2, 3])
    assert all(len(set(completion.retrieved)) == 1 for completion in said if completion.retrieved)


def test_certain_tokens_retrieve_nothing():
    (said,) = policy_with().generate(shown(1), ADMISSIBLE, [0], [("go to hall", "go to kitchen")])
    assert len(said.retrieved) == len(said.token_ids)
    assert [bool(token) for token in said.retrieved].count(True) == 1


def test_neighbours_change_nothing():
    policy, rows = policy_with(), shown(8)
    together = policy.generate(rows, FREE, list(range(8)))
    alone = [policy.generate([row], FREE, [key])[0] for key, row in enumerate(rows)]
    assert [completion.retrieved for completion in together] == [completion.retrieved for completion in alone]
    assert [completion.token_ids for completion in together] == [completion.token_ids for completion in alone]


def test_a_row_that_may_read_nothing_is_bit_identical_to_one_without_memory():
    policy, bare = policy_with(), ready_policy()
    rows = shown(3, barred=lambda row: tuple(range(ROWS)) if row == 0 else ())
    said = bare.transcribe(rows, ["look", "wait", "go to hall"])
    with torch.no_grad():
        read, plain = policy.score(rows, said).logprobs, bare.score(shown(3), said).logprobs
    assert torch.equal(read[0], plain[0])
    assert not torch.allclose(read[2], plain[2], atol=1e-4)


def test_the_reference_reads_no_memory():
    policy, rows = policy_with(), shown()
    said = policy.generate(rows, FREE, [0, 1, 2, 3])
    with policy.reference(), torch.no_grad():
        silent, drawn = policy.score(rows, said).logprobs, policy.generate(rows, FREE, [0, 1, 2, 3])
    with torch.no_grad():
        bare = ready_policy().score(rows, said).logprobs
    assert torch.equal(silent, bare)
    assert all(completion.retrieved is None for completion in drawn)


def test_a_demonstration_retrieves_what_drawing_it_would_have():
    policy, rows = policy_with(), shown()
    said = policy.generate(rows, FREE, [0, 1, 2, 3])
    bare = [Completion(**{**vars_of(completion), "retrieved": None}) for completion in said]
    assert [found.retrieved for found in policy.retrieve(rows, bare)] == [completion.retrieved for completion in said]


def test_a_compact_step_holds_only_what_was_read_and_scores_the_same():
    policy, (row,) = policy_with(), shown(1)
    (said,) = policy.generate([row], FREE, [0])
    task = Task(id="t", env="e", split="train", goal="g")
    experiences = tuple(Experience(id=id, kind="summary", key="", content="") for id in IDS)
    step = Step(
        query=Query(purpose="act", task=task, messages=row.messages),
        selection=Selection(experiences=experiences, scores=tuple(map(float, range(ROWS)))),
        conditioning=row,
        completion=said,
        action=said.text,
        reward=0.0,
        terminated=True,
        truncated=False,
        valid=True,
    )
    kept = compact(step)
    used = {IDS[at] for token in said.retrieved for at in token}
    assert set(kept.conditioning.memory.ids) == used == {experience.id for experience in kept.selection.experiences}
    assert kept.selection.scores == tuple(float(id[1:]) for id in IDS if id in used)
    with torch.no_grad():
        before, after = policy.score([row], [said]).logprobs, policy.score([kept.conditioning], [kept.completion]).logprobs
    assert torch.equal(before, after)


def test_a_step_without_a_record_stays_whole():
    policy = ready_policy()
    policy.attach(GatedRead(WIDTH))
    (row,) = shown(1)
    (said,) = policy.generate([row], FREE, [0])
    assert said.retrieved is None


def test_no_gradient_reaches_the_bank():
    policy = policy_with()
    bank = BANK.clone().requires_grad_()
    rows = shown(bank=bank)
    said = policy.generate(rows, FREE, [0, 1, 2, 3])
    policy.score(
        [Conditioning(messages=row.messages, memory=row.memory and detached(row.memory)) for row in rows], said
    ).logprobs.sum().backward()
    assert bank.grad is None
    assert all(value.grad is not None for _, value in policy.parameters())


def detached(memory):
    return Memory(states=memory.states.detach(), ids=memory.ids, barred=memory.barred)


@pytest.mark.parametrize("second", [Nearest, lambda: GatedRead(WIDTH)])
def test_another_reader_of_memory_beside_one_that_retrieves_is_refused(second):
    policy = policy_with()
    with pytest.raises(ConfigError, match="attach one of them"):
        policy.attach(second())
    other = ready_policy()
    other.attach(GatedRead(WIDTH))
    with pytest.raises(ConfigError, match="attach one of them"):
        other.attach(Nearest())


def test_a_bank_is_shared_by_identity_and_padded_where_it_is_not():
    one, other = Memory(states=BANK, ids=IDS), Memory(states=BANK[:3].clone(), ids=IDS[:3], barred=(1,))
    batch = MemoryBatch.of([one, None, other, one], torch.device("cpu"))
    assert [(rows, len(bank)) for rows, bank, _ in batch.unrecorded()] == [([0, 2], ROWS), ([1], 3)]
    assert batch.mask[1].tolist() == [True, False, True] + [False] * (ROWS - 3)
