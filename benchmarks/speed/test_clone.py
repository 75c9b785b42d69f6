"""Cloning SmolLM2 with LoRA: tokens a second beside TRL's SFTTrainer on the same sequences, adapter, batch and number format."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")
transformers = pytest.importorskip("transformers")
peft = pytest.importorskip("peft")
datasets = pytest.importorskip("datasets")

from xplearn.errors import DataError  # noqa: E402
from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.policies.backbone import resolve  # noqa: E402
from xplearn.policies.hf import HfPolicy  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.conversations import answered, conditioning, opening  # noqa: E402
from xplearn.types import Trajectory  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.weights, pytest.mark.filterwarnings("ignore")]

EPISODES, TURNS, BATCH, STEPS, ROUNDS, TARGET = 12, 4, 4, 3, 2, 1.0
LR, RANK = 5e-4, 16


def demonstration(policy: HfPolicy, number: int) -> Trajectory:
    """An episode of the shape that text games have."""
    messages, shown = opening(number), []
    for turn in range(TURNS):
        shown.append(conditioning(messages))
        messages = answered(messages, "look around", number, turn + 1)
    said = policy.transcribe(shown, ["look around"] * TURNS)
    model = samples.trajectory(number, length=TURNS, arm="experience")
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


def cloned(agent: FakeAgent, batch: list[Trajectory]) -> float:
    learner = CloneLearner(lr=LR, batch=BATCH, max_steps=STEPS, warmup_share=0.0)
    return learner.learn(batch, agent)["tokens_per_second"]


def fine_tuned(trainer: Any, tokens: float) -> float:
    started = time.perf_counter()
    trainer.train()
    return tokens / (time.perf_counter() - started)


def trainer_of(rows: list[dict[str, list[int]]], folder: Path, dtype: Any) -> Any:
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
    folder = resolve("smollm2")
    return trl.SFTTrainer(
        model=transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype),
        args=settings,
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=transformers.AutoTokenizer.from_pretrained(folder),
        peft_config=peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM"),
    )


@pytest.mark.timeout(3600)
def test_clone_rate(tmp_path: Path, capsys: Any) -> None:
    policy = HfPolicy(model="smollm2")
    try:
        resolve("smollm2")
    except DataError as error:
        pytest.skip(str(error))
    with FakeAgent(policy=policy) as agent:
        batch = [demonstration(policy, number) for number in range(EPISODES)]
        rows = [sequence(item) for item in batch]
        dtype = next(value.dtype for value in policy._ready.network._backbone.parameters() if not value.requires_grad)
        tokens = STEPS * BATCH * sum(len(row["input_ids"]) for row in rows) / len(rows)
        trainer = trainer_of(rows, tmp_path, dtype)
        ours, theirs = [], []
        for _ in range(ROUNDS):  # in turn, so that what else the machine does weighs on both
            ours.append(cloned(agent, batch))
            theirs.append(fine_tuned(trainer, tokens))
    with capsys.disabled():
        print(
            f"\n{BATCH} x {tokens / STEPS / BATCH:.0f} tokens a step: {max(ours):.0f} tokens/s cloning, {max(theirs):.0f} with SFTTrainer"
        )
        print(f"RATIO clone: {max(ours) / max(theirs):.2f} (target {TARGET})")
