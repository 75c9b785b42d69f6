"""A headless Chromium for the tests of pages."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.conftest import unavailable


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright import sync_api
    except ModuleNotFoundError:
        unavailable("playwright: pip install playwright")
    chromium = os.environ.get("XPLEARN_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        unavailable("a Chromium: apt-get install chromium, or name one in XPLEARN_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()
