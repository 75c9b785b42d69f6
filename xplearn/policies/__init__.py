"""Policies: the only place that knows tokens. torch is imported only by the parts that need it."""
