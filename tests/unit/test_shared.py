import dataclasses
import os
import threading
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from xplearn.agent import Agent
from xplearn.builtin.selectors import NoneSelector
from xplearn.experiment.shared import Shared
from xplearn.experiment.shared.identity import Identity, everywhere
from xplearn.experiment.shared.memo import key_of
from xplearn.experiment.shared.reading import ACTING, ENCODER, STORE, Reading
from xplearn.experiment.shared.shelf import Shelf
from xplearn.record.tensors import digest_of
from xplearn.rollout.collector import Assignment
from xplearn.testing import samples

KEY = key_of("work")


@pytest.fixture
def shared(tmp_path):
    return Shared(tmp_path / "shared")


def files(shared):
    return [path for path in shared.folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("text", ["", "one line", "two\nlines\r\nor three\r", '"žluťoučký" 🐎'])
def test_a_text_comes_back_as_it_was(shared, text):
    assert shared.text("kind", KEY) is None
    shared.put_text("kind", KEY, text)
    assert shared.text("kind", KEY) == text
    assert shared.text("other", KEY) is None
    assert not list((shared.folder / "drafts").iterdir())


def test_a_text_takes_a_fraction_of_its_length(shared):
    shared.put_text("kind", KEY, "the same again and again " * 1000)
    (path,) = files(shared)
    assert path.stat().st_size < 1000


@pytest.mark.parametrize(
    "harm", [lambda raw: raw[:-1], lambda raw: b"", lambda raw: raw + b"x", lambda raw: bytes(len(raw)), lambda raw: b"\xff" + raw]
)
def test_a_damaged_text_is_absent_until_it_is_put_again(shared, harm):
    shared.put_text("kind", KEY, "content")
    (path,) = files(shared)
    path.write_bytes(harm(path.read_bytes()))
    assert shared.text("kind", KEY) is None
    shared.put_text("kind", KEY, "content")
    assert shared.text("kind", KEY) == "content"


def fill(text):
    return lambda folder: (folder / "file").write_text(text)


def test_of_one_variant_the_first_folder_stays_and_another_variant_stands_beside_it(shared):
    for text in ("first", "second"):
        shared.put_folder("kind", KEY, "a", fill(text))
    shared.put_folder("kind", KEY, "b", fill("third"))
    assert [(shared.find_folder("kind", KEY, name) / "file").read_text() for name in "ab"] == ["first", "third"]
    assert shared.find_folder("kind", KEY, "c") is None


@pytest.mark.parametrize("name", ["file", "contents.json"])
def test_a_damaged_folder_makes_room_for_a_whole_one(shared, name):
    shared.put_folder("kind", KEY, "a", fill("first"))
    (shared.find_folder("kind", KEY, "a") / name).write_text("{}")
    assert shared.find_folder("kind", KEY, "a") is None
    shared.put_folder("kind", KEY, "a", fill("second"))
    assert (shared.find_folder("kind", KEY, "a") / "file").read_text() == "second"


def test_a_folder_whose_filling_fails_is_not_there(shared):
    def failing(folder):
        (folder / "file").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shared.put_folder("kind", KEY, "a", failing)
    assert shared.find_folder("kind", KEY, "a") is None
    assert files(shared) == []


def test_what_a_kill_left_is_removed_after_a_day(shared):
    drafts = shared.folder / "drafts"
    for name, days in (("old", 2), ("young", 0)):
        (drafts / name).mkdir(parents=True)
        os.utime(drafts / name, (time.time() - days * 86_400,) * 2)
    Shared(shared.folder)
    assert [path.name for path in drafts.iterdir()] == ["young"]


def test_a_claim_is_one_process_at_a_time(shared):
    order, waiting = [], threading.Event()

    def second():
        with shared.claim(KEY, waiting.set):
            order.append("second")

    with shared.claim(KEY, lambda: order.append("waited for nobody")):
        other = threading.Thread(target=second)
        other.start()
        assert waiting.wait(10)
        order.append("first")
    other.join()
    assert order == ["first", "second"]


def test_a_claim_that_cannot_be_made_holds_nobody_up(tmp_path):
    (tmp_path / "file").write_text("")
    with Shared(tmp_path / "file").claim(KEY, lambda: None):
        pass


def test_keys_tell_values_apart_but_not_their_order(shared):
    assert key_of({"a": 1, "b": [2]}) == key_of({"b": [2], "a": 1})
    assert len({key_of(what) for what in (1, "1", [1], {"a": 1}, None)}) == 5


def test_states_have_the_same_digest_wherever_they_come_from():
    state = {"steps": 3, "mean": np.arange(4.0), "names": ("a", "b")}
    again = {"names": ["a", "b"], "mean": np.arange(8.0)[:4], "steps": 3}
    assert digest_of(state) == digest_of(again)
    others = [{**state, "steps": 4}, {**state, "mean": np.arange(4.0).reshape(2, 2)}, {**state, "mean": np.arange(4.0, dtype="f4")}, {}]
    assert len({digest_of(other) for other in [state, *others]}) == 5


def test_tensors_of_any_number_format_have_a_digest():
    torch = pytest.importorskip("torch")
    values = [torch.tensor(1.0), torch.ones(1), torch.ones(2, 3, dtype=torch.bfloat16), torch.ones(3, 2, dtype=torch.bfloat16).T]
    digests = [digest_of({"value": value}) for value in values]
    assert digests[2] == digests[3]
    assert len(set(digests)) == 3


def test_a_learner_is_seen_to_read_what_it_reads():
    agent = SimpleNamespace(
        store="bank", encoder="encoder", selector="selector", conditioner="conditioner", policy="policy", seed=3, position=(0, 1)
    )
    for attribute, noted in (
        ("store", {STORE}),
        ("encoder", {ENCODER}),
        ("selector", {ACTING}),
        ("conditioner", {ACTING}),
        ("policy", set()),
    ):
        reading = Reading(agent)
        assert getattr(reading, attribute) == getattr(agent, attribute)
        assert reading.read == noted
        assert (reading.seed, reading.position) == (3, (0, 1))


def test_a_reading_offers_all_that_an_agent_does():
    offered = {name for name in vars(Agent) if not name.startswith("_")} - {"parts", "setup", "close"}
    assert offered <= {name for name in vars(Reading) if not name.startswith("_")}


@dataclasses.dataclass(kw_only=True)
class FileSelector(NoneSelector):
    path: str = ""


def described(part):
    run = SimpleNamespace(components={"selector": part}, parts=SimpleNamespace(by_path={"selector": ("selector", "own.file", part)}))
    return Identity(run).part("selector")


def test_a_file_that_a_field_names_counts_with_its_content(tmp_path):
    path = tmp_path / "examples.json"
    found = []
    for text in ("one", "two", "one"):
        path.write_text(text)
        found.append(described(FileSelector(path=str(path))))
    assert found[0] == found[2] != found[1]
    path.unlink()
    assert described(FileSelector(path=str(path))) not in found
    assert described(FileSelector(path="x" * 5000))["files"] == {}


def test_the_code_of_a_part_is_that_of_all_it_builds_on():
    assert everywhere()["code"] in described(FileSelector())["code"]
    assert len(described(FileSelector())["code"]) == 2
    assert described(NoneSelector())["code"] == [everywhere()["code"]]


def test_an_episode_that_died_is_not_left(shared):
    trajectory = samples.trajectory()
    shelf = Shelf(SimpleNamespace(shared=shared, taken=Counter()), "episodes", {"mine": KEY})
    shelf.leave("mine", dataclasses.replace(trajectory, error="died"))
    assert shelf.find("mine") is None
    shelf.leave("mine", trajectory)
    assert shelf.find("mine") == trajectory
    shelf.leave("unknown", trajectory)
    assert len(files(shared)) == 1


def test_an_episode_is_taken_under_its_new_name(shared):
    trajectory = samples.trajectory()
    episode = Assignment(task=trajectory.task, arm=trajectory.arm, replica=0, phase="eval/3/x", scope=("eval",))
    run = SimpleNamespace(shared=shared, taken=Counter(), agent=SimpleNamespace(seed=0))
    shelf = Shelf(run, "episodes", {episode.id: KEY})
    shelf.leave(episode.id, trajectory)
    taken = shelf.take(episode)
    assert (taken.id, taken.group) == (episode.id, episode.group)
    assert (taken.steps, taken.score, taken.seconds) == (trajectory.steps, trajectory.score, trajectory.seconds)
    assert run.taken == {"episodes": 1}


def test_without_a_memo_nothing_is_kept():
    shelf = Shelf(SimpleNamespace(shared=None, taken=Counter()), "episodes", {"mine": KEY})
    shelf.leave("mine", samples.trajectory())
    assert shelf.find("mine") is None


def test_an_adapter_is_saved_as_the_same_bytes_whatever_order_its_layers_are_held_in(tmp_path):
    pytest.importorskip("torch")
    import json

    from xplearn.testing.fakes import ready_policy

    ready_policy().save(tmp_path / "policy")
    layers = json.loads((tmp_path / "policy" / "adapter_config.json").read_text())["target_modules"]
    assert layers == sorted(layers)
    assert len(layers) > 3
