"""Pauses Python's garbage collector while many rows or results are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_garbage_collector() -> Iterator[None]:
    """Pause the garbage collector; also usable as a decorator: ``@pause_garbage_collector()``.

    Rows have no reference cycles and are freed by reference counting. Creating a hundred thousand rows would
    start the collector repeatedly, which would take up to half of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
