"""The page of a report: which episodes it holds, how it holds them, and that nothing in it runs or loads what a run said."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.made_runs import HOSTILE, episode, many, toy, written
from xplearn.experiment.observer import Silent
from xplearn.record.cross import Cell, Cross
from xplearn.record.reader import load
from xplearn.report.figure import Figure, Section, Sheet
from xplearn.report.page import Limits, Source, write
from xplearn.report.page.chosen import ordered, spread, units
from xplearn.report.page.document import policy
from xplearn.report.page.markup import Listing, Part, markup
from xplearn.report.page.payload import build_payload
from xplearn.report.page.places import hints, places


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def columns(payload):
    return unpacked(payload.index)["columns"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return many(tmp_path_factory.mktemp("page"), 400, steps=3)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")
    phases = [(f"eval/{point}/core.errands", point) for point in (0, 1)]
    trajectories = [
        (phase, episode(phase, number, arm, texts=HOSTILE, error=HOSTILE[0] if number == 3 else None))
        for phase, _ in phases
        for number in range(len(HOSTILE))
        for arm in ("plain", "experience")
    ]
    bad = HOSTILE[0] + HOSTILE[1] + HOSTILE[3][:8]
    header = {"plugins": {bad: bad}, "encoder": bad, "environments": {"core.errands": bad}, "git": {"commit": bad}, "error": bad}
    told = {"warnings": [bad], "computing": {bad: bad}}
    return written(root, "run", trajectories, panels={"core.errands": {"tasks": 5, "hash": bad}}, **header, **told)


class Markup(HTMLParser):
    """Every tag with its attributes, and the text of a page that a person sees."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


def test_any_beginning_of_a_spread_is_even():
    for count in (1, 2, 7, 64, 100):
        order = list(spread(range(count)))
        assert sorted(order) == list(range(count))
    first = sorted(list(spread(range(1000)))[:10])
    assert max(later - earlier for earlier, later in pairwise(first)) <= 2 * 1000 / 10
    assert list(spread([])) == []


def test_both_arms_of_a_task_stay_together_and_evaluations_are_listed_first(run):
    found = units([run])
    assert all([result.arm for result in unit.results] == ["plain", "experience"] for unit in found)
    phases = list(dict.fromkeys(unit.results[0].phase for unit in found))
    assert phases[:3] == ["eval/0/core.errands", "eval/1/core.errands", "train/0/0"]


def test_replicas_of_a_task_are_told_apart_in_the_list(tmp_path):
    """As many as an evaluation was asked for, though some are still to come; of training, those that were played."""

    def again(phase, replica):
        first = episode(phase, 0, "plain", 1)
        return phase, replace(first, id=f"{first.group}/plain/{replica}")

    played = [*(again("eval/0/core.errands", number) for number in (0, 1)), *(again("train/0/0", number) for number in (0, 2))]
    played.append(again("train/0/1", 4))
    several = written(tmp_path, "several", played)
    several.header.resolved["evaluate"]["replicas"] = 10
    index = unpacked(build_payload([several], ["several"], Limits(), Silent()).index)
    said = [index["replicas"][number] for number in index["columns"]["replica"]]
    assert said == ["replica 1 of 10", "replica 2 of 10", "replica 1 of 3", "replica 3 of 3", ""]


def test_the_ends_come_first_then_training_then_what_lies_between(tmp_path):
    phases = [*(f"eval/{point}/core.errands" for point in range(3)), "train/0/0"]
    made = written(tmp_path, "run", [(phase, episode(phase, number, "plain", 1)) for phase in phases for number in range(4)])
    order = [unit.results[0].phase for unit in ordered(units([made]))]
    assert set(order[:8]) == {"eval/0/core.errands", "eval/2/core.errands"}
    assert order[8:] == ["train/0/0"] * 4 + ["eval/1/core.errands"] * 4


def test_every_episode_can_be_opened_from_the_list(run):
    payload = build_payload([run], ["many"], Limits(), Silent())
    found = columns(payload)
    assert payload.held == payload.played == len(found["id"]) == 400
    chunks = [unpacked(chunk) for chunk in payload.chunks]
    for place, of in enumerate(found["id"]):
        chunk = chunks[found["chunk"][place]]
        opening, steps, final, error = chunk["episodes"][found["place"][place]]
        number = of.split("errand-")[1].split("/")[0]
        assert chunk["texts"][final] == f"House {number} is quiet."
        assert (len(steps), error, opening[0][0]) == (3, -1, "system")


def test_every_step_has_its_admissible_actions_though_only_changes_are_written(run):
    payload = build_payload([run], ["many"], Limits(), Silent())
    for chunk in map(unpacked, payload.chunks):
        now, lists = set(), []
        for left, joined in chunk["choices"]:
            now = (now - set(accumulate(left))) | set(accumulate(joined))
            lists.append({chunk["actions"][number] for number in now})
        for _, steps, _, _ in chunk["episodes"]:
            for step in steps:
                assert lists[step[8]] == {"wait", "look around", chunk["texts"][step[1]]}
        assert len(lists) <= 5


def test_the_figures_of_the_list_are_those_of_the_record(run):
    found = columns(build_payload([run], ["many"], Limits(), Silent()))
    by_id = {result.id: result for result in run.episodes()}
    for place, id in enumerate(found["id"]):
        result = by_id[id]
        assert (found["score"][place], found["steps"][place]) == (100 * result.score, result.length)
        assert (found["read"][place], found["written"][place]) == (result.tokens_in, result.tokens_out)
        assert found["outcome"][place] == (0 if result.success else 2)
    assert {found["unit"].count(unit) for unit in found["unit"]} == {2}


def test_training_of_a_run_that_shows_nothing_is_plain(run, tmp_path):
    phases = ("train/0/0", "train/0/1", "train/0/2")
    played = [(phase, episode(phase, 0, "experience", 1)) for phase in phases]
    parts = {**run.header.parts, "selector": {"name": "core.none"}}
    silent = written(tmp_path, "silent", played, parts=parts)
    shown = written(tmp_path / "other", "shown", played)
    assert columns(build_payload([silent], ["silent"], Limits(), Silent()))["experience"] == [0, 0, 0]
    assert columns(build_payload([shown], ["shown"], Limits(), Silent()))["experience"] == [1, 1, 1]
    assert ">training</text>" in write(Source(runs=[silent]), tmp_path).read_text()
    assert ">experience arm</text>" in write(Source(runs=[shown]), tmp_path).read_text()


def test_a_run_of_a_cross_is_listed_by_what_tells_it_from_the_others_of_its_domain():
    mixes = [(env, bank, seed) for env in ("errands", "counting") for bank in ("none", "cards") for seed in ("0", "1")]
    cells = [
        Cell(id=" · ".join(mix), axes=dict(zip(("environment", "bank", "seed"), mix, strict=True)), state="finished", run="-".join(mix))
        for mix in [*mixes, ("alone", "none", "0")]
    ]
    axes = {"environment": ["errands", "counting", "alone"], "bank": ["none", "cards"], "seed": ["0", "1"]}
    cross = Cross(name="c", given={}, axes=axes, cells=cells)
    runs = {cell.id: SimpleNamespace(path=Path(cell.run), header=SimpleNamespace(panels={cell.axes["environment"]: {}})) for cell in cells}
    found = hints(runs, cross)
    assert list(found) == list(runs)
    assert [found[" · ".join(mix)] for mix in mixes] == ["none · seed 0", "none · seed 1", "cards · seed 0", "cards · seed 1"] * 2
    assert found["alone · none · 0"] == "alone · none · 0"
    assert hints(runs, None) == {name: name for name in runs}


def placed(*axes):
    """Places of runs of these labels in a cross, two seeds of each."""
    labelled = [{**labels, "seed": seed} for labels in axes for seed in ("0", "1")]
    cells = [Cell(id=f"cell {number}", axes=of, state="finished", run=f"run-{number}") for number, of in enumerate(labelled)]
    cross = Cross(name="c", given={}, axes={axis: ["any"] for axis in labelled[0]}, cells=cells)
    runs = {cell.id: SimpleNamespace(path=Path(cell.run), header=SimpleNamespace(panels={"toys": {}})) for cell in cells}
    entries = [
        SimpleNamespace(run=cell.id, configuration=str({**cell.axes, "seed": ""}), title=f"toy-{cell.axes['seed']}") for cell in cells
    ]
    return list(places(runs, entries, cross).values())


def test_a_configuration_of_a_cross_has_one_place_under_the_name_that_leaderboards_have():
    errands, counting = placed({"bank": "cards", "stream": "errands"}, {"bank": "none", "stream": "counting"})[::2]
    assert (tuple(errands), tuple(counting)) == (("cards", "errands", "cards · errands"), ("none", "counting", "none · counting"))
    assert set(placed({"bank": "cards"}, {"bank": "none"})) == {("cards", "toys", "cards"), ("none", "toys", "none")}


def test_seeds_of_the_one_configuration_of_a_cross_have_one_place():
    assert set(placed({})) == {("toy", "toys", "toy")}
    assert set(placed({"bank": "cards"})) == {("toy", "toys", "toy")}


def test_a_limit_of_episodes_leaves_the_ends_and_says_what_is_missing(run):
    payload = build_payload([run], ["many"], Limits(episodes=200), Silent())
    index = unpacked(payload.index)
    assert (payload.held, payload.played) == (200, 400)
    groups = [index["phases"][number][0] for number in index["columns"]["phase"]]
    assert (groups.count("evaluation"), groups.count("training")) == (160, 40)


def test_goals_without_end_do_not_make_the_list_endless(tmp_path):
    made = written(tmp_path, "run", [("eval/0/core.errands", episode("eval/0/core.errands", 0, "plain", texts=("x" * 5000,)))])
    payload = build_payload([made], ["run"], Limits(), Silent())
    ((_, goal, _),) = unpacked(payload.index)["tasks"]
    assert goal == "bring parcel 0 to room 0" + "x" * 975 + "…"


def test_a_limit_of_size_is_kept(run):
    whole = sum(map(len, build_payload([run], ["many"], Limits(), Silent()).chunks))
    payload = build_payload([run], ["many"], Limits(megabytes=whole / 2e6), Silent())
    assert sum(map(len, payload.chunks)) <= whole / 2
    assert 0 < payload.held < 400
    assert build_payload([run], ["many"], Limits(megabytes=0), Silent()).held == 0


def test_a_page_says_which_episodes_it_does_not_hold(run, tmp_path):
    page = write(Source(runs=[run]), tmp_path, limits=Limits(episodes=100)).read_text()
    assert "100 of 400 episodes, step by step" in page
    assert "300 are not in this file" in page
    assert "--episodes" in page


@pytest.mark.parametrize("harm", ["line", "file"])
def test_an_episode_whose_steps_are_lost_costs_no_other_its_place(run, tmp_path, harm):
    folder = shutil.copytree(run.path, tmp_path / "many")
    path = folder / "trajectories" / ("train/0/1.jsonl" if harm == "line" else "eval/1/core.errands.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:5], lines[5][:200] + "\n", *lines[6:]]) if harm == "line" else "{}\n")
    payload = build_payload([load(folder)], ["many"], Limits(), Silent())
    lost = 1 if harm == "line" else len(lines)
    assert (payload.held, payload.lost, payload.played) == (400 - lost, lost, 400)
    page = write(Source(runs=[load(folder)]), tmp_path / "report").read_text()
    assert f"{400 - lost} of 400 episodes, step by step. Of {lost} the record has the scores but not the steps: {path}: " in page


def test_a_run_whose_studies_are_damaged_is_left_out_with_the_reason(run, tmp_path):
    folder = shutil.copytree(run.path, tmp_path / "many")
    (folder / "study").mkdir(exist_ok=True)
    (folder / "study" / "0-0.json").write_text("{")
    page = write(Source(runs=[load(folder), run]), tmp_path / "report").read_text()
    assert f"{folder / 'study' / '0-0.json'}: damaged" in page


def test_what_a_run_says_is_never_markup(hostile, tmp_path):
    cell, axes = hostile.path.name, {text: text for text in HOSTILE}
    cells = [Cell(id=HOSTILE[0], axes=axes, state="finished", run=cell), Cell(id=HOSTILE[1], axes=axes, state="failed", reason=HOSTILE[0])]
    cross = Cross(name=HOSTILE[0], given={text: list(HOSTILE) for text in HOSTILE}, axes={text: [text] for text in HOSTILE}, cells=cells)
    source = Source(runs=[hostile], cross=cross, place=hostile.path.parent, unread=[(HOSTILE[0], HOSTILE[1])])
    page = write(source, tmp_path).read_text(encoding="utf-8")
    found = Markup(page)
    assert not [tag for tag, _ in found.tags if tag in ("img", "iframe", "object", "embed", "base")]
    assert not [(tag, name) for tag, given in found.tags for name in given if name.startswith("on") or name == "style"]
    assert [given.get("type") for tag, given in found.tags if tag == "script"].count("module") == 1
    assert {given.get("type") for tag, given in found.tags if tag == "script"} == {"module", "application/json+deflate"}
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", page)


def test_no_address_in_a_page_leads_out_of_it(hostile, tmp_path):
    found = Markup(write(Source(runs=[hostile]), tmp_path).read_text(encoding="utf-8"))
    addresses = [given[name] for _, given in found.tags for name in ("href", "src", "action", "xlink:href", "poster") if name in given]
    assert addresses
    assert all(address.startswith("#") or address == "data:," for address in addresses)


def test_every_name_in_a_page_is_there_once_and_every_link_leads_somewhere(run, tmp_path):
    found = Markup(write(Source(runs=[run]), tmp_path).read_text())
    ids = [given["id"] for _, given in found.tags if "id" in given]
    assert sorted(set(ids)) == sorted(ids)
    assert {given["href"][1:] for tag, given in found.tags if tag == "a"} <= set(ids)


def test_the_policy_lets_in_this_script_and_this_style_and_nothing_else(run, tmp_path):
    page = write(Source(runs=[run]), tmp_path).read_text()
    style, script = (
        re.search("<style>(.*?)</style>", page, re.DOTALL)[1],
        re.search('<script type="module">(.*?)</script>', page, re.DOTALL)[1],
    )
    content = next(given["content"] for tag, given in Markup(page).tags if given.get("http-equiv") == "Content-Security-Policy")
    assert content == policy(style, script)
    assert content.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in content


def test_the_same_runs_make_the_same_page(run, tmp_path):
    pages = [write(Source(runs=[load(run.path)]), tmp_path).read_bytes() for _ in range(2)]
    assert pages[0] == pages[1]


def test_figures_stand_side_by_side_and_tables_have_the_width():
    def figure(name):
        return Figure(name=name, title=name, caption="", svg="<svg></svg>")

    sheet = Sheet(name="t", title="<t>", caption="", columns=("a",), rows=[("b",)])
    section = Section(name="s", title="S", lead="", pieces=[figure("a"), figure("b"), sheet, figure("c")])
    text = markup(Part(section=section, listings=[Listing(title="x.yaml", text="<a>: &b")]))
    assert re.findall('class="(figures|table)"|id="figure-(.)"', text) == [
        ("figures", ""),
        ("", "a"),
        ("", "b"),
        ("table", ""),
        ("figures", ""),
        ("", "c"),
    ]
    assert "&lt;a&gt;: &amp;b" in text
    assert "<h3>&lt;t&gt;</h3>" in text


def test_what_stands_aside_is_folded_under_what_it_is_and_a_heading_is_not_said_again():
    sheets = [Sheet(name=name, title=title, caption="", columns=("a",), rows=[("b",)]) for name, title in (("a", "S"), ("b", "More: s"))]
    text = markup(Part(section=Section(name="s", title="S", lead="", pieces=sheets, aside=["b"])))
    shown, folded = text.split('<details class="more">')
    assert ('id="table-a"' in shown, 'id="table-b"' in folded) == (True, True)
    assert folded.startswith("<summary>More</summary>")
    assert "<h3>S</h3>" not in text
    assert "<h3>More</h3>" in text


def test_a_run_that_is_not_finished_is_said_to_be(tmp_path):
    made = written(tmp_path / "runs", "run", [], status="interrupted")
    page = write(Source(runs=[made]), tmp_path).read_text()
    assert "1 run not finished" in page
    assert "No episode was played yet." in page


def test_what_runs_were_warned_of_is_said_on_their_page(tmp_path):
    line = "3 tasks of stream.0 are evaluated as well"
    made = [written(tmp_path / "runs", name, [], warnings=warnings) for name, warnings in (("a", [line]), ("b", [line]), ("c", []))]
    page = write(Source(runs=made), tmp_path / "three").read_text()
    assert "2 runs have warnings: see What was run." in page
    assert page.count(line) == 1
    assert "warnings-table" not in write(Source(runs=made[2:]), tmp_path / "one").read_text()


def test_a_page_tells_how_its_runs_are_made_again(tmp_path):
    made = toy(tmp_path / "runs", run={"name": "mine"})
    page = write(Source(runs=[made]), tmp_path).read_text()
    assert f"xplearn run {made.path.name}.yaml" in page
    assert f"xplearn report {made.path}" in page
    assert "policy: core.random" in page
