"""What all tests run with: files that need not outlive a power cut, generated examples that know no clock, threads of one's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from xplearn.policies.precision import set_threads

try:
    import hypothesis
except ModuleNotFoundError:
    pass
else:
    steady = {"deadline": None, "derandomize": True, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
    hypothesis.settings.register_profile("steady", **steady)
    hypothesis.settings.load_profile("steady")


@pytest.fixture(autouse=True, scope="session")
def _files_need_not_outlive_a_power_cut() -> Iterator[None]:
    """Waiting for the disk, thousands of times, is a good part of what small runs take. Other processes still do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(autouse=True)
def _threads_of_its_own() -> Iterator[None]:
    """A policy asks for threads of the whole process; a test must not leave them to the next."""
    yield
    if sys.modules.get("torch") is not None:
        set_threads(0)
