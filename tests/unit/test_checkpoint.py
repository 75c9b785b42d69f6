import json
from dataclasses import dataclass

import numpy as np
import pytest

from xplearn.agent import Agent
from xplearn.builtin.conditioners import NoneConditioner
from xplearn.builtin.selectors import NoneSelector
from xplearn.encoders.hashing import HashingEncoder
from xplearn.errors import RecordError
from xplearn.experiment.checkpoint import Checkpoints
from xplearn.experiment.observer import Silent
from xplearn.stores.memory import MemoryStore
from xplearn.testing.dial import DialPolicy, TurnLearner
from xplearn.types import Experience


class Watching(Silent):
    def __init__(self):
        self.seen = []

    def phase_start(self, name, total):
        self.seen.append(("start", name, total))

    def advance(self, n=1, **figures):
        self.seen.append(("advance", n, figures))

    def phase_end(self):
        self.seen.append(("end",))


@dataclass
class World:
    agent: Agent
    learner: TurnLearner

    @property
    def parts(self):
        return {"store": self.agent.store, "learner.0": self.learner}


def world():
    agent = Agent(
        policy=DialPolicy(), encoder=HashingEncoder(), store=MemoryStore(), selector=NoneSelector(), conditioner=NoneConditioner()
    )
    agent.setup()
    return World(agent=agent, learner=TurnLearner())


def change(where, number):
    where.agent.policy.now = number
    where.agent.policy.version += 1
    where.agent.store.add([Experience(id=f"card-{number}", kind="card", key="k", content="c")])
    where.learner.load_state_dict({"seen": [f"t{number}"]})


def test_agent_bank_and_parts_come_back_together(tmp_path):
    first, second = world(), world()
    change(first, 55)
    Checkpoints(tmp_path).save(first.agent, first.parts, number=1, change="learner.0/0/0")
    Checkpoints(tmp_path).restore(second.agent, second.parts)
    assert (second.agent.policy.now, second.agent.policy.version) == (55, 1)
    assert second.agent.store.digest() == first.agent.store.digest()
    assert second.learner.state_dict() == {"seen": ["t55"]}


def test_nothing_to_restore_changes_nothing(tmp_path):
    where = world()
    assert Checkpoints(tmp_path).last is None
    Checkpoints(tmp_path).restore(where.agent, where.parts)
    assert where.agent.policy.now == 20


def test_last_checkpoint_wins_and_only_ends_of_stages_stay_beside_it(tmp_path):
    where, checkpoints = world(), Checkpoints(tmp_path)
    for number, keep in enumerate([False, True, False, False]):
        change(where, number)
        checkpoints.save(where.agent, where.parts, number=number, change="x", keep=keep)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["001", "003"]
    assert Checkpoints(tmp_path).last.number == 3


def test_half_written_checkpoint_does_not_count(tmp_path):
    where = world()
    Checkpoints(tmp_path).save(where.agent, where.parts, number=0, change="start")
    half = tmp_path / ".001.tmp"
    half.mkdir()
    (half / "position.json").write_text("{")
    assert Checkpoints(tmp_path).last.number == 0
    assert not half.exists()


def test_what_did_not_change_shares_its_blocks_and_survives_the_older_one(tmp_path):
    where, checkpoints = world(), Checkpoints(tmp_path)
    change(where, 1)
    checkpoints.save(where.agent, where.parts, number=0, change="start")
    inode = (tmp_path / "000" / "bank.snapshot").stat().st_ino
    where.agent.policy.now, where.agent.policy.version = 77, 2
    checkpoints.save(where.agent, where.parts, number=1, change="x")
    assert (tmp_path / "001" / "bank.snapshot").stat().st_ino == inode
    assert json.loads((tmp_path / "001" / "policy" / "dial.json").read_text()) == 77
    fresh = world()
    Checkpoints(tmp_path).restore(fresh.agent, fresh.parts)
    assert [found.id for found in fresh.agent.store] == ["card-1"]


def test_damaged_checkpoint_is_one_line(tmp_path):
    where = world()
    Checkpoints(tmp_path).save(where.agent, where.parts, number=0, change="start")
    (tmp_path / "000" / "position.json").write_text("{}")
    with pytest.raises(RecordError, match=r"position.json: damaged .* start anew"):
        Checkpoints(tmp_path)


def test_progress_of_a_learner_survives_and_is_told(tmp_path):
    watching = Watching()
    progress = Checkpoints(tmp_path).progress("learner.0/1/2", watching)
    assert progress.load() is None
    progress.save({"done": 3})
    progress.report(3, 10, loss=0.5)
    progress.report(5, 10, loss=0.25)
    progress.close()
    again = Checkpoints(tmp_path).progress("learner.0/1/2", watching)
    assert again.load() == {"done": 3}
    assert Checkpoints(tmp_path).progress("learner.0/1/3", watching).load() is None
    again.remove()
    assert again.load() is None
    assert watching.seen == [
        ("start", "learner.0/1/2", 10),
        ("advance", 3, {"loss": 0.5}),
        ("advance", 2, {"loss": 0.25}),
        ("end",),
    ]
    assert Checkpoints(tmp_path).last is None


def saved(tmp_path):
    where = world()
    change(where, 1)
    Checkpoints(tmp_path).save(where.agent, where.parts, number=0, change="start")
    return where


@pytest.mark.parametrize("name", ["²", "٣", "notes"])
def test_folder_that_is_no_number_is_no_checkpoint(tmp_path, name):
    saved(tmp_path)
    (tmp_path / name).mkdir()
    assert Checkpoints(tmp_path).last.number == 0


@pytest.mark.parametrize("wrong", [{"number": "0"}, {"keep": 1}, {"policy_version": None}, {"bank_size": True}, {"surprise": 1}])
def test_position_with_a_value_of_the_wrong_type_is_damaged(tmp_path, wrong):
    saved(tmp_path)
    path = tmp_path / "000" / "position.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | wrong))
    with pytest.raises(RecordError, match=r"position.json: damaged .* start anew"):
        Checkpoints(tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "what"),
    [
        ("bank.snapshot", None, "bank"),
        ("bank.snapshot", "x", "bank"),
        ("policy/dial.json", None, "policy"),
        ("policy/dial.json", "{", "policy"),
        ("parts/learner.0.json", "{}", "learner.0"),
    ],
)
def test_part_that_cannot_be_restored_is_named_with_the_next_step(tmp_path, file, text, what):
    where = saved(tmp_path)
    path = tmp_path / "000" / file
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(RecordError, match=f"checkpoint of '{what}' is damaged .*remove the run folder and start anew"):
        Checkpoints(tmp_path).restore(where.agent, where.parts)


@pytest.mark.parametrize("state", [{"done": 3}, {"weights": np.ones(3)}])
@pytest.mark.parametrize("text", [b"", b"3", b"\xff\x00", b"PK\x03\x04torn"])
def test_damaged_progress_says_which_file_to_delete(tmp_path, state, text):
    progress = Checkpoints(tmp_path).progress("learner.0/1/2", Watching())
    progress.save(state)
    (path,) = (tmp_path / "progress").iterdir()
    path.write_bytes(text)
    with pytest.raises(RecordError, match=rf"{path.name}: damaged .*; delete this file: this step of training then starts anew"):
        progress.load()
    path.unlink()
    assert progress.load() is None


@pytest.mark.parametrize("text", [b"", b"\x08\0\0\0\0\0\0\0garbage!", b"\x02\0\0\0\0\0\0\0{}"])
def test_damaged_progress_of_tensors_says_which_file_to_delete(tmp_path, text):
    torch = pytest.importorskip("torch")
    progress = Checkpoints(tmp_path).progress("learner.0/1/2", Watching())
    progress.save({"weights": torch.ones(3)})
    (path,) = (tmp_path / "progress").iterdir()
    path.write_bytes(text)
    with pytest.raises(RecordError, match=r"safetensors: damaged .*; delete this file"):
        progress.load()
