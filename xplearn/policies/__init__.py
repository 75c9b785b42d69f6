"""Policies: the only place that knows tokens. torch is imported only by the parts that need it."""

from xplearn.policies.precision import calm_threads

calm_threads()  # the OpenMP runtime reads its setting once, when torch is imported
