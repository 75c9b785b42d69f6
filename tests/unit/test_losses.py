import pytest

torch = pytest.importorskip("torch")

from xplearn.learning.losses import masked_mean, masked_sum, reverse_kl, reverse_kl_sampled, share  # noqa: E402

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


# reverse KL on an enumerated vocabulary: a policy of two tokens, the second given the first

V = 7


def logits(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def student():
    """Logits of the first token, and of the second one after each first."""
    return [logits(1, V).requires_grad_(), logits(2, V, V).requires_grad_()]


@pytest.fixture
def teacher():
    return [logits(3, V).log_softmax(-1), logits(4, V, V).log_softmax(-1)]


def gradients(value, parameters):
    return torch.autograd.grad(value, parameters, allow_unused=True, retain_graph=True)


def close(found, expected):
    return all(torch.allclose(one, other, atol=1e-6) for one, other in zip(found, expected, strict=True))


def sampled_in_expectation(student, teacher):
    """The sampled loss of every sequence, weighed by how often the student draws it."""
    (first, second), total = [part.log_softmax(-1) for part in student], 0.0
    for a in range(V):
        for b in range(V):
            drawn = torch.stack([first[a], second[a, b]])
            often = drawn.sum().exp().detach()
            total = total + often * reverse_kl_sampled(drawn, torch.stack([teacher[0][a], teacher[1][a, b]])).sum()
    return total


def test_the_sampled_form_has_the_gradient_of_the_exact_kl_of_a_token(student, teacher):
    now = student[0].log_softmax(-1)
    sampled = (now.exp().detach() * reverse_kl_sampled(now, teacher[0])).sum()
    exact = (now.exp() * (now - teacher[0])).sum()
    assert close(gradients(sampled, student[:1]), gradients(exact, student[:1]))
    assert sampled.item() != pytest.approx(exact.item(), abs=0.1)


def test_over_sequences_it_is_the_gradient_of_each_tokens_kl_with_prefixes_as_drawn(student, teacher):
    first, second = (part.log_softmax(-1) for part in student)
    later = (second.exp() * (second - teacher[1])).sum(-1)
    expected = (first.exp() * (first - teacher[0])).sum() + (first.exp().detach() * later).sum()
    found = gradients(sampled_in_expectation(student, teacher), student)
    assert close(found, gradients(expected, student))
    assert found[1].abs().max() > 1e-3


def test_the_kl_of_whole_sequences_has_besides_what_the_prefix_does_to_later_tokens(student, teacher):
    first, second = (part.log_softmax(-1) for part in student)
    joint, taught = first[:, None] + second, teacher[0][:, None] + teacher[1]
    whole = gradients((joint.exp() * (joint - taught)).sum(), student)
    later = (second.exp() * (second - teacher[1])).sum(-1).detach()
    (through_prefix,) = gradients((first.exp() * later).sum(), student[:1])
    found = gradients(sampled_in_expectation(student, teacher), student)
    assert close([found[0] + through_prefix, found[1]], whole)
    assert through_prefix.abs().max() > 1e-2


def test_the_exact_form_has_the_gradient_of_the_sampled_one_in_expectation(student, teacher):
    first, second = (part.log_softmax(-1) for part in student)
    tokens = reverse_kl(torch.cat([first[None], second]), torch.cat([teacher[0][None], teacher[1]]), renormalise=False)
    often = torch.cat([torch.ones(1), first.exp().detach()])
    assert close(gradients((often * tokens).sum(), student), gradients(sampled_in_expectation(student, teacher), student))


@pytest.mark.parametrize("renormalise", [True, False])
def test_the_gradient_of_the_exact_form_is_that_of_finite_differences(renormalise):
    values, taught = logits(5, 3, V).log_softmax(-1).float(), logits(6, 3, V).log_softmax(-1)
    taught[0, 4:] = float("-inf")
    leaf = values.clone().requires_grad_()
    reverse_kl(leaf, taught, renormalise=renormalise).sum().backward()
    for row, column in ((0, 1), (0, 5), (2, 6)):
        step = torch.zeros_like(values)
        step[row, column] = 1e-2
        up, down = (reverse_kl(values + sign * step, taught, renormalise=renormalise).sum() for sign in (1, -1))
        assert leaf.grad[row, column].item() == pytest.approx(float(up - down) / 2e-2, abs=2e-4)


def test_renormalised_it_is_the_kl_of_the_two_distributions_cut_to_the_support(student, teacher):
    now, ids = student[0].detach().log_softmax(-1), torch.tensor([4, 1, 6])
    p, q = (values[ids].exp() / values[ids].exp().sum() for values in (now, teacher[0]))
    found = reverse_kl(now[ids][None], teacher[0][ids][None], renormalise=True)
    assert found.item() == pytest.approx(float((p * (p / q).log()).sum()), abs=1e-6)
    assert found.dtype == torch.float32


@pytest.mark.parametrize("renormalise", [True, False])
def test_padding_of_a_support_has_no_influence(renormalise):
    never = float("-inf")
    full = torch.tensor([[0.5, 0.3]]).log()
    taught = torch.tensor([[0.2, 0.6]]).log()
    expected = reverse_kl(full, taught, renormalise=renormalise).item()
    padded = torch.cat([full, torch.tensor([[-1.0, never]])], dim=1).requires_grad_()
    found = reverse_kl(padded, torch.cat([taught, torch.tensor([[never, never]])], dim=1), renormalise=renormalise)
    found.sum().backward()
    assert found.item() == pytest.approx(expected)
    assert padded.grad.isfinite().all()
    assert padded.grad[0, 2:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("renormalise", [True, False])
def test_a_token_that_was_the_only_choice_adds_nothing(renormalise):
    never = float("-inf")
    student = torch.tensor([[0.0, never], [never, never]]).requires_grad_()
    found = reverse_kl(student, torch.tensor([[0.0, never], [never, never]]), renormalise=renormalise)
    found.sum().backward()
    assert found.tolist() == [0.0, 0.0]
    assert student.grad.isfinite().all()


def test_no_gradient_reaches_the_teacher(student, teacher):
    taught = teacher[0].clone().requires_grad_()
    now = student[0].log_softmax(-1)
    for value in (reverse_kl_sampled(now, taught), *(reverse_kl(now[None], taught[None], renormalise=on) for on in (True, False))):
        assert gradients(value.sum(), [taught, student[0]])[0] is None


def test_a_student_that_equals_its_teacher_has_no_divergence_and_no_gradient(student):
    now = student[0].log_softmax(-1)
    value = reverse_kl(now[None], now.detach()[None], renormalise=False)
    (gradient,) = gradients(value.sum(), student[:1])
    assert value.item() == pytest.approx(0.0, abs=1e-6)
    assert gradient.abs().max() < 1e-6
