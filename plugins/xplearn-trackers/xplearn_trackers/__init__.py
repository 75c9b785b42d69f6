"""Where the figures of a run can be sent while it goes on: TensorBoard, W&B, trackio. A run uses those that ``run.track`` names."""

from __future__ import annotations

from collections.abc import Mapping

from xplearn import hookimpl


@hookimpl
def xplearn_trackers() -> Mapping[str, str]:
    """The trackers; none of their packages is imported before it is asked for."""
    return {
        "tensorboard": "xplearn_trackers.to_tensorboard:TensorBoard",
        "trackio": "xplearn_trackers.to_trackio:Trackio",
        "wandb": "xplearn_trackers.to_wandb:WandB",
    }
