from __future__ import annotations

import json

import pytest
from xplearn_scienceworld.catalogue import KINDS, SIMPLIFICATIONS, SPLITS, effective, goals, unknown
from xplearn_scienceworld.jvm import Launch, Simulator


def test_the_table_has_thirty_tasks_and_all_their_variations():
    assert len(KINDS) == 30
    assert sum(kind.size for kind in KINDS.values()) == 7207
    assert KINDS["inclined-plane-friction-named-surfaces"].counts == (692, 346, 348)


def test_splits_are_contiguous_and_cover_every_variation():
    for kind in KINDS.values():
        assert [number for split in SPLITS for number in kind.variations(split)] == list(range(kind.size))


def test_easy_never_opens_containers_and_leaves_electricity_to_those_who_need_it():
    assert effective("easy", KINDS["boil"]) == ("teleportAction", "openDoors", "selfWateringFlowerPots", "noElectricalAction")
    assert effective("easy", KINDS["power-component"]) == ("teleportAction", "openDoors", "selfWateringFlowerPots")
    assert effective("openContainers,openDoors", KINDS["boil"]) == ("openContainers", "openDoors")
    assert effective("", KINDS["boil"]) == ()


def test_step_caps_are_those_of_the_papers():
    caps = {name: kind.paper_cap for name, kind in KINDS.items()}
    assert (caps["find-plant"], caps["lifespan-longest-lived"], caps["boil"], caps["melt"]) == (15, 12, 100, 80)
    assert caps["measure-melting-point-known-substance"] == 120
    assert [name for name, cap in caps.items() if cap is None] == [
        "measure-melting-point-unknown-substance",
        "inclined-plane-determine-angle",
        "inclined-plane-friction-named-surfaces",
        "inclined-plane-friction-unnamed-surfaces",
        "mendelian-genetics-known-plant",
        "mendelian-genetics-unknown-plant",
    ]


def test_every_variation_has_its_goal():
    assert {name: len(texts) for name, texts in goals().items()} == {name: kind.size for name, kind in KINDS.items()}
    assert goals()["boil"][0].startswith("Your task is to boil water.")


def test_an_unknown_name_is_answered_with_the_nearest():
    assert unknown("task", "find-plants", KINDS).startswith("no task is called 'find-plants'; did you mean 'find-plant'?")


@pytest.mark.slow
def test_the_tables_agree_with_the_simulator():
    simulator = Simulator(Launch())
    assert simulator.call("getPossibleSimplifications", limit=10).split(", ") == sorted(SIMPLIFICATIONS, key=str.lower)
    for kind in KINDS.values():
        assert simulator.call("getTaskMaxVariations", kind.name, limit=10) == kind.size
        for split in SPLITS:
            variations = kind.variations(split)
            simulator.call("load", kind.name, variations[-1], "easy", False, limit=60)
            assert simulator.call("getTaskDescription", limit=10) == goals()[kind.name][variations[-1]]
            listed = simulator.call(f"getVariations{split.capitalize()}", limit=10)
            assert json.loads(simulator._line.call(listed, "toString", limit=10)) == list(variations)
        assert sorted(simulator.call("getSimplificationsUsed", limit=10).split(", ")) == sorted(effective("easy", kind))
    simulator.close()
