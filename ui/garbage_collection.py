"""Excludes imported modules from garbage collection, because they are kept until the server ends anyway.

Streamlit collects all garbage after each run of a script. If that includes all modules, it takes 120 ms.
During that time the server sends nothing, so the person waits for the result of the run.
"""

from __future__ import annotations

import gc
import sys

#: The minimum number of new modules for another freeze. Collecting fewer modules takes only one or two
#: milliseconds.
_MIN_NEW_MODULES = 50
_frozen_count = 0


def freeze_modules() -> None:
    """Freeze the modules imported so far, if many were imported since the last call.

    This is called in each run, because pages import pandas, Altair and SciPy only when they need them.
    """
    global _frozen_count  # noqa: PLW0603 - the process has one collector
    if len(sys.modules) >= _frozen_count + _MIN_NEW_MODULES:
        _frozen_count = len(sys.modules)
        gc.collect()
        gc.freeze()
