"""What all tests run with: files that need not outlive a power cut, and generated examples that know no clock."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

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
