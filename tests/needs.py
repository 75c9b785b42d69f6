"""What a test needs that an environment may lack, so that it is skipped there with the reason."""

from importlib.util import find_spec

import pytest

TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="the fields of core.clone are known where torch is")
