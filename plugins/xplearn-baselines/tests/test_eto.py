import importlib.util
import math
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

from xplearn_baselines import dpo as dpo_module  # noqa: E402
from xplearn_baselines.dpo import collate, rows, trainer  # noqa: E402
from xplearn_baselines.eto import DpoConfig, EtoLearner  # noqa: E402
from xplearn_baselines.pairs import Line, line  # noqa: E402

import xplearn  # noqa: E402
from xplearn import Completion, Conditioning, ConfigError, ContractError, PluginError, Query, Selection, Step, Task, Trajectory  # noqa: E402
from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.testing.agents import FakeAgent, FakeCheckpoint  # noqa: E402
from xplearn.testing.contracts import LearnerContract  # noqa: E402
from xplearn.testing.fakes import FakePolicy, ready_policy  # noqa: E402

DPO = {"lr": 5e-3, "lr_later": 5e-3, "batch": 2, "epochs": 3}
GOOD, BAD = ("go to hall", "take the cup"), ("wait", "look around", "wait")


def conversation(policy, actions, number=0, score=1.0, source="demonstration", seen="You see a door."):
    """A trajectory with the tokens ``policy`` would have needed."""
    task = Task(id=f"task-{number}", env="toy", split="train", goal="g")
    messages = ({"role": "system", "content": "Act."}, {"role": "user", "content": f"Task {number}. {seen}"})
    steps = []
    for index, action in enumerate(actions):
        given = Conditioning(messages=messages)
        steps.append(
            Step(
                query=Query(purpose="act", task=task, messages=messages, index=index), selection=Selection(), conditioning=given,
                completion=policy.transcribe([given], [action])[0], action=action, reward=0.0, terminated=False, truncated=False,
                valid=source == "demonstration",
            )
        )  # fmt: skip
        messages += ({"role": "assistant", "content": action}, {"role": "user", "content": f"{seen} {index}"})
    id = f"{source}/{number}"
    return Trajectory(id=id, task=task, steps=tuple(steps), arm="plain", group=id, seed=0, source=source, score=score)


def round_of(policy, count=4):
    shown = [conversation(policy, GOOD, number) for number in range(count)]
    return shown + [conversation(policy, BAD, number, score=0.2, source="rollout") for number in range(count)]


def learner(**fields):
    return EtoLearner(checkpoint_seconds=0.0, dpo=DpoConfig(**{**DPO, **fields}))


def agent(policy, round=1, checkpoint=None):
    return FakeAgent(policy=policy, position=(0, round), checkpoint=checkpoint or FakeCheckpoint())


def weights(policy):
    return {name: value.detach().clone() for name, value in policy.parameters()}


def same(first, second):
    return all(torch.equal(first[name], second[name]) for name in first)


def logprob(policy, trajectory):
    """Of all action tokens of a trajectory."""
    with torch.no_grad():
        scores = policy.score([step.conditioning for step in trajectory.steps], [step.completion for step in trajectory.steps])
    return float(scores.logprobs.sum())


def margin(policy, batch):
    half = len(batch) // 2
    return sum(logprob(policy, item) for item in batch[:half]) - sum(logprob(policy, item) for item in batch[half:])


@pytest.mark.parametrize("lora", [{"rank": 4}, {"rank": 4, "dropout": 0.3}, None])
def test_second_round_begins_at_log_2_and_widens_the_margin_between_winner_and_loser(lora):
    from xplearn.policies.weights import LoraConfig

    policy = ready_policy(lora=lora and LoraConfig(**lora))
    batch = round_of(policy)
    before = margin(policy, batch)
    figures = learner().learn(batch, agent(policy))
    assert figures["loss_first"] == pytest.approx(math.log(2), abs=1e-6)
    assert figures["loss_last"] < 0.6
    assert margin(policy, batch) > before + 5.0
    assert (figures["pairs"], figures["own_wins"], figures["left_out"], figures["steps"]) == (4.0, 0.0, 0.0, 6.0)
    assert figures["reward_accuracy"] == 1.0
    assert policy.version == 1


def test_better_rollout_wins_over_the_expert():
    policy = ready_policy()
    batch = [conversation(policy, GOOD, score=0.5), conversation(policy, BAD, score=0.9, source="rollout")]
    before = margin(policy, batch)
    assert learner().learn(batch, agent(policy))["own_wins"] == 1.0
    assert margin(policy, batch) < before


def test_loss_sums_the_action_tokens_and_no_token_of_the_environment():
    policy = ready_policy()
    batch = [conversation(policy, GOOD), conversation(policy, BAD, source="rollout")]
    pair = tuple(line(item, policy) for item in batch)
    with trainer(*policy.pretrained(), [pair], beta=0.1, batch=1, max_grad_norm=1.0, seed=0) as dpo:
        found = [float(value) for value in dpo.compute_ref_log_probs(dpo.model, collate(list(rows([pair]))))]
    assert found == pytest.approx([logprob(policy, item) for item in batch], abs=1e-4)
    tokens = sum(len(step.completion.token_ids) for step in batch[0].steps)
    assert sum(pair[0].acted) == tokens < len(pair[0].ids)


def test_what_the_environment_says_last_has_no_influence():
    results = []
    for said in ((), (5, 6, 7, 8)):
        policy = ready_policy()
        good, bad = (line(conversation(policy, actions), policy) for actions in (GOOD, BAD))
        pair = good, Line(ids=bad.ids + said, acted=bad.acted + (False,) * len(said))
        with policy.training(), trainer(*policy.pretrained(), [pair], beta=0.1, batch=1, max_grad_norm=1.0, seed=0) as dpo:
            loss = dpo.compute_loss(dpo.model, collate([dpo.train_dataset[0]]))
            loss.backward()
        results.append([value.grad.clone() for _, value in policy.parameters()])
    assert all(torch.allclose(first, second, atol=1e-6) for first, second in zip(*results, strict=True))
    assert any(first.abs().max() > 1e-4 for first in results[0])


def test_first_round_clones_the_demonstrations_and_nothing_else():
    policy, plain = ready_policy(), ready_policy()
    settings = {"lr": 5e-3, "batch": 2, "epochs": 2}
    batch = round_of(policy)
    EtoLearner(**settings).learn(batch, agent(policy, round=0))
    CloneLearner(**settings, arms="plain", schedule="cosine").learn(batch[:4], agent(plain, round=0))
    assert same(weights(policy), weights(plain))


def test_later_rounds_have_their_own_beta_and_rate():
    moved = {}
    for round in (1, 2):
        policy = ready_policy()
        before, batch = weights(policy), round_of(policy)
        learner(lr_later=5e-6).learn(batch, agent(policy, round=round))
        moved[round] = max(float((value - before[name]).abs().max()) for name, value in weights(policy).items())
    assert moved[1] > 100 * moved[2] > 0


class Stopping(FakeCheckpoint):
    """Ctrl-C after some steps."""

    def __init__(self, stop_at):
        super().__init__()
        self.stop_at = stop_at

    def report(self, done, total, **scalars):
        super().report(done, total, **scalars)
        if done == self.stop_at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("stop_at", [2, 5])
def test_interrupted_training_goes_on_to_the_very_same_weights(stop_at):
    straight, broken, restarted = ready_policy(), ready_policy(), ready_policy()
    whole = learner().learn(round_of(straight), agent(straight))
    before, checkpoint = weights(broken), Stopping(stop_at)
    with pytest.raises(KeyboardInterrupt):
        learner().learn(round_of(broken), agent(broken, checkpoint=checkpoint))
    assert same(before, weights(broken)), "an interruption leaves the weights as they were"
    kept = FakeCheckpoint()
    kept.state = checkpoint.state
    figures = learner().learn(round_of(restarted), agent(restarted, checkpoint=kept))
    assert [done for done, _, _ in kept.reports] == list(range(stop_at, 7))
    assert same(weights(straight), weights(restarted))
    assert figures == whole


def test_same_call_gives_the_very_same_weights_whatever_the_global_generator():
    first, second = ready_policy(), ready_policy()
    learner().learn(round_of(first), agent(first))
    torch.manual_seed(12345)
    state = torch.random.get_rng_state()
    learner().learn(round_of(second), agent(second))
    assert same(weights(first), weights(second))
    assert torch.equal(torch.random.get_rng_state(), state)


def test_model_is_left_as_it_was_found():
    from xplearn.policies.weights import LoraConfig

    policy = ready_policy(lora=LoraConfig(rank=4, dropout=0.3))
    model, _ = policy.pretrained()
    parts = [model, model.config, model.generation_config, *model.modules()]
    before = [{name: value for name, value in vars(part).items() if not name.startswith("_")} for part in parts]
    learner().learn(round_of(policy), agent(policy))
    assert [{name: value for name, value in vars(part).items() if not name.startswith("_")} for part in parts] == before
    assert sum(getattr(part, "p", 0.0) == 0.3 for part in model.modules()) > 0


def test_without_a_pair_nothing_changes():
    policy = ready_policy()
    batch = [conversation(policy, GOOD), conversation(policy, BAD, source="rollout")]
    assert learner().learn(batch, agent(policy)) == {"pairs": 0.0, "own_wins": 0.0, "left_out": 0.0, "steps": 0.0}
    assert policy.version == 0


def test_pair_that_is_no_sequence_is_left_out_and_counted():
    policy = ready_policy()
    batch = round_of(policy, 2)
    turned = replace(batch[2], steps=batch[2].steps[::-1])
    figures = learner().learn([*batch[:2], turned, batch[3]], agent(policy))
    assert (figures["pairs"], figures["left_out"]) == (2.0, 1.0)


def test_loss_that_is_not_finite_says_the_step_and_restores_the_weights():
    policy = ready_policy()
    before = weights(policy)
    with pytest.raises(ContractError, match=r"baselines.eto: the loss is nan .* at step \d of 6; .* lower the learning rate, e.g. dpo.lr="):
        learner(lr=1e30, warmup_share=0.0).learn(round_of(policy), agent(policy))
    assert same(before, weights(policy))


def test_several_visible_gpus_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    model = torch.nn.Linear(1, 1)
    monkeypatch.setattr(model, "parameters", lambda: iter([type("Cuda", (), {"device": torch.device("cuda")})]))
    with (
        pytest.raises(ContractError, match="CUDA_VISIBLE_DEVICES=0"),
        trainer(model, None, [], beta=0.1, batch=1, max_grad_norm=1.0, seed=0),
    ):
        pass


def test_policy_without_trainable_parameters_is_refused(monkeypatch):
    policy = ready_policy()
    monkeypatch.setattr(FakePolicy, "parameters", lambda self: iter(()))
    with pytest.raises(ContractError, match="nothing to train"):
        learner().learn(round_of(policy), agent(policy))


def test_steps_without_tokens_are_refused_by_name():
    policy = ready_policy()
    batch = round_of(policy, 1)
    bare = replace(batch[1].steps[0], completion=Completion(text="wait"))
    with pytest.raises(ContractError, match="'rollout/0' has steps without tokens"):
        learner().learn([batch[0], replace(batch[1], steps=(bare,))], agent(policy))


def test_without_trl_there_is_no_such_learner(monkeypatch, tmp_path):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "trl" else find(name, *rest))
    with pytest.raises(PluginError, match=r"'baselines.eto' needs the package 'trl': pip install 'xplearn-baselines\[torch\]'"):
        EtoLearner()
    with pytest.raises(PluginError, match="needs the package 'trl'"):
        xplearn.run({**RUN, "run": {"dir": str(tmp_path)}})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("field", "value"), [("beta", 0.0), ("lr_later", -1.0), ("epochs", 0), ("batch", 0), ("warmup_share", 1.5), ("margin", 1.0)]
)
def test_values_out_of_range_name_their_field(field, value):
    with pytest.raises(ConfigError, match=rf"^{field}: must"):
        DpoConfig(**{field: value})


def test_defaults_are_the_papers():
    assert DpoConfig() == DpoConfig(beta=0.1, beta_later=0.5, lr=1e-6, lr_later=5e-7, epochs=3, batch=32, warmup_share=0.1, margin=0.0)
    found = EtoLearner()
    assert (found.arms, found.epochs, found.batch, found.lr, found.schedule, found.warmup_share) == ("plain", 3, 64, 2e-5, "cosine", 0.03)
    plan = found.plan()
    assert (plan.source, plan.rollouts_from, plan.arms, plan.replicas) == ("both", 1, ("plain",), 1)


class TestContract(LearnerContract):
    @pytest.fixture
    def make(self):
        return lambda: EtoLearner(lr=5e-3)

    @pytest.fixture
    def new_agent(self):
        return lambda: FakeAgent(policy=FakePolicy())

    @pytest.fixture
    def batch(self, agent):
        return [conversation(agent.policy, GOOD, number) for number in range(4)]


RUN = {
    "stream": [{"env": "core.errands", "tasks": {"limit": 4}, "rounds": 2}],
    "policy": {"name": "core.tiny", "layers": 1, "width": 32},
    "preset": "baselines/eto",
    "learner": [{"name": "baselines.eto", "epochs": 1, "lr": 3e-3, "batch": 2, "checkpoint_seconds": 0.0, "dpo": {**DPO, "epochs": 1}}],
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"limit": 2}, "resamples": 100},
}


def test_run_that_is_stopped_in_its_second_round_goes_on_to_the_same_weights_and_figures(tmp_path, monkeypatch):
    whole = xplearn.load(xplearn.run({**RUN, "run": {"dir": str(tmp_path / "whole")}}).folder)
    told, steps = dpo_module.EveryStep.on_log, []

    def stop(self, *args, logs, **rest):
        told(self, *args, logs=logs, **rest)
        steps.append(logs)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(dpo_module.EveryStep, "on_log", stop)
        with pytest.raises(KeyboardInterrupt):
            xplearn.run({**RUN, "run": {"dir": str(tmp_path / "cut")}})
    cut = xplearn.load(xplearn.run({**RUN, "run": {"dir": str(tmp_path / "cut")}}).folder)
    assert len(steps) == 1
    assert whole.scalars()[1]["pairs"] > 2
    assert whole.scalars()[1]["loss_first"] == pytest.approx(math.log(2), abs=1e-6)
    timeless = [[{k: v for k, v in row.items() if "second" not in k} for row in run.scalars()] for run in (whole, cut)]
    assert timeless[0] == timeless[1]
