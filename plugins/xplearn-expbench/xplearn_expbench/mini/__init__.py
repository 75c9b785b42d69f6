"""The own tier of the benchmark: rows made here, offline and the same on every machine.

One module a family: ``maths``, ``facts`` (question answering and multiple choice), ``recommendation``. Each function returns the rows of
one task with their splits set.
"""
