import dataclasses
import re

import pytest

from tests.unit import pieces
from xplearn.metrics.bootstrap import Interval
from xplearn.report import figures
from xplearn.report.verdict import decided, leading, verdict


def signs(figure):
    """Stars, signs of a tie, bands behind names, figures in bold."""
    svg = figure.svg
    return svg.count("k-star"), svg.count("≈"), svg.count('class="k-band"'), len(re.findall(r'<text class="k-strong"[^>]*end"', svg))


def test_a_best_is_named_with_how_many_are_not_told_from_it():
    board = pieces.board(["hamo", "edge", "grpo"])
    tied = sum(standing.tied for standing in board.standings) - 1
    assert decided(board)
    assert verdict(board) == f"hamo+Harness is best with 66.0; {tied} more {'is' if tied == 1 else 'are'} not told from it."


def test_all_that_share_the_highest_mean_are_best_whatever_their_names():
    board = pieces.board(["hamo", "edge", "grpo"], arms=False)
    first, second, third = board.standings
    nearly = dataclasses.replace(first.mean, mean=first.mean.mean + 1e-12)
    alike = dataclasses.replace(board, standings=(first, dataclasses.replace(second, mean=nearly, tied=True), third))
    assert [standing.contender.name for standing in leading(alike)] == [first.contender.name, second.contender.name]
    assert verdict(alike).startswith(f"{first.contender.name} and {second.contender.name} are best with ")
    assert signs(figures.leaderboard(alike))[0] == 1 + 2


@pytest.mark.parametrize(("mean", "said"), [(None, "None is best: of 4 none is told apart"), (0.0, "None is best: all 4 scored 0.0.")])
def test_where_nobody_is_told_from_anybody_nobody_is_best_and_nothing_stands_out(mean, said):
    board = pieces.tied(pieces.board(["hamo", "edge"]), mean)
    assert not decided(board)
    assert verdict(board).startswith(said)
    found = figures.leaderboard(board)
    assert signs(found) == (0, 0, 0, 0)
    assert said in found.caption
    assert "not told from the best" not in found.svg


def test_a_board_of_one_has_no_winner_and_needs_no_words():
    board = pieces.board(["hamo"], arms=False)
    assert (decided(board), verdict(board)) == (False, "")
    assert "best" not in figures.leaderboard(board).caption


def test_signs_are_there_where_there_is_a_best():
    board = pieces.board(["hamo", "edge", "grpo"])
    tied = [standing for standing in board.standings if standing.tied]
    stars, alike, bands, strong = signs(figures.leaderboard(board))
    assert (stars, alike) == (1 + 1, 1 + len(tied) - 1)
    assert strong == len(tied)
    assert bands >= 1


def test_configurations_of_one_colour_have_marks_of_another_shape():
    board = pieces.board([f"c{number:02}" for number in range(10)], arms=False)
    svg = figures.leaderboard(board).svg
    assert len(re.findall(r'<circle class="k-solid k-hollow k-l0"', svg)) == 1
    assert len(re.findall(r'<path class="k-solid k-hollow k-l0"', svg)) == 1


def test_an_interval_that_leaves_its_own_estimate_out_is_drawn_all_the_same():
    board = pieces.board(["hamo", "edge"])
    odd = Interval(mean=0.0, low=0.6, high=35.0)
    standings = [
        dataclasses.replace(of, mean=odd, iqm=odd, versus_base=dataclasses.replace(of.versus_base, interval=odd)) for of in board.standings
    ]
    strange = dataclasses.replace(board, standings=tuple(standings))
    for figure in (figures.leaderboard(strange), figures.forest(strange, "base")):
        xs = [float(x) for x in re.findall(r' c?x1?="(-?[0-9.]+)"', figure.svg)]
        assert 0 <= min(xs) <= max(xs) <= 480


def test_no_label_of_an_axis_is_cut_at_an_edge():
    board = pieces.board(["hamo", "edge"])
    wide = dataclasses.replace(board.standings[0].versus_base, interval=Interval(mean=-95.0, low=-100.0, high=100.0))
    board = dataclasses.replace(board, standings=tuple(dataclasses.replace(of, versus_base=wide) for of in board.standings))
    (x,) = re.findall(r'<text class="k-muted" x="([0-9.]+)"[^>]*>−100<', figures.forest(board, "base").svg)
    assert float(x) >= 17
