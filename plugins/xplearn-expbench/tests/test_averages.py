from __future__ import annotations

import argparse

import pytest
from xplearn_expbench.averages import averages, told
from xplearn_expbench.commands import add

from xplearn import Bootstrap, EpisodeResult


def episode(kind, number, score, *, arm="plain", point=0, replica=0, env="expbench.suite", phase=None):
    phase = phase or f"eval/{point}/{env}"
    return EpisodeResult(
        id=f"{phase}/{kind}/{number}/{arm}/{replica}",
        phase=phase,
        env=env,
        task=f"{kind}/{number}",
        kind=kind,
        split="test",
        arm=arm,
        seed=0,
        score=score,
        success=score == 1.0,
        terminated=True,
        truncated=False,
        length=1,
        tokens_in=1,
        tokens_out=1,
        seconds=0.0,
    )


def lines(episodes, point=0, **drawing):
    return {line.name: line for line in averages(episodes, Bootstrap(**drawing))[point]}


def test_questions_count_alike_or_tasks_do():
    found = lines([episode("gsm8k", n, 1.0) for n in range(2)] + [episode("mmlu", n, 0.0) for n in range(6)])
    assert found["all, by questions"].plain == pytest.approx(25.0)
    assert found["all, by tasks"].plain == pytest.approx(50.0)
    assert (found["gsm8k"].plain, found["gsm8k"].questions, found["all, by tasks"].questions) == (100.0, 2, 8)
    assert found["gsm8k"].experience is None


def test_replicas_of_a_question_are_one_question():
    found = lines([episode("gsm8k", 0, 1.0, replica=r) for r in range(3)] + [episode("gsm8k", 1, 0.0)])
    assert (found["gsm8k"].plain, found["gsm8k"].questions) == (50.0, 2)


def test_scenarios_of_several_tasks_have_averages_of_their_own_in_the_catalogues_order():
    episodes = [episode(kind, n, 1.0) for kind in ("rec_movies", "chemistry", "mmlu", "gsm8k") for n in range(2)]
    assert list(lines(episodes)) == [
        "mmlu",
        "gsm8k",
        "chemistry",
        "rec_movies",
        "generic, by questions",
        "generic, by tasks",
        "all, by questions",
        "all, by tasks",
    ]


def test_one_task_has_no_average():
    assert list(lines([episode("gsm8k", 0, 1.0)])) == ["gsm8k"]


def test_the_arms_are_compared_on_the_same_questions():
    plain = [episode("gsm8k", n, float(n % 2)) for n in range(40)]
    better = [episode("gsm8k", n, 1.0, arm="experience") for n in range(30)]
    shown = lines([*plain, *better])["gsm8k"].shown
    assert shown.mean == pytest.approx(50.0)
    assert 0.0 < shown.low < 50.0 < shown.high < 100.0


def test_learning_is_compared_with_what_was_before_it():
    episodes = [episode("gsm8k", n, 0.0) for n in range(8)] + [episode("gsm8k", n, 1.0, point=1) for n in range(8)]
    learned = lines(episodes, 1)["gsm8k"].learned
    assert (learned.mean, learned.low, learned.high) == (100.0, 100.0, 100.0)
    assert lines(episodes, 0)["gsm8k"].learned is None


def test_an_average_difference_weighs_as_the_average_does():
    episodes = [episode("gsm8k", n, 0.0) for n in range(2)] + [episode("mmlu", n, 0.0) for n in range(6)]
    episodes += [episode("gsm8k", n, 1.0, arm="experience") for n in range(2)]
    episodes += [episode("mmlu", n, 0.0, arm="experience") for n in range(6)]
    found = lines(episodes)
    assert found["all, by questions"].shown.mean == pytest.approx(25.0)
    assert found["all, by tasks"].shown.mean == pytest.approx(50.0)


def test_intervals_of_few_questions_are_those_of_the_runs_own_table():
    better = [1.0, 0.5, 0.0, 0.0, 1.0, 0.0]
    episodes = [episode("gsm8k", n, 0.0) for n in range(6)] + [episode("gsm8k", n, s, arm="experience") for n, s in enumerate(better)]
    shown = lines(episodes)["gsm8k"].shown
    own = Bootstrap().difference([100.0 * score for score in better])
    assert (shown.low, shown.high) == pytest.approx((own.low, own.high))
    assert shown.high > 80.0  # the percentile itself is at 75


def test_a_task_of_one_question_leaves_its_averages_without_bounds():
    episodes = [episode("gsm8k", 0, 0.0), *(episode("mmlu", n, n / 2) for n in range(3))]
    episodes += [episode(e.kind, int(e.task[-1]), 1.0, arm="experience") for e in episodes]
    found = lines(episodes)
    assert (found["gsm8k"].shown.low, found["all, by tasks"].shown.low) == (None, None)
    assert found["mmlu"].shown.low < found["mmlu"].shown.mean


def test_an_average_needs_every_task_in_the_arm():
    found = lines([episode("gsm8k", 0, 1.0), episode("mmlu", 0, 1.0), episode("mmlu", 0, 1.0, arm="experience")])
    assert (found["all, by tasks"].experience, found["all, by tasks"].shown) == (None, None)


def test_intervals_follow_neither_the_order_nor_a_seed():
    episodes = [episode("gsm8k", n, n % 3 / 2, arm=arm, point=p) for n in range(30) for arm in ("plain", "experience") for p in (0, 1)]
    episodes = [e if e.arm == "plain" or e.task[-1] in "02468" else episode("gsm8k", int(e.task[6:]), 1.0, arm=e.arm) for e in episodes]
    assert averages(episodes) == averages(episodes[::-1])
    assert lines(episodes, seed=1)["gsm8k"].shown == lines(episodes, seed=0)["gsm8k"].shown
    narrow, wide = (lines(episodes, confidence=c)["gsm8k"].shown for c in (0.6, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_training_and_other_environments_are_left_out():
    other = [episode("boil", 0, 1.0, env="scienceworld.text"), episode("gsm8k", 0, 1.0, phase="train/0/0")]
    assert averages(other) == {}


def test_the_text_names_points_arms_and_differences():
    episodes = [episode("gsm8k", n, 0.25, arm=arm, point=p) for n in range(3) for arm in ("plain", "experience") for p in (0, 1)]
    text = told(averages(episodes))
    assert text.count("gsm8k") == 2
    assert "before learning" in text
    assert "after stage 1" in text
    assert "25.0        25.0  +0.0 [+0.0, +0.0]" in text


@pytest.fixture
def cli():
    """Runs one command line of the plugin."""
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers())

    def run(*words):
        namespace = parser.parse_args(["expbench", *words])
        return namespace.call(namespace)

    return run


def test_a_run_is_averaged_from_its_folder(cli, fakes, tmp_path, capsys):
    import xplearn

    config = {
        "stream": [{"env": {"name": "expbench.suite", "mix": ["gsm8k", "mmlu"]}, "tasks": {"limit": 4}}],
        "policy": {"name": "core.scripted", "lines": ["Answer: A"]},
        "evaluate": {"tasks": {"split": "test", "limit": 12}},
        "run": {"dir": str(tmp_path)},
    }
    folder = xplearn.run(config).folder
    assert cli("averages", str(folder)) == 0
    assert "all, by questions" in capsys.readouterr().out


def test_a_folder_without_questions_of_the_benchmark_is_told(cli, tmp_path):
    import xplearn

    config = {
        "stream": [{"env": "core.counting", "tasks": {"limit": 1}}],
        "policy": {"name": "core.scripted"},
        "run": {"dir": str(tmp_path)},
    }
    folder = xplearn.run(config).folder
    with pytest.raises(xplearn.RecordError, match="xplearn show"):
        cli("averages", str(folder))
    with pytest.raises(xplearn.RecordError):
        cli("averages", str(tmp_path / "nothing"))


def test_origins_tell_licence_source_and_counts(cli, fakes, capsys):
    assert cli("origins", "gsm8k", "gpqa_diamond") == 0
    text = capsys.readouterr().out
    assert "MIT" in text
    assert "7,473" in text
    assert "none" in text.splitlines()[-1]
    assert "train" in text.splitlines()[4]


@pytest.mark.parametrize("words", [["expbench"], ["expbench", "averages"], ["expbench", "origins"]])
def test_each_command_shows_examples_of_itself(words, capsys):
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers())
    with pytest.raises(SystemExit):
        parser.parse_args([*words, "--help"])
    assert f"xplearn {' '.join(words)} " in capsys.readouterr().out.partition("examples:")[2]
