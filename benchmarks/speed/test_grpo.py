"""A GRPO step of SmolLM2 with LoRA beside TRL's GRPOTrainer: same prompts, completions, adapter, number format and penalty.

First the optimisation alone (reference, loss, gradient, step) on the very same tokens, then with each side's own generation. Both take
turns in one process, so that what else the machine does weighs on both; beside a busy neighbour the ratio of processor times is the
steadier one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")
transformers = pytest.importorskip("transformers")
peft = pytest.importorskip("peft")
datasets = pytest.importorskip("datasets")

from xplearn.learning.grpo import GrpoLearner  # noqa: E402
from xplearn.policies.backbone import resolve  # noqa: E402
from xplearn.policies.hf import HfPolicy  # noqa: E402
from xplearn.policies.weights import LoraConfig  # noqa: E402
from xplearn.seeding import derive  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent, FakeCheckpoint  # noqa: E402
from xplearn.testing.conversations import conditioning, observation  # noqa: E402
from xplearn.types import Completion, Message, Sampling, Trajectory  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.weights, pytest.mark.filterwarnings("ignore")]

PROMPTS, GROUP, ROUNDS = 8, 4, 2
PASS = 8
"""Completions that the trainer reads at once: what it is fastest with here."""
LR, RANK, BETA = 5e-6, 8, 0.005
SAMPLING = Sampling(max_new_tokens=32, temperature=1.0, stop=())
SAME = 0.02
"""By how much two losses through the same network may differ; each is as far from float32."""


@dataclass
class Clock(transformers.TrainerCallback):
    """Seconds and processor seconds of each training step."""

    steps: list[tuple[float, float]] = field(default_factory=list)

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self._began = time.perf_counter(), time.process_time()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.steps.append((time.perf_counter() - self._began[0], time.process_time() - self._began[1]))


class Fed(trl.GRPOTrainer):
    """Takes given completions for its own where there are some, and keeps the loss of every step."""

    given: list[Completion] | None = None

    def _generate(self, prompts: list[Any]) -> Any:
        if self.given is None:
            return super()._generate(prompts)
        prompt_ids, token_ids = ([list(getattr(row, name)) for row in self.given] for name in ("prompt_ids", "token_ids"))
        return prompt_ids, token_ids, None, ["" for _ in self.given], None, {}, None, None

    def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        loss = super().compute_loss(*args, **kwargs)
        self.losses = [*getattr(self, "losses", []), float(loss.detach())]
        return loss

    @property
    def last(self) -> float:
        """Loss of the last step: the sum over its passes."""
        return sum(self.losses[-PROMPTS * GROUP // PASS :])


def prompt(number: int) -> list[Message]:
    """About 64 tokens."""
    return [{"role": "user", "content": f"{observation(number, 0)} Say what to do next."}]


def score(replica: int) -> float:
    """Members of a group differ, whatever they said."""
    return replica / (GROUP - 1)


def drawn(policy: HfPolicy, seed: int) -> list[Completion]:
    """A completion for each member of each group."""
    rows = [conditioning(prompt(number)) for number in range(PROMPTS) for _ in range(GROUP)]
    return policy.generate(rows, SAMPLING, [derive(seed, row) for row in range(len(rows))])


def trajectories(completions: list[Completion]) -> list[Trajectory]:
    """The completions as episodes of one turn."""
    found = []
    for row, completion in enumerate(completions):
        number, replica = divmod(row, GROUP)
        model = samples.trajectory(number, length=1)
        steps = (replace(model.steps[0], conditioning=conditioning(prompt(number)), completion=completion),)
        found.append(replace(model, id=str(row), group=str(number), arm="plain", steps=steps, score=score(replica)))
    return found


def trainer_of(policy: HfPolicy, folder: Path) -> tuple[Fed, Clock]:
    """TRL's trainer over the same weights, beginning with the policy's adapter."""
    frozen = next(value.dtype for value in policy._ready.weights.model.parameters() if not value.requires_grad)
    settings = trl.GRPOConfig(
        output_dir=str(folder),
        use_cpu=not torch.cuda.is_available(),
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=PASS,
        gradient_accumulation_steps=PROMPTS * GROUP // PASS,
        num_generations=GROUP,
        max_completion_length=SAMPLING.max_new_tokens,
        temperature=SAMPLING.temperature,
        loss_type="dapo",
        beta=BETA,
        max_steps=1,
        learning_rate=LR,
        lr_scheduler_type="constant",
        max_grad_norm=0.1,
        shuffle_dataset=False,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    clock = Clock()
    trainer = Fed(
        model=transformers.AutoModelForCausalLM.from_pretrained(resolve("smollm2"), dtype=frozen),
        reward_funcs=lambda completions, **_: [score(row % GROUP) for row in range(len(completions))],
        args=settings,
        train_dataset=datasets.Dataset.from_list([{"prompt": prompt(number)} for number in range(PROMPTS)]),
        processing_class=transformers.AutoTokenizer.from_pretrained(resolve("smollm2")),
        peft_config=peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM"),
        callbacks=[clock],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    adapter = dict(policy.parameters())
    with torch.no_grad():
        for name, value in trainer.model.named_parameters():
            if value.requires_grad:
                value.copy_(adapter[name.removeprefix("base_model.model.")])
    return trainer, clock


def learned(learner: GrpoLearner, completions: list[Completion], agent: FakeAgent) -> float:
    """A round on given completions; its loss."""
    agent.checkpoint = FakeCheckpoint()  # progress of an earlier round would be gone on with
    return learner.learn(trajectories(completions), agent)["loss"]


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds and processor seconds."""
    began = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def tell(say: Callable[[str, str, str], None], what: str, ours: list[tuple[float, float]], theirs: list[tuple[float, float]]) -> None:
    (wall, processor), (their_wall, their_processor) = (map(median, zip(*rounds, strict=True)) for rounds in (ours, theirs))
    say(f"grpo / GRPOTrainer, {what}", f"{wall / their_wall:.2f} ({wall:.2f} s and {their_wall:.2f} s a step)", "<= 0.8")
    say(f"grpo / GRPOTrainer by processor time, {what}", f"{processor / their_processor:.2f}", "<= 0.8")


@pytest.mark.timeout(3600)
def test_grpo_step(tmp_path: Path, say: Callable[[str, str, str], None]) -> None:
    policy = HfPolicy(model="smollm2", lora=LoraConfig(rank=RANK, alpha=2.0 * RANK))
    learner = GrpoLearner(arms="plain", group_size=GROUP, lr=LR, beta=BETA)
    with FakeAgent(policy=policy) as agent:
        given = drawn(policy, 0)
        trainer, clock = trainer_of(policy, tmp_path)
        ours, theirs = [], []
        for _ in range(ROUNDS + 1):  # the first warms up
            ours.append(timed(lambda: learned(learner, given, agent)))
            trainer.given = given
            trainer.train()
            theirs.append(clock.steps.pop())
            apart = abs(agent.checkpoint.reports[-1][2]["loss"] - trainer.last)
        lengths = [len(row.prompt_ids) for row in given], [len(row.token_ids) for row in given]
        shape = f"{PROMPTS} x {GROUP}, {sum(lengths[0]) / len(given):.0f} + {sum(lengths[1]) / len(given):.0f} tokens"
        tell(say, f"step on given completions, {shape}", ours[1:], theirs[1:])
        ours, theirs = [], []
        for number in range(ROUNDS):
            ours.append(timed(lambda seed=number: learned(learner, drawn(policy, seed), agent)))
            trainer.given = None
            trainer.train()
            theirs.append(clock.steps.pop())
        tell(say, f"generation and step, {shape}", ours, theirs)
    say("losses of the last common step apart", f"{apart:.4f}", f"< {SAME}")
    assert apart < SAME
