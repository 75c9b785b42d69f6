import dataclasses
import json
from pathlib import Path

import pytest

from xplearn.builtin.record import RecordLearner
from xplearn.builtin.selectors import NoneSelector
from xplearn.config import load_experiment
from xplearn.errors import ConfigError, ContractError, EnvironmentDiedError, IncompatibleError, RecordError
from xplearn.experiment import phases
from xplearn.experiment.build import check_experiment
from xplearn.experiment.observer import Silent
from xplearn.experiment.run import run_experiment
from xplearn.hookspecs import hookimpl
from xplearn.interfaces import Learner, Selector
from xplearn.metrics.scores import episode_result
from xplearn.record.reader import load
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing import samples
from xplearn.testing.dial import DialPolicy, TurnLearner, dial_plugins

BASE = {
    "stream": [{"env": "core.counting", "tasks": {"limit": 4}}],
    "policy": "dial.policy",
    "store": "core.memory",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "learner": "dial.turn",
    "evaluate": {"tasks": {"limit": 3, "split": "test"}, "resamples": 100},
}


class Watching(Silent):
    def __init__(self):
        self.phases, self.notes, self.scores = [], [], []

    def phase_start(self, name, total):
        self.phases.append((name, total))

    def advance(self, n=1, **figures):
        self.scores.append(figures)

    def note(self, text):
        self.notes.append(text)


def start(tmp_path, plugins=None, observer=None, **changes):
    plugins = plugins or dial_plugins()
    experiment, given = load_experiment({**BASE, **changes, "run": {"dir": str(tmp_path), **changes.get("run", {})}}, [], plugins.registry)
    return run_experiment(experiment, plugins=plugins, given=given, observer=observer)


def rows(table):
    return [dataclasses.replace(row, seconds=0.0) for row in table.rows]


@pytest.fixture
def adding(request):
    """Plugins with a part of this test added as ``own.part``."""

    def add(slot, cls):
        request.module.__dict__["Own"] = cls

        class Own:
            @hookimpl
            def xplearn_register(self, registry):
                registry.add(slot, "part", f"{__name__}:Own")

        plugins = dial_plugins()
        plugins.add("own", Own())
        assert not plugins.registry.failures
        return plugins

    return add


def test_run_has_the_rows_of_both_arms_before_and_after_learning(tmp_path):
    watching = Watching()
    result = start(tmp_path, observer=watching)
    assert [row.label for row in result.table.rows] == ["Base", "Base+Harness", "Model-only", "Model+Harness"]
    assert [name for name, _ in watching.phases] == ["train/0/0", "eval/0/core.counting", "learner.0/0/0", "eval/1/core.counting"]
    assert watching.notes == []
    header = load(result.folder).header
    assert (header.status, header.error, header.seed) == ("finished", None, 0)
    assert header.config["policy"] == "dial.policy"
    assert header.resolved["policy"] == {"name": "dial.policy", "fields": {}}
    assert header.parts["policy"] == {"name": "dial.policy", "skill": 20, "milliseconds": 0.0}
    assert header.environments == {"core.counting": "counting 1, 5 turns"}
    assert header.panels["core.counting"]["tasks"] == 3
    assert header.bank["0"] == header.bank["1"]
    assert header.encoder.startswith("core.hashing/")
    assert header.packages["python"].startswith("3.")
    assert len(header.results) == 4
    assert header.tokens["out"] > 0
    assert [line["learner"] for line in load(result.folder).scalars()] == ["record.0", "learner.0"]


def test_finished_run_is_read_and_not_played(tmp_path):
    first = start(tmp_path)
    watching = Watching()
    assert rows(start(tmp_path, observer=watching).table) == rows(first.table)
    assert watching.phases == []


def test_evaluation_meets_the_same_episodes_before_and_after_learning(tmp_path):
    result = load(start(tmp_path).folder)
    seeds = {(episode.task, episode.seed) for episode in result.episodes() if episode.phase.startswith("eval")}
    assert len(seeds) == 3


def test_experience_reaches_the_experience_arm_and_only_it(tmp_path):
    run = load(start(tmp_path).folder)
    for trajectory in run.trajectories("eval/0/core.counting"):
        shown = [step.selection.experiences for step in trajectory.steps]
        assert all(shown) if trajectory.arm == "experience" else not any(shown)


def test_batch_width_and_folder_do_not_change_the_table(tmp_path):
    one, eight = start(tmp_path / "a", run={"batch": 1}), start(tmp_path / "b", run={"batch": 8})
    assert rows(one.table) == rows(eight.table)
    assert one.folder.name == eight.folder.name


def test_selector_that_never_selects_is_evaluated_in_the_plain_arm_alone(tmp_path, adding):
    class Empty(NoneSelector):
        @property
        def provides(self):
            return super().provides | {"selector.none"}

    result = start(tmp_path, adding("selector", Empty), selector="own.part")
    assert [row.label for row in result.table.rows] == ["Base", "Model-only"]


def test_without_learner_and_record_the_agent_is_evaluated_once(tmp_path):
    watching = Watching()
    result = start(tmp_path, observer=watching, learner=[], record="core.record")
    assert [row.label for row in result.table.rows] == ["Base", "Base+Harness"]
    assert [name for name, _ in watching.phases] == ["train/0/0", "eval/0/core.counting"]


def test_warm_up_is_learned_before_the_first_evaluation_and_leaves_no_experience(tmp_path):
    warm = {"env": "core.errands", "tasks": {"limit": 2}, "warmup": True}
    watching = Watching()
    result = start(tmp_path, observer=watching, stream=[warm, *BASE["stream"]])
    names = [name for name, _ in watching.phases]
    assert names.index("learner.0/0/0") < names.index("eval/0/core.counting") < names.index("learner.0/1/0")
    assert [row.label for row in result.table.rows] == ["Base", "Base+Harness", "Model-only", "Model+Harness"]
    assert {row.domain for row in result.table.rows} == {"core.counting"}
    assert [line["learner"] for line in load(result.folder).scalars()] == ["learner.0", "record.0", "learner.0"]


@pytest.mark.parametrize("workers", [0, 1])
def test_wrong_split_of_a_stage_is_named_with_stage_and_environment(tmp_path, workers):
    stream = [BASE["stream"][0], {"env": "core.errands", "tasks": {"split": "trian"}}]
    with pytest.raises(ConfigError, match=r"^stream\.1\.tasks\.split: core\.errands: no split is called 'trian' \(known: train"):
        start(tmp_path, stream=stream, run={"workers": workers})


def test_scores_of_demonstrations_are_called_the_experts(tmp_path):
    watching = Watching()
    start(tmp_path, observer=watching, learner={"name": "dial.turn", "source": "demonstration"})
    assert [list(figures) for figures in watching.scores[:5]] == [["expert_score"]] * 4 + [["score"]]


def test_demonstrations_are_recorded_once_and_dressed_in_every_arm(tmp_path):
    learner = {"name": "dial.turn", "source": "demonstration", "arms": ["plain", "experience"]}
    run = load(start(tmp_path, learner=learner).folder)
    raw, dressed = list(run.trajectories("train/0/0")), list(run.trajectories("dressed/0/0"))
    assert [trajectory.arm for trajectory in raw] == ["plain"] * 4
    assert {trajectory.source for trajectory in raw} == {"demonstration"}
    assert [trajectory.arm for trajectory in dressed] == ["plain", "experience"] * 4
    for trajectory in dressed:
        shown = trajectory.steps[0].selection.experiences
        assert bool(shown) == (trajectory.arm == "experience"), "the bank of this very round is used for dressing"
        assert all(experience.task != trajectory.task.id for experience in shown)
    assert [(line["written"], line["bank"]) for line in run.scalars()[:1]] == [(4.0, 4.0)]


def test_replay_brings_anchors_of_earlier_stages(tmp_path):
    stream = [BASE["stream"][0], {"env": "core.errands", "tasks": {"limit": 4}}]
    result = start(tmp_path, stream=stream, replay={"ratio": 0.5})
    batches = [line["batch"] for line in load(result.folder).scalars() if line["learner"] == "learner.0"]
    assert batches == [4.0, 6.0]
    study = json.loads((result.folder / "study" / "1-0.json").read_text())
    assert [stage for stage, _, _ in study["replayed"]] == [0, 0]


def test_rounds_of_rollouts_are_collected_anew(tmp_path):
    stream = [{**BASE["stream"][0], "rounds": 2}]
    run = load(start(tmp_path, stream=stream).folder)
    first, second = (list(run.trajectories(f"train/0/{round}")) for round in (0, 1))
    assert {trajectory.seed for trajectory in first}.isdisjoint(trajectory.seed for trajectory in second)
    assert {step.completion.policy_version for trajectory in second for step in trajectory.steps} == {1}


BOTH = {"name": "dial.turn", "source": "both", "rollouts_from": 1, "arms": ["plain"]}


def test_rollouts_join_the_demonstrations_from_the_round_they_are_wanted_in(tmp_path):
    watching = Watching()
    stream = [{**BASE["stream"][0], "rounds": 3}]
    result = start(tmp_path, observer=watching, stream=stream, learner=BOTH)
    played = [name for name, _ in watching.phases if not name.startswith(("eval", "learner"))]
    assert played == ["shown/0", "train/0/1", "train/0/2"], "the expert shows once, and nothing is played before it is wanted"
    run = load(result.folder)
    assert [line["batch"] for line in run.scalars() if line["learner"] == "learner.0"] == [4.0, 8.0, 8.0]
    studied = list(run.trajectories("dressed/0/1"))
    assert [trajectory.source for trajectory in studied] == ["demonstration"] * 4 + ["rollout"] * 4
    assert len({trajectory.id for trajectory in studied}) == 8


def test_rollouts_beside_demonstrations_meet_the_experts_environment_with_noise_of_their_own(tmp_path):
    stream = [{"env": "core.errands", "tasks": {"limit": 4}, "rounds": 2}]
    run = load(start(tmp_path, stream=stream, learner={**BOTH, "rollouts_from": 0}).folder)
    shown, first, second = (list(run.trajectories(phase)) for phase in ("shown/0", "train/0/0", "train/0/1"))
    opening = {(item.task.id, item.seed, item.steps[0].query.messages[-1]["content"]) for item in shown}
    for played in (first, second):
        assert {(item.task.id, item.seed, item.steps[0].query.messages[-1]["content"]) for item in played} == opening
    assert [[step.action for step in item.steps] for item in first] != [[step.action for step in item.steps] for item in second]


def test_demonstrations_beside_rollouts_are_dressed_in_every_arm_and_rollouts_kept_as_they_were(tmp_path):
    stream = [{**BASE["stream"][0], "tasks": {"limit": 2}}]
    run = load(start(tmp_path, stream=stream, learner={**BOTH, "rollouts_from": 0, "arms": ["plain", "experience"]}).folder)
    studied = list(run.trajectories("dressed/0/0"))
    assert [(item.source, item.arm) for item in studied] == [
        (source, arm) for source in ("demonstration", "rollout") for _ in range(2) for arm in ("plain", "experience")
    ]
    assert studied[4:] == list(run.trajectories("train/0/0"))
    assert next(line["batch"] for line in run.scalars() if line["learner"] == "learner.0") == 8.0


def test_stage_that_ends_before_its_rollouts_begin_is_refused(tmp_path):
    stream = [{**BASE["stream"][0], "warmup": True}, {**BASE["stream"][0], "rounds": 2}, BASE["stream"][0]]
    with pytest.raises(
        ConfigError, match=r"^stream\.2\.rounds: is 1, and rollouts of the learners begin in round 2 .* stream\.2\.rounds=2$"
    ):
        start(tmp_path, stream=stream, learner=BOTH)
    assert list(tmp_path.iterdir()) == []


def interrupt_at(monkeypatch, phase, episode):
    """Ctrl-C when the given episode of a phase is recorded."""
    record = phases.Recording._record

    def stop(self, trajectory):
        record(self, trajectory)
        if self._phase == phase and len(self._scores) == episode:
            raise KeyboardInterrupt

    monkeypatch.setattr(phases.Recording, "_record", stop)


@pytest.mark.parametrize(("phase", "episode"), [("shown/0", 3), ("train/0/1", 2)])
def test_interrupted_run_on_demonstrations_and_rollouts_goes_on_to_the_same_table(tmp_path, monkeypatch, phase, episode):
    stream = [{**BASE["stream"][0], "rounds": 2}]
    whole = start(tmp_path / "whole", stream=stream, learner=BOTH)
    with monkeypatch.context() as patched:
        interrupt_at(patched, phase, episode)
        with pytest.raises(KeyboardInterrupt):
            start(tmp_path / "cut", stream=stream, learner=BOTH)
    cut = start(tmp_path / "cut", stream=stream, learner=BOTH)
    assert rows(cut.table) == rows(whole.table)
    assert load(cut.folder).scalars() == load(whole.folder).scalars()


@pytest.mark.parametrize(("phase", "episode"), [("train/0/0", 2), ("eval/0/core.counting", 1), ("eval/1/core.counting", 5)])
def test_interrupted_run_goes_on_to_the_same_table(tmp_path, monkeypatch, phase, episode):
    whole = start(tmp_path / "whole")
    with monkeypatch.context() as patched:
        interrupt_at(patched, phase, episode)
        with pytest.raises(KeyboardInterrupt):
            start(tmp_path / "cut")
    (folder,) = (tmp_path / "cut").iterdir()
    assert load(folder).header.status == "interrupted"
    watching = Watching()
    assert rows(start(tmp_path / "cut", observer=watching).table) == rows(whole.table)
    assert dict(watching.phases).get(phase) == (4 if phase.startswith("train") else 6) - episode
    ids = [result.id for result in load(folder).episodes()]
    assert len(ids) == len(set(ids))


def test_training_under_way_goes_on_from_its_progress(tmp_path, monkeypatch):
    whole = start(tmp_path / "whole")
    learn, calls = TurnLearner.learn, []

    def killed(self, batch, agent):
        calls.append(agent.checkpoint.load())
        if len(calls) > 1:
            return learn(self, batch, agent)
        with pytest.raises(AttributeError):
            learn(self, [*batch[:2], None, None], agent)
        raise ZeroDivisionError("killed")

    monkeypatch.setattr(TurnLearner, "learn", killed)
    with pytest.raises(ZeroDivisionError):
        start(tmp_path / "cut")
    (folder,) = (tmp_path / "cut").iterdir()
    header = load(folder).header
    assert (header.status, header.error) == ("failed", "killed")
    assert rows(start(tmp_path / "cut").table) == rows(whole.table)
    assert calls[0] is None
    assert calls[1]["done"] == 2
    assert not list((folder / "checkpoints" / "progress").iterdir())


def test_unsound_mix_says_so_and_writes_nothing(tmp_path):
    with pytest.raises(IncompatibleError, match=r"selector 'core.nearest' requires 'store.filled'"):
        start(tmp_path, record=[])
    assert list(tmp_path.iterdir()) == []


def problems(**changes):
    plugins = dial_plugins()
    experiment, _ = load_experiment({**BASE, **changes}, [], plugins.registry)
    return {(problem.slot, problem.name, problem.capability): problem for problem in check_experiment(experiment, plugins)}


def test_sound_mix_has_no_problems():
    assert problems() == {}


def test_each_need_is_named_with_what_would_fit():
    found = problems(selector="core.bm25", record=[], learner=[], curriculum="core.nearest", sampling={"choices": "rank"})
    assert set(found) == {
        ("selector", "core.bm25", "store.filled"),
        ("curriculum", "core.nearest", "selector.study"),
        ("sampling", "choices: rank", "env.ranking"),
        ("sampling", "choices: rank", "policy.rank"),
        ("evaluate.sampling", "choices: rank", "env.ranking"),
        ("evaluate.sampling", "choices: rank", "policy.rank"),
        ("curriculum", "core.nearest", "store.space:key"),
    }
    assert found["selector", "core.bm25", "store.filled"].fitting["record"][0] == "core.record"
    assert "core.all" in found["curriculum", "core.nearest", "selector.study"].fitting["curriculum"]


def test_rounds_play_their_tasks_in_turn(tmp_path):
    stream = [{"env": "core.errands", "tasks": {"limit": 5}, "rounds": 5, "per_round": 3, "warmup": warm} for warm in (True, False)]
    run = load(start(tmp_path, stream=stream, learner={"name": "dial.turn", "replicas": 2}).folder)
    played = [
        [episode.task for episode in run.episodes() if episode.phase == f"train/{stage}/{round}"] for stage in (0, 1) for round in range(5)
    ]
    assert [len(tasks) for tasks in played] == [6] * 10
    assert all(len(set(tasks)) == 3 for tasks in played)
    for stage in (played[:5], played[5:]):
        met = [task for tasks in stage for task in set(tasks)]
        assert {met.count(task) for task in met} == {3}
        assert len(set(met)) == 5
    assert played[:5] != played[5:], "each stage has orders of its own"


def test_texts_that_end_a_completion_reach_the_policy(tmp_path, monkeypatch):
    seen, generate = set(), DialPolicy.generate
    monkeypatch.setattr(DialPolicy, "generate", lambda *args: seen.add(args[2].stop) or generate(*args))
    start(tmp_path, sampling={"stop": ["END"]}, evaluate={**BASE["evaluate"], "sampling": {"stop": []}})
    assert seen == {("END",), ()}


@pytest.mark.parametrize("source", ["demonstration", "both"])
def test_rounds_of_some_tasks_are_refused_where_demonstrations_are_learned_from(source):
    stream = [{"env": "core.counting"}, {"env": "core.errands", "per_round": 4}]
    problem = r"stream\.1\.per_round: is 4, and demonstrations are shown once a stage.*type stream\.1\.per_round=null"
    with pytest.raises(ConfigError, match=problem):
        problems(stream=stream, learner={"name": "dial.turn", "source": source})
    assert problems(stream=stream, learner="dial.turn") == {}


def test_learners_that_disagree_on_the_source_are_refused():
    with pytest.raises(ConfigError, match="one round has one source"):
        problems(learner=["dial.turn", {"name": "dial.turn", "source": "demonstration"}])


def test_unknown_task_id_fails_before_anything_is_written(tmp_path):
    with pytest.raises(ConfigError, match=r"evaluate.tasks.ids: no task has 'test/99'"):
        start(tmp_path, evaluate={"tasks": {"split": "test", "ids": ["test/99"]}})
    assert list(tmp_path.iterdir()) == []


def test_folder_of_another_experiment_is_refused(tmp_path):
    plugins = dial_plugins()
    result = start(tmp_path, plugins)
    experiment, given = load_experiment({**BASE, "run": {"seed": 1}}, [], plugins.registry)
    with pytest.raises(RecordError, match="holds another experiment"):
        run_experiment(experiment, plugins=plugins, given=given, folder=result.folder)


def test_another_environment_version_refuses_to_go_on(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, "eval/0/core.counting", 1)
        with pytest.raises(KeyboardInterrupt):
            start(tmp_path)
    (folder,) = tmp_path.iterdir()
    text = (folder / "run.json").read_text()
    (folder / "run.json").write_text(text.replace("counting 1, 5 turns", "counting 0, 5 turns"))
    with pytest.raises(RecordError, match=r"environment version of 'core.counting' is counting 0, 5 turns, now it is counting 1, 5 turns"):
        start(tmp_path)
    assert load(folder).header.status == "interrupted"


def test_figure_that_is_not_finite_is_refused(tmp_path, adding):
    class Diverging(TurnLearner):
        def learn(self, batch, agent):
            return {"loss": float("nan")}

    with pytest.raises(ContractError, match=r"own.part: returned loss = nan"):
        start(tmp_path, adding("learner", Diverging), learner="own.part")


def test_part_that_writes_the_bank_in_evaluation_is_caught(tmp_path, adding):
    class Scribbler(Selector):
        @property
        def provides(self):
            return frozenset({"selector.act"})

        def select(self, queries, store):
            for experience in list(store)[:1]:
                store.update(experience.id, uses=experience.uses + 1)
            return NoneSelector().select(queries, store)

    with pytest.raises(ContractError, match="frozen"):
        start(tmp_path, adding("selector", Scribbler), selector="own.part")


def test_training_that_moves_no_parameter_is_caught(tmp_path, adding):
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.ones(2))

    class Still(DialPolicy):
        def parameters(self):
            yield "weight", weight

    with pytest.raises(ContractError, match="policy: offers 1 trainable parameters and training moved none"):
        start(tmp_path, adding("policy", Still), policy="own.part")


def test_learner_that_only_watches_needs_no_movement(tmp_path, adding):
    class Idle(Learner):
        def learn(self, batch, agent):
            return {}

    assert start(tmp_path, adding("learner", Idle), learner="own.part").header.status == "finished"


def test_observers_that_raise_are_told_once_and_change_nothing(tmp_path):
    class Broken:
        seen = 0

        @hookimpl
        def xplearn_episode_end(self, result):
            Broken.seen += 1
            raise ZeroDivisionError

    plugins = dial_plugins()
    plugins.add("broken", Broken())
    watching = Watching()
    assert start(tmp_path, plugins, watching).header.status == "finished"
    assert Broken.seen == 16
    (note,) = watching.notes
    assert "xplearn_episode_end" in note


def test_observers_see_the_run(tmp_path):
    seen = []

    class Seeing:
        @hookimpl
        def xplearn_run_start(self, folder, config):
            seen.append(("start", Path(folder).name, config["policy"]["name"]))

        @hookimpl
        def xplearn_learn_end(self, stage, round, learner, scalars):
            seen.append((stage, round, learner, "turned" in scalars))

        @hookimpl
        def xplearn_run_end(self, folder, status):
            seen.append(("end", status))

    plugins = dial_plugins()
    plugins.add("seeing", Seeing())
    result = start(tmp_path, plugins)
    assert seen == [
        ("start", result.folder.name, "dial.policy"),
        (0, 0, "core.record", False),
        (0, 0, "dial.turn", True),
        ("end", "finished"),
    ]


def test_environment_in_which_every_episode_dies_ends_the_run_and_leaves_nothing(tmp_path, monkeypatch):
    from xplearn.builtin.toys import Counting

    def dead(self, action):
        raise EnvironmentDiedError("core.counting", "no Java")

    with monkeypatch.context() as patched:
        patched.setattr(Counting, "step", dead)
        with pytest.raises(EnvironmentDiedError, match=r"every episode of train/0/0 died, the first one so: .*no Java"):
            start(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert start(tmp_path).header.status == "finished"


@pytest.mark.parametrize(("deaths", "errors"), [(1, 0), (2, 1)])
def test_demonstration_that_dies_is_asked_for_once_more(tmp_path, monkeypatch, deaths, errors):
    from xplearn.builtin.toys import Counting

    demonstrate, calls = Counting.demonstrate, []

    def dying(self, task, *, seed):
        calls.append(task.id)
        if task.id == "train/10" and calls.count(task.id) <= deaths:
            raise EnvironmentDiedError("core.counting", "gone")
        return demonstrate(self, task, seed=seed)

    monkeypatch.setattr(Counting, "demonstrate", dying)
    run = load(start(tmp_path, learner={"name": "dial.turn", "source": "demonstration"}).folder)
    dead = [found for found in run.episodes() if found.error]
    assert [found.task for found in dead] == ["train/10"] * errors
    assert run.scalars()[0]["written"] == 4.0 - errors
    assert calls.count("train/10") == 2


def test_learner_that_needs_log_probabilities_is_not_given_trajectories_without(tmp_path, adding):
    class Scoring(DialPolicy):
        @property
        def provides(self):
            return super().provides | {"policy.score"}

    class Ratio(TurnLearner):
        def plan(self):
            return dataclasses.replace(super().plan(), needs_logprobs=True)

    with pytest.raises(IncompatibleError, match=r"learner 'own.part' requires 'policy.score'"):
        start(tmp_path, adding("learner", Ratio), learner="own.part")
    plugins = adding("policy", Scoring)
    with pytest.MonkeyPatch.context() as patched:
        plan = TurnLearner.plan
        patched.setattr(TurnLearner, "plan", lambda self: dataclasses.replace(plan(self), needs_logprobs=True))
        with pytest.raises(ContractError, match="Scoring: gave no log-probabilities"):
            start(tmp_path, plugins, policy="own.part")


def test_slice_that_leaves_no_training_task_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"stream.0.tasks: leaves none of the 20 tasks of split 'train'"):
        start(tmp_path, stream=[{"env": "core.counting", "tasks": {"skip": 50}}])


def test_whole_report_is_printed_and_says_when_a_run_is_not_finished(tmp_path, capsys):
    from rich.console import Console

    from xplearn.report.text import render

    folder = start(tmp_path).folder
    render(load(folder), Console(width=200))
    text = capsys.readouterr().out
    assert "Model+Harness" in text
    assert "on core.counting (3 test tasks)" in text
    assert "95 % bootstrap interval" in text
    assert "not finished" not in text
    header = folder / "run.json"
    header.write_text(header.read_text().replace('"finished"', '"interrupted"'))
    render(load(folder), Console(width=200))
    assert "status: interrupted" in capsys.readouterr().out


def cut(tmp_path, monkeypatch, phase="eval/1/core.counting", **changes):
    """The folder of a run that Ctrl-C ended at the first episode of a phase."""
    with monkeypatch.context() as patched:
        interrupt_at(patched, phase, 1)
        with pytest.raises(KeyboardInterrupt):
            start(tmp_path, **changes)
    return next(path for path in tmp_path.iterdir() if path.is_dir())


@pytest.mark.parametrize("wrong", [{"ids": ["train/99"]}, {"kinds": ["none"]}, {"split": "nowhere"}, {"skip": 50}])
def test_slice_of_a_later_stage_is_checked_before_anything_is_written(tmp_path, wrong):
    later = {"env": {"name": "core.counting", "turns": 6}, "tasks": wrong}
    with pytest.raises((ConfigError, ContractError)):
        start(tmp_path, stream=[*BASE["stream"], later])
    assert list(tmp_path.iterdir()) == []


def test_bank_of_another_encoder_is_refused_before_anything_is_written(tmp_path):
    bank = {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")}
    start(tmp_path / "runs", store=bank)
    before = (tmp_path / "bank.sqlite").read_bytes()
    with pytest.raises(ConfigError, match=r"^encoder: is core.hashing/32, and core.hashing/256 made"):
        start(tmp_path / "others", store=bank, encoder={"name": "core.hashing", "dim": 32})
    assert not (tmp_path / "others").exists()
    assert (tmp_path / "bank.sqlite").read_bytes() == before


def leave_as_a_kill_does(runs):
    (folder,) = runs.iterdir()
    underway = folder / "checkpoints" / "underway"
    noted = json.loads(underway.read_text())
    assert noted["left"]
    underway.write_text(json.dumps(noted | {"left": ""}))


def size(path):
    store = SqliteStore(path=str(path))
    found = len(store), store.digest()
    store.close()
    return found


def test_run_does_not_go_on_over_what_another_added_to_its_bank(tmp_path, monkeypatch):
    bank = {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")}
    cut(tmp_path / "a", monkeypatch, store=bank)
    start(tmp_path / "b", store=bank, run={"seed": 2})
    both = size(bank["path"])
    assert both[0] == 8
    with pytest.raises(RecordError, match="the bank changed since this run last wrote it"):
        start(tmp_path / "a", store=bank)
    assert size(bank["path"]) == both


@pytest.mark.parametrize("noted", [True, False])
@pytest.mark.parametrize("killed_in", ["record", "learner"])
def test_run_goes_on_over_what_it_added_to_its_bank_itself(tmp_path, monkeypatch, killed_in, noted):
    bank = {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")}
    cls = RecordLearner if killed_in == "record" else TurnLearner
    learn = cls.learn

    def killed(self, batch, agent):
        learn(self, batch, agent)
        raise ZeroDivisionError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(cls, "learn", killed)
        with pytest.raises(ZeroDivisionError):
            start(tmp_path / "runs", store=bank)
    if not noted:
        leave_as_a_kill_does(tmp_path / "runs")
    assert start(tmp_path / "runs", store=bank).header.status == "finished"
    assert size(bank["path"])[0] == 4


@pytest.mark.parametrize("noted", [True, False])
def test_run_goes_on_over_what_it_removed_from_its_bank_itself(tmp_path, monkeypatch, noted):
    bank = {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")}
    start(tmp_path / "before", store=bank, run={"seed": 2})

    def killed(self, batch, agent):
        agent.store.remove([experience.id for experience in agent.store][::2])
        raise ZeroDivisionError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(TurnLearner, "learn", killed)
        with pytest.raises(ZeroDivisionError):
            start(tmp_path / "runs", store=bank)
    if not noted:
        leave_as_a_kill_does(tmp_path / "runs")
    assert size(bank["path"])[0] == 4
    assert start(tmp_path / "runs", store=bank).header.status == "finished"
    assert size(bank["path"])[0] == 8


@pytest.mark.parametrize("noted", [True, False])
def test_other_runs_additions_are_kept_even_where_this_run_was_cut_off_while_learning(tmp_path, monkeypatch, noted):
    bank = {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")}
    with monkeypatch.context() as patched:
        patched.setattr(TurnLearner, "learn", lambda self, batch, agent: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            start(tmp_path / "a", store=bank)
    if not noted:
        leave_as_a_kill_does(tmp_path / "a")
    start(tmp_path / "b", store=bank, stream=[{"env": "core.counting", "tasks": {"ids": ["train/1", "train/2", "train/3"]}}])
    with pytest.raises(RecordError, match="the bank changed since this run last wrote it"):
        start(tmp_path / "a", store=bank)
    assert size(bank["path"])[0] == 7


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("study/0-0.json", None),
        ("study/0-0.json", "{"),
        ("study/0-0.json", "[]"),
        ("study/0-0.json", '{"phase": "train/0/0", "anchors": {}, "replayed": [[0, 1]]}'),
        ("trajectories/train/0/0.jsonl", None),
        ("trajectories/train/0/0.jsonl", ""),
        ("trajectories/train/0/0.jsonl", "[]\n"),
        ("trajectories/train/1/0.jsonl", None),
    ],
)
def test_what_training_needs_and_is_gone_is_named_with_the_next_step(tmp_path, monkeypatch, file, text):
    two = {
        "stream": [{"env": "core.counting", "tasks": {"limit": 2}}, {"env": "core.errands", "tasks": {"limit": 2}}],
        "replay": {"ratio": 1.0},
    }
    folder = cut(tmp_path, monkeypatch, phase="train/1/0", **two)
    with monkeypatch.context() as patched:
        patched.setattr(TurnLearner, "learn", lambda self, batch, agent: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            start(tmp_path, **two)
    (folder / "study" / "1-0.json").unlink()
    (folder / file).unlink()
    if text is not None:
        (folder / file).write_text(text)
    with pytest.raises(RecordError, match="remove the run folder and start anew"):
        start(tmp_path, **two)


def test_study_that_does_not_know_what_was_replayed_from_it_is_damaged(tmp_path, monkeypatch):
    two = {
        "stream": [{"env": "core.counting", "tasks": {"limit": 2}}, {"env": "core.errands", "tasks": {"limit": 2}}],
        "replay": {"ratio": 1.0},
    }
    learn = TurnLearner.learn
    with monkeypatch.context() as patched:
        patched.setattr(TurnLearner, "learn", lambda self, batch, agent: learn(self, batch, agent) if agent.position == (0, 0) else 1 / 0)
        with pytest.raises(ZeroDivisionError):
            start(tmp_path, **two)
    (folder,) = tmp_path.iterdir()
    (folder / "study" / "0-0.json").write_text('{"phase": "train/0/0", "anchors": {}, "replayed": [], "explained": {}}')
    with pytest.raises(RecordError, match=r"study: nothing was studied as 'train/0/0/.*remove the run folder and start anew"):
        start(tmp_path, **two)


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_score_that_is_not_finite_is_refused(score):
    with pytest.raises(ContractError, match=r"gave score .* in task 'boil-0'; a score must be finite"):
        episode_result(dataclasses.replace(samples.trajectory(0), score=score), "train/0/0")


def test_what_the_curriculum_says_of_its_choice_is_kept_with_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("xplearn.builtin.selectors.AllSelector.explain", lambda self: {"curve": [1, 2], "knee": 1})
    start(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert json.loads((folder / "study" / "0-0.json").read_text())["explained"] == {"curve": [1, 2], "knee": 1}


def test_learners_of_a_warm_up_learn_from_everything_whatever_the_curriculum_is(tmp_path):
    warm = {"env": "core.errands", "tasks": {"limit": 3}, "warmup": True, "record": True}
    start(tmp_path, stream=[warm, *BASE["stream"]], warmup="dial.turn", curriculum="core.none")
    (folder,) = tmp_path.iterdir()
    studied = [json.loads((folder / "study" / f"{stage}-0.json").read_text())["anchors"] for stage in (0, 1)]
    assert [len(anchors) for anchors in studied] == [3, 0]
