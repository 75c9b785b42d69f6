"""ExpWeaver's parts: the policy's own summaries as a bank of its states, and the latent memory that reads them while it decodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xplearn import hookimpl

if TYPE_CHECKING:
    from xplearn import Reported
    from xplearn.registry import PluginRegistry


@hookimpl
def xplearn_register(registry: PluginRegistry) -> None:
    """Register the parts and presets."""
    registry.add(
        "conditioner", "latent", "xplearn_expweaver.latent:LatentConditioner", help="experience read as hidden states at each decoding step"
    )
    registry.add(
        "learner",
        "summaries",
        "xplearn_expweaver.summaries:SummaryWriter",
        help="summaries and the policy's states of them, first in, first out",
    )
    registry.add(
        "conditioner", "search", "xplearn_expweaver.asking:SearchConditioner", help="baseline: the policy asks the bank in its own words"
    )
    registry.add("conditioner", "hybrid", "xplearn_expweaver.hybrid:HybridConditioner", help="baseline: latent reasoning without a bank")
    registry.add_presets("xplearn_expweaver")


@hookimpl
def xplearn_reported() -> list[Reported]:
    """What the paper reports."""
    from xplearn_expweaver.reported import rows

    return rows()
