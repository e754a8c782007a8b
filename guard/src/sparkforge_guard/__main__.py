"""Run the command: ``python -m sparkforge_guard``."""

import sys

from .cli import main

sys.exit(main())
