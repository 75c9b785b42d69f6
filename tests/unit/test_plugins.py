from __future__ import annotations

import types

import pytest

from xplearn.errors import PluginError
from xplearn.hookspecs import hookimpl
from xplearn.plugins import Plugins, installed


def plugin(**functions):
    module = types.ModuleType("mine")
    for name, function in functions.items():
        setattr(module, name, hookimpl(function))
    return module


def adding(component="lucky", target="somewhere:Lucky", slot="selector"):
    def xplearn_register(registry):
        registry.add(slot, component, target, help="h")

    return plugin(xplearn_register=xplearn_register)


def test_names_are_prefixed_with_the_plugins():
    plugins = Plugins()
    plugins.add("mine", adding())
    assert [entry.name for entry in plugins.registry.entries()] == ["mine.lucky"]


def test_two_plugins_register_through_the_same_hook_without_meeting():
    plugins = Plugins()
    plugins.add("one", adding())
    plugins.add("two", adding())
    assert [entry.name for entry in plugins.registry.entries()] == ["one.lucky", "two.lucky"]


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (adding(component="a.b"), "want a name without dots"),
        (adding(target="nowhere"), "a target 'module:Class'"),
        (adding(slot="selecter"), "no slot is called 'selecter'"),
    ],
)
def test_a_plugin_that_registers_nonsense_is_remembered_and_leaves_nothing(module, reason):
    plugins = Plugins()
    plugins.add("bad", module)
    plugins.add("good", adding())
    assert [entry.name for entry in plugins.registry.entries()] == ["good.lucky"]
    assert reason in str(plugins.registry.failures["bad"])


class Point:
    def __init__(self, name, dist, load):
        self.name, self.load = name, load
        self.dist = types.SimpleNamespace(name=dist, version="1")


def leaving():
    raise SystemExit(3)


def test_a_second_plugin_of_a_name_is_refused_and_the_first_one_stays(monkeypatch):
    points = [Point("core", "impostor", adding), Point("core", "xplearn", adding), Point("mine", "b", adding), Point("mine", "a", adding)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    plugins = Plugins().discover()
    assert plugins.versions == {"core": "xplearn 1", "mine": "b 1"}
    assert [entry.name for entry in plugins.registry.entries()] == ["core.lucky", "mine.lucky"]
    assert "the name 'core' is taken by xplearn 1" in str(plugins.registry.failures["core of impostor 1"])


def test_a_plugin_that_leaves_the_interpreter_is_a_failure_like_any_other(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point("bad", "bad", leaving), Point("good", "good", adding)])
    plugins = Plugins().discover()
    assert isinstance(plugins.registry.failures["bad"], SystemExit)
    assert [entry.name for entry in plugins.registry.entries()] == ["good.lucky"]


def test_a_plugin_whose_commands_fail_leaves_those_of_the_others():
    added = []
    plugins = Plugins()
    plugins.add("bad", plugin(xplearn_cli=lambda commands: leaving()))
    plugins.add("good", plugin(xplearn_cli=lambda commands: commands.append("greet")))
    plugins.add_commands(added)
    assert added == ["greet"]
    assert isinstance(plugins.registry.failures["bad"], SystemExit)


def test_a_misspelt_hook_is_an_error_not_ignored():
    plugins = Plugins()
    plugins.add("typo", plugin(xplearn_registr=lambda registry: None))
    assert "xplearn_registr" in str(plugins.registry.failures["typo"])


def test_asking_for_a_part_of_a_broken_plugin_raises_its_cause():
    plugins = Plugins()
    plugins.registry.failures["mine"] = cause = ImportError("no module named gone")
    with pytest.raises(PluginError, match="no module named gone") as error:
        plugins.registry.get("selector", "mine.lucky")
    assert error.value.__cause__ is cause


def test_a_target_that_cannot_be_imported_names_plugin_and_part():
    plugins = Plugins()
    plugins.add("mine", adding(target="xplearn.types:Nothing"))
    with pytest.raises(PluginError, match=r"'mine\.lucky' cannot be loaded from xplearn\.types:Nothing"):
        plugins.registry.get("selector", "mine.lucky").load()


def test_a_target_that_is_no_component_is_refused():
    plugins = Plugins()
    plugins.add("mine", adding(target="xplearn.types:Task"))
    with pytest.raises(PluginError, match="is not a Component"):
        plugins.registry.get("selector", "mine.lucky").load()


def test_the_core_comes_through_the_same_door():
    assert "core" in installed().versions
    assert not dict(installed().broken())
    assert {entry.plugin for entry in installed().registry.entries() if entry.name.startswith("core.")} == {"core"}
