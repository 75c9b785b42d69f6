"""What every encoder must do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from xplearn.interfaces import Encoder
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts.component import ComponentContract

TEXTS = ["open the door", "the lamp is on the table", "boil water", "eine Tür öffnen", "打开门"]


class EncoderContract(ComponentContract):
    """Unit vectors, the same for a text whoever its neighbours are."""

    tolerance: float = 1e-4
    """Largest difference of a component between batches."""

    @pytest.fixture
    def encoder(self, make: Callable[[], Encoder], agent: FakeAgent) -> Iterator[Encoder]:
        """The encoder, set up."""
        part = make()
        part.setup(agent)
        yield part
        part.close()

    def test_vectors_are_single_precision_rows_of_the_stated_width(self, encoder: Encoder) -> None:
        vectors = encoder.encode(TEXTS)
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(TEXTS), encoder.dim)

    def test_rows_have_length_one(self, encoder: Encoder) -> None:
        lengths = np.linalg.norm(encoder.encode(TEXTS), axis=1)
        np.testing.assert_allclose(lengths, 1.0, atol=1e-4)

    def test_an_empty_text_is_a_zero_row(self, encoder: Encoder) -> None:
        vectors = encoder.encode(["", TEXTS[0]])
        assert not vectors[0].any()
        assert vectors[1].any()

    def test_no_texts_give_no_rows(self, encoder: Encoder) -> None:
        assert encoder.encode([]).shape == (0, encoder.dim)

    def test_equal_texts_have_equal_vectors_and_others_differ(self, encoder: Encoder) -> None:
        vectors = encoder.encode([TEXTS[0], TEXTS[1], TEXTS[0]])
        np.testing.assert_allclose(vectors[0], vectors[2], atol=self.tolerance)
        assert np.abs(vectors[0] - vectors[1]).max() > 10 * self.tolerance

    def test_a_vector_does_not_depend_on_its_neighbours(self, encoder: Encoder) -> None:
        together = encoder.encode(TEXTS)
        alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
        np.testing.assert_allclose(together, alone, atol=self.tolerance)

    def test_a_second_encoder_of_the_same_configuration_agrees(
        self, encoder: Encoder, make: Callable[[], Encoder], agent: FakeAgent
    ) -> None:
        other = make()
        other.setup(agent)
        assert other.id == encoder.id
        np.testing.assert_allclose(other.encode(TEXTS), encoder.encode(TEXTS), atol=self.tolerance)
        other.close()

    def test_any_text_can_be_encoded(self, encoder: Encoder) -> None:
        vectors = encoder.encode(["\ud800 broken", "\x00", "word " * 5000, "🚪" * 50])
        assert np.isfinite(vectors).all()

    def test_id_names_the_encoder(self, encoder: Encoder) -> None:
        assert encoder.id
        assert encoder.id == encoder.id.strip()
