"""The entry point for ``python -m sparkforge_proof``."""

import sys

from .cli import main

sys.exit(main())
