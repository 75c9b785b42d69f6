"""``core.clone`` and TRL's ``SFTTrainer`` are the same training: same loss at every step, on the same tokens and mask."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")
peft = pytest.importorskip("peft")
datasets = pytest.importorskip("datasets")

from xplearn.learning.clone import CloneLearner  # noqa: E402
from xplearn.policies.weights import LoraConfig  # noqa: E402
from xplearn.testing import samples  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.fakes import FakePolicy, tiny_model, tiny_tokenizer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of other libraries, about each other

STEPS, RANK, LR = 6, 4, 1e-2


def demonstration(policy, number, length):
    """A trajectory whose steps, each prompt extending the one before, are one sequence."""
    found = samples.trajectory(number, length=length)
    said = policy.transcribe([step.conditioning for step in found.steps], [step.action for step in found.steps])
    return replace(found, steps=tuple(replace(step, completion=c) for step, c in zip(found.steps, said, strict=True)))


def sequence(trajectory):
    """The whole episode as TRL reads it, with labels at action tokens only."""
    last = trajectory.steps[-1].completion
    ids = [*last.prompt_ids, *last.token_ids]
    labels = [-100] * len(ids)
    for said in (step.completion for step in trajectory.steps):
        assert tuple(ids[: len(said.prompt_ids)]) == said.prompt_ids
        labels[len(said.prompt_ids) : len(said.prompt_ids) + len(said.token_ids)] = said.token_ids
    return {"input_ids": ids, "labels": labels}


class Reporting(trl.SFTTrainer):
    """Keeps the loss of every step, unrounded."""

    def compute_loss(self, *args, **kwargs):
        loss = super().compute_loss(*args, **kwargs)
        self.losses = [*getattr(self, "losses", []), float(loss.detach())]
        return loss


def fine_tuned(rows, adapter, folder):
    """Losses of ``SFTTrainer``, beginning with the given adapter."""
    settings = trl.SFTConfig(
        output_dir=str(folder),
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=len(rows),
        max_steps=STEPS,
        learning_rate=LR,
        lr_scheduler_type="linear",
        max_length=None,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    trainer = Reporting(
        model=tiny_model(),
        args=settings,
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tiny_tokenizer(),
        peft_config=peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM"),
    )
    trained = {name.removeprefix("base_model.model."): value for name, value in trainer.model.named_parameters() if value.requires_grad}
    assert trained.keys() == adapter.keys()
    with torch.no_grad():
        for name, value in trained.items():
            value.copy_(adapter[name])
    trainer.train()
    return trainer.losses


@pytest.mark.parametrize("lengths", [(1, 1, 1), (1, 2, 4)], ids=["one turn", "several turns"])
def test_losses_are_those_of_the_sft_trainer_at_every_step(tmp_path, lengths):
    policy = FakePolicy(lora=LoraConfig(rank=RANK, alpha=2.0 * RANK))
    with FakeAgent(policy=policy) as agent:
        batch = [demonstration(policy, number, length) for number, length in enumerate(lengths)]
        adapter = {name: value.detach().clone() for name, value in policy.parameters()}
        learner = CloneLearner(arms="plain", epochs=STEPS, batch=len(batch), lr=LR, warmup_share=0.0)
        learner.learn(batch, agent)
        ours = [figures["loss"] for _, _, figures in agent.checkpoint.reports]
    theirs = fine_tuned([sequence(item) for item in batch], adapter, tmp_path)
    assert len(ours) == STEPS
    assert ours == pytest.approx(theirs, abs=1e-4)
    assert ours[-1] < 0.8 * ours[0]
