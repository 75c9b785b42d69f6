from __future__ import annotations

import os
import subprocess
import sys

import pytest

from xplearn.cli import main
from xplearn.report.printable import printable

TOY = ["stream=[{env: core.errands, tasks: {limit: 2}}]", "policy=core.random", "sampling.choices=admissible", "evaluate.tasks.limit=2"]


def python(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"})


def test_importing_the_library_or_asking_for_help_never_imports_torch():
    code = (
        "import sys, xplearn, xplearn.cli\ntry: xplearn.cli.main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'transformers', 'omegaconf', 'numpy', 'faiss'} & set(sys.modules)\nassert not heavy, heavy"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_every_command_has_help_with_examples(capsys):
    for command in ("run", "cross", "check", "show", "report", "plugins", "play", "bank show", "models", "models get", "models list"):
        with pytest.raises(SystemExit) as stop:
            main([*command.split(), "--help"])
        assert stop.value.code == 0
        assert f"xplearn {command}" in capsys.readouterr().out.partition("examples:")[2]


def test_a_users_error_is_one_line_and_status_2(capsys):
    assert main(["run", *TOY, "run.sed=1"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ConfigError: run.sed: unknown key; did you mean 'seed'?")
    assert captured.err.count("\n") == 1


def test_the_last_line_printed_is_the_run_folder(capsys, tmp_path):
    assert main(["run", "--quiet", *TOY, f"run.dir={tmp_path}"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert os.path.isfile(os.path.join(last, "run.json"))
    assert main(["show", last]) == 0
    assert "Base" in capsys.readouterr().out


def test_overrides_may_stand_behind_an_option(capsys):
    assert main(["run", "-q", TOY[0], "--quiet", *TOY[1:], "run.sed=1"]) == 2
    assert "run.sed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cros", "bench.yaml"], "xplearn: no command is called 'cros'; did you mean 'cross'? (known: run, cross, check, "),
        (["bank", "hsitory", "x"], "xplearn bank: no verb is called 'hsitory'; did you mean 'history'? (known: show, diff, "),
        (["bank", "show", "x", "--sort", "use"], "xplearn bank show: argument --sort: no value is called 'use'; did you mean 'uses'?"),
        (["cross", "bench.yaml", "--dryrun"], "xplearn cross: no option is called '--dryrun'; did you mean '--dry-run'? (see: xplearn "),
        (["run", *TOY, "--nonsense=3"], "xplearn run: no option is called '--nonsense' (see: xplearn run --help)"),
        (["cross", "bench.yaml", "--cells", "two"], "xplearn cross: argument --cells: invalid int value: 'two'"),
        (["cross"], "xplearn cross: the following arguments are required: FILE (see: "),
        (["show", "x", "-f", "a=b"], "xplearn show: unrecognized argument: a=b"),
    ],
)
def test_a_misspelt_word_is_answered_with_one_line_and_the_nearest_valid_one(capsys, words, said):
    with pytest.raises(SystemExit) as stop:
        main(words)
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert error.startswith(said)
    assert error.count("\n") == 1


def test_a_cross_says_where_overrides_belong(capsys):
    for words in (["bench.yaml", "run.batch=4"], ["bench.yaml", "--cells", "1", "run.batch=4"]):
        assert main(["cross", *words]) == 2
        error = capsys.readouterr().err
        assert error.startswith("ConfigError: a cross takes no overrides, nor anything else behind its file ('run.batch=4'): in bench.yaml")


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    main(["run", "--quiet", *TOY, f"run.dir={tmp_path}"])
    command = f"{sys.executable} -m xplearn show {next(tmp_path.iterdir())} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_utf8_shows_what_it_can():
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    code = "from xplearn.cli.terminal import tolerant; import sys; tolerant(sys.stdout); print('–')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env).stdout == "?\n"


def test_check_prints_the_parts_and_refuses_an_unsound_mix(capsys):
    assert main(["check", *TOY]) == 0
    assert "sound" in capsys.readouterr().out
    assert main(["check", *TOY, "selector=core.nearest"]) == 2
    error = capsys.readouterr().err
    assert "requires 'store.space:key'" in error
    assert "core.record" in error


def test_plugins_lists_every_part_of_the_core(capsys):
    assert main(["plugins"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in ("core.nearest", "core.hf", "core.sqlite", "backbone.smollm2"))


def test_a_part_is_shown_with_every_field_and_those_of_the_blocks_in_it(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["plugins", "core.nearest"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("core.nearest  (selector)\n  Selects the ``k`` experiences")
    assert "\n  provides selector.act" in shown
    assert "\n  space: str, default key\n      Vector space of the bank to search" in shown
    assert max(map(len, shown.splitlines())) <= 80
    pytest.importorskip("peft")
    assert main(["plugins", "core.hf"]) == 0
    shown = capsys.readouterr().out
    assert "\n  lora: LoraConfig | None, as below\n" in shown
    assert "\n  lora.targets: list[str], default [all-linear]\n" in shown


def test_a_part_of_the_same_name_in_two_slots_is_shown_in_both_or_the_one_asked_for(capsys):
    assert main(["plugins", "core.none"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("core.none")] == [
        "core.none  (selector)",
        "core.none  (conditioner)",
    ]
    assert main(["plugins", "core.none", "--slot", "conditioner"]) == 0
    assert capsys.readouterr().out.startswith("core.none  (conditioner)")


def test_a_preset_is_shown_as_it_is_written_and_a_plugin_with_what_it_has(capsys):
    assert main(["plugins", "backbone.tiny"]) == 0
    assert "name: core.tiny" in capsys.readouterr().out
    assert main(["plugins", "core"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == ["core"]
    assert main(["plugins", "core.neerest"]) == 2
    assert "no part, preset or plugin is called 'core.neerest'; did you mean 'core.nearest'?" in capsys.readouterr().err


def test_the_bare_command_prints_the_help(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    captured = capsys.readouterr()
    assert (stop.value.code, captured.err) == (0, "")
    assert "examples:\n  xplearn run demo" in captured.out


def test_play_watches_the_expert_and_takes_lines(capsys, monkeypatch):
    assert main(["play", "core.errands", "--oracle"]) == 0
    assert "score 100 of 100" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", __import__("io").StringIO(":actions\ndance\n:quit\n"))
    assert main(["play", "core.errands"]) == 0
    assert "[score 0 of 100]" in capsys.readouterr().out


def test_play_suggests_a_task_on_a_typo(capsys):
    assert main(["play", "core.errands", "--task", "no-such-task"]) == 2
    assert "no such task" in capsys.readouterr().err


def test_nothing_from_outside_controls_the_screen():
    assert printable("a\x1b[31mb\rc\nd\u202ee\ud800") == "a�[31mb�c\nd�e�"


def test_a_presets_purpose_is_its_first_sentence_over_as_many_lines_as_it_takes():
    from xplearn.cli.plugins import _purpose

    assert _purpose("# A model that\n# learns. And more.\npolicy: x\n# no\n") == "A model that learns"
    assert _purpose("# A model: one line\npolicy: x\n") == "A model: one line"
    assert _purpose("policy: x\n# no\n") == ""
