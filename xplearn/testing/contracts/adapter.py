"""What every adapter must do. Needs torch."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from xplearn.policies.adapter import Adapter
from xplearn.testing.fakes import ready_policy
from xplearn.types import Conditioning, Memory

Inputs = tuple[Tensor, Tensor, Tensor]


class AdapterContract:
    """Reads memory position by position and row by row, and starts with hardly any effect.

    ``make`` returns a function that builds a new adapter for hidden states of the class attribute ``width``.
    """

    width: int = 32
    """Hidden width D; that of the tiny model of the tests, so leave it."""
    start: float = 1e-2
    """Largest change at initialisation, relative to the hidden states."""

    @pytest.fixture
    def make(self) -> Callable[[], Adapter]:
        """A function that builds a new adapter. Override it."""
        raise NotImplementedError("override the fixture 'make': return a function that builds a new adapter")

    @pytest.fixture
    def adapter(self, make: Callable[[], Adapter]) -> Adapter:
        """The adapter, with weights far enough from their start to have an effect."""
        adapter, generator = make().eval(), torch.Generator().manual_seed(0)
        with torch.no_grad():
            for value in adapter.parameters():
                value.add_(0.3 * torch.randn(value.shape, generator=generator))
        return adapter

    @pytest.fixture
    def inputs(self) -> Inputs:
        """Hidden states ``[3, 5, D]``, memory ``[3, 4, D]`` and its mask."""
        generator = torch.Generator().manual_seed(1)
        mask = torch.tensor([[True] * 4, [True, True, False, False], [True, False, False, False]])
        memory = torch.randn(3, 4, self.width, generator=generator) * mask[..., None]
        return torch.randn(3, 5, self.width, generator=generator), memory, mask

    def test_site_is_named(self, make: Callable[[], Adapter]) -> None:
        assert re.fullmatch(r"norm|layers\.\d+", make().site)

    def test_shape_is_kept(self, adapter: Adapter, inputs: Inputs) -> None:
        assert adapter(*inputs).shape == inputs[0].shape

    def test_effect_is_near_zero_at_initialisation(self, make: Callable[[], Adapter], inputs: Inputs) -> None:
        with torch.no_grad():
            change = make().eval()(*inputs) - inputs[0]
        assert float(change.norm() / inputs[0].norm()) <= self.start

    def test_one_token_at_a_time_equals_all_at_once(self, adapter: Adapter, inputs: Inputs) -> None:
        hidden, memory, mask = inputs
        alone = torch.cat([adapter(hidden[:, place : place + 1], memory, mask) for place in range(hidden.shape[1])], dim=1)
        assert torch.allclose(adapter(*inputs), alone, atol=1e-5)

    def test_rows_do_not_see_each_other(self, adapter: Adapter, inputs: Inputs) -> None:
        alone = torch.cat([adapter(*(part[row : row + 1] for part in inputs)) for row in range(3)])
        assert torch.allclose(adapter(*inputs), alone, atol=1e-5)

    def test_padding_of_the_memory_is_not_read(self, adapter: Adapter, inputs: Inputs) -> None:
        hidden, memory, mask = inputs
        assert torch.allclose(adapter(hidden[1:2], memory[1:2, :2], mask[1:2, :2]), adapter(*inputs)[1:2], atol=1e-5)

    def test_memory_has_an_effect(self, adapter: Adapter, inputs: Inputs) -> None:
        hidden, memory, mask = inputs
        assert not torch.allclose(adapter(hidden, memory, mask), adapter(hidden, memory.flip(-1), mask), atol=1e-5)

    def test_gradients_reach_every_parameter(self, adapter: Adapter, inputs: Inputs) -> None:
        adapter(*inputs).square().sum().backward()
        silent = [name for name, value in adapter.named_parameters() if value.grad is None or not value.grad.any()]
        assert not silent

    def test_rows_without_memory_are_untouched_in_a_policy(self, adapter: Adapter) -> None:
        shown = Conditioning(messages=({"role": "user", "content": "You see a cup."},))
        held = Conditioning(messages=shown.messages, memory=Memory(states=torch.randn(2, self.width), ids=("a", "b")))
        bare, policy = ready_policy(), ready_policy()
        policy.attach(adapter)
        said = bare.transcribe([shown, shown], ["take the cup", "wait"])
        with torch.no_grad():
            plain, mixed = bare.score([shown, shown], said), policy.score([shown, held], said)
        count = len(said[0].token_ids)
        assert torch.allclose(mixed.logprobs[0, :count], plain.logprobs[0, :count], atol=1e-6)
        assert not torch.allclose(mixed.logprobs[1], plain.logprobs[1], atol=1e-6)
