"""Compares answers with math-verify, in a process of its own: one JSON request a line in, one JSON reply a line out.

Started by path, so that it needs nothing of this package. math-verify's own time limits, by signals, are off: whoever asks has a limit and
ends this process, which the system ends where nobody is left to do so.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from typing import Any

_MEMORY_BYTES = 4 << 30


def main() -> None:
    """Say ``ready`` or ``absent``, then answer until the input ends."""
    out, sys.stdout = sys.stdout, sys.stderr

    def reply(**fields: Any) -> None:
        print(json.dumps(fields), file=out, flush=True)

    try:
        math_verify = importlib.import_module("math_verify")
    except ImportError as error:
        return reply(absent=str(error))
    reply(ready=True)
    for line in sys.stdin:
        request = json.loads(line)
        _limit(request["seconds"])
        try:
            gold, answer = (math_verify.parse(rf"\boxed{{{request[key]}}}", parsing_timeout=None) for key in ("gold", "answer"))
            reply(equal=bool(gold and answer and math_verify.verify(gold, answer, timeout_seconds=None)))
        except Exception as error:
            reply(error=type(error).__name__)
    return None


def _limit(seconds: float) -> None:
    """Let the system end this process when it computes for longer than that, even if nobody is left to do it."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(
            resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 2, resource.getrlimit(resource.RLIMIT_CPU)[1])
        )
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    main()
