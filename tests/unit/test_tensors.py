import base64

import numpy as np
import pytest

from xplearn.record.tensors import dump_array, load_array


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<i8", "|b1"])
def test_arrays_come_back_as_they_were(dtype):
    array = (np.arange(12).reshape(3, 4) / 7).astype(dtype)
    back = load_array(dump_array(array))
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


@pytest.mark.parametrize("shape", [(0, 4), (), (5,)])
def test_any_shape_comes_back(shape):
    array = np.full(shape, 1.1, dtype=np.float32)
    assert load_array(dump_array(array)).shape == shape


def test_numbers_of_a_bf16_model_are_written_in_half():
    torch = pytest.importorskip("torch")
    exact = torch.randn(64, 8)
    rounded = exact.bfloat16().float()
    rounded[0, 0], rounded[0, 1], rounded[0, 2] = float("nan"), float("-inf"), -0.0
    assert [len(base64.b64decode(dump_array(tensor)["data"])) for tensor in (exact, rounded)] == [64 * 8 * 4, 64 * 8 * 2]
    for tensor in (exact, rounded):
        back = load_array(dump_array(tensor))
        assert back.dtype == torch.float32
        assert back.numpy().tobytes() == tensor.numpy().tobytes()
