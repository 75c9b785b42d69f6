"""What every part of a slot must do, as test classes: subclass, override the fixture ``make``, inherit the tests.

::

    class TestMyStore(StoreContract):
        @pytest.fixture
        def make(self):
            return MyStore

``make`` returns a function without arguments that builds a new part, not yet set up. The other fixtures of a class may be
overridden where a part needs more than the samples they give. The classes are loaded when first used: only ``PolicyContract``
and ``AdapterContract`` need torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

__all__ = [
    "AdapterContract",
    "ComponentContract",
    "ConditionerContract",
    "EncoderContract",
    "EnvironmentContract",
    "LearnerContract",
    "PolicyContract",
    "SelectorContract",
    "StoreContract",
]


def _module(name: str) -> str:
    return name.removesuffix("Contract").lower()


pytest.register_assert_rewrite(f"{__name__}.store_search", *(f"{__name__}.{_module(name)}" for name in __all__))

if TYPE_CHECKING:
    from xplearn.testing.contracts.adapter import AdapterContract
    from xplearn.testing.contracts.component import ComponentContract
    from xplearn.testing.contracts.conditioner import ConditionerContract
    from xplearn.testing.contracts.encoder import EncoderContract
    from xplearn.testing.contracts.environment import EnvironmentContract
    from xplearn.testing.contracts.learner import LearnerContract
    from xplearn.testing.contracts.policy import PolicyContract
    from xplearn.testing.contracts.selector import SelectorContract
    from xplearn.testing.contracts.store import StoreContract


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_module(name)}"), name)
