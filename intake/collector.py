"""Python's collector of cycles, paused while many rows are read or made at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Rows have no cycles; a hundred thousand new ones would set the collector off again and again, for
    nothing, and it takes up to half of the time then. Reference counts free them all the same.

    Also a decorator: ``@collector_paused()``.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
