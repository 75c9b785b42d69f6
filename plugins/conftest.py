"""Tests of plugins run as those of the core do."""

from tests.calm import _files_need_not_outlive_a_power_cut, _threads_of_its_own  # noqa: F401
