"""``python -m xplearn``."""

import sys

from xplearn.cli import main

sys.exit(main())
