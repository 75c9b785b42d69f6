"""DPO on whole trajectories, by TRL's trainer."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from datasets import Dataset
from torch import Tensor, nn
from transformers import PrinterCallback, TrainerCallback
from trl import DPOConfig, DPOTrainer

from xplearn import ContractError
from xplearn_baselines.pairs import NAME, Line

Row = Mapping[str, Any]


class TrajectoryTrainer(DPOTrainer):  # type: ignore[misc]  # TRL is not typed
    """``DPOTrainer`` over pairs of conversations that are tokens already, each with its own mask.

    TRL's own preparation knows one prompt and one answer, and takes every token of the answer for the policy's. Its loss asks the batch
    which tokens count, so the batch says: those the agent spoke.
    """

    def _prepare_dataset(self, dataset: Dataset, *_: Any) -> Dataset:
        return dataset

    def _precompute_ref_logps(self, dataset: Dataset, *_: Any) -> Dataset:
        """Adds what the policy gives each pair now, before its training: the reference. TRL would write a file, with a bar."""
        found = [self.compute_ref_log_probs(self.model, self._prepare_inputs(collate([row]))) for row in dataset]
        for column, values in zip(("ref_chosen_logps", "ref_rejected_logps"), zip(*found, strict=True), strict=True):
            dataset = dataset.add_column(column, [float(value) for value in values])
        return dataset


def rows(pairs: Sequence[tuple[Line, Line]]) -> Dataset:
    """Winner and loser as the columns that ``collate`` reads."""
    return Dataset.from_list(
        [
            {"chosen": chosen.ids, "chosen_acted": chosen.acted, "rejected": rejected.ids, "rejected_acted": rejected.acted}
            for chosen, rejected in pairs
        ]
    )


def collate(examples: Sequence[Row]) -> dict[str, Tensor]:
    """A batch as TRL's loss reads it: first the winners, then the losers, int64 ``[2B, T]``, padded on the right."""
    sides = [(row[side], row[f"{side}_acted"]) for side in ("chosen", "rejected") for row in examples]
    width = max(len(ids) for ids, _ in sides)
    batch = {
        "input_ids": _padded([ids for ids, _ in sides], width),
        "attention_mask": _padded([[1] * len(ids) for ids, _ in sides], width),
        "completion_mask": _padded([acted for _, acted in sides], width),
    }
    known = [column for column in ("ref_chosen_logps", "ref_rejected_logps") if column in examples[0]]
    return batch | {column: torch.tensor([row[column] for row in examples]) for column in known}


def _padded(rows: Sequence[Sequence[int]], width: int) -> Tensor:
    return torch.tensor([[*map(int, row), *[0] * (width - len(row))] for row in rows])


class EveryStep(TrainerCallback):  # type: ignore[misc]
    """Calls a function with the figures of each optimiser step, when the step is done."""

    def __init__(self, told: Callable[[dict[str, float]], None]) -> None:
        self._told = told

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float], **_: Any) -> None:
        """Pass on what belongs to a step; the summary at the end does not."""
        if "loss" in logs:
            self._told(logs)


@contextmanager
def trainer(
    model: nn.Module, tokenizer: Any, pairs: Sequence[tuple[Line, Line]], *, beta: float, batch: int, max_grad_norm: float, seed: int
) -> Iterator[TrajectoryTrainer]:
    """A trainer whose reference is the model as it is now. At the end the model is as it was found, weights aside.

    A forward pass holds one pair, so padding never depends on the neighbours.

    Args:
        model: a transformers language model, its adapter in place.
        tokenizer: its own.
        pairs: winner and loser, in the order of the columns of ``train_dataset``.
        beta: weight of staying near the reference.
        batch: pairs per optimiser step.
        max_grad_norm: gradients are scaled down to this norm.
        seed: of the trainer's own draws, of which none reaches a result.

    Raises:
        ContractError: several GPUs are visible, over which TRL would spread a single process.
    """
    device = next(model.parameters()).device
    if device.type == "cuda" and torch.cuda.device_count() > 1:
        raise ContractError(NAME, "DPOTrainer wants a single visible GPU; set CUDA_VISIBLE_DEVICES, e.g. CUDA_VISIBLE_DEVICES=0")
    with tempfile.TemporaryDirectory() as folder, _left_as_found(model), warnings.catch_warnings():
        # TRL calls transformers by names that the newer one has deprecated
        warnings.filterwarnings("ignore", message=r".*is deprecated and will be removed", category=FutureWarning)
        settings = _settings(folder, beta=beta, batch=batch, max_grad_norm=max_grad_norm, seed=seed, cpu=device.type == "cpu")
        made = TrajectoryTrainer(model=model, args=settings, train_dataset=rows(pairs), data_collator=collate, processing_class=tokenizer)
        made.remove_callback(PrinterCallback)
        yield made


def _settings(folder: str, *, beta: float, batch: int, max_grad_norm: float, seed: int, cpu: bool) -> DPOConfig:
    return DPOConfig(
        output_dir=folder,
        beta=beta,
        per_device_train_batch_size=1,
        gradient_accumulation_steps=batch,
        max_grad_norm=max_grad_norm,
        precompute_ref_log_probs=True,
        use_cpu=cpu,
        train_sampling_strategy="sequential",
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        gradient_checkpointing=False,
        bf16=False,
        num_train_epochs=1,
        seed=seed % 2**32,
        logging_steps=1,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        save_strategy="no",
        report_to="none",
    )


@contextmanager
def _left_as_found(model: Any) -> Iterator[None]:
    """Undo at the end what a trainer does to a model besides training it: another ``forward``, no dropout, new ids in its settings."""
    held = [model, model.config, model.generation_config, *(part for part in model.modules() if isinstance(part, nn.Dropout))]
    before = [dict(vars(part)) for part in held]
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        for part, found in zip(held, before, strict=True):
            vars(part).clear()
            vars(part).update(found)
