"""Keep what a cross found: ``python benchmarks/publish.py runs/bench benchmarks/results/bench`` copies the tables and figures of its report
and the headers of its runs, a line each, so that a published figure says what it was measured with.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from xplearn.files import new_folder
from xplearn.record.cross import load_cross

LEFT_OUT = ("parts",)
"""Keys of a header that only repeat others."""


def publish(cross: Path, target: Path) -> None:
    """Replace the folder ``target``.

    Raises:
        RecordError: ``cross`` is not the folder of a cross.
    """
    cells = load_cross(cross).cells
    with new_folder(target) as folder:
        shutil.copy(cross / "cross.json", folder)
        shutil.copytree(cross / "report" / "figures", folder / "figures")
        shutil.copytree(cross / "report" / "tables", folder / "tables", ignore=shutil.ignore_patterns("*.tex"))
        with (folder / "headers.jsonl").open("w", encoding="utf-8") as file:
            for cell in cells:
                if cell.state == "finished":
                    header = json.loads((cross / cell.run / "run.json").read_text(encoding="utf-8"))
                    kept = {key: value for key, value in header.items() if key not in LEFT_OUT}
                    file.write(json.dumps({"cell": cell.id, **kept}) + "\n")


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]))
