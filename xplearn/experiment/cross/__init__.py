"""A cross: every combination of the values on its axes as a run of its own, from one file."""
