"""Asking a language model behind the chat completions protocol that many servers speak, one thing or many at once.

Public: the policy ``core.openai`` and plugins that ask a model of their own share this client. Standard library only.
"""

from xplearn.endpoint.client import Endpoint, Question, Reply
from xplearn.endpoint.config import EndpointConfig

__all__ = ["Endpoint", "EndpointConfig", "Question", "Reply"]
