import os
import subprocess
import sys

import pytest

from xplearn.errors import ConfigError
from xplearn.policies import precision


def test_threads_are_calm_unless_the_user_says_otherwise(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    precision.calm_threads()
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    precision.calm_threads()
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE"


def test_policies_calm_the_threads_before_torch_is_there():
    code = "import os, sys, xplearn.policies; print(os.environ['OMP_WAIT_POLICY'], 'torch' in sys.modules)"
    clean = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean)
    assert result.stdout.split() == ["PASSIVE", "False"]


def test_format_follows_the_processor(monkeypatch):
    torch = pytest.importorskip("torch")
    cpu = torch.device("cpu")
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True}, raising=False)
    assert precision.choose_dtype("auto", cpu) == torch.bfloat16
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True, "avx512_bf16": False}, raising=False)
    assert precision.choose_dtype("auto", cpu) == torch.float32
    assert precision.choose_dtype("bf16", cpu) == torch.bfloat16


def test_unknown_device_names_the_known_ones():
    pytest.importorskip("torch")
    with pytest.raises(ConfigError, match="'abacus' is not a device; use auto, cpu or cuda"):
        precision.choose_device("abacus")


def test_absent_gpu_says_what_to_do(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert precision.choose_device("auto").type == "cpu"
    with pytest.raises(ConfigError, match="use device=cpu or device=auto"):
        precision.choose_device("cuda")


@pytest.fixture
def threads(monkeypatch):
    """Torch, with two threads that nobody has changed yet."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(precision, "_found", [])
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield torch
    torch.set_num_threads(before)


def test_threads_of_one_policy_do_not_stay_for_the_next_that_asks_for_none(threads):
    precision.set_threads(3)
    precision.set_threads(1)
    assert threads.get_num_threads() == 1
    precision.set_threads(0)
    assert threads.get_num_threads() == 2


def test_threads_that_no_policy_changed_are_left_as_they_are(threads):
    precision.set_threads(0)
    threads.set_num_threads(1)
    precision.set_threads(0)
    assert threads.get_num_threads() == 1


def test_what_last_digits_depend_on_is_told(threads):
    precision.set_threads(1)
    found = precision.computing(threads.device("cpu"), threads.bfloat16)
    assert found == {"device": "cpu", "dtype": "bfloat16", "processor": threads.backends.cpu.get_cpu_capability(), "threads": 1}
