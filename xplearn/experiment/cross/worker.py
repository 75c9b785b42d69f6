"""A process that runs one cell: its experiment as a JSON line in, how it ended as a JSON line out.

``python -m xplearn.experiment.cross.worker``, started by ``xplearn.experiment.cross.jobs``. Stops, as after Ctrl-C, when its standard input
closes: whoever started it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO

from xplearn.experiment.cross.cell import run_cell
from xplearn.experiment.cross.jobs import GRACE_SECONDS, report
from xplearn.experiment.observer import Silent
from xplearn.plugins import installed
from xplearn.report.printable import printable
from xplearn.rollout.worker import claim_pipes


class _Notes(Silent):
    """Tells on standard error what is worth reading, and of which cell."""

    def __init__(self, id: str) -> None:
        self._id = id

    def note(self, text: str) -> None:
        sys.stderr.write(f"{printable(self._id)}: {printable(text)}\n")


def main() -> None:
    """Run the cell that standard input asks for."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    incoming, outgoing = claim_pipes()
    request = json.loads(incoming.readline())
    threading.Thread(target=_stop_when_closed, args=(incoming,), daemon=True).start()
    try:
        outcome = run_cell(request["given"], Path(request["folder"]), installed(), _Notes(request["id"]))
    except KeyboardInterrupt:
        return
    outgoing.write(report(outcome))
    outgoing.close()


def _stop_when_closed(incoming: BinaryIO) -> None:
    incoming.read()
    main_thread = threading.main_thread().ident
    if main_thread is not None:
        signal.pthread_kill(main_thread, signal.SIGINT)
    time.sleep(GRACE_SECONDS)
    os._exit(1)  # something does not let itself be interrupted: nothing else ends this process


if __name__ == "__main__":
    main()
