"""The five core interfaces and their two helpers. Nothing else is a plug point."""

from xplearn.interfaces.agent import AgentView, Checkpoint, Journal
from xplearn.interfaces.conditioner import Conditioner
from xplearn.interfaces.encoder import Encoder
from xplearn.interfaces.environment import Environment
from xplearn.interfaces.learner import Learner, RolloutPlan
from xplearn.interfaces.policy import LocalPolicy, Policy, Support, TokenScores
from xplearn.interfaces.selector import Selector
from xplearn.interfaces.store import ExperienceStore

__all__ = [
    "AgentView",
    "Checkpoint",
    "Conditioner",
    "Encoder",
    "Environment",
    "ExperienceStore",
    "Journal",
    "Learner",
    "LocalPolicy",
    "Policy",
    "RolloutPlan",
    "Selector",
    "Support",
    "TokenScores",
]
