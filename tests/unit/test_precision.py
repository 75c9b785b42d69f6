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


def test_threads_can_be_set():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    precision.set_threads(1)
    assert torch.get_num_threads() == 1
    precision.set_threads(0)
    assert torch.get_num_threads() == 1
    precision.set_threads(before)
