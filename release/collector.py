"""Python's collector of cycles, held off while a release passes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Without the collector of cycles: the hundreds of thousands of objects that pass make none, and looking
    for some takes time. Reference counts free them all the same.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
