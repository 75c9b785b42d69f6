"""``xplearn play --html`` in headless Chromium: what a person would click."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def played(*words):
    """Address of a page that ``xplearn play --html`` serves."""
    command = [sys.executable, "-m", "xplearn", "play", *words, "--html"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=_interruptible) as process:  # noqa: PLW1509 - one thread
        try:
            address = next(line for line in process.stdout if line.startswith("http")).split()[0]
            yield address
            process.send_signal(signal.SIGINT)
            assert process.wait(120) == 0
        finally:
            process.kill()


def _interruptible():
    """Where the tests run in the background Ctrl-C is ignored, and a child inherits that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def page(browser):
    """A page that notes what goes wrong in it."""
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.troubles = []
    page.on("console", lambda message: page.troubles.append(message.text))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith("http://127.0.0.1:") else page.troubles.append(request.url))
    yield page
    assert [trouble for trouble in page.troubles if "favicon" not in trouble] == []
    page.close()


def fits(page):
    """Nothing is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_any_environment_can_be_played_by_its_buttons(page):
    with played("core.errands") as address:
        page.goto(address)
        assert fits(page)
        page.get_by_role("button", name="go to attic").click()
        assert "You are in the attic." in page.inner_text("pre")
        page.get_by_label("action").fill("dance")
        page.get_by_role("button", name="Act").click()
        assert "step 2 · score 0 of 100 · that action was not understood" in page.get_by_role("status").inner_text()
        page.get_by_role("button", name="Start again").click()
        assert "step 0" in page.get_by_role("status").inner_text()


def test_a_purchase_in_the_web_shop(page):
    pytest.importorskip("xplearn_webshop")
    import xplearn

    env = xplearn.make("environment", "webshop.text")
    task = next(task for task in env.tasks("train") if len(env.demonstrate(task, seed=0).steps) >= 4)
    search, *clicks = (step.action for step in env.demonstrate(task, seed=0).steps)
    with played("webshop.text", "--task", task.id) as address:
        page.goto(address)
        page.get_by_role("searchbox").fill(search[len("search[") : -1])
        page.get_by_role("button", name="Search", exact=True).click()
        assert "Page 1 (Total results: 50)" in page.inner_text("body")
        for click in clicks:
            assert fits(page)
            page.locator(f'button[name="action"][value="{click}" i]').click()
        assert "score 100 of 100 · solved" in page.get_by_role("status").inner_text()
        assert "Your score (min 0.0, max 1.0)" in page.inner_text("body")
