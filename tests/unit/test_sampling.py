import numpy as np
import pytest

from xplearn.policies.sampling import draw, gumbel, nucleus, uniforms


def normalised(logits):
    return logits - np.logaddexp.reduce(logits)


def random_logprobs(seed, size=500, spread=6.0):
    return normalised(np.random.default_rng(seed).normal(scale=spread, size=size))


def sample(logprobs, key, index=0, top_p=1.0, tokens=None):
    return draw(logprobs, greedy=False, top_p=top_p, key=key, index=index, tokens=tokens)


def test_greedy_takes_the_smaller_id_at_a_tie():
    assert draw(np.log([0.2, 0.4, 0.4]), greedy=True, top_p=1.0, key=1, index=0) == (1, pytest.approx(np.log(0.4)))


@pytest.mark.parametrize("spread", [0.1, 3.0, 30.0])
def test_shortcut_gives_the_largest_of_all_perturbed_logprobs(spread):
    for seed in range(50):
        logprobs = random_logprobs(seed, spread=spread)
        expected = int(np.argmax(logprobs + gumbel(uniforms(seed, 3, len(logprobs)))))
        assert sample(logprobs, seed, 3) == (expected, pytest.approx(logprobs[expected]))


def test_draws_follow_the_distribution():
    probabilities = np.array([0.5, 0.25, 0.15, 0.1])
    drawn = np.bincount([sample(np.log(probabilities), key)[0] for key in range(4000)], minlength=4) / 4000
    assert np.abs(drawn - probabilities).max() < 0.03


def test_a_draw_depends_on_key_and_index_alone():
    logprobs = random_logprobs(0, spread=0.5)
    once = [sample(logprobs, key, index) for key in range(5) for index in range(5)]
    again = [sample(logprobs, key, index) for key in reversed(range(5)) for index in reversed(range(5))]
    assert once == again[::-1]
    assert len({token for token, _ in once}) > 10


def test_the_stream_is_part_of_the_recorded_format():
    assert uniforms(7, 0, 3).tolist() == [0.4049295111326501, 0.08312087145168334, 0.42858580651227385]


def test_restricted_draw_is_that_of_the_full_vocabulary_without_the_others():
    full = random_logprobs(3, size=100, spread=1.0)
    tokens = np.array([4, 17, 60, 99])
    for key in range(30):
        blocked = np.full(100, -np.inf)
        blocked[tokens] = normalised(full[tokens])
        expected = int(np.argmax(blocked + gumbel(uniforms(key, 0, 100))))
        token, logprob = sample(normalised(full[tokens]), key, tokens=tokens)
        assert (token, logprob) == (expected, pytest.approx(blocked[expected]))


def test_nucleus_is_the_smallest_likely_set():
    logprobs = np.log([0.1, 0.4, 0.3, 0.2])
    assert nucleus(logprobs, 0.4).tolist() == [1]
    assert nucleus(logprobs, 0.41).tolist() == [1, 2]
    assert nucleus(logprobs, 0.9).tolist() == [1, 2, 3]
    assert nucleus(logprobs, 0.95).tolist() == [0, 1, 2, 3]


def test_nucleus_gives_ties_to_the_smaller_id():
    assert nucleus(np.log([0.25, 0.25, 0.25, 0.25]), 0.5).tolist() == [0, 1]


def test_nucleus_of_many_entries_matches_the_plain_definition():
    for seed in range(20):
        logprobs = random_logprobs(seed, spread=2.0)
        order = np.argsort(-logprobs, kind="stable")
        count = int(np.searchsorted(np.cumsum(np.exp(logprobs[order])), 0.9)) + 1
        assert nucleus(logprobs, 0.9).tolist() == sorted(order[:count].tolist())


def test_logprob_under_top_p_is_that_of_the_kept_distribution():
    logprobs = np.log([0.1, 0.4, 0.3, 0.2])
    drawn = {sample(logprobs, key, top_p=0.7) for key in range(50)}
    assert {token for token, _ in drawn} == {1, 2}
    for token, logprob in drawn:
        assert logprob == pytest.approx(np.log({1: 0.4, 2: 0.3}[token] / 0.7))
