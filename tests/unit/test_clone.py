import contextlib
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from xplearn.errors import ConfigError, ContractError  # noqa: E402
from xplearn.interfaces import LocalPolicy, TokenScores  # noqa: E402
from xplearn.learning.batching import micro_batches, packed_length, sample  # noqa: E402
from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.policies.tiny import TinyPolicy  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.contracts import LearnerContract  # noqa: E402
from xplearn.types import Completion, Conditioning, Query, Sampling, Selection, Step, Task, Trajectory  # noqa: E402

WIDTH = 16


class LastTokenPolicy(LocalPolicy):
    """Predicts every token of a completion from the last token of its prompt, through dropout."""

    def __init__(self, seed=0):
        torch.manual_seed(seed)
        self.embedding = torch.nn.Embedding(128, WIDTH)
        self.head = torch.nn.Linear(WIDTH, 128)
        self.dropout = torch.nn.Dropout(0.2)
        self.rows_per_call = []

    def parameters(self):
        yield from self.embedding.named_parameters("embedding")
        yield from self.head.named_parameters("head")

    def score(self, conditionings, completions, choices=None):
        self.rows_per_call.append(len(completions))
        width = max(len(item.token_ids) for item in completions)
        mask = torch.tensor([[i < len(item.token_ids) for i in range(width)] for item in completions])
        ids = torch.tensor([[*item.token_ids, *[0] * (width - len(item.token_ids))] for item in completions])
        hidden = self.dropout(self.embedding(torch.tensor([item.prompt_ids[-1] for item in completions])))
        logprobs = self.head(hidden).log_softmax(-1)[:, None].expand(-1, width, -1).gather(2, ids[..., None])[..., 0]
        return TokenScores(logprobs=logprobs.masked_fill(~mask, 0.0), mask=mask)

    def transcribe(self, conditionings, texts):
        prompts = [tuple("".join(message["content"] for message in row.messages).encode()) for row in conditionings]
        return [Completion(text=text, prompt_ids=p, token_ids=(*text.encode(), 3)) for p, text in zip(prompts, texts, strict=True)]

    @contextlib.contextmanager
    def training(self):
        yield
        self.version += 1

    def generate(self, *args, **kwargs):
        raise AssertionError

    rank = encode = attach = reference = save = load = generate


class Agent:
    seed, position = 7, (0, 1)

    def __init__(self, policy, stop_at=None):
        self.policy, self.checkpoint = policy, self
        self.saved, self.stop_at, self.reports = None, stop_at, []

    def load(self):
        return self.saved

    def save(self, state):
        self.saved = state

    def report(self, done, total, **scalars):
        self.reports.append((done, total, scalars))
        if done == self.stop_at:
            raise KeyboardInterrupt


def trajectory(policy, name, actions=("go", "take"), arm="experience", shown="Related experience: x. ", **fields):
    task = Task(id=name, env="toy", split="train", goal="g")
    steps, said = [], ""
    for index, action in enumerate(actions):
        plain = ({"role": "user", "content": f"{name}:{said}"},)
        given = Conditioning(messages=({"role": "user", "content": f"{shown}{name}:{said}"},))
        completion = policy.transcribe([given], [action])[0]
        query = Query(purpose="act", task=task, messages=plain, index=index)
        steps.append(
            Step(query=query, selection=Selection(), conditioning=given, completion=completion, action=action, reward=0.0,
                 terminated=False, truncated=False, valid=True)
        )  # fmt: skip
        said += action
    return Trajectory(id=name, task=task, steps=tuple(steps), arm=arm, group=name, seed=0, source="demonstration", **fields)


def _weights(policy):
    return {name: value.detach().clone() for name, value in policy.parameters()}


def _batch(policy, count=6):
    return [trajectory(policy, f"t{i}", score=1.0) for i in range(count)]


def test_cloning_makes_the_demonstrated_actions_likely():
    policy = LastTokenPolicy()
    figures = CloneLearner(lr=0.05, epochs=30, schedule="constant").learn(_batch(policy), Agent(policy))
    assert figures["loss_first"] > 4.0
    assert figures["loss_last"] < 2.0
    assert figures["steps"] == 60
    assert figures["trajectories"] == 6
    assert figures["tokens"] > 0
    assert policy.version == 1


def test_the_same_call_gives_the_very_same_weights():
    first, second = LastTokenPolicy(), LastTokenPolicy()
    for policy in (first, second):
        CloneLearner(lr=0.05).learn(_batch(policy), Agent(policy))
    assert all(torch.equal(a, b) for a, b in zip(_weights(first).values(), _weights(second).values(), strict=True))


@pytest.mark.parametrize("stop_at", [1, 3, 5])
def test_an_interrupted_training_goes_on_to_the_very_same_weights(stop_at):
    learner = CloneLearner(lr=0.05, checkpoint_seconds=0.0)
    straight = LastTokenPolicy()
    whole = learner.learn(_batch(straight), Agent(straight))
    broken = LastTokenPolicy()
    agent = Agent(broken, stop_at=stop_at)
    with pytest.raises(KeyboardInterrupt):
        learner.learn(_batch(broken), agent)
    restarted = LastTokenPolicy()
    again = Agent(restarted)
    again.saved = agent.saved
    figures = learner.learn(_batch(restarted), again)
    assert again.reports[0][0] == stop_at  # the step under way when it was stopped is done again
    assert all(torch.equal(a, b) for a, b in zip(_weights(straight).values(), _weights(restarted).values(), strict=True))
    assert {name: figures[name] for name in ("loss_first", "loss_last", "steps", "tokens")} == {
        name: whole[name] for name in ("loss_first", "loss_last", "steps", "tokens")
    }


def test_an_interruption_leaves_the_weights_as_they_were():
    policy = LastTokenPolicy()
    before = _weights(policy)
    with pytest.raises(KeyboardInterrupt):
        CloneLearner(lr=0.05).learn(_batch(policy), Agent(policy, stop_at=2))
    assert all(torch.equal(before[name], value) for name, value in policy.parameters())


def test_a_loss_that_is_not_finite_says_the_step_and_restores_the_weights():
    policy = LastTokenPolicy()
    before = _weights(policy)
    with pytest.raises(ContractError, match=r"step 2 of 6; .* lower the learning rate, e.g. lr=2e\+36"):
        CloneLearner(lr=1e37, schedule="constant", warmup_share=0.0).learn(_batch(policy), Agent(policy))
    assert all(torch.equal(before[name], value) for name, value in policy.parameters())


def test_a_policy_without_trainable_parameters_is_refused():
    policy = LastTokenPolicy()
    policy.parameters = lambda: iter(())
    with pytest.raises(ContractError, match="nothing to train"):
        CloneLearner().learn(_batch(policy), Agent(policy))


def test_failed_poor_and_foreign_arm_trajectories_are_left_out():
    policy = LastTokenPolicy()
    good = trajectory(policy, "good", score=1.0)
    batch = [good, replace(good, error="died"), replace(good, score=0.4), replace(good, arm="plain")]
    assert CloneLearner(min_score=0.5, epochs=1).learn(batch, Agent(policy))["trajectories"] == 1
    assert CloneLearner(arms="both", epochs=1).learn(batch, Agent(policy))["trajectories"] == 3


def test_nothing_to_clone_changes_nothing():
    policy = LastTokenPolicy()
    assert CloneLearner().learn([], Agent(policy)) == {"steps": 0.0, "trajectories": 0.0}
    assert policy.version == 0


def test_invalid_steps_are_not_cloned():
    policy = LastTokenPolicy()
    item = trajectory(policy, "t", actions=("ab", "c"))
    item = replace(item, steps=(replace(item.steps[0], valid=False), item.steps[1]))
    assert sample(item, learner="test").targets == 2


def test_steps_past_the_context_are_not_cloned():
    policy = LastTokenPolicy()
    item = trajectory(policy, "t", actions=("ab", "c"))
    past = replace(item.steps[1], completion=Completion(text="c", finish="context"))
    assert sample(replace(item, steps=(item.steps[0], past)), learner="test").targets == 3


def test_steps_without_tokens_are_refused_by_name():
    policy = LastTokenPolicy()
    item = trajectory(policy, "t")
    item = replace(item, steps=(replace(item.steps[0], completion=Completion(text="go")),))
    with pytest.raises(ContractError, match="'t' has steps without tokens"):
        CloneLearner().learn([item], Agent(policy))


def test_samples_are_scored_at_temperature_one_without_masking():
    policy = LastTokenPolicy()
    item = trajectory(policy, "t")
    drawn = replace(item.steps[0].completion, sampling=Sampling(temperature=0.3, choices="admissible"))
    rows = sample(replace(item, steps=(replace(item.steps[0], completion=drawn),)), learner="test").completions
    assert rows[0].sampling == Sampling(temperature=1.0)


def test_empty_share_shows_that_share_without_experience():
    policy = LastTokenPolicy()
    learner = CloneLearner(empty_share=0.5)
    samples = learner._samples([trajectory(policy, f"t{i}", score=1.0) for i in range(200)], Agent(policy))
    hidden = [item for item in samples if not bytes(item.completions[0].prompt_ids).startswith(b"Related")]
    assert 70 < len(hidden) < 130
    assert all(item.conditionings[0].messages[0]["content"].startswith("t") for item in hidden)
    assert [item.targets for item in samples] == [8] * 200


def test_one_pass_or_many_give_the_same_loss():
    losses = {}
    for tokens in (10, 100_000):
        policy = LastTokenPolicy()
        policy.dropout = torch.nn.Identity()
        losses[tokens] = CloneLearner(lr=0.05, micro_tokens=tokens).learn(_batch(policy), Agent(policy))
    assert losses[10]["loss_last"] == pytest.approx(losses[100_000]["loss_last"], rel=1e-4)


def test_the_trajectory_reduction_sums_over_tokens():
    figures = {}
    for reduction in ("token", "trajectory"):
        policy = LastTokenPolicy()
        policy.dropout = torch.nn.Identity()
        figures[reduction] = CloneLearner(reduction=reduction, epochs=1).learn(_batch(policy, 4), Agent(policy))["loss_first"]
    assert figures["trajectory"] == pytest.approx(8 * figures["token"], rel=1e-5)


def test_packed_length_counts_shared_prefixes_once():
    rows = [
        Completion(text="", prompt_ids=(1, 2), token_ids=(3,)),
        Completion(text="", prompt_ids=(1, 2, 3, 4), token_ids=(5, 6)),
        Completion(text="", prompt_ids=(9,), token_ids=(5,)),
    ]
    assert packed_length(rows) == 6 + 2


def test_micro_batches_stay_below_their_bound_and_lose_nothing():
    policy = LastTokenPolicy()
    samples = [sample(trajectory(policy, "n" * (i + 1)), learner="test") for i in range(9)]
    groups = micro_batches(samples, 150)
    assert sorted(item.positions for group in groups for item in group) == sorted(item.positions for item in samples)
    assert all(len(group) == 1 or len(group) * max(item.positions for item in group) <= 150 for group in groups)
    assert any(len(group) > 1 for group in groups)


@pytest.mark.parametrize(("field", "value"), [("epochs", 0), ("lr", -1.0), ("lr", float("nan")), ("empty_share", 1.5), ("max_steps", 0)])
def test_values_out_of_range_name_their_field(field, value):
    with pytest.raises(ConfigError, match=field):
        CloneLearner(**{field: value})


def test_parameters_learn_at_the_rate_of_their_pattern():
    policy = LastTokenPolicy()
    before = _weights(policy)
    learner = CloneLearner(lr=1e-3, lr_groups={"head.*": 1e-2}, max_steps=1, warmup_share=0.0)
    learner.learn(_batch(policy), Agent(policy))
    moved = {name: (value - before[name]).abs().max().item() for name, value in policy.parameters()}
    assert moved == pytest.approx({"embedding.weight": 1e-3, "head.weight": 1e-2, "head.bias": 1e-2}, rel=0.01)
    with pytest.raises(ContractError, match=r"core.clone: lr_groups 'heads\.\*' matches none"):
        CloneLearner(lr_groups={"heads.*": 1e-2}).learn(_batch(policy), Agent(policy))


def test_max_steps_bounds_the_training():
    policy = LastTokenPolicy()
    assert CloneLearner(max_steps=3).learn(_batch(policy), Agent(policy))["steps"] == 3


def test_the_plan_asks_for_demonstrations_in_its_arms():
    assert CloneLearner(arms="both").plan().arms == ("experience", "plain")
    assert CloneLearner().plan().source == "demonstration"


class ReadyPolicy(TinyPolicy):
    """A policy that has its vocabulary from the start."""

    def setup(self, agent):
        super().setup(agent)
        self.prepare(["open the door", "open the lamp"])


def _ready_agent():
    return FakeAgent(policy=ReadyPolicy(layers=2, width=32, heads=2, vocabulary=280, context_tokens=1024))


class TestBesideAPolicy(LearnerContract):
    @pytest.fixture
    def make(self):
        return lambda: CloneLearner(arms="plain", epochs=1)

    @pytest.fixture
    def new_agent(self):
        return _ready_agent

    @pytest.fixture
    def batch(self, agent):
        return [_transcribed(samples.trajectory(number), agent.policy) for number in range(4)]

    def test_it_moves_the_weights(self, learner, agent, batch):
        before = _weights(agent.policy)
        figures = learner.learn(batch, agent)
        assert figures["trajectories"] == 4
        assert all(not torch.equal(before[name], value) for name, value in agent.policy.parameters())


def _transcribed(trajectory, policy):
    completions = policy.transcribe([step.conditioning for step in trajectory.steps], [step.action for step in trajectory.steps])
    steps = tuple(replace(step, completion=completion) for step, completion in zip(trajectory.steps, completions, strict=True))
    return replace(trajectory, steps=steps)


@pytest.mark.parametrize("stop_at", [2, 5])
def test_a_real_model_goes_on_to_the_very_same_weights(stop_at):
    learner = CloneLearner(arms="plain", epochs=4, batch=2, lr=1e-3, checkpoint_seconds=0.0)

    def trained(state=None, stop=None):
        with _ready_agent() as agent:
            batch = [_transcribed(samples.trajectory(number), agent.policy) for number in range(4)]
            agent.checkpoint = Agent(agent.policy, stop_at=stop)
            agent.checkpoint.saved = state
            if stop is None:
                learner.learn(batch, agent)
                return _weights(agent.policy)
            with pytest.raises(KeyboardInterrupt):
                learner.learn(batch, agent)
            return agent.checkpoint.saved

    straight = trained()
    resumed = trained(state=trained(stop=stop_at))
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)
