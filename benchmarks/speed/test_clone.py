"""Cloning SmolLM2 with LoRA beside TRL's SFTTrainer: tokens a second and loss, on the same sequences, mask, adapter and number format.

Both train in turn in one process, a few steps each, so that what else the machine does weighs on both. Of ours the whole call counts, of
the trainer its steps alone. Beside a busy neighbour the ratio of processor times is the steadier one.
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

from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.policies.backbone import resolve  # noqa: E402
from xplearn.policies.hf import HfPolicy  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.conversations import answered, conditioning, opening  # noqa: E402
from xplearn.types import Trajectory  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.weights, pytest.mark.filterwarnings("ignore")]

BATCH, STEPS, ROUNDS = 4, 3, 3
LR, RANK = 5e-4, 16
BF16 = 0.01
"""Share of the first loss by which two ways through the same bf16 network may differ; each is as far from float32."""


@dataclass
class Clock(transformers.TrainerCallback):
    """Seconds and processor seconds of training steps."""

    seconds: float = 0.0
    processor: float = 0.0
    rounds: list[tuple[float, float]] = field(default_factory=list)

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self._began = time.perf_counter(), time.process_time()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.seconds += time.perf_counter() - self._began[0]
        self.processor += time.process_time() - self._began[1]

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self.rounds.append((self.seconds, self.processor))
        self.seconds = self.processor = 0.0


class Reporting(trl.SFTTrainer):
    """Keeps the loss of every step, unrounded."""

    def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        loss = super().compute_loss(*args, **kwargs)
        self.losses = [*getattr(self, "losses", []), float(loss.detach())]
        return loss


def demonstration(policy: HfPolicy, number: int, turns: int) -> Trajectory:
    """An episode of the shape that text games have."""
    messages, shown = opening(number), []
    for turn in range(turns):
        shown.append(conditioning(messages))
        messages = answered(messages, "look around", number, turn + 1)
    said = policy.transcribe(shown, ["look around"] * turns)
    model = samples.trajectory(number, length=turns, arm="experience")
    steps = tuple(replace(step, conditioning=s, completion=c) for step, s, c in zip(model.steps, shown, said, strict=True))
    return replace(model, steps=steps)


def sequence(trajectory: Trajectory) -> dict[str, list[int]]:
    """The whole episode as TRL reads it: labels at action tokens only."""
    last = trajectory.steps[-1].completion
    ids = [*last.prompt_ids, *last.token_ids]
    labels = [-100] * len(ids)
    for step in trajectory.steps:
        start = len(step.completion.prompt_ids)
        labels[start : start + len(step.completion.token_ids)] = step.completion.token_ids
    return {"input_ids": ids, "labels": labels}


def trainer_of(policy: HfPolicy, rows: list[dict[str, list[int]]], folder: Path) -> tuple[Any, Clock]:
    """TRL's trainer over the same weights, beginning with the policy's adapter."""
    frozen = next(value.dtype for value in policy._ready.weights.model.parameters() if not value.requires_grad)
    settings = trl.SFTConfig(
        output_dir=str(folder),
        use_cpu=not torch.cuda.is_available(),
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=BATCH,
        max_steps=STEPS,
        learning_rate=LR,
        lr_scheduler_type="linear",
        max_length=None,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    clock = Clock()
    trainer = Reporting(
        model=transformers.AutoModelForCausalLM.from_pretrained(resolve("smollm2"), dtype=frozen),
        args=settings,
        train_dataset=datasets.Dataset.from_list(rows),
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


def cloned(agent: FakeAgent, batch: list[Trajectory]) -> tuple[float, float]:
    """Seconds and processor seconds of a few steps."""
    learner = CloneLearner(lr=LR, batch=BATCH, epochs=STEPS, warmup_share=0.0)
    began = time.perf_counter(), time.process_time()
    learner.learn(batch, agent)
    return time.perf_counter() - began[0], time.process_time() - began[1]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("turns", [1, 4])
def test_clone_rate(tmp_path: Path, say: Callable[[str, str, str], None], turns: int) -> None:
    policy = HfPolicy(model="smollm2")
    with FakeAgent(policy=policy) as agent:
        batch = [demonstration(policy, number, turns) for number in range(BATCH)]
        rows = [sequence(item) for item in batch]
        trainer, clock = trainer_of(policy, rows, tmp_path)
        ours = []
        for _ in range(ROUNDS):
            ours.append(cloned(agent, batch))
            trainer.train()
        first = agent.checkpoint.reports[0][2]["loss"]
    apart = abs(first / trainer.losses[0] - 1.0)
    tokens = STEPS * sum(len(row["input_ids"]) for row in rows)
    (wall, processor), (their_wall, their_processor) = (map(median, zip(*rounds, strict=True)) for rounds in (ours, clock.rounds))
    shape = f"{BATCH} x {tokens / STEPS / BATCH:.0f} tokens, {turns} turns"
    rates = f"{tokens / wall:.0f} and {tokens / their_wall:.0f} tokens/s"
    say(f"clone / SFTTrainer, {shape}", f"{their_wall / wall:.2f} ({rates}; first losses {apart:.1%} apart)", ">= 1.0")
    say(f"clone / SFTTrainer by processor time, {shape}", f"{their_processor / processor:.2f}", ">= 1.0")
    assert apart < BF16
