"""Keeping imported modules out of garbage collection: they stay until the server ends.

Streamlit collects all garbage after each run of a script. With all modules among it that takes 120 ms, during
which nothing is sent, the question that the run was for included.
"""

from __future__ import annotations

import gc
import sys

#: Below so many new modules a collection of them costs less than a millisecond or two.
_WORTH_IT = 50
_seen = 0


def freeze_modules() -> None:
    """Freeze what is imported by now, where many modules have come in since the last time.

    Pages import pandas, Altair and SciPy when they first need them, so this is called at each run.
    """
    global _seen  # noqa: PLW0603 - the process has one collector
    if len(sys.modules) >= _seen + _WORTH_IT:
        _seen = len(sys.modules)
        gc.collect()
        gc.freeze()
