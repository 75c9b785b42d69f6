"""Entry of the fresh interpreter: ``python __main__.py LIFELINE SECONDS MEMORY_MB NAMESPACES``."""

import importlib
import sys
from os.path import dirname, realpath

sys.path.insert(0, dirname(dirname(realpath(__file__))))
judge = importlib.import_module("inside.judge")
del sys.path[0]
sys.dont_write_bytecode = True

if __name__ == "__main__":
    lifeline, seconds, memory_mb, namespaces = sys.argv[1:]
    judge.main(int(lifeline), seconds=float(seconds), memory_mb=int(memory_mb), namespaces=namespaces == "1")
