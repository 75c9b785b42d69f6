from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.paired import paired_difference, scores_by_pairing, task_means
from xplearn.types import EpisodeResult


def result(task, score, *, point=0, arm="plain", replica=0, domain="toy"):
    phase = f"eval/{point}/{domain}"
    return EpisodeResult(
        id=f"{phase}/{task}/{arm}/{replica}", phase=phase, env=domain, task=task, kind="", split="test", arm=arm, seed=0, score=score,
        success=score == 1.0, terminated=True, truncated=False, length=1, tokens_in=0, tokens_out=0, seconds=0.0,
    )  # fmt: skip


def test_difference_pairs_the_same_task_and_replica():
    base = [result("a", 0.0), result("b", 1.0), result("c", 0.5)]
    later = [result("c", 1.0, point=1), result("a", 1.0, point=1), result("only-later", 1.0, point=1), result("b", 1.0, point=1)]
    assert paired_difference(later, base, Bootstrap()).mean == 0.5


def test_difference_has_no_noise_of_task_difficulty():
    tasks = [(f"t{number}", number / 40) for number in range(40)]
    base = [result(task, score / 2) for task, score in tasks]
    later = [result(task, score / 2 + 0.1, point=1) for task, score in tasks]
    found = paired_difference(later, base, Bootstrap())
    assert abs(found.mean - 0.1) < 1e-12
    assert found.high - found.low < 1e-9


def test_replicas_of_a_task_count_once():
    values = scores_by_pairing([result("a", 0.0, replica=0), result("a", 1.0, replica=1), result("b", 1.0)])
    assert task_means(values) == [0.5, 1.0]


def test_order_of_finishing_does_not_matter():
    results = [result(f"t{number}", number % 3 / 2) for number in range(9)]
    assert task_means(scores_by_pairing(results)) == task_means(scores_by_pairing(reversed(results)))


def test_nothing_in_common_has_no_difference():
    assert paired_difference([result("a", 1.0)], [result("b", 1.0)], Bootstrap()) is None
