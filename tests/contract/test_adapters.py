import pytest

pytest.importorskip("torch")

from xplearn.testing.contracts.adapter import AdapterContract
from xplearn.testing.fakes import GatedRead


class TestGatedRead(AdapterContract):
    @pytest.fixture(params=["norm", "layers.0"])
    def make(self, request):
        return lambda: GatedRead(self.width, site=request.param)
