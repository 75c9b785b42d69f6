"""Shared fixtures, and the rule about test data and weights: absent, skip on a user's machine and fail in CI."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.calm import _files_need_not_outlive_a_power_cut, _threads_of_its_own  # noqa: F401
from xplearn.cli import terminal


def unavailable(reason: str) -> None:
    """Skip with the reason; in CI (``CI=true``) fail with it, so that nothing is skipped silently."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"needed in CI: {reason}")
    pytest.skip(reason)


@pytest.fixture(autouse=True)
def _console_of_its_own() -> Iterator[None]:
    """The console takes the terminal's width when it is first used; a test that sets another must not leave it to the next."""
    yield
    terminal.console.cache_clear()


@pytest.fixture(autouse=True)
def _weights_when_marked(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("weights") is None:
        return
    from xplearn.errors import DataError
    from xplearn.policies import backbone

    try:
        backbone.resolve("smollm2")
    except DataError as error:
        unavailable(str(error))
