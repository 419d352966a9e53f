"""Excluding imported modules from garbage collection; they are kept until the server ends anyway.

Streamlit collects all garbage after each run of a script. With all modules this takes 120 ms. During that
time the server sends nothing, not even the question that the run was for.
"""

from __future__ import annotations

import gc
import sys

#: The number of new modules from which freezing pays. Collecting fewer takes less than one or two
#: milliseconds.
_MIN_NEW_MODULES = 50
_frozen_count = 0


def freeze_modules() -> None:
    """Freeze the modules imported so far, if many were imported since the last time.

    Pages import pandas, Altair and SciPy when they first need them, so this is called in each run.
    """
    global _frozen_count  # noqa: PLW0603 - the process has one collector
    if len(sys.modules) >= _frozen_count + _MIN_NEW_MODULES:
        _frozen_count = len(sys.modules)
        gc.collect()
        gc.freeze()
