"""What several benchmarks measure with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xplearn.policies.hf import HfPolicy


@pytest.fixture(scope="module")
def policy() -> HfPolicy:
    """SmolLM2 in fp32 without an adapter; skips with the command that gets the weights."""
    from xplearn.errors import DataError
    from xplearn.policies.hf import HfPolicy
    from xplearn.testing.agents import FakeAgent

    policy = HfPolicy(model="smollm2", dtype="fp32", device="cpu", lora=None, threads=1)  # neighbours disturb one thread least
    try:
        policy.setup(FakeAgent(policy=policy))
    except DataError as error:
        pytest.skip(str(error))
    return policy


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str, str, str], None]:
    """Prints one figure: its name, value and target."""

    def line(name: str, value: str, target: str) -> None:
        with capsys.disabled():
            print(f"\nRATIO {name}: {value} (target {target})", end="")

    return line
