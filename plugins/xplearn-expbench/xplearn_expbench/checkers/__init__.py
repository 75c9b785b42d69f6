"""Where answers are judged: one module for each kind of task, each with ``check(row, completion) -> Verdict``."""
