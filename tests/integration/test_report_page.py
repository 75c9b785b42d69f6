"""A report in headless Chromium: what a person would click, type and see, and that the page asks for nothing."""

from __future__ import annotations

import dataclasses
import time
from itertools import pairwise

import pytest

from tests.made_runs import HOSTILE, episode, many, toy, written
from xplearn.record.cross import Cell, Cross
from xplearn.report.page import Source, write
from xplearn.types import Selection

pytestmark = pytest.mark.slow

EPISODES = 5000
MOST_BYTES = 15_000_000


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a run of many episodes."""
    root = tmp_path_factory.mktemp("report")
    run = many(root / "runs", EPISODES)
    began = time.perf_counter()
    path = write(Source(runs=[run]), root / "report")
    print(f"{EPISODES} episodes: {time.perf_counter() - began:.1f} s, {path.stat().st_size / 1e6:.2f} MB")
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The page of a run whose every text would do harm where it were not shown as text."""
    root = tmp_path_factory.mktemp("hostile")
    phases = [f"eval/{point}/core.errands" for point in (0, 1)]
    played = [
        (phase, episode(phase, number, arm, texts=HOSTILE)) for phase in phases for number in range(5) for arm in ("plain", "experience")
    ]
    header = {"plugins": {HOSTILE[0]: HOSTILE[1]}, "encoder": HOSTILE[0], "environments": {"core.errands": HOSTILE[0]}}
    run = written(root / "runs", "run", played, panels={"core.errands": {"tasks": 5, "hash": HOSTILE[0]}}, **header)
    return write(Source(runs=[run], unread=[(HOSTILE[0], HOSTILE[1])]), root / "report")


@pytest.fixture(params=[1200, 400], ids=["wide", "narrow"])
def page(browser, request):
    """A page that notes what goes wrong in it, and every request that is not for the file itself."""
    page = browser.new_page(viewport={"width": request.param, "height": 800}, color_scheme="light")
    page.troubles = []
    page.on("console", lambda message: page.troubles.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("dialog", lambda dialog: page.troubles.append(dialog.message))
    page.on("request", lambda request: page.troubles.append(request.url) if request.url.partition("#")[0] != page.address else None)
    yield page
    assert page.troubles == []
    page.close()


def visit(page, path, hash=""):
    page.address = path.as_uri()
    page.goto(page.address + hash)
    page.wait_for_selector("#rows .row")


def fits(page):
    """Nothing is wider than the window, and the open episode no wider than itself."""
    return page.evaluate(
        """document.documentElement.scrollWidth <= innerWidth
        && [...document.querySelectorAll("dialog[open]")].every((dialog) => dialog.scrollWidth <= dialog.clientWidth)"""
    )


def until(page, condition):
    """Wait for a condition. Playwright's own waiting evaluates text in the page, which the page's policy rightly forbids."""
    ends = time.monotonic() + 120
    while not page.evaluate(condition):
        assert time.monotonic() < ends, condition
        time.sleep(0.02)


def counted(page):
    return page.inner_text("#count")


def test_a_page_of_many_episodes_is_small_and_holds_them_all(page, report):
    visit(page, report)
    assert report.stat().st_size < MOST_BYTES
    assert counted(page) == "5,000 episodes"
    assert page.locator("#rows .row").count() < 60
    assert fits(page)


def test_the_end_of_a_long_list_is_one_key_away(page, report):
    visit(page, report)
    page.focus("#list")
    page.keyboard.press("End")
    last = page.locator('#rows .row[aria-selected="true"]')
    assert last.get_attribute("aria-posinset") == last.get_attribute("aria-setsize") == "5000"
    assert last.is_visible()
    page.keyboard.press("Home")
    assert page.locator('#rows .row[aria-selected="true"]').get_attribute("aria-posinset") == "1"


def test_keys_alone_search_move_open_and_close(page, report):
    visit(page, report)
    page.keyboard.press("/")
    page.keyboard.type("parcel 123 ")
    assert counted(page) == "28 of 5,000 episodes"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    selected = page.locator('#rows .row[aria-selected="true"]')
    assert (selected.get_attribute("aria-posinset"), page.locator("#list").get_attribute("aria-activedescendant")) == ("2", "row-1")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open] .step")
    assert "bring parcel 123 to room 4" in page.inner_text("#episode-title")
    page.keyboard.press("j")
    until(page, "document.querySelector('#episode-where').textContent.includes('after learning')")
    page.keyboard.press("ArrowLeft")
    until(page, "document.querySelector('#episode-where').textContent.includes('before learning')")
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('#episode-where').textContent.includes('after learning')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog:not([open])", state="attached")
    assert page.evaluate("document.activeElement.id") == "list"


def test_filters_narrow_the_list_and_clearing_widens_it(page, report):
    visit(page, report)
    page.select_option("select[name=arm]", label="plain")
    page.select_option("select[name=outcome]", label="success")
    page.select_option("select[name=phase]", label="evaluation: before learning")
    assert counted(page) == "167 of 5,000 episodes"
    assert {chip.inner_text() for chip in page.locator("#rows .chip").all()} == {"success"}
    page.fill("input[name=search]", "no such goal")
    assert "No episode is like that" in page.inner_text("#rows")
    page.click("button[type=reset]")
    until(page, "document.querySelector('#count').textContent === '5,000 episodes'")


def test_both_arms_of_a_task_are_read_step_by_step(page, report):
    visit(page, report)
    page.locator("#rows .row").nth(1).click()
    page.wait_for_selector("dialog[open] .step")
    plain, experience = page.locator("#arms > article").all()
    assert (plain.locator("h3").inner_text(), experience.locator("h3").inner_text()) == ("plain arm success", "experience arm out of steps")
    assert plain.locator(".step").count() == experience.locator(".step").count() == 8
    first = experience.locator(".step").first.inner_text()
    assert "Room 0 of house 0." in first
    assert "card · its own episode scored 60 of 100 · selector's score 0.75 · utility 0.5 · card-0" in first
    assert "card · selector's score 0.75 · utility 0.5 · card-1" in experience.locator(".step").nth(1).text_content()
    assert "10 tokens read" in first
    assert "go to room 1" in first
    assert "1 experience shown" not in plain.inner_text()
    assert "the arms part here" in plain.locator(".step").nth(1).inner_text()
    assert "not understood" in plain.locator(".step").nth(1).inner_text()
    assert "so far 1" in plain.locator(".step").last.inner_text()
    assert "House 0 is quiet." in plain.inner_text()
    assert fits(page)
    beside = experience.bounding_box()["y"] == plain.bounding_box()["y"]
    assert beside == (page.viewport_size["width"] > 400)
    assert "nothing of a bank shown" not in page.inner_text("#arms")
    if beside:
        tops = [[step.bounding_box()["y"] for step in arm.locator(".step").all()] for arm in (plain, experience)]
        assert tops[0] == tops[1]


def test_an_experience_arm_that_was_shown_nothing_says_so(page, tmp_path):
    bare = episode("eval/0/core.errands", 0, "experience")
    bare = dataclasses.replace(bare, steps=tuple(dataclasses.replace(step, selection=Selection()) for step in bare.steps))
    run = written(tmp_path / "runs", "run", [("eval/0/core.errands", bare)], panels={"core.errands": {"tasks": 1, "hash": "0"}})
    visit(page, write(Source(runs=[run]), tmp_path))
    page.locator("#rows .row").first.click()
    page.wait_for_selector("dialog[open] .step")
    assert "nothing of a bank shown" in page.inner_text(".arm-head")


def test_admissible_actions_unfold_with_the_one_that_was_taken_marked(page, report):
    visit(page, report)
    page.locator("#rows .row").nth(1).click()
    page.wait_for_selector("dialog[open] .step")
    step = page.locator("#arms > article").nth(1).locator(".step").nth(1)
    assert not step.locator(".choices").is_visible()
    step.get_by_text("3 admissible actions").click()
    assert step.locator(".choices li").all_inner_texts() == ["look around", "open door 1", "wait"]
    assert step.locator(".choices .taken").inner_text() == "open door 1"


def test_an_order_of_candidates_is_a_numbered_list(page, tmp_path):
    phase = "eval/0/core.errands"
    played = [(phase, episode(phase, 0, "plain", ranked=True))]
    run = written(tmp_path / "runs", "run", played, panels={"core.errands": {"tasks": 1, "hash": "0"}})
    visit(page, write(Source(runs=[run]), tmp_path))
    page.locator("#rows .row").first.click()
    page.wait_for_selector("dialog[open] .step")
    step = page.locator(".step").first
    assert step.locator("ol.order li").all_inner_texts() == ["wait", "look around", "go to room 1"]
    assert "3 candidates, put in order" in step.inner_text()


def test_an_episode_can_be_read_beside_itself_at_another_time(page, report):
    visit(page, report)
    page.locator("#rows .row").first.click()
    page.wait_for_selector("dialog[open] .step")
    page.select_option("#beside", label="after learning · plain · success")
    assert page.eval_on_selector_all("#beside optgroup", "(groups) => groups.map((group) => group.label)") == ["this run"]
    until(
        page,
        "document.querySelectorAll('#arms article').length === 2 && document.querySelector('#arms').textContent.includes('after learning')",
    )
    assert "beside=" in page.url
    page.select_option("#beside", label="nothing")
    until(page, "document.querySelectorAll('#arms article').length === 1")


def test_replicas_of_a_task_have_their_number_in_the_list_above_the_steps_and_beside(page, tmp_path):
    phase = "eval/0/core.errands"
    first = episode(phase, 0, "plain", 1)
    run = written(tmp_path, "run", [(phase, dataclasses.replace(first, id=f"{first.group}/plain/{replica}")) for replica in range(3)])
    visit(page, write(Source(runs=[run]), tmp_path))
    rows = page.locator("#rows .row")
    said = "replica {} of 3".replace(" ", "\u00a0").format
    assert [said(number) in rows.nth(number - 1).inner_text() for number in (1, 2, 3)] == [True] * 3
    rows.nth(1).click()
    page.wait_for_selector("dialog[open] .step")
    assert "replica 2 of 3" in page.inner_text("#episode-where")
    assert "replica 2 of 3" in page.inner_text("#arms article header")
    others = page.eval_on_selector_all("#beside optgroup option", "(options) => options.map((option) => option.textContent)")
    assert others == [f"before learning · replica {number} of 3 · plain · success" for number in (1, 3)]


def test_a_link_leads_to_its_episode_and_back_leads_out_of_it(page, report):
    visit(page, report, "#episode=many/train/0/3/errand-170/experience/0")
    page.wait_for_selector("dialog[open] .step")
    assert page.inner_text("#episode-title") == "bring parcel 170 to room 2"
    page.click("#close")
    page.wait_for_selector("dialog:not([open])", state="attached")
    page.locator('#rows .row[aria-selected="true"]').click()
    page.wait_for_selector("dialog[open] .step")
    page.go_back()
    page.wait_for_selector("dialog:not([open])", state="attached")


def test_a_link_to_an_episode_that_is_not_there_says_so(page, report):
    visit(page, report, "#episode=many/<b>none</b>")
    assert page.inner_text("#trouble") == "The episode that the address names is not in this file: many/<b>none</b>"


def test_light_and_dark_follow_the_system_until_the_button_says_otherwise(page, report):
    visit(page, report)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(ground)
    assert light != dark
    page.click("#theme")
    assert (page.evaluate(ground), page.get_attribute("#theme", "aria-pressed")) == (light, "false")
    page.click("#theme")
    assert (page.evaluate(ground), page.get_attribute("#theme", "aria-pressed")) == (dark, "true")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme ?? ''") == ""


def test_paper_is_light_and_the_screen_stays_as_it_was(page, report):
    visit(page, report)
    page.click("#theme")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.get_attribute("html", "data-theme") == "light"
    folded = "document.querySelectorAll('main details:not([open])').length"
    assert page.evaluate(folded) == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.get_attribute("html", "data-theme") == "dark"
    assert page.evaluate(folded) > 0


def test_texts_that_would_do_harm_are_shown_as_text(page, hostile):
    visit(page, hostile)
    assert fits(page)
    page.locator("#rows .row").first.click()
    for number in range(5):
        page.wait_for_selector("dialog[open] .step")
        text = HOSTILE[number].replace("\x1b", "�").replace("\x00", "�").replace("\ud800", "�").replace("\u202e", "�")
        until(page, f"document.querySelector('#episode-title').textContent.startsWith('bring parcel {number} ')")
        shown = page.evaluate("document.querySelector('#arms').textContent")
        assert page.evaluate("document.querySelector('#episode-title').textContent") == f"bring parcel {number} to room {number % 7}{text}"
        assert f"Doors open to the east.{text}" in shown
        assert f"open door 1{text}" in shown
        assert f"House {number} is quiet.{text}" in shown
        assert f"card-0{text}" in shown
        assert fits(page)
        if number < 4:
            page.click("#next")
            page.click("#next")
    assert page.locator("img, iframe").count() == 0


def test_tables_are_sorted_by_a_column_of_numbers(page, hostile):
    visit(page, hostile)
    table = page.locator(".k-sheet table:has(button.sort)").first
    header = table.locator("th:has(button.sort)").first
    column = """(head) => [...head.closest("table").tBodies[0].rows]
        .map((row) => row.cells[head.cellIndex].dataset.sort).filter(Boolean).map(Number)"""
    for order, falling in (("descending", True), ("ascending", False)):
        header.locator("button").click()
        values = header.evaluate(column)
        assert header.get_attribute("aria-sort") == order
        assert len(values) > 1
        assert values == sorted(values, reverse=falling)


def test_the_name_of_a_row_stays_in_sight_and_a_cut_edge_is_shaded(page, report):
    visit(page, report)
    sheet = page.locator("#table-leaderboard-table .k-sheet")
    sheet.scroll_into_view_if_needed()
    wide = sheet.evaluate("(box) => box.scrollWidth - box.clientWidth")
    assert wide > 0 or page.viewport_size["width"] > 1000
    sheet.evaluate("(box) => { box.scrollLeft = 200 }")
    place = "(found) => Math.round(found.getBoundingClientRect().left - found.closest('.k-sheet').getBoundingClientRect().left)"
    for name in (sheet.locator("tbody th").first, sheet.locator("thead .k-lead")):
        assert name.evaluate(place) <= (1 if wide else 60)
    assert sheet.evaluate("(box) => getComputedStyle(box).backgroundAttachment") == "local, local, scroll, scroll, scroll"


def test_the_list_says_which_run_however_narrow_it_is(page, tmp_path):
    runs = [toy(tmp_path / "runs", run={"seed": seed}) for seed in (0, 1)]
    cells = [
        Cell(id=f"errands · seed {seed}", axes={"stream": "errands", "seed": str(seed)}, state="finished", run=run.path.name)
        for seed, run in enumerate(runs)
    ]
    cross = Cross(name="c", given={}, axes={"stream": ["errands"], "seed": ["0", "1"]}, cells=cells)
    visit(page, write(Source(runs=runs, cross=cross), tmp_path))
    hint = page.locator("#rows .row .run").first
    assert hint.is_visible()
    assert hint.inner_text() == "seed 0"
    assert fits(page)


def test_without_scripts_figures_and_tables_are_there_and_the_page_says_what_is_not(browser, report):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(report.as_uri())
        assert "Scripts are off" in page.inner_text("noscript")
        assert not page.locator("#viewer").is_visible()
        assert page.locator("#runs h2").inner_text() == "What was run"


def test_headings_follow_one_another_and_parts_have_their_names(page, report):
    visit(page, report)
    levels = page.evaluate(
        "[...document.querySelectorAll('body > :not(dialog) :is(h1,h2,h3,h4), body > header h1')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("main, nav, footer, body > header").count() == 4
    unnamed = """[...document.querySelectorAll("button, input, select, [role=region], [role=listbox]")]
        .filter((node) => !(node.ariaLabel || node.textContent.trim() || node.labels?.length)).map((node) => node.outerHTML)"""
    assert page.evaluate(unnamed) == []


def test_words_stand_out_from_their_ground(page, report):
    visit(page, report)
    page.locator("#rows .row").nth(1).click()
    page.wait_for_selector("dialog[open] .step")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FAINT) == []


FAINT = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const linear = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (color) => [0.2126, 0.7152, 0.0722].reduce((sum, share, at) => sum + share * linear(color[at] / 255), 0);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const found = rgba(getComputedStyle(node).backgroundColor);
      if (found[3] === 255) return found;
    }
    return rgba("Canvas");
  };
  const says = (node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  const texts = [...document.querySelectorAll("body *:not(script, style, noscript, option, svg *)")]
    .filter((node) => node.checkVisibility() && !node.disabled && says(node));
  return texts.flatMap((node) => {
    const [low, high] = [light(rgba(getComputedStyle(node).color)), light(ground(node))].sort((one, other) => one - other);
    const ratio = (high + 0.05) / (low + 0.05);
    return ratio < 4.5 ? [`${node.className} ${node.textContent.slice(0, 30)} ${ratio.toFixed(2)}`] : [];
  });
})()"""
"""Texts with less contrast than WCAG's level AA asks for."""
