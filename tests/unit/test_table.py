import io
from dataclasses import replace

import pytest
from rich.console import Console

from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.table import build_table, ending
from xplearn.report.text import COLUMNS, cells, tables
from xplearn.types import EpisodeResult


def result(task, score, *, point=0, arm="plain", domain="toy", error=None, phase=None, kind=""):
    phase = phase or f"eval/{point}/{domain}"
    return EpisodeResult(
        id=f"{phase}/{task}/{arm}/0", phase=phase, env="toy", task=task, kind=kind, split="test", arm=arm, seed=0, score=score,
        success=score == 1.0, terminated=True, truncated=False, length=1, tokens_in=100, tokens_out=10, seconds=2.0, error=error,
    )  # fmt: skip


def run(points=1, domains=("toy",)):
    found = []
    for point in range(points + 1):
        for domain in domains:
            for number, task in enumerate("abcd"):
                plain = number / 4 + point / 8
                found += [
                    result(task, plain, point=point, domain=domain),
                    result(task, plain + 0.1, point=point, arm="experience", domain=domain),
                ]
    return found


def table(results, points=1, learned=True):
    return build_table(results, points=points, learned=learned, bootstrap=Bootstrap(resamples=200))


def test_rows_of_one_stage_are_the_four_of_the_paper():
    rows = table(run()).rows
    assert [row.label for row in rows] == ["Base", "Base+Harness", "Model-only", "Model+Harness"]
    assert [row.score.mean for row in rows] == [37.5, 47.5, 50.0, 60.0]
    assert [row.n for row in rows] == [4, 4, 4, 4]
    assert rows[0].success == 0.0
    assert (rows[0].tokens_in, rows[0].tokens_out, rows[0].seconds) == (100, 10, 2.0)


def test_differences_are_to_base_and_to_the_plain_arm_of_the_same_point():
    base, harness, model, both = table(run()).rows
    assert base.versus_base is None
    assert base.versus_plain is None
    assert abs(harness.versus_base.mean - 10.0) < 1e-9
    assert abs(model.versus_base.mean - 12.5) < 1e-9
    assert model.versus_plain is None
    assert abs(both.versus_base.mean - 22.5) < 1e-9
    assert abs(both.versus_plain.mean - 10.0) < 1e-9


def test_retention_stands_on_the_row_of_the_score_that_it_is_a_part_of():
    base, harness, model, both = table(run()).rows
    assert harness.retention.mean == pytest.approx(100 * 37.5 / 47.5)
    assert both.retention.mean == pytest.approx(100 * 50 / 60)
    assert both.retention.low < both.retention.mean < both.retention.high < 100
    assert base.retention is model.retention is None


def test_retention_pairs_task_and_replica_and_is_undefined_where_the_bank_scores_nothing():
    alone = result("e", 1.0)
    assert table([*run(), alone]).rows[1].retention == table(run()).rows[1].retention
    (_, shown) = table([result("a", 0.5), result("b", 0.5), result("a", 0.0, arm="experience"), result("b", 0.0, arm="experience")]).rows
    assert shown.retention is None
    assert cells(shown)[COLUMNS.index("retention %")] == "–"


def test_domains_that_are_not_alike_widen_no_interval_of_all():
    scores = [
        *((f"a{number}", number % 4 == 0, "easy") for number in range(12)),
        *((f"b{number}", number % 4 > 0, "hard") for number in range(12)),
    ]
    rows = table([result(task, float(score), domain=domain) for task, score, domain in scores]).rows
    easy, hard, both = (row.score for row in rows)
    width = ((easy.high - easy.low) ** 2 + (hard.high - hard.low) ** 2) ** 0.5 / 2
    assert both.high - both.low < 1.02 * width


def test_a_run_of_one_arm_has_no_columns_of_pairs():
    one = drawn(table([result("a", 1.0), result("b", 0.5)]), 200)
    assert "retention" not in one
    assert "vs plain" not in one
    assert "retention %" in drawn(table(run()), 200)


def test_stages_between_are_numbered():
    assert [row.label for row in table(run(2), points=2).rows][2:] == ["stage 1", "stage 1+Harness", "stage 2", "stage 2+Harness"]


def test_without_a_learner_no_row_claims_a_trained_model():
    assert [row.label for row in table(run(), learned=False).rows][2:] == ["stage 1", "stage 1+Harness"]


def test_several_domains_are_also_pooled():
    rows = table(run(domains=("ant", "bee"))).rows
    assert [row.domain for row in rows[:6]] == ["ant", "ant", "bee", "bee", "all", "all"]
    assert [row.n for row in rows[:6]] == [4, 4, 4, 4, 8, 8]
    ordered = build_table(run(domains=("ant", "bee")), points=1, learned=True, bootstrap=Bootstrap(resamples=100), domains=["bee", "ant"])
    assert [row.domain for row in ordered.rows[:6]] == ["bee", "bee", "ant", "ant", "all", "all"]


def test_training_episodes_are_not_in_the_table():
    assert table([*run(), result("a", 1.0, phase="train/0/0")]) == table(run())


def test_order_of_episodes_does_not_change_the_table():
    assert table(run()) == table(list(reversed(run())))


def test_died_episodes_are_counted_and_shown():
    rows = table([result("a", 0.0, error="gone"), result("b", 1.0)]).rows
    assert (rows[0].errors, rows[0].score.mean) == (1, 50.0)
    assert cells(rows[0])[2] == "2 (1 died)"


def test_what_the_task_ended_is_told_from_what_was_cut_off():
    cut = replace(result("a", 0.4), truncated=True, terminated=False)
    found = [cut, result("b", 0.4), replace(result("c", 0.0), truncated=True, error="gone"), result("d", 1.0)]
    assert [ending(episode) for episode in found] == ["out of steps", "failed", "died", "solved"]
    (row,) = table(found).rows
    assert (row.success, row.failed, row.out_of_steps, row.errors) == (25.0, 25.0, 25.0, 1)
    assert cells(row)[COLUMNS.index("out of steps")] == "25.0 %"


def test_endings_that_no_episode_had_have_no_column():
    assert "failed" not in drawn(table([result("a", 1.0)]), 200)
    text = drawn(table([result("a", 1.0), result("b", 0.0)]), 200)
    assert "failed" in text
    assert "out of steps" not in text


def drawn(found, width):
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    for piece in tables(found, console.width):
        console.print(piece)
    return stream.getvalue()


def test_text_shows_intervals_and_signed_differences_and_no_markup():
    text = drawn(table(run(domains=("[red]toy", "other"))), 200)
    assert "[red]toy" in text
    assert "Model+Harness" in text
    assert "+22.5 [+22.5, +22.5]" in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_figure_is_cut_whatever_the_width(width):
    found = table(run())
    text = drawn(found, width)
    assert max(map(len, text.splitlines())) <= width
    for row in found.rows:
        assert all(cell in text for cell in cells(row)[2:])
    assert text.count("Model-only") == {60: 4, 80: 3, 100: 2, 200: 1}[width]


def test_table_reads_well_as_a_string():
    lines = str(table(run())).splitlines()
    assert len(lines) == 5
    assert lines[3].split() == ["Model-only", "toy", "4", "50.0", *lines[3].split()[4:]]
    assert "+12.5 [+12.5, +12.5]" in lines[3]
    assert "83.3 [" in lines[4]


def test_scores_and_tokens_by_kind_are_shown_beside_each_other():
    found = [result("a", 1.0, kind="boil"), result("b", 0.5, kind="boil"), result("c", 0.2, kind="melt")]
    (row,) = table(found).rows
    assert row.kinds == {"boil": 75.0, "melt": 20.0}
    assert row.kind_tokens == {"boil": 110.0, "melt": 110.0}
    figures = [line.split() for line in drawn(table(found), 80).splitlines() if line.split()[:1] == ["Base"]]
    assert figures[-2:] == [["Base", "75.0", "20.0"], ["Base", "110", "110"]]
