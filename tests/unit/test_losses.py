import pytest

torch = pytest.importorskip("torch")

from xplearn.learning.losses import masked_mean, masked_sum, share  # noqa: E402

VALUES = torch.tensor([[1.0, 2.0, float("nan")], [4.0, float("-inf"), 5.0]])
MASK = torch.tensor([[True, True, False], [True, False, True]])


def test_masked_values_have_no_influence():
    assert masked_sum(VALUES, MASK).item() == 12.0
    assert masked_mean(VALUES, MASK).item() == 3.0


def test_masked_values_have_no_gradient():
    values = VALUES.clone().requires_grad_()
    masked_sum(values, MASK).backward()
    assert values.grad.tolist() == [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]


def test_mean_of_nothing_is_zero():
    assert masked_mean(torch.ones(1, 2), torch.zeros(1, 2, dtype=torch.bool)).item() == 0.0


def test_token_share_averages_over_the_tokens_of_the_whole_batch():
    weight = share("token", tokens=4, trajectories=2)
    assert weight * masked_sum(VALUES, MASK).item() == 3.0


def test_trajectory_share_averages_sums_over_trajectories():
    weight = share("trajectory", tokens=4, trajectories=2)
    assert weight * masked_sum(VALUES, MASK).item() == 6.0


def test_cutting_a_batch_into_passes_does_not_change_the_loss():
    weight = share("token", tokens=4, trajectories=2)
    parts = [weight * masked_sum(VALUES[i : i + 1], MASK[i : i + 1]).item() for i in range(2)]
    assert sum(parts) == pytest.approx(3.0)
