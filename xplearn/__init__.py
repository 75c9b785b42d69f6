"""xplearn: how should a language-model agent learn from its experience?

The public names, loaded when first used: importing this package costs milliseconds and never imports torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "xplearn.types": "Answer Arm Choices Completion Conditioning EpisodeResult Experience Memory Message Observation Outcome Query "
    "Sampling Selection Step Task Trajectory",
    "xplearn.errors": "ConfigError ContractError DataError EndpointError EnvironmentDiedError IncompatibleError PluginError RecordError "
    "UnknownComponentError XplearnError",
    "xplearn.interfaces": "AgentView Conditioner Encoder Environment ExperienceStore Learner LocalPolicy Policy RolloutPlan Selector "
    "Support TokenScores",
    "xplearn.component": "Component",
    "xplearn.capability": "Capability",
    "xplearn.seeding": "derive",
    "xplearn.hookspecs": "hookimpl",
    "xplearn.metrics.bootstrap": "Bootstrap Interval",
    "xplearn.reported": "Reported",
    "xplearn.api": "cross load make run",
}
_MODULE = {name: module for module, names in _HOME.items() for name in names.split()}


__all__ = [
    "AgentView",
    "Answer",
    "Arm",
    "Bootstrap",
    "Capability",
    "Choices",
    "Completion",
    "Component",
    "Conditioner",
    "Conditioning",
    "ConfigError",
    "ContractError",
    "DataError",
    "Encoder",
    "EndpointError",
    "Environment",
    "EnvironmentDiedError",
    "EpisodeResult",
    "Experience",
    "ExperienceStore",
    "IncompatibleError",
    "Interval",
    "Learner",
    "LocalPolicy",
    "Memory",
    "Message",
    "Observation",
    "Outcome",
    "PluginError",
    "Policy",
    "Query",
    "RecordError",
    "Reported",
    "RolloutPlan",
    "Sampling",
    "Selection",
    "Selector",
    "Step",
    "Support",
    "Task",
    "TokenScores",
    "Trajectory",
    "UnknownComponentError",
    "XplearnError",
    "__version__",
    "cross",
    "derive",
    "hookimpl",
    "load",
    "make",
    "run",
]

if TYPE_CHECKING:
    from xplearn.api import cross, load, make, run
    from xplearn.capability import Capability
    from xplearn.component import Component
    from xplearn.errors import (
        ConfigError,
        ContractError,
        DataError,
        EndpointError,
        EnvironmentDiedError,
        IncompatibleError,
        PluginError,
        RecordError,
        UnknownComponentError,
        XplearnError,
    )
    from xplearn.hookspecs import hookimpl
    from xplearn.interfaces import (
        AgentView,
        Conditioner,
        Encoder,
        Environment,
        ExperienceStore,
        Learner,
        LocalPolicy,
        Policy,
        RolloutPlan,
        Selector,
        Support,
        TokenScores,
    )
    from xplearn.metrics.bootstrap import Bootstrap, Interval
    from xplearn.reported import Reported
    from xplearn.seeding import derive
    from xplearn.types import (
        Answer,
        Arm,
        Choices,
        Completion,
        Conditioning,
        EpisodeResult,
        Experience,
        Memory,
        Message,
        Observation,
        Outcome,
        Query,
        Sampling,
        Selection,
        Step,
        Task,
        Trajectory,
    )


def __getattr__(name: str) -> Any:
    module = _MODULE.get(name)
    if module is None:
        raise AttributeError(f"module 'xplearn' has no attribute '{name}'")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
