"""The adapter by its formulas: what an implementation must pass (1.8), in order."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from xplearn_expweaver.adapter import LatentAdapter, aligned
from xplearn_expweaver.gate import Added, Fixed, Gated
from xplearn_expweaver.latent import LatentConditioner
from xplearn_expweaver.pooling import CrossAttention, Mean, Similarity

from xplearn.testing.contracts import AdapterContract

WIDTH = 32


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def built(seed=0, **fields):
    return LatentConditioner(**fields).adapter(WIDTH, seed)


class TestLatentAdapter(AdapterContract):
    start = 0.15  # at first r and i are about 1/2 and rho lies in [0.98, 0.999]: 2 to 7 in 100 of the length are experience

    @pytest.fixture(params=[{}, {"query_mode": "u_plus_h", "value_proj": True}], ids=["faithful", "with the state and values"])
    def make(self, request):
        return lambda: built(**request.param)


class TestAblations(AdapterContract):
    start = 1.5  # without a gate half of what comes out is experience

    @pytest.fixture(
        params=[{"pooling": "mean"}, {"pooling": "similarity"}, {"gate": "none"}, {"gate": "fixed", "fixed_a": 0.9}],
        ids=["mean", "similarity", "no gate", "fixed"],
    )
    def make(self, request):
        return lambda: built(**request.param)


def gate(*, rho=(0.98, 0.999), retain=None, take=None, width=WIDTH):
    """A gate whose r and i are given numbers, where they are given."""
    torch.manual_seed(3)
    made = Gated(width, r_min=rho[0], r_max=rho[1], c=8.0)
    for layer, value in ((made.retain, retain), (made.input, take)):
        if value is not None:
            torch.nn.init.zeros_(layer.weight)
            torch.nn.init.constant_(layer.bias, torch.logit(torch.tensor(value, dtype=torch.float64)).item())
    return made.requires_grad_(False)


def rho_of(made):
    return torch.exp(-made.c * torch.nn.functional.softplus(-made.lambda_.double()))


def test_rho_is_uniform_in_its_range():
    rho = rho_of(gate(rho=(0.9, 0.99), width=4096))
    assert 0.9 <= rho.min() < 0.901
    assert 0.989 < rho.max() <= 0.99
    assert rho.mean().item() == pytest.approx(0.945, abs=2e-3)


@pytest.mark.parametrize("retain", [0.05, 0.5, 0.95])
def test_the_mix_is_rho_to_the_power_of_the_retain_gate(retain):
    made, hidden = gate(retain=retain), drawn(7, WIDTH)
    mixed = made(hidden, torch.zeros_like(hidden))
    assert torch.allclose((mixed / hidden).double(), rho_of(made).pow(retain).expand_as(mixed), atol=1e-5, rtol=0)


def test_a_full_retain_gate_leaves_the_state_but_for_a_ten_thousandth():
    made, hidden = gate(retain=1e-12, take=0.5), drawn(7, WIDTH)
    change = made(hidden, aligned(drawn(7, WIDTH, seed=1), hidden)) - hidden
    assert 0 < change.norm(dim=-1).max() <= 1.01e-4 * hidden.norm(dim=-1).max()


def test_the_experience_is_as_long_as_the_state():
    hidden = drawn(7, WIDTH)
    experience = 40.0 * drawn(7, WIDTH, seed=1)
    assert torch.allclose(aligned(experience, hidden).norm(dim=-1), hidden.norm(dim=-1), rtol=1e-5)
    assert torch.equal(aligned(torch.zeros(1, WIDTH), hidden[:1]), torch.zeros(1, WIDTH))


def test_the_length_is_kept_where_experience_is_orthogonal_and_let_in():
    made, hidden = gate(rho=(0.9, 0.9), retain=0.7, take=1 - 1e-9), drawn(7, WIDTH)
    other = drawn(7, WIDTH, seed=1)
    other = other - hidden * (other * hidden).sum(-1, keepdim=True) / hidden.square().sum(-1, keepdim=True)
    mixed = made(hidden, aligned(other, hidden))
    assert torch.allclose(mixed.norm(dim=-1), hidden.norm(dim=-1), rtol=1e-5)
    assert not torch.allclose(mixed, hidden, atol=0.1)


@pytest.mark.parametrize("rho", [0.90, 0.95, 0.98, 0.99, 0.999])
def test_the_effective_weight_of_experience_is_that_of_the_table(rho):
    table = {0.90: 0.158, 0.95: 0.112, 0.98: 0.071, 0.99: 0.050, 0.999: 0.016}
    made, hidden = gate(rho=(rho, rho), retain=0.5, take=0.5), drawn(1, WIDTH)
    weight = (made(hidden, hidden) - made(hidden, torch.zeros_like(hidden))) / hidden
    assert weight.mean().item() == pytest.approx(table[rho], abs=6e-4)


@pytest.mark.parametrize("mode", ["u", "u_plus_h"])
def test_attention_is_the_paper_s_written_out(mode):
    torch.manual_seed(5)
    pool = CrossAttention(WIDTH, attention_width=8, query_mode=mode, value_proj=True).requires_grad_(False)
    for layer in pool.values:
        layer.weight += 0.1 * torch.randn(WIDTH, WIDTH)
    hidden, states, mask = drawn(6, WIDTH), drawn(6, 4, WIDTH, seed=1), torch.ones(6, 4, dtype=torch.bool)
    mask[0, 2:] = False
    for at in range(6):
        query = (pool.u if mode == "u" else pool.u + hidden[at]) @ pool.query.weight.T
        rows = states[at][mask[at]]
        alpha = torch.softmax(query @ (rows @ pool.key.weight.T).T / 8**0.5, -1)
        value, out = (layer.weight for layer in pool.values)
        expected = alpha @ (rows @ value.T) @ out.T
        assert torch.allclose(pool(hidden, states, mask)[at], expected, atol=1e-5)


def test_values_start_inside_the_span_of_experience():
    states, mask = drawn(2, 3, WIDTH), torch.ones(2, 3, dtype=torch.bool)
    torch.manual_seed(1)
    bare = CrossAttention(WIDTH)
    torch.manual_seed(1)
    assert torch.equal(CrossAttention(WIDTH, value_proj=True)(states[:, 0], states, mask), bare(states[:, 0], states, mask))


def test_large_models_attend_in_256_numbers_and_small_ones_in_their_own():
    assert CrossAttention(576).query.weight.shape == (576, 576)
    assert CrossAttention(2048).query.weight.shape == (256, 2048)
    assert CrossAttention(2048, attention_width=64).key.weight.shape == (64, 2048)


def test_the_poolings_of_the_ablations():
    hidden, states = drawn(2, WIDTH), drawn(2, 3, WIDTH, seed=1)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    assert torch.allclose(Mean()(hidden, states, mask)[0], states[0].mean(0), atol=1e-6)
    assert torch.allclose(Mean()(hidden, states, mask)[1], states[1, 0], atol=1e-6)
    cosines = torch.nn.functional.cosine_similarity(hidden[0], states[0], dim=-1)
    assert torch.allclose(Similarity()(hidden, states, mask)[0], torch.softmax(cosines / 0.05, -1) @ states[0], atol=1e-5)
    assert torch.allclose(Similarity()(hidden, states, mask)[1], states[1, 0], atol=1e-6)


def test_the_gates_of_the_ablations():
    hidden, experience = drawn(2, WIDTH), drawn(2, WIDTH, seed=1)
    assert torch.equal(Added()(hidden, experience), hidden + experience)
    assert torch.allclose(Fixed(0.8)(hidden, experience), 0.8 * hidden + 0.6 * experience, atol=1e-6)


def test_what_is_left_empty_never_counts():
    made, hidden = built(), drawn(2, WIDTH)
    states, mask = drawn(2, 3, WIDTH, seed=1), torch.tensor([[True, True, False], [True, False, False]])
    garbage = torch.where(mask[..., None], states, 1e6 * drawn(2, 3, WIDTH, seed=2))
    assert torch.equal(made.read(hidden, states, mask), made.read(hidden, garbage, mask))
    assert torch.allclose(made.read(hidden[1:], states[1:, :1], mask[1:, :1]), made.read(hidden, states, mask)[1:], atol=1e-6)
    assert made.read(hidden[:0], states[:0], mask[:0]).shape == (0, WIDTH)


def test_the_first_weights_depend_on_the_seed_alone():
    torch.manual_seed(11)
    before = torch.get_rng_state()
    one, other = built(seed=4), built(seed=4)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert not torch.equal(one.pooling.u, built(seed=5).pooling.u)


def test_an_adapter_has_the_parameters_that_are_promised():
    count = sum(value.numel() for value in built().parameters())
    assert count == 2 * WIDTH**2 + 2 * (WIDTH**2 + WIDTH) + 2 * WIDTH  # W_Q, W_K; W_r, W_i and biases; u, Lambda


def test_retrieving_once_is_told_to_the_policy():
    assert LatentAdapter(k=1, pooling=Mean(), gate=Added()).every == "token"
    assert built(every="completion").every == "completion"
