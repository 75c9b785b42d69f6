"""Sources of games: what is read, what is left out, and how damage is named."""

from __future__ import annotations

import json
import lzma
import os
import shutil
import tracemalloc
from pathlib import Path

import pytest
from xplearn_alfworld.official import OfficialFolder
from xplearn_alfworld.packed import PackedFile, PackedFolder
from xplearn_alfworld.sources import source

from xplearn import DataError

TRIAL = "pick_and_place_simple-Mug-None-Shelf-1/trial_T1"
COUNTS = {"train": 3, "valid_seen": 2, "valid_unseen": 0}


def games(path="", human=False):
    return source(str(path), human=human, seed=0, counts=COUNTS)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.xz"])
def test_a_packed_file_is_read_whatever_packs_it(tmp_path, rows, packing, little, suffix):
    path = packing(tmp_path / f"games{suffix}", [rows("valid_seen/a/1"), rows("train/b/2", "look_at_obj_in_light", human=None)])
    found = games(path)
    assert found.splits() == ("train", "valid_seen")
    (entry,) = found.entries("valid_seen")
    assert (entry.id, entry.type, entry.goal) == ("valid_seen/a/1", "pick_and_place_simple", "bring a mug to the shelf")
    assert (entry.human, entry.meta) == (("Please bring a mug to the shelf, dear.", "Another."), {"scene": "LittleHouse"})
    assert found.problem("train/b/2").goal.target == "DeskLamp"
    assert found.find("train/b/3") is None
    assert found.entries("nowhere") == []


def test_equal_content_has_an_equal_digest_wherever_it_lies(tmp_path, rows, packing):
    (tmp_path / "deep").mkdir()
    first = packing(tmp_path / "a.jsonl", [rows("train/a/1")])
    second = packing(tmp_path / "deep" / "b.jsonl", [rows("train/a/1")])
    third = packing(tmp_path / "c.jsonl", [rows("train/a/2")])
    packed = packing(tmp_path / "d.jsonl.xz", [rows("train/a/1")])
    assert games(first).digest == games(second).digest == games(tmp_path / "deep").digest == games(packed).digest
    assert len({games(first).digest, games(third).digest, games(tmp_path).digest}) == 3


def test_the_digest_is_of_the_games_that_were_read(tmp_path, rows, packing):
    path = packing(tmp_path / "a.jsonl", [rows("train/a/1")])
    found, before = games(path), games(path).digest
    found.splits()
    packing(path, [rows("train/a/2")])
    assert found.digest == before != games(path).digest


def test_official_splits_come_first_and_in_their_order(tmp_path, rows, packing):
    ids = ["mine/a/1", "valid_unseen/a/1", "valid_train/a/1", "train/a/1", "also/a/1"]
    assert games(packing(tmp_path / "x.jsonl", map(rows, ids))).splits() == ("train", "valid_train", "valid_unseen", "also", "mine")


def test_problems_are_parsed_when_asked_for_and_not_before(tmp_path, rows, packing):
    path = packing(tmp_path / "x.jsonl", [rows("train/a/1", problem="(define (problem broken)"), rows("train/a/2")])
    found = games(path)
    assert len(found.entries("train")) == 2
    assert found.problem("train/a/2").name.startswith("little")
    with pytest.raises(DataError, match=r"x\.jsonl: train/a/1: is not PDDL: it ends with 1 brackets open"):
        found.problem("train/a/1")


def test_damage_anywhere_in_a_file_is_told_before_the_first_game(tmp_path, rows, packing):
    path = packing(tmp_path / "x.jsonl", [rows("train/a/1")])
    with path.open("ab") as file:
        file.write(b"broken\n")
    found = games(path)
    for use in (lambda: found.find("train/a/1"), found.splits, found.splits):
        with pytest.raises(DataError, match="line 2 is not JSON, after 1 lines that are"):
            use()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "a"}, "line 2 has the id 'a', want <split>/<task>/<trial>"),
        ({"id": "/a/b"}, "line 2 has the id '/a/b'"),
        ({"id": 7}, "line 2 is not a game: id should be text (keys: id, type,"),
        ({"problem": None, "goal": " "}, "line 2 is not a game: goal and problem should be text"),
        ({"goal": "\ud800"}, "line 2 is not a game: goal should be text"),
        ({"type": "pick_a_fight"}, "line 2 has the type 'pick_a_fight', which is none of pick_and_place_simple,"),
        ({"human": "words"}, "line 2: human should be a list of sentences"),
        ({"human": [1]}, "line 2: human should be a list of sentences"),
        ({"id": "train/a/1"}, "line 2 repeats the id of line 1: train/a/1; remove one"),
    ],
)
def test_a_row_that_is_no_game_is_named_by_its_line(tmp_path, rows, packing, changes, message):
    path = packing(tmp_path / "x.jsonl.gz", [rows("train/a/1"), {**rows("train/a/2"), **changes}])
    with pytest.raises(DataError) as caught:
        games(path).splits()
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("line", ["{", "[]", "3", '"x"', "nope", "[" * 100_000, "\xff"])
def test_a_line_that_is_no_object_is_named(tmp_path, line):
    path = tmp_path / "x.jsonl"
    path.write_text(f"\n{line}\n", encoding="latin-1")
    with pytest.raises(DataError, match="line 2 is not"):
        games(path).splits()


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.xz"])
def test_a_file_cut_in_the_middle_says_how_much_was_whole(tmp_path, rows, packing, suffix):
    path = packing(tmp_path / f"x{suffix}", [rows(f"train/a/{number}", problem=f"{number}" * 999) for number in range(1, 6)])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"(after \d whole lines|after 4 lines that are).*; copy or download the file again"):
        games(path).splits()


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.xz"])
def test_noise_and_emptiness_are_refused(tmp_path, packing, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(DataError, match=r"damaged after 0 whole lines|line 1 is not JSON"):
        games(path).splits()
    for _ in range(2):
        with pytest.raises(DataError, match="holds no games; copy or download the file again"):
            games(packing(path, [])).splits()


def test_paths_that_lead_nowhere_say_what_could_be_given(tmp_path):
    with pytest.raises(DataError, match=r"does not exist; give a packed file .* alfworld-download"):
        games(tmp_path / "gone.jsonl.xz")
    (tmp_path / "games.zip").touch()
    with pytest.raises(DataError, match=r"is no packed file: its name should end in \.jsonl\.xz, \.jsonl\.gz, \.jsonl"):
        games(tmp_path / "games.zip")
    with pytest.raises(DataError, match=r"\(no game\.tw-pddl below it\); get the games with: pip install alfworld && alfworld-download"):
        games(tmp_path).splits()


@pytest.mark.parametrize("path", ["~no-such-user-here/games.jsonl", "x" * 5000, "a\0b", "\udcff"])
def test_an_impossible_path_is_one_line(path):
    with pytest.raises(DataError, match=r"(cannot be opened|does not exist).*; give a packed file") as caught:
        games(path)
    assert str(caught.value).startswith(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_is_called_like_a_packed_file_and_is_none_is_not_waited_for(tmp_path, rows, packing):
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    packing(tmp_path / "real.jsonl", [rows("train/a/1")])
    assert games(tmp_path).splits() == ("train",)
    with pytest.raises(DataError, match="is no packed file"):
        games(tmp_path / "pipe.jsonl")
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    with pytest.raises(DataError, match=r"gone\.jsonl: cannot be read \(No such file or directory\)"):
        games(tmp_path).splits()


@pytest.mark.parametrize("way", ["iterdir", "is_file"])
def test_a_folder_that_may_not_be_looked_into_is_one_line(tmp_path, rows, packing, monkeypatch, way):
    packing(tmp_path / "x.jsonl", [rows("train/a/1")])

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, way, refuse)
    with pytest.raises(DataError, match=r"cannot be read \(Permission denied\)"):
        games(tmp_path)


def test_a_folder_of_packed_files_leaves_other_files_out_and_counts_them(tmp_path, rows, packing):
    packing(tmp_path / "train.jsonl.xz", [rows("train/a/1")])
    packing(tmp_path / "seen.jsonl", [rows("valid_seen/a/1")])
    packing(tmp_path / "traces.jsonl.gz", [{"id": "valid_seen/a/1", "steps": []}])
    found = games(tmp_path)
    assert (found.splits(), found.skipped) == (("train", "valid_seen"), {"files of something else": 1})
    assert found.find("valid_seen/a/1") is not None
    assert found.problem("train/a/1").goal.thing == "Mug"
    assert found.find("train/z/1") is None


def test_two_files_of_a_folder_may_not_hold_the_same_game(tmp_path, rows, packing):
    for name in ("a", "b"):
        packing(tmp_path / f"{name}.jsonl", [rows("train/a/1")])
    with pytest.raises(DataError, match="holds train/a/1, which another file in its folder holds too"):
        games(tmp_path).splits()


def test_a_folder_whose_packed_files_hold_no_games_says_so(tmp_path, packing):
    packing(tmp_path / "a.jsonl", [{"question": "?"}])
    with pytest.raises(DataError, match="none of its 1 packed files holds games; they have the keys id, type, goal, problem"):
        games(tmp_path).splits()


@pytest.fixture
def lay(tmp_path, little):
    """Lay a game out as the official download does: ``lay(split, task/trial, **changes to game.tw-pddl)``."""

    def laid(split, trial=TRIAL, root="json_2.1.1", **changes):
        folder = tmp_path / root / split / trial
        folder.mkdir(parents=True)
        task = '"task": [{"rhs": "Your task is to: put a \\"nice\\" mug in shelf."}]'
        game = {"pddl_domain": "", "grammar": f'grammar :: """{{{task}}}"""', "pddl_problem": little(), "solvable": True, "walkthrough": []}
        (folder / "game.tw-pddl").write_text(json.dumps({**game, **changes}))
        annotations = [{"task_desc": "Shelve the mug."}, {"task_desc": "Mug to shelf."}]
        plain = {"task_type": "pick_and_place_simple", "turk_annotations": {"anns": annotations}}
        (folder / "traj_data.json").write_text(json.dumps(plain))
        return folder

    return laid


@pytest.mark.parametrize("depth", ["", "json_2.1.1", "json_2.1.1/valid_seen"])
def test_an_official_folder_is_read_at_any_depth(tmp_path, lay, depth):
    lay("valid_seen")
    found = games(tmp_path / depth)
    assert isinstance(found, OfficialFolder)
    assert found.splits() == ("valid_seen",)
    (entry,) = found.entries("valid_seen")
    assert (entry.id, entry.type, entry.human) == (f"valid_seen/{TRIAL}", "pick_and_place_simple", ())
    assert entry.goal == 'put a "nice" mug in shelf'
    assert found.find(entry.id) == entry
    assert found.problem(entry.id).goal.target == "Shelf"
    assert games(tmp_path / depth, human=True).entries("valid_seen")[0].human == ("Shelve the mug.", "Mug to shelf.")


def test_linked_folders_are_read_and_circles_left(tmp_path, lay):
    lay("valid_seen")
    lay("train", root="elsewhere")
    root = tmp_path / "json_2.1.1"
    (root / "train").symlink_to(tmp_path / "elsewhere" / "train")
    (root / "again").symlink_to(root / "valid_seen")
    (root / "valid_seen" / "circle").symlink_to(root)
    assert games(root).splits() == ("train", "valid_seen")
    assert [entry.id for entry in games(root).entries("valid_seen")] == [f"valid_seen/{TRIAL}"]


def test_what_upstream_leaves_out_is_left_out_and_counted(tmp_path, lay):
    lay("train")
    lay("train", "pick_and_place_simple-Mug-None-Shelf-1/trial_T2", solvable=False)
    lay("train", "pick_and_place_simple-Mug-None-Shelf-1/trial_T3", solvable=None)
    lay("train", "pick_and_place_with_movable_recep-Mug-Box-Shelf-1/trial_T4")
    lay("train", "pick_heat_then_place_in_recep-AppleSliced-None-Shelf-1/trial_T5")
    (lay("train", "pick_and_place_simple-Mug-None-Shelf-1/trial_T6") / "game.tw-pddl").unlink()
    lay("valid_seen", solvable=False)
    found = games(tmp_path)
    assert found.splits() == ("train",)
    assert found.skipped == {"not known to be solvable": 3, "movable receptacle": 1, "sliced object": 1, "without game.tw-pddl": 1}
    assert found.find("train/pick_and_place_simple-Mug-None-Shelf-1/trial_T2") is None


def test_an_official_folder_with_nothing_to_play_says_why_and_how_to_get_games(tmp_path, lay):
    (lay("train") / "game.tw-pddl").unlink()
    with pytest.raises(
        DataError, match=r"holds no game that can be played \(1 without game\.tw-pddl\); get the games with: .*alfworld-download"
    ):
        games(tmp_path).splits()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("game.tw-pddl", "{", "is not JSON, or cut off"),
        ("game.tw-pddl", "[]", "is not a JSON object"),
        ("game.tw-pddl", "{}", "has no pddl_problem and no grammar"),
        ("game.tw-pddl", '{"pddl_problem": "()", "grammar": "x", "solvable": true}', "its grammar states no goal"),
        (
            "game.tw-pddl",
            '{"pddl_problem": "()", "grammar": "\\"Your task is to: x", "solvable": true}',
            "its goal sentence cannot be read",
        ),
        ("game.tw-pddl", '{"pddl_problem": "\\ud800", "grammar": "x", "solvable": true}', "has no pddl_problem"),
        ("game.tw-pddl", '{"pddl_problem": "()", "grammar": "\\"Your task is to: \\\\ud800.\\"", "solvable": 1}', "states no goal"),
        ("traj_data.json", '{"turk_annotations": {"anns": [{"task_desc": null}]}}', "are not all sentences"),
        ("traj_data.json", "{}", r"has no turk_annotations\.anns\[\]\.task_desc"),
        ("traj_data.json", "{", "is not JSON, or cut off"),
    ],
)
def test_damaged_official_files_are_named(tmp_path, lay, name, content, message):
    folder = lay("train")
    (folder / name).write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        games(tmp_path, human=True).splits()
    assert str(folder / name) in str(caught.value)


def test_the_type_comes_from_the_trajectory_where_the_folder_does_not_tell(tmp_path, lay):
    folder = lay("train", "my-own-task/trial_T1")
    assert games(tmp_path).entries("train")[0].type == "pick_and_place_simple"
    (folder / "traj_data.json").write_text('{"task_type": "juggle"}')
    with pytest.raises(DataError, match="is of the type 'juggle', which is none of"):
        games(tmp_path).entries("train")


def test_the_same_official_game_twice_is_refused(tmp_path, lay):
    lay("train")
    lay("train", root="copy")
    with pytest.raises(DataError, match=r"holds train/.*trial_T1 twice: in .* and .*; name one of the folders above them"):
        games(tmp_path).splits()


def test_the_digest_of_an_official_folder_is_of_its_content(tmp_path, lay, little):
    folder = lay("train")
    before = games(tmp_path).digest
    shutil.move(tmp_path / "json_2.1.1", tmp_path / "elsewhere")
    assert games(tmp_path).digest == before
    moved = tmp_path / "elsewhere" / folder.relative_to(tmp_path / "json_2.1.1") / "game.tw-pddl"
    moved.write_text(moved.read_text().replace("Spoon_bar_1", "Spoon_bar_2"))
    assert games(tmp_path).digest != before


def test_generated_houses_are_found_by_their_ids_only():
    found = games()
    assert (found.splits(), [len(found.entries(split)) for split in found.splits()]) == (("train", "valid_seen"), [3, 2])
    entry = found.entries("train")[2]
    assert (entry.id, entry.meta) == ("train/house/0-2", {"seed": 0, "split": "train", "index": 2})
    assert found.problem(entry.id).goal.type == entry.type
    for id in (
        "train/house/0-3",
        "train/house/1-2",
        "train/house/0-02",
        "train/house/0-٢",
        "valid_unseen/house/0-0",
        "nope/house/0-0",
        "",
        "x",
    ):
        assert found.find(id) is None


def test_the_released_training_games_load_in_little_memory(data_folder):
    found = PackedFile(data_folder / "train.jsonl.xz")
    tracemalloc.start()
    assert len(found.entries("train")) == 3554
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 40e6


def test_a_released_file_cut_in_the_middle_is_named(tmp_path, data_folder):
    whole = (data_folder / "valid_seen.jsonl.xz").read_bytes()
    path = tmp_path / "valid_seen.jsonl.xz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"is cut off or damaged after \d+ whole lines"):
        PackedFile(path).splits()


def test_the_folder_of_released_games_has_its_splits(data_folder):
    found = games(data_folder)
    assert isinstance(found, PackedFolder)
    assert set(found.splits()) >= {"train", "valid_train", "valid_seen"}
    with lzma.open(data_folder / "valid_seen.jsonl.xz", "rt") as file:
        rows = [json.loads(line) for line in file]
    assert [entry.id for entry in found.entries("valid_seen")] == [row["id"] for row in rows]
    assert [entry.goal for entry in found.entries("valid_seen")] == [row["goal"] for row in rows]
