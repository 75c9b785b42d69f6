"""``core.grpo`` and TRL's ``GRPOTrainer`` are the same objective: same loss, same gradient, same advantages, on the same tokens."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")
peft = pytest.importorskip("peft")
datasets = pytest.importorskip("datasets")

from xplearn.learning.advantage import advantages  # noqa: E402
from xplearn.learning.grpo import GrpoLearner  # noqa: E402
from xplearn.policies.weights import LoraConfig  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.conversations import conditioning  # noqa: E402
from xplearn.testing.fakes import FakePolicy, tiny_model, tiny_tokenizer  # noqa: E402
from xplearn.types import Sampling  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of other libraries, about each other

RANK, TEMPERATURE, LONGEST = 4, 0.7, 32
SAID = ("look around", "open door", "wait", "take the cup from the table")


class Watched(FakePolicy):
    """Keeps the gradients that each step is taken with."""

    gradients = None

    @contextmanager
    def training(self):
        self.gradients = {name: value.grad.clone() for name, value in self.parameters()}
        with super().training():
            yield


@pytest.fixture(scope="module")
def policy():
    """A policy some way from its reference."""
    policy = Watched(lora=LoraConfig(rank=RANK, alpha=2.0 * RANK))
    with FakeAgent(policy=policy):
        torch.manual_seed(1)
        with torch.no_grad():
            for _, value in policy.parameters():
                value.add_(0.05 * torch.randn_like(value))
        yield policy


@pytest.fixture(scope="module")
def trainer(policy, tmp_path_factory):
    """TRL's trainer over the same weights."""
    settings = trl.GRPOConfig(
        output_dir=str(tmp_path_factory.mktemp("trl")),
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=LONGEST,
        temperature=TEMPERATURE,
        beta=0.1,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    made = trl.GRPOTrainer(
        model=tiny_model(),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=settings,
        train_dataset=datasets.Dataset.from_list([{"prompt": "look"}] * 8),
        processing_class=tiny_tokenizer(),
        peft_config=peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM"),
    )
    adapter = dict(policy.parameters())
    with torch.no_grad():
        for name, value in trained(made).items():
            value.copy_(adapter[name])
    made.current_gradient_accumulation_steps = 1
    made.model.train()
    return made


def trained(trainer):
    named = trainer.model.named_parameters()
    return {name.removeprefix("base_model.model."): value for name, value in named if value.requires_grad}


def played(policy, group, replica, *, turns, score):
    """A trajectory of a group whose recorded log-probabilities are some way from the policy's: ratios on both sides of the clip."""
    texts = [SAID[(replica + turn) % len(SAID)] for turn in range(turns)]
    messages, shown = list(samples.opening(group)), []
    for turn, text in enumerate(texts):
        shown.append(conditioning(messages))
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": f"Door {turn} is open."}]
    sampling = Sampling(temperature=TEMPERATURE, max_new_tokens=LONGEST)
    said = [replace(row, sampling=sampling) for row in policy.transcribe(shown, texts)]
    with torch.no_grad():
        scores = policy.score(shown, said)
    torch.manual_seed(10 * group + replica)
    old = (scores.logprobs + 0.3 * torch.randn_like(scores.logprobs)).tolist()
    said = [replace(row, logprobs=tuple(values[: len(row.token_ids)])) for row, values in zip(said, old, strict=True)]
    found = samples.trajectory(group, length=turns, arm="experience")
    steps = tuple(replace(step, conditioning=s, completion=c) for step, s, c in zip(found.steps, shown, said, strict=True))
    return replace(found, id=f"{group}/{replica}", group=str(group), steps=steps, score=score)


def batch(policy, turns):
    scores = [(1.0, 0.0, 0.25, 0.0), (0.5, 0.5, 1.0, 0.0)]
    return [played(policy, g, r, turns=turns, score=score) for g, row in enumerate(scores) for r, score in enumerate(row)]


def padded(rows, *, left=False):
    width = max(map(len, rows))
    return torch.tensor([[*[0] * (width - len(row)), *row] if left else [*row, *[0] * (width - len(row))] for row in rows])


def as_trl(trajectories, credit):
    """One sequence a trajectory: the opening as prompt, everything after as completion, what the environment said masked."""
    prompts, completions, acted, old = [], [], [], []
    for steps in ([step.completion for step in item.steps] for item in trajectories):
        start, last = len(steps[0].prompt_ids), steps[-1]
        ids = [*last.prompt_ids, *last.token_ids]
        mask, known = [0] * len(ids), [0.0] * len(ids)
        for row in steps:
            at = slice(len(row.prompt_ids), len(row.prompt_ids) + len(row.token_ids))
            assert ids[: at.stop] == [*row.prompt_ids, *row.token_ids]
            mask[at], known[at] = [1] * len(row.token_ids), row.logprobs
        prompts.append(ids[:start])
        completions.append(ids[start:])
        acted.append(mask[start:])
        old.append(known[start:])
    return {
        "prompt_ids": padded(prompts, left=True),
        "prompt_mask": padded([[1] * len(row) for row in prompts], left=True),
        "completion_ids": padded(completions),
        "completion_mask": padded([[1] * len(row) for row in completions]),
        "tool_mask": padded(acted),
        "old_per_token_logps": padded(old),
        "advantages": torch.tensor(credit),
        "num_items_in_batch": torch.tensor(float(sum(map(sum, acted)))),
    }


def by_trl(trainer, inputs, *, loss_type, beta, corrected=True):
    """Loss and gradients of TRL's own loss function."""
    trainer.loss_type, trainer.beta, trainer.args.use_bias_correction_kl = loss_type, beta, corrected
    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
    mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
    with torch.no_grad(), trainer.model.disable_adapter():
        reference, _, _ = trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, inputs["completion_ids"].size(1))
    trainer.model.zero_grad()
    loss = trainer.compute_loss(trainer.model, {**inputs, "ref_per_token_logps": reference})
    loss.backward()
    return float(loss.detach()), {name: value.grad.clone() for name, value in trained(trainer).items()}


@contextmanager
def undone(policy):
    before = {name: value.detach().clone() for name, value in policy.parameters()}
    yield
    with torch.no_grad():
        for name, value in policy.parameters():
            value.copy_(before[name])


@pytest.mark.parametrize("turns", [1, 3], ids=["one turn", "several turns"])
@pytest.mark.parametrize("beta", [0.0, 0.1])
@pytest.mark.parametrize(("loss_type", "reduction"), [("grpo", "sequence"), ("bnpo", "token"), ("dapo", "token"), ("dr_grpo", "constant")])
def test_loss_and_gradient_are_those_of_the_grpo_trainer(policy, trainer, loss_type, reduction, beta, turns):
    trajectories = batch(policy, turns)
    learner = GrpoLearner(group_size=4, reduction=reduction, beta=beta, lr=1e-4, max_grad_norm=1e9)
    credit = [item.advantages[0] for item in learner.credited(trajectories)]
    expected, gradients = by_trl(trainer, as_trl(trajectories, credit), loss_type=loss_type, beta=beta)
    with undone(policy):
        figures = learner.learn(trajectories, FakeAgent(policy=policy))
    assert figures["clip_share"] > 0.1, "or clipping was not compared"
    assert figures["loss"] == pytest.approx(expected, abs=1e-5)
    assert policy.gradients.keys() == gradients.keys()
    for name, value in gradients.items():
        assert policy.gradients[name] == pytest.approx(value, abs=1e-5), name
    assert max(float(value.abs().max()) for value in gradients.values()) > 1e-3, "or there was nothing to compare"


def test_the_divergence_may_be_uncorrected_as_trl_has_it_on_request(policy, trainer):
    trajectories = batch(policy, 3)
    learner = GrpoLearner(group_size=4, beta=0.1, kl_corrected=False, lr=1e-4, max_grad_norm=1e9)
    inputs = as_trl(trajectories, [item.advantages[0] for item in learner.credited(trajectories)])
    expected, gradients = by_trl(trainer, inputs, loss_type="bnpo", beta=0.1, corrected=False)
    with undone(policy):
        figures = learner.learn(trajectories, FakeAgent(policy=policy))
    assert figures["loss"] == pytest.approx(expected, abs=1e-5)
    assert all(policy.gradients[name] == pytest.approx(value, abs=1e-5) for name, value in gradients.items())


def test_figures_are_those_of_the_grpo_trainer(policy, trainer):
    trajectories = batch(policy, 1)
    learner = GrpoLearner(group_size=4, beta=0.1, lr=1e-4)
    trainer._metrics["train"].clear()
    by_trl(trainer, as_trl(trajectories, [item.advantages[0] for item in learner.credited(trajectories)]), loss_type="bnpo", beta=0.1)
    with undone(policy):
        figures = learner.learn(trajectories, FakeAgent(policy=policy))
    theirs = trainer._metrics["train"]
    assert figures["kl"] == pytest.approx(theirs["kl"][0], rel=1e-4)
    assert figures["clip_share"] == pytest.approx(theirs["clip_ratio/region_mean"][0], rel=1e-6)


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_advantages_are_those_of_the_grpo_trainer(trainer, scale):
    returns = [1.0, 0.0, 0.25, 0.0, 0.5, 0.5, 0.5, 0.5]
    trainer.scale_rewards = scale
    trainer._generate = lambda prompts: ([[5, 6]] * len(prompts), [[7, 2]] * len(prompts), None, ["."] * len(prompts), None, {}, None, None)
    trainer._calculate_rewards = lambda *_: torch.tensor(returns)[:, None]
    found = trainer._generate_and_score_completions([{"prompt": "look"}] * 8)["advantages"]
    ours = advantages(returns, ["a"] * 4 + ["b"] * 4, scale=scale)
    assert ours == pytest.approx(found.tolist(), abs=1e-5)
