"""WebShop as an xplearn environment, ``webshop.text``, with its rule agent and its oracle as policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xplearn import hookimpl

if TYPE_CHECKING:
    from xplearn.registry import PluginRegistry


@hookimpl
def xplearn_register(registry: PluginRegistry) -> None:
    """Register the environment, its policies and its presets."""
    registry.add(
        "environment",
        "text",
        "xplearn_webshop.environment:WebShop",
        help="shopping by instruction: an own catalogue, or the real one by path; pages, search and reward equal to the original",
    )
    registry.add("policy", "rule", "xplearn_webshop.policies:RulePolicy", help="searches the instruction and buys the first hit")
    registry.add("policy", "oracle", "xplearn_webshop.policies:OraclePolicy", help="knows the goal item and buys it with its options")
    registry.add_presets("xplearn_webshop")
