"""A model behind the chat completions protocol, on this machine."""

from __future__ import annotations

import pytest

from xplearn.testing.server import ChatServer, completion

OUTLINE = "1. Find a lamp\n2. Switch it on\n3. Done when it is bright"


@pytest.fixture
def model():
    with ChatServer(lambda number, request: completion(OUTLINE)) as server:
        yield server
