import contextlib
import math
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from xplearn.config import load_experiment  # noqa: E402
from xplearn.errors import ConfigError, ContractError  # noqa: E402
from xplearn.experiment.build import check_experiment  # noqa: E402
from xplearn.interfaces import LocalPolicy, TokenScores  # noqa: E402
from xplearn.learning.drawn import drawn, passes, positions  # noqa: E402
from xplearn.learning.grpo import GrpoLearner  # noqa: E402
from xplearn.plugins import Plugins  # noqa: E402
from xplearn.policies.weights import LoraConfig  # noqa: E402
from xplearn.seeding import derive  # noqa: E402
from xplearn.testing.agents import FakeAgent, FakeCheckpoint  # noqa: E402
from xplearn.testing.contracts import LearnerContract  # noqa: E402
from xplearn.testing.fakes import FakePolicy, GatedRead  # noqa: E402
from xplearn.types import Completion, Conditioning, Memory, Query, Sampling, Selection, Step, Task, Trajectory  # noqa: E402

ACTIONS = ("open door to hall", "take the cup", "take the fridge", "wait")
DRAWN = Sampling(temperature=0.7, choices="admissible")
FREE = Sampling(temperature=1.3, max_new_tokens=6)
ORDERED = Sampling(temperature=1.0, choices="rank")


class Bandit(LocalPolicy):
    """Three tokens whose logits are the parameters; what it was before training is uniform."""

    def __init__(self, probabilities=(0.25, 0.25, 0.5)):
        self.logits = torch.nn.Parameter(torch.tensor(probabilities).log())
        self.gradient, self.scored = None, 0
        self.as_reference = False

    def parameters(self):
        yield "logits", self.logits

    def score(self, conditionings, completions, choices=None):
        self.scored += len(completions)
        logits = torch.zeros(3) if self.as_reference else self.logits
        rows = [logits.log_softmax(-1)[list(row.token_ids)] for row in completions]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        lengths = torch.tensor([len(row) for row in rows])
        return TokenScores(logprobs=padded, mask=torch.arange(padded.shape[1]) < lengths[:, None])

    @contextlib.contextmanager
    def training(self):
        self.gradient = self.logits.grad.clone()
        yield
        self.version += 1

    @contextlib.contextmanager
    def reference(self):
        self.as_reference = True
        yield
        self.as_reference = False

    def generate(self, *args, **kwargs):
        raise AssertionError

    rank = encode = attach = transcribe = save = load = generate


def said(policy, *tokens):
    """Tokens that a bandit drew."""
    values = policy.logits.detach().log_softmax(-1)[list(tokens)].tolist()
    return Completion(text="", prompt_ids=(1,), token_ids=tokens, logprobs=tuple(values))


def episode(name, completions, score, *, group="g", arm="experience", conditionings=None, candidates=None, **fields):
    task = Task(id=group, env="toy", split="train", goal="g")
    given = conditionings or [Conditioning(messages=())] * len(completions)
    steps = tuple(
        Step(query=Query(purpose="act", task=task, messages=c.messages, candidates=candidates), selection=Selection(), conditioning=c,
             completion=s, action=s.text, reward=0.0, terminated=False, truncated=False, valid=True)
        for c, s in zip(given, completions, strict=True)
    )  # fmt: skip
    return Trajectory(id=name, task=task, steps=steps, arm=arm, group=group, seed=0, source="rollout", score=score, **fields)


def played(policy, sampling=DRAWN, *, groups=2, size=4, turns=2, memory=None, arm="experience"):
    """What a policy really drew; the score says how often it spoke of a cup or a door."""
    found = []
    for number in range(groups * size):
        messages = [{"role": "user", "content": f"Task {number // size}. You see a cup and a door."}]
        given, completions = [], []
        for turn in range(turns):
            given.append(Conditioning(messages=tuple(messages), memory=memory))
            key = derive(5, number, turn)
            completions += policy.generate([given[-1]], sampling, [key], [ACTIONS])
            messages += [{"role": "assistant", "content": completions[-1].text}, {"role": "user", "content": f"Turn {turn}."}]
        good = sum("cup" in row.text or "door" in row.text for row in completions) + 0.1 * sum(len(row.token_ids) for row in completions)
        group = f"g{number // size}"
        found.append(episode(f"{arm}/{number}", completions, good, group=group, arm=arm, conditionings=given, candidates=ACTIONS))
    return found


@contextlib.contextmanager
def acting(**settings):
    """An agent whose policy has drifted from its reference."""
    with FakeAgent(policy=FakePolicy(**settings)) as agent:
        torch.manual_seed(3)
        with torch.no_grad():
            for _, value in agent.policy.parameters():
                value.add_(0.05 * torch.randn_like(value))
        yield agent


def weights(policy):
    return {name: value.detach().clone() for name, value in policy.parameters()}


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


# the objective


def test_the_loss_is_the_one_written_down_by_hand():
    policy = Bandit()
    batch = [episode("a", [said(policy, 2)], 1.0), episode("b", [said(policy, 0), said(policy, 1, 1)], 0.0)]
    batch[0] = replace(batch[0], steps=(replace(batch[0].steps[0], completion=replace(said(policy, 2), logprobs=(math.log(0.4),))),))
    figures = GrpoLearner(group_size=2, beta=0.1, epsilon=0.2, lr=1e-6, scale="none").learn(batch, FakeAgent(policy=policy))
    divergence = [ratio * (math.exp(gap) - gap - 1) for ratio, gap in ((1.25, math.log(2 / 3)), *[(1.0, math.log(4 / 3))] * 3)]
    surrogate = [-1.2 * 0.5, 0.5, 0.5, 0.5]  # the first is clipped
    assert figures["loss"] == pytest.approx((sum(surrogate) + 0.1 * sum(divergence)) / 4, rel=1e-5)
    assert figures["kl"] == pytest.approx(sum(divergence) / 4, rel=1e-5)
    assert figures["clip_share"] == 0.25
    assert figures["ratio_mean"] == pytest.approx((1.25 + 3) / 4)
    assert figures["entropy"] == pytest.approx(-(math.log(0.5) + 3 * math.log(0.25)) / 4, rel=1e-5)


def test_the_gradient_is_that_of_the_expected_return():
    policy, returns = Bandit(), (1.0, 0.0, 0.25)
    tokens = [0, 1, 2, 2]  # each as often as it is likely
    batch = [episode(str(n), [said(policy, token)], returns[token]) for n, token in enumerate(tokens)]
    GrpoLearner(group_size=4, beta=0.0, scale="none", lr=1e-6).learn(batch, FakeAgent(policy=policy))
    logits = torch.tensor((0.25, 0.25, 0.5)).log().requires_grad_()
    (logits.softmax(-1) * torch.tensor(returns)).sum().neg().backward()
    scale = min(1.0, 0.1 / float(logits.grad.norm()))
    assert policy.gradient == pytest.approx(scale * logits.grad, abs=1e-6)


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [("token", (-1 + 1 + 1 + 1) / 4), ("sequence", (-1 + (1 + 1 + 1) / 3) / 2), ("constant", (-1 + 3) / 2 / 32)],
)
def test_what_is_averaged_is_what_the_reduction_says(reduction, expected):
    policy = Bandit()
    batch = [episode("a", [said(policy, 2)], 1.0), episode("b", [said(policy, 0), said(policy, 1, 1)], -1.0)]
    figures = GrpoLearner(group_size=2, beta=0.0, reduction=reduction, scale="none").learn(batch, FakeAgent(policy=policy))
    assert figures["loss"] == pytest.approx(expected, abs=1e-6)


def test_invalid_steps_count_and_steps_past_the_context_do_not():
    policy = Bandit()
    first = episode("a", [said(policy, 0), said(policy, 1), Completion(text="", finish="context")], 1.0)
    first = replace(first, steps=(replace(first.steps[0], valid=False), *first.steps[1:]))
    (item, _) = GrpoLearner(group_size=2).credited([first, episode("b", [said(policy, 2)], 0.0)])
    assert [row.token_ids for row in item.completions] == [(0,), (1,)]
    assert item.tokens == 2


# groups


def test_errors_are_left_out_and_the_group_is_judged_by_those_left():
    policy = Bandit()
    batch = [episode(str(n), [said(policy, n)], score) for n, score in enumerate((1.0, 0.0, 0.5))]
    batch.append(replace(batch[0], id="dead", error="died", score=0.0))
    credit = [item.advantages[0] for item in GrpoLearner(group_size=4, scale="none").credited(batch)]
    assert credit == pytest.approx([0.5, -0.5, 0.0])


def test_both_arms_are_one_group_or_two():
    policy = Bandit()
    scores = {"experience": (1.0, 0.5), "plain": (0.5, 0.0)}
    batch = [
        episode(f"{arm}/{n}", [said(policy, 0)], score, arm=arm) for n in range(2) for arm, row in scores.items() for score in [row[n]]
    ]
    for over, expected in {"group": (0.5, 0.0, 0.0, -0.5), "arm": (0.25, -0.25, 0.25, -0.25)}.items():
        learner = GrpoLearner(arms="both", group_size=4, over=over, scale="none")
        items = learner.credited(batch)
        assert [item.trajectory.arm for item in items] == ["experience"] * 2 + ["plain"] * 2
        assert [item.advantages[0] for item in items] == pytest.approx(expected)


def test_only_the_arms_asked_for_are_learned_from():
    policy = Bandit()
    batch = [episode(arm, [said(policy, 0)], 1.0, arm=arm) for arm in ("experience", "plain")]
    assert [item.trajectory.arm for item in GrpoLearner(arms="plain").credited(batch)] == ["plain"]


def test_the_plan_fills_a_group_from_its_arms():
    assert GrpoLearner(group_size=8).plan().replicas == 8
    plan = GrpoLearner(arms="both", group_size=8).plan()
    assert (plan.arms, plan.replicas, plan.source, plan.needs_logprobs) == (("experience", "plain"), 4, "rollout", True)


def test_a_reference_is_asked_for_only_with_a_penalty():
    assert "policy.reference" in GrpoLearner().requires
    assert "policy.reference" not in GrpoLearner(beta=0.0).requires


def test_a_round_of_ties_changes_nothing_and_reads_nothing():
    policy = Bandit()
    before = weights(policy)
    batch = [episode(str(n), [said(policy, n)], 0.1) for n in range(3)]
    figures = GrpoLearner(group_size=3, beta=0.0).learn(batch, FakeAgent(policy=policy))
    assert same(before, weights(policy))
    assert (policy.version, policy.scored, figures["steps"]) == (0, 0, 0.0)
    assert (figures["groups_without_variance"], figures["trajectories"]) == (1.0, 3.0)
    assert figures["reward_mean"] == pytest.approx(0.1)


def test_ties_beside_others_weigh_in_the_mean_and_are_not_read():
    policy = Bandit()
    batch = [episode(str(n), [said(policy, n)], float(n == 0)) for n in range(2)]
    batch += [episode(f"tie/{n}", [said(policy, n)], 1.0, group="tie") for n in range(2)]
    figures = GrpoLearner(group_size=2, beta=0.0, scale="none", max_grad_norm=1e9).learn(batch, FakeAgent(policy=policy))
    assert (policy.scored, figures["trajectories"]) == (2, 4.0)
    assert policy.gradient == pytest.approx(torch.tensor([-0.125, 0.125, 0.0]), abs=1e-6)


# scored as drawn


@pytest.mark.parametrize("sampling", [DRAWN, FREE, ORDERED], ids=["admissible, cold", "free, hot", "an order of candidates"])
def test_the_first_step_is_on_policy_and_dropout_is_off(sampling):
    with acting(lora=LoraConfig(rank=4, dropout=0.5)) as agent:
        figures = GrpoLearner(group_size=4).learn(played(agent.policy, sampling), agent)
    assert figures["ratio_mean"] == pytest.approx(1.0, abs=1e-5)
    assert figures["clip_share"] == 0.0
    assert figures["kl"] > 0.01


def test_latent_memory_is_there_when_scoring():
    with acting() as agent:
        agent.policy.attach(GatedRead(32, gate=0.8))
        torch.manual_seed(4)
        memory = Memory(states=torch.randn(3, 32), ids=("a", "b", "c"))
        batch = played(agent.policy, memory=memory)
        assert GrpoLearner(group_size=4).learn(batch, agent)["ratio_mean"] == pytest.approx(1.0, abs=1e-5)
        without = [
            replace(item, steps=tuple(replace(s, conditioning=replace(s.conditioning, memory=None)) for s in item.steps)) for item in batch
        ]
        assert GrpoLearner(group_size=4).learn(without, agent)["ratio_mean"] != pytest.approx(1.0, abs=1e-3)


def test_rescored_log_probabilities_stand_in_for_recorded_ones():
    with acting() as agent:
        batch = played(agent.policy)
        silent = [
            replace(item, steps=tuple(replace(s, completion=replace(s.completion, logprobs=None)) for s in item.steps)) for item in batch
        ]
        with pytest.raises(ContractError, match="'experience/0' has no log-probabilities of its tokens; set old=rescored"):
            GrpoLearner(group_size=4).learn(silent, agent)
        before = weights(agent.policy)
        runs = []
        for old, given in (("rollout", batch), ("rescored", silent)):
            agent.policy.load_state_dict({"version": 0, **before})
            figures = GrpoLearner(group_size=4, epochs=3, lr=3e-3, old=old, max_grad_norm=1.0).learn(given, agent)
            runs.append((figures["loss"], figures["clip_share"], figures["ratio_mean"]))
    assert runs[0] == pytest.approx(runs[1], abs=1e-5)
    assert runs[0][1] > 0


def test_a_nucleus_cannot_be_scored_again():
    policy = Bandit()
    batch = [episode(str(n), [replace(said(policy, n), sampling=Sampling(temperature=1.0, top_p=0.9))], float(n)) for n in range(2)]
    with pytest.raises(ContractError, match=r"top_p=0.9 .* set sampling.top_p=1 or old=rescored"):
        GrpoLearner(group_size=2).learn(batch, FakeAgent(policy=policy))
    assert GrpoLearner(group_size=2, old="rescored").learn(batch, FakeAgent(policy=policy))["steps"] == 1


def test_steps_without_tokens_are_refused_by_name():
    with pytest.raises(ContractError, match="'a' has steps without tokens"):
        GrpoLearner().learn([episode("a", [Completion(text="go")], 1.0)], FakeAgent(policy=Bandit()))


# the optimiser


def trained(learner, batches, *, position=True, **settings):
    """Weights after a round for each batch."""
    with acting(**settings) as agent:
        for number, batch in enumerate(batches):
            agent.position = (0, number)
            learner.learn(batch, agent)
        return weights(agent.policy)


@pytest.fixture(scope="module")
def batches():
    with acting() as agent:
        return [played(agent.policy, DRAWN), played(agent.policy, FREE, turns=3)]


def test_cutting_a_step_into_passes_changes_nothing_beyond_rounding(batches):
    whole = trained(GrpoLearner(group_size=4, lr=1e-3), batches)
    cut = trained(GrpoLearner(group_size=4, lr=1e-3, micro_tokens=1), batches)
    for name, value in whole.items():
        assert cut[name] == pytest.approx(value, abs=2e-5), name


def test_the_optimiser_goes_on_from_round_to_round(batches):
    settings = {"group_size": 4, "lr": 1e-3}
    straight = trained(GrpoLearner(**settings), batches)
    with acting() as agent:
        first, second = GrpoLearner(**settings), GrpoLearner(**settings)
        first.learn(batches[0], agent)
        second.load_state_dict(first.state_dict())
        after_one = weights(agent.policy)
        agent.position = (0, 1)
        second.learn(batches[1], agent)
        assert same(straight, weights(agent.policy))
        agent.policy.load_state_dict({"version": 0, **after_one})
        GrpoLearner(**settings).learn(batches[1], agent)
        assert not same(straight, weights(agent.policy))


def test_the_same_rounds_give_the_very_same_weights(batches):
    settings = {"group_size": 4, "lr": 1e-3, "batch": 3, "epochs": 2}
    assert same(trained(GrpoLearner(**settings), batches), trained(GrpoLearner(**settings), batches))


def test_groups_come_in_an_order_drawn_anew_each_round():
    policy = Bandit()
    batch = [episode(f"{g}/{n}", [said(policy, n)], float(n), group=str(g)) for g in range(6) for n in range(2)]
    orders = []
    for position in ((0, 0), (0, 1), (0, 0)):
        learner, read = GrpoLearner(group_size=2, batch=2, beta=0.0), []
        learner.objective = lambda *_, learner=learner, read=read: Noting(GrpoLearner.objective(learner, *_), read)
        learner.learn(batch, FakeAgent(policy=policy, position=position))
        orders.append(read)
    assert orders[0] == orders[2] != orders[1]
    assert all(sorted(order) == sorted({item.group for item in batch}) for order in orders)


class Noting:
    """An objective that notes the group of each step."""

    def __init__(self, inner, read):
        self.needs, self.support, self.loss, self.inner, self.read = inner.needs, inner.support, inner.loss, inner, read

    def begin(self, batch):
        (group,) = {item.trajectory.group for item in batch}
        self.read.append(group)
        self.inner.begin(batch)


class Stopping(FakeCheckpoint):
    """Progress is kept, and the person at the keyboard interrupts right after it was kept for the n-th time."""

    def __init__(self, after):
        super().__init__()
        self.after = after

    def save(self, state):
        super().save({name: value.clone() if hasattr(value, "clone") else value for name, value in state.items()})
        self.after -= 1
        if not self.after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [1, 2, 4, 7, 11])
def test_an_interrupted_round_goes_on_to_the_very_same_weights(batches, after):
    """Every forward pass is a place to stop: there are several to a step."""
    settings = {"group_size": 4, "lr": 1e-3, "batch": 5, "epochs": 2, "micro_tokens": 150, "checkpoint_seconds": 0.0}
    learner, again = GrpoLearner(**settings), GrpoLearner(**settings)
    with acting() as agent:
        learner.learn(batches[0], agent)
        again.load_state_dict(learner.state_dict())
        between, version = weights(agent.policy), agent.policy.version
        agent.checkpoint = FakeCheckpoint()
        whole = learner.learn(batches[1], agent)
        straight, last = weights(agent.policy), agent.policy.version
        agent.policy.load_state_dict({"version": version, **between})
        agent.checkpoint = Stopping(after)
        with pytest.raises(KeyboardInterrupt):
            again.learn(batches[1], agent)
        assert same(between, weights(agent.policy))
        agent.policy.version = version  # as the checkpoint of the run has it
        agent.checkpoint.after = 0
        figures = again.learn(batches[1], agent)
        assert same(straight, weights(agent.policy))
        assert agent.policy.version == last
    assert {name: value for name, value in figures.items() if "second" not in name} == {
        name: value for name, value in whole.items() if "second" not in name
    }


def moved(settings, adapter=None):
    """How far each parameter moved in one step of a policy with an adapter at the norm."""
    with acting() as agent:
        torch.manual_seed(4)
        agent.policy.attach(adapter or GatedRead(32, gate=0.5))
        memory = Memory(states=torch.randn(3, 32), ids=("a", "b", "c"))
        batch, before = played(agent.policy, memory=memory), weights(agent.policy)
        GrpoLearner(group_size=4, lr=1e-5, weight_decay=0.0, max_grad_norm=1e3, **settings).learn(batch, agent)
        return {name: float((value - before[name]).abs().max()) for name, value in weights(agent.policy).items()}


def test_an_adapter_at_a_site_and_its_mixing_learn_at_rates_of_their_own():
    class Mixing(GatedRead):
        def __init__(self):
            super().__init__(32, gate=0.5)
            self.lambda_ = torch.nn.Parameter(torch.zeros(()))

        def forward(self, hidden, memory, mask):
            return super().forward(hidden, memory, mask) * self.lambda_.exp()

    for name, distance in moved({}, Mixing()).items():
        rate = 1e-3 if name == "sites.0.norm.lambda_" else 1e-4 if name.startswith("sites.") else 1e-5
        assert distance == pytest.approx(rate, rel=0.01), name


def test_the_last_pattern_that_matches_decides():
    found = moved({"lr_groups": {"sites.*": 1e-4, "*.q_proj.*": 1e-3, "*.lora_B.*": 1e-2}})
    name = "model.layers.0.self_attn.q_proj.lora_{}.default.weight"
    assert found[name.format("A")] == pytest.approx(1e-3, rel=0.01)
    assert found[name.format("B")] == pytest.approx(1e-2, rel=0.01)


def test_a_pattern_of_ones_own_that_matches_nothing_is_refused(batches):
    with (
        acting() as agent,
        pytest.raises(ContractError, match=r"lr_groups 'site\.\*' matches none of the \d+ trained parameters, e\.g\. model"),
    ):
        GrpoLearner(lr_groups={"site.*": 1e-3}).learn(batches[0], agent)


def test_a_cosine_goes_over_the_whole_run():
    learner = GrpoLearner(total_steps=10, warmup_share=0.2)
    rates = [learner._rate(step) for step in range(12)]
    assert rates[:3] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert rates[2:10] == sorted(rates[2:10], reverse=True)
    assert rates[9:] == [rates[9]] * 3
    assert {GrpoLearner()._rate(step) for step in range(5)} == {1.0}


def test_the_cosine_goes_on_where_the_last_round_stopped(batches):
    learner = GrpoLearner(group_size=4, total_steps=4, warmup_share=0.0, lr=1e-3)
    with acting() as agent:
        steps = []
        for _ in range(4):
            before = weights(agent.policy)
            learner.learn(batches[0], agent)
            steps.append(max(float((value - before[name]).abs().max()) for name, value in weights(agent.policy).items()))
    assert steps[0] == pytest.approx(1e-3, rel=0.1)
    assert steps[3] < 0.4 * steps[0]
    assert learner.state_dict()["steps"] == 4


def test_a_loss_that_is_not_finite_says_the_step_and_restores_the_weights(batches):
    with acting() as agent:
        before = weights(agent.policy)
        with pytest.raises(ContractError, match=r"core.grpo: the loss is nan .* at step 2 of 3; the weights are as before; .* lr=2e\+36"):
            GrpoLearner(group_size=4, lr=1e37, lr_groups={}, epochs=3).learn(batches[0], agent)
        assert same(before, weights(agent.policy))


def test_a_policy_without_trainable_parameters_is_refused(batches):
    policy = Bandit()
    policy.parameters = lambda: iter(())
    with pytest.raises(ContractError, match="nothing to train"):
        GrpoLearner().learn(batches[0], FakeAgent(policy=policy))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("group_size", 1), ("lr", 0.0), ("lr_groups", {"a": -1.0}), ("betas", [0.9]), ("betas", [0.9, 1.0]), ("epsilon", 0.0),
        ("epsilon_high", float("nan")), ("beta", -0.1), ("batch", 0), ("total_steps", 0), ("warmup_share", 1.1),
        ("max_grad_norm", math.inf),
    ],
)  # fmt: skip
def test_values_out_of_range_name_their_field(field, value):
    with pytest.raises(ConfigError, match=field):
        GrpoLearner(**{field: value})


def test_halves_of_a_group_must_be_halves():
    with pytest.raises(ConfigError, match=r"group_size: must be even, not 5"):
        GrpoLearner(arms="both", group_size=5)
    with pytest.raises(ConfigError, match=r"at least 4"):
        GrpoLearner(arms="both", group_size=2, over="arm")


class TestBesideAPolicy(LearnerContract):
    @pytest.fixture
    def make(self):
        return lambda: GrpoLearner(group_size=4)

    @pytest.fixture
    def new_agent(self):
        return lambda: FakeAgent(policy=FakePolicy())

    @pytest.fixture
    def batch(self, agent):
        return played(agent.policy)


# forward passes


def opened(prompts, tokens=3):
    """Trajectories of one step with openings of their own."""
    rows = [Completion(text="", prompt_ids=prompt, token_ids=(7,) * tokens) for prompt in prompts]
    return [drawn(episode(str(number), [row], 0.0), learner="test") for number, row in enumerate(rows)]


def test_trajectories_that_open_alike_are_read_together_and_their_opening_once():
    items = opened([(1,) * 10] * 4 + [(2,) * 10] * 4)
    assert positions(items) == 2 * (10 + 4 * 3)
    assert [len(group) for group in passes(items, 44)] == [8]
    assert [len(group) for group in passes(items, 40)] == [4, 4], "rather than five and three"
    assert [len(group) for group in passes(items, 19)] == [3, 1, 3, 1]
    assert [len(group) for group in passes(items, 1)] == [1] * 8


def test_passes_lose_nothing_and_keep_the_order():
    items = opened([(number // 3,) * (5 + number) for number in range(12)])
    for tokens in (1, 20, 60, 1000):
        groups = passes(items, tokens)
        assert [item for group in groups for item in group] == items
        assert all(len(group) == 1 or positions(group) <= tokens for group in groups)


def test_replay_of_what_was_drawn_long_ago_is_refused_before_anything_is_loaded():
    said = {"stream": [{"env": "core.counting"}], "policy": "core.tiny", "learner": "core.grpo", "replay": {"ratio": 0.5}}
    plugins = Plugins().discover()
    experiment, _ = load_experiment(said, [], plugins.registry)
    with pytest.raises(
        ConfigError, match=r"replay\.ratio: is 0\.5, and core\.grpo learns from whole groups just drawn; say replay\.ratio=0"
    ):
        check_experiment(experiment, plugins)
