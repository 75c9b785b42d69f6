import pytest

pytest.importorskip("torch")

import torch

from xplearn.policies.network import attend


def tensors(heads, groups, tokens, known, device="cpu"):
    generator = torch.Generator().manual_seed(0)
    shapes = [(2, heads, tokens, 8), (2, groups, known, 8), (2, groups, known, 8)]
    return [torch.randn(shape, generator=generator).to(device) for shape in shapes]


def plainly(query, key, value, seen):
    """Attention by its definition."""
    groups = query.shape[1] // key.shape[1]
    scores = query @ key.repeat_interleave(groups, 1).transpose(-1, -2) * 0.5
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    return (weights @ value.repeat_interleave(groups, 1)).transpose(1, 2)


@pytest.mark.parametrize(("heads", "groups"), [(4, 4), (4, 2), (6, 1)])
@pytest.mark.parametrize(("tokens", "known"), [(1, 7), (3, 7), (7, 7)])
def test_attention_with_a_mask_is_attention(heads, groups, tokens, known):
    query, key, value = tensors(heads, groups, tokens, known)
    seen = torch.rand(2, 1, tokens, known, generator=torch.Generator().manual_seed(1)) < 0.5
    seen[..., 0] = True
    result, _ = attend(None, query, key, value, seen, scaling=0.5)
    assert torch.allclose(result, plainly(query, key, value, seen), atol=1e-5)


@pytest.mark.parametrize("groups", [4, 2])
@pytest.mark.parametrize("tokens", [1, 6])
def test_no_mask_means_causal(groups, tokens):
    query, key, value = tensors(4, groups, tokens, tokens)
    result, _ = attend(None, query, key, value, None, scaling=0.5)
    assert torch.allclose(result, plainly(query, key, value, torch.ones(tokens, tokens).tril().bool()), atol=1e-5)


def test_devices_without_masked_group_attention_get_equal_heads():
    query, key, value = tensors(4, 2, 3, 7, device="meta")
    result, _ = attend(None, query, key, value, torch.ones(2, 1, 3, 7, dtype=torch.bool, device="meta"))
    assert result.shape == (2, 3, 4, 8)
