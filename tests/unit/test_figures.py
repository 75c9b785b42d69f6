"""Every figure, on real and on ugly data: what is drawn, and that nothing in it is more than text."""

import dataclasses
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.unit import pieces
from xplearn.metrics.board import Board
from xplearn.metrics.bootstrap import Interval
from xplearn.metrics.rounds import Round
from xplearn.record.cross import Cell, Cross
from xplearn.report import figures
from xplearn.report.figures.kept import retained
from xplearn.report.figures.words import BOLD, apart, width

SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {"svg", "title", "desc", "g", "line", "rect", "path", "circle", "text"}
COORDINATES = ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "font-size", "rx")

NAMES = ("leaderboard", "forest-base", "forest-plain", "forest-best", "profiles", "heatmap", "forgetting", "learning")
NAMES += ("gain-and-bank", "coverage", "costs", "retention", "grid", "axes")
BAD = pieces.HOSTILE


def drawn(names=pieces.CONFIGURATIONS):
    """Every figure by its name."""
    board, cross = pieces.board(names), pieces.cross()
    runs = {name: {"": [pieces.rounds(seed=number)]} for number, name in enumerate(names)}
    spent = {name: [cost(0.01 + number)] for number, name in enumerate(names)}
    found = [
        figures.leaderboard(board),
        *(figures.forest(board, versus) for versus in ("base", "plain", "best")),
        figures.profiles(board),
        figures.heatmap(pieces.matrix(domains=(*pieces.DOMAINS[:2], names[0]))),
        figures.forgetting({name: pieces.matrix(seed=number) for number, name in enumerate(names)}),
        figures.learning(runs),
        figures.gain_and_bank(runs),
        figures.coverage({name: {"": [pieces.told()]} for name in names}),
        figures.costs(spent),
        figures.retention([board, pieces.board(names, title="webshop.text")]),
        figures.grid(cross, pieces.cross_scores(cross)),
        figures.axes(board, pieces.effects(names)),
    ]
    return {figure.name: figure for figure in found}


def cost(scale=1.0):
    return figures.Cost(spent=pieces.spendings(scale), kept=pieces.upkeep(), stored=48_000)


def alone(value, name="hamo"):
    """Of one run in one column."""
    return {name: {"": [value]}}


@pytest.fixture(scope="module")
def real():
    return drawn()


@pytest.fixture(scope="module")
def hostile():
    return drawn([f"{BAD} {number}" for number in range(3)])


def words(figure):
    """Every word in a drawing, tooltips too."""
    return "\n".join("".join(element.itertext()) for element in ET.fromstring(figure.svg).iter())


def shown(figure):
    """The words that are drawn, each with its tooltip aside."""
    texts = ET.fromstring(figure.svg).iter(f"{SVG}text")
    return [(text.text or "") + "".join(child.tail or "" for child in text) for text in texts]


def test_all_are_drawn_under_names_of_their_own(real):
    assert tuple(real) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_an_svg_of_a_few_plain_elements_with_finite_places_inside_its_box(real, hostile, name):
    for figure in (real[name], hostile[name]):
        root = ET.fromstring(figure.svg)
        _, _, width, height = map(float, root.get("viewBox").split())
        assert root.get("role") == "img"
        assert [root[0].tag, root[1].tag] == [f"{SVG}title", f"{SVG}desc"]
        assert root[0].text == figure.title
        for element in root.iter():
            assert element.tag.removeprefix(SVG) in ALLOWED
            assert not {key for key in element.keys() if key.startswith("on") or key in ("id", "style", "href", "fill", "stroke")}  # noqa: SIM118
            places = {key: float(element.get(key)) for key in COORDINATES if key in element.keys() and element is not root}  # noqa: SIM118
            assert all(np.isfinite(value) for value in places.values())
            assert all(-1 <= places.get(key, 0) <= width + 1 for key in ("x", "x1", "x2", "cx", "width"))
            assert all(-1 <= places.get(key, 0) <= height + 1 for key in ("y", "y1", "y2", "cy", "height"))
            numbers = [float(value) for value in re.findall(r"-?\d+(?:\.\d+)?", element.get("d", ""))]
            assert all(-12 <= value <= max(width, height) + 12 for value in numbers)
        assert not re.search(r"\b(nan|inf)\b", figure.svg, re.IGNORECASE)


def test_names_of_contenders_are_text_whatever_they_hold(hostile):
    seen = set()

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.add(tag)

    for name, figure in hostile.items():
        if name == "grid":
            continue
        Tags().feed(figure.svg)
        assert "<script>alert(1)</script>" in words(figure)
        assert not set("\x00\x1b\u202e") & set(figure.svg)
    assert seen == ALLOWED


def test_every_class_that_is_drawn_with_has_a_colour_in_the_kit(real, hostile):
    rules = set(re.findall(r"\.(k-[a-z0-9-]+)", figures.stylesheet()))
    used = {
        name for figure in [*real.values(), *hostile.values()] for of in re.findall(r'class="([^"]*)"', figure.svg) for name in of.split()
    }
    assert used <= rules


def test_the_kit_knows_dark_and_light_by_system_and_by_choice_with_the_same_names():
    css = figures.stylesheet()
    light, system, chosen = themes()
    assert "prefers-color-scheme: dark" in css
    assert system == chosen
    assert light.keys() == system.keys()
    assert light != system
    assert set(re.findall(r"var\(--k-([a-z0-9-]+)\)", css)) <= light.keys()


def themes():
    """Colours by name, of each theme of the stylesheet."""
    blocks = re.findall(r"\{([^{}]*--k-ground: [^{}]*)\}", figures.stylesheet())
    return [dict(re.findall(r"--k-([a-z0-9-]+): (#[0-9a-f]{6});", block)) for block in blocks]


def contrast(one, other):
    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_words_lines_and_the_numbers_on_heat_stand_out_from_what_they_lie_on():
    for of in themes():
        assert all(contrast(of[name], of["ground"]) >= 4.5 for name in ("ink", "muted", "pos", "neg"))
        assert all(contrast(of[name], of["band"]) >= 4.5 for name in ("ink", "muted"))
        marks = ("unsound", "waiting", "failed", "axis", *map(str, range(8)))
        assert all(contrast(of[name], of[ground]) >= 3.0 for name in marks for ground in ("ground", "band"))
        assert all(contrast(of["on-high" if step >= 6 else "on-low"], of[f"heat-{step}"]) >= 4.5 for step in range(10))


def test_figures_of_full_scores_leave_room_for_their_sign():
    board = pieces.board(["hamo"])
    means = Interval(mean=100.0, low=100.0, high=100.0), Interval(mean=99.99, low=100.0, high=100.0), Interval(mean=0.0, low=0.0, high=0.0)
    found = [*board.standings, pieces.board(["edge"], arms=False).standings[0]]
    full = [dataclasses.replace(one, mean=mean, tied=mean.mean > 0) for one, mean in zip(found, means, strict=True)]
    root = ET.fromstring(figures.leaderboard(dataclasses.replace(board, standings=tuple(full))).svg)
    texts = [(text.text, float(text.get("x"))) for text in root.iter(f"{SVG}text")]
    starts = [x - BOLD * width(text) for text, x in texts if text == "100.0 [100.0, 100.0]"]
    assert len(starts) == 2
    signs = [x + width("≈") for text, x in texts if text == "≈"]
    assert signs
    assert max(signs) < min(starts)


def test_a_leaderboard_has_both_arms_of_a_configuration_under_one_name_and_marks_what_is_tied(real):
    said = shown(real["leaderboard"])
    assert [name for name in said if name in pieces.CONFIGURATIONS] == [name for name in pieces.CONFIGURATIONS if len(name) < 60]
    assert said.count("66.0 [62.9, 68.8]") == 1
    assert said.index("66.0 [62.9, 68.8]") < said.index("61.0 [57.9, 63.8]") < said.index("expweaver")
    assert said.count("≈") == sum(standing.tied for standing in pieces.board().standings) - 1
    assert "hamo+Harness: mean 66.0 [62.9, 68.8]" in words(real["leaderboard"])


def test_configurations_are_ranked_by_their_better_arm_and_equal_ones_alike():
    board = pieces.board(["hamo", "edge", "grpo"])
    found = figures.leaderboard(board)
    assert [said for said in shown(found) if said in ("1", "2", "3")] == ["1", "2", "3"]
    assert "ranked by their better arm." in found.caption
    mean = board.standings[0].mean
    alike = [dataclasses.replace(of, mean=mean) if of.contender.name.startswith("edge") else of for of in board.standings]
    found = figures.leaderboard(dataclasses.replace(board, standings=tuple(alike)))
    assert [said for said in shown(found) if said in ("1", "2", "3")] == ["1", "1", "3"]
    assert "better arm, equal ones alike." in found.caption


def test_a_better_mean_is_further_right(real):
    marks = list(ET.fromstring(real["leaderboard"].svg).iter(f"{SVG}circle"))
    circles = [float(mark.get("cx")) for mark in marks if re.search(r"k-s\d", mark.get("class"))][1:]
    assert circles == sorted(circles, reverse=True)
    assert len(set(circles)) > 5


def test_base_is_a_line_where_the_difference_from_it_says_that_it_stands():
    board = pieces.board(["hamo"], arms=False, base=40.0)
    found = figures.leaderboard(board)
    (mark,) = [float(of.get("cx")) for of in ET.fromstring(found.svg).iter(f"{SVG}circle") if of.get("r") == "5.2"]
    lines = [float(of.get("x1")) for of in ET.fromstring(found.svg).iter(f"{SVG}line") if of.get("class") == "k-base"][1:]
    assert len(lines) == 1
    assert lines[0] < mark
    assert "Base 40.0" in words(found)
    alone = dataclasses.replace(board.standings[0], versus_base=None)
    assert "Base" not in words(figures.leaderboard(dataclasses.replace(board, standings=(alone,))))


def test_sixty_contenders_of_long_names_have_a_row_each_and_the_whole_name_as_a_tooltip():
    names = [f"{number:02} {pieces.LONG}" for number in range(60)]
    found = figures.leaderboard(pieces.board(names))
    height = float(ET.fromstring(found.svg).get("viewBox").split()[3])
    assert height > 60 * 60
    assert all(name in words(found) for name in names)
    cut = [said for said in shown(found) if "…" in said]
    assert len(cut) == 60
    assert all(said[:2] == name[:2] for said, name in zip(cut, names, strict=True))


def test_a_forest_says_which_differences_remain_after_holm_and_on_how_many_tasks_it_got_worse(real):
    found, board = real["forest-base"], pieces.board()
    marks = [mark.get("class") for mark in ET.fromstring(found.svg).iter(f"{SVG}path")]
    told = [standing.versus_base for standing in board.standings]
    better = sum(of.p_holm < 0.05 and of.interval.mean > 0 for of in told)
    worse = sum(of.p_holm < 0.05 and of.interval.mean < 0 for of in told)
    assert 0 < worse < better
    assert (marks.count("k-pos") - 1, marks.count("k-neg") - 1) == (better, worse)
    assert "under 4.2: found less than four times in five" in shown(found)
    assert "under 2.3: found less than four times in five" in shown(figures.forest(pieces.board(detectable=2.25)))
    assert f"{better} of {len(told)} better, {worse} worse" in found.caption
    assert all(any(f"{of.worse} of {of.tasks} worse" in said for said in shown(found)) for of in told)


def test_a_legend_leaves_out_what_is_not_drawn():
    board = pieces.board(["hamo"], arms=False, base=60.0)
    untold = dataclasses.replace(board.standings[0].versus_base, p_holm=0.9)
    board = dataclasses.replace(board, standings=(dataclasses.replace(board.standings[0], versus_base=untold),))
    assert "not told apart" in shown(figures.forest(board))
    assert not any(said.startswith(("better", "worse")) for said in shown(figures.forest(board)))


def test_a_forest_leaves_out_what_has_no_such_difference(real):
    assert sum("+Harness" in said for said in shown(real["forest-plain"])) == len(pieces.CONFIGURATIONS)
    assert "hamo+Harness" not in shown(real["forest-best"])
    assert figures.forest(pieces.board(["grpo"], arms=False), "plain") is None


def test_profiles_of_more_than_the_leading_configurations_are_faint_but_there(real):
    faint = [path for path in ET.fromstring(real["profiles"].svg).iter(f"{SVG}path") if "k-faint" in path.get("class")]
    assert len(faint) == 20 - 6
    assert "14 others" in shown(real["profiles"])
    assert all(name in words(real["profiles"]) for name in pieces.CONFIGURATIONS)


def test_a_heatmap_has_its_scores_and_frames_what_was_just_learned():
    matrix = pieces.matrix(reached=2)
    found = figures.heatmap(matrix)
    said = shown(found)
    assert all(f"{value:.1f}" in said for value in matrix.values[:3].ravel())
    assert "after 3" not in said
    frames = [rect for rect in ET.fromstring(found.svg).iter(f"{SVG}rect") if rect.get("class") == "k-frame"]
    assert len(frames) == 2 + 1


def test_what_was_not_evaluated_is_a_dash_and_never_crossed_by_a_line():
    matrix = pieces.matrix()
    holed = dataclasses.replace(matrix, scores={place: by for place, by in matrix.scores.items() if place != (2, "alfworld.text")})
    assert "–" in shown(figures.heatmap(holed))
    curves = re.findall(r'class="k-curve k-l0" d="([^"]*)"', figures.forgetting({"hamo": holed}).svg)
    assert sorted(curve.count("L") + 1 for curve in curves) == [2, 2, 5, 5, 5]


def test_many_domains_widen_the_drawing_and_the_page_scrolls_it():
    matrix = pieces.matrix(domains=[f"domain-{number}.text" for number in range(12)], reached=1)
    root = ET.fromstring(figures.heatmap(matrix).svg)
    assert float(root.get("viewBox").split()[2]) > 800
    assert root.get("class").startswith("k-figure k-wide-")


def test_learning_curves_part_stages_and_draw_both_arms(real):
    found = figures.learning(alone(pieces.rounds(6)) | alone(pieces.rounds(6, both=False), "grpo"))
    curves = re.findall(r'class="(k-curve[^"]*)" d=', found.svg)
    assert sum("k-dash" in of for of in curves) == 2
    assert sum("k-dash" not in of for of in curves) == 1
    assert len(re.findall('<line class="k-base"', found.svg)) == 2 + 1


def test_gains_are_bars_up_or_down_from_zero():
    def one(number, gain):
        return Round(place=(0, number), scores={"plain": 50.0, "experience": 50.0 + gain}, gain_mean=None, bank=number)

    found = figures.gain_and_bank(alone([one(0, 5.0), one(1, -5.0), one(2, 2.5)]))
    bars = [rect for rect in ET.fromstring(found.svg).iter(f"{SVG}rect") if rect.get("class") in ("k-pos", "k-neg k-wash")][2:]
    up, down, half = (float(bar.get("height")) for bar in bars)
    assert up == pytest.approx(down, abs=0.02)
    assert half == pytest.approx(up / 2, abs=0.02)
    assert float(bars[0].get("y")) < float(bars[1].get("y"))


def test_a_legend_of_gains_has_what_the_rounds_have():
    def legend(gain, bank):
        of = [Round(place=(0, at), scores={"plain": 50.0, "experience": 50.0 + gain}, gain_mean=None, bank=bank) for at in range(3)]
        entries = ("experience helped", "experience hurt", "experiences in the bank")
        return [said for said in shown(figures.gain_and_bank(alone(of))) if said in entries]

    assert legend(0.0, 5) == ["experiences in the bank"]
    assert legend(3.0, None) == ["experience helped"]
    assert legend(-3.0, 5) == ["experience hurt", "experiences in the bank"]


def test_training_without_a_second_arm_is_called_training():
    (said,) = [said for said in shown(figures.learning(alone(pieces.rounds(4, both=False)))) if "arm" in said or "train" in said]
    assert said == "training"
    assert "plain arm" in shown(figures.learning(alone(pieces.rounds(4))))


def test_where_one_of_several_was_played_in_one_arm_its_panel_has_no_zero_line():
    both, one = pieces.rounds(4), pieces.rounds(4, both=False)
    found = figures.gain_and_bank({"both": {"": [both]}, "one": {"": [one]}})
    assert shown(found).count("one arm") == 1
    assert found.svg.count('class="k-zero"') == 1


def test_where_only_one_arm_was_played_the_bank_stands_alone():
    found = figures.gain_and_bank(alone(pieces.rounds(4, both=False)))
    assert found.title == "Bank over the rounds"
    assert [said for said in shown(found) if "bank" in said] == ["experiences in the bank"]
    assert "experience helped" not in shown(found)


def test_a_coverage_curve_rises_and_carries_its_knee():
    found = figures.coverage(alone([(0, 0, {"gains": [4, 2, 1, 1], "kept": 2, "knee": 2, "cards": 9})]))
    (curve,) = re.findall(r'class="k-curve k-l0" d="M([^"]*)"', found.svg)
    heights = [float(point.split()[1]) for point in curve.split("L")]
    assert heights == sorted(heights, reverse=True)
    assert len(heights) == 5
    assert "knee at 2: 6 covered" in shown(found)
    assert "kept 2 of 9; 4 would cover 8, knee at 2" in words(found)


@pytest.mark.parametrize("said", [{}, {"gains": []}, {"gains": [1]}, {"gains": ["1"], "kept": 1}, {"gains": 3, "kept": 1}, {"kept": 1}])
def test_a_curriculum_that_tells_no_curve_has_none_drawn(said):
    assert figures.coverage(alone([(0, 0, said)])) is None


def test_a_knee_outside_the_curve_is_not_drawn():
    found = figures.coverage(alone([(0, 0, {"gains": [4, 2], "kept": 99, "knee": -3})]))
    assert not any("knee " in said for said in shown(found))


def rows_of(found):
    """Places and titles of the words that are drawn."""
    return {text.text: (float(text.get("x")), float(text.get("y"))) for text in ET.fromstring(found.svg).iter(f"{SVG}text")}


def test_costs_are_bars_in_parts_the_longest_time_first_and_seeds_are_averaged():
    found = figures.costs({"short": [cost(0.5)], "long": [cost(1.0), cost(3.0)]})
    places = rows_of(found)
    assert places["long"][1] < places["short"][1]
    total = sum(of.tokens_in + of.tokens_out for of in pieces.spendings(2.0).values())
    assert f"{total / 1e6:.3g}M" in shown(found)
    bars = [float(rect.get("width")) for rect in ET.fromstring(found.svg).iter(f"{SVG}rect") if rect.get("class") == "k-s0"][1:]
    assert bars[0] == pytest.approx(4 * bars[2], rel=0.01)
    assert "long: " in words(found)
    assert "training" in words(found)


def test_many_runs_are_a_table_of_panels_in_which_the_same_round_stands_below_itself():
    def rows(*names):
        return {name: {column: [pieces.rounds(count, seed=3)] for column, count in (("alf", 6), ("shop", 3))} for name in names}

    table = rows("cards · GRPO", "cards · EDGE")
    table["cards · EDGE"] = {"alf": [pieces.rounds(4, seed=3)]}
    found = figures.learning(table)
    places = rows_of(found)
    assert places["cards · GRPO"][1] < places["cards · EDGE"][1]
    assert places["alf"][0] < places["shop"][0]
    curves = [
        [float(point.split()[0]) for point in path.split("L")] for path in re.findall(r'class="k-curve k-l0" d="M([^"]*)"', found.svg)
    ]
    assert [len(curve) for curve in curves] == [6, 3, 4]
    assert curves[0][:4] == curves[2]
    tall = float(ET.fromstring(figures.learning(rows(*map(str, range(13)))).svg).get("viewBox").split()[3])
    assert tall < 13 * 90
    assert "cards · GRPO shop, round 3: " in words(figures.gain_and_bank(table))


def test_panels_in_no_table_have_the_whole_names_of_their_configurations():
    """Those without curves are left out, and a name still says what it would beside them."""
    table = {order: {"none": [pieces.rounds(1, seed=3)], "clone": [pieces.rounds(4, seed=3)]} for order in ("ab", "ba")}
    names = {(order, learner): f"{learner} · {order}" for order, cells in table.items() for learner in cells}
    for draw in (figures.learning, figures.gain_and_bank):
        assert {"clone · ab", "clone · ba"} <= set(shown(draw(table, names=names)))


LIKE = [f"core.none · {'a-long-middle-word ' * 3}{middle} {'of-the-same-words ' * 3}· none" for middle in ("xplearn", "xplearm", "none")]


def test_what_differs_in_the_middle_of_long_names_is_not_cut_out():
    names = ["short", *LIKE]
    cut = apart(names, 150.0)
    assert len(set(cut)) == 4
    assert cut[0] == "short"
    assert all(width(text) <= 150.0 for text in cut)
    assert [text[:4] for text in cut[1:]] == ["…xpl", "…xpl", "…non"]
    numbered = apart(["a" * 99 + "x" + "a" * 99, "a" * 99 + "y" + "a" * 99], 60.0)
    assert [text[-3:] for text in numbered] == [" #1", " #2"]
    assert all(width(text) <= 60.0 for text in numbered)


def test_no_two_rows_or_panels_read_alike_though_their_names_are_long_and_differ_little():
    board = pieces.board([name * 2 for name in LIKE])
    table = {name * 2: {"core.errands": [pieces.rounds()]} for name in LIKE}
    dense = {name * 2: {"core.errands": [pieces.rounds()], "core.counting": [pieces.rounds()]} for name in LIKE}
    costs = {name * 2: [cost()] for name in LIKE}
    cells = [Cell(id=name, axes={"mix": name, "env": "a"}, state="waiting") for name in LIKE]
    cross = Cross(name="c", given={}, axes={"mix": LIKE, "env": ["a"]}, cells=cells)
    every = [
        *(figures.forest(board, versus) for versus in ("base", "plain", "best")),
        *(figures.learning(of) for of in (table, dense)),
        figures.leaderboard(board),
        figures.retention([board]),
        figures.costs(costs),
        figures.grid(cross, {}, column="env"),
    ]
    for figure in every:
        cut = [said for said in shown(figure) if "…" in said]
        assert len(cut) >= 3, figure.name
        assert len(set(cut)) == len(cut), figure.name


def test_seeds_of_one_configuration_are_a_mean_with_each_behind_it():
    def one(*scores):
        return [Round(place=(0, number), scores={"plain": score}, gain_mean=None, bank=None) for number, score in enumerate(scores)]

    found = figures.learning({"hamo": {"": [one(10.0, 20.0), one(30.0, 60.0)]}})
    (mean,) = re.findall(r'class="k-curve k-l1[^"]*" d="([^"]*)"', found.svg)
    seeds = re.findall(r'<path class="k-faint" d="([^"]*)"', found.svg)
    assert len(seeds) == 2
    heights = [[float(point.split()[1]) for point in path.strip("M").split("L")] for path in (mean, *seeds)]
    assert heights[0] == pytest.approx([(one + other) / 2 for one, other in zip(*heights[1:], strict=True)], abs=0.02)
    assert "each seed" in shown(found)


def test_coverage_of_several_columns_is_on_one_scale():
    told = {"hamo": {"alf": [pieces.told(stages=1)], "shop": [[(0, 0, {"gains": [5], "kept": 1, "knee": 1})]]}}
    tops = [
        min(float(point.split()[1]) for point in path.split("L"))
        for path in re.findall(r'k-curve k-l0" d="M([^"]*)"', figures.coverage(told).svg)
    ]
    assert tops[0] < tops[1]


def test_retention_is_that_of_the_same_tasks_and_seeds_and_stands_left_of_the_line_when_below_a_hundred(real):
    board = pieces.board(["hamo"])
    kept = retained(board)["hamo"]
    contender = board.standings[0].contender
    plain, shown_ = (np.mean([list(by.values()) for by in of.values()]) for of in (contender.plain, contender.scores))
    assert kept.mean == pytest.approx(100 * plain / shown_)
    assert kept.low < kept.mean < kept.high < 100
    assert f"{kept.text()} %" in shown(figures.retention([board]))
    titles = shown(real["retention"])
    assert "webshop.text" in titles
    assert "alfworld.text" in titles


def test_a_grid_shows_every_cell_with_its_score_or_why_there_is_none():
    cross = pieces.cross()
    scores = pieces.cross_scores(cross)
    found = figures.grid(cross, scores)
    told = words(found)
    assert all(cell.id in told for cell in cross.cells)
    assert "unsound: conditioner 'expweaver.latent' requires 'learner.conditioned'" in told
    assert "exceeded 60 s" in told
    first = [cell.id for cell in cross.cells][:2]
    assert f"{sum(scores[id] for id in first) / 2:.1f}" in shown(found)
    assert {"failed", "unsound", "waiting"} <= set(shown(found))
    assert "72 finished" not in found.caption
    heights = {rect.get("height") for rect in ET.fromstring(found.svg).iter(f"{SVG}rect") if rect.get("class") == "k-empty"}
    assert {"17", "31"} <= heights
    assert all(f"{sum(cell.state == state for cell in cross.cells)} {state}" in found.caption for state in ("finished", "unsound", "same"))


def test_a_grid_speaks_of_seeds_where_there_are_several():
    def caption(*seeds):
        cells = [Cell(id=seed, axes={"mix": "a", "seed": seed}, state="waiting") for seed in seeds]
        return figures.grid(Cross(name="c", given={}, axes={"mix": ["a"], "seed": list(seeds)}, cells=cells), {}).caption

    assert "mean over seeds" in caption("0", "1")
    assert "seeds" not in caption("0")


def test_a_cell_that_is_the_same_as_another_shows_its_score():
    cells = [Cell(id="a", axes={"selector": "x", "stream": "s"}, state="finished", run="a")]
    cells += [Cell(id="b", axes={"selector": "y", "stream": "s"}, state="same", reason="a")]
    found = figures.grid(Cross(axes={"selector": ["x", "y"], "stream": ["s"]}, cells=cells), {"a": 61.5})
    assert shown(found).count("61.5") == 2
    assert "b: same as a, 61.5" in words(found)


def test_a_cell_whose_seeds_are_not_all_there_says_so():
    cells = [
        Cell(id=str(seed), axes={"stream": "s", "seed": str(seed)}, state="finished" if seed else "failed", reason="") for seed in (0, 1)
    ]
    found = figures.grid(Cross(axes={"stream": ["s"], "seed": ["0", "1"]}, cells=cells), {"1": 30.0})
    assert "some seeds missing" in shown(found)
    assert "30.0" in shown(found)


def test_hostile_reasons_and_labels_of_a_grid_are_text():
    cell = Cell(id=BAD, axes={BAD: BAD, "stream": BAD}, state="failed", reason=BAD)
    found = figures.grid(Cross(name=BAD, axes={BAD: [BAD], "stream": [BAD]}, cells=[cell]), {})
    assert {element.tag.removeprefix(SVG) for element in ET.fromstring(found.svg).iter()} <= ALLOWED
    assert "<script>alert(1)</script>" in words(found)


def test_where_there_is_nothing_there_is_no_figure():
    empty = dataclasses.replace(pieces.board(["a"]), standings=())
    assert figures.leaderboard(empty) is None
    assert figures.forest(empty) is None
    assert figures.profiles(empty) is None
    assert figures.retention([empty]) is None
    assert figures.retention([]) is None
    assert figures.heatmap(dataclasses.replace(pieces.matrix(), scores={})) is None
    assert figures.forgetting({}) is None
    assert figures.learning(alone(pieces.rounds(1))) is None
    assert figures.gain_and_bank({}) is None
    assert figures.coverage({}) is None
    assert figures.costs({"a": [figures.Cost(spent={})]}) is None
    assert figures.grid(Cross(), {}) is None


def test_one_task_or_one_contender_still_makes_a_figure():
    board: Board = pieces.board(["alone"], arms=False, detectable=None)
    lone = dataclasses.replace(board.standings[0], mean=Interval(mean=50.0, low=None, high=None))
    board = dataclasses.replace(board, standings=(lone,))
    assert "50.0" in shown(figures.leaderboard(board))
    assert figures.leaderboard(board).svg.count("k-whisker") == 1
    zero = [Round(place=(0, number), scores={"plain": 0.0}, gain_mean=None, bank=0) for number in range(2)]
    assert figures.learning(alone(zero)) is not None
    assert figures.gain_and_bank(alone(zero)) is None


def test_a_name_that_is_no_anchor_is_refused():
    with pytest.raises(ValueError, match="lower case, digits and hyphens"):
        figures.leaderboard(pieces.board(["a"]), name='x" onload="')
