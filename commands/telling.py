"""What a long command says of its progress, on standard error, every other second."""

from __future__ import annotations

import sys
import time

_EVERY = 2.0


class Telling:
    """Called with what is being done, how much of it is done, and how much there is."""

    def __init__(self) -> None:
        self._said_at = time.monotonic()

    def __call__(self, what: str, done: int, of: int) -> None:
        now = time.monotonic()
        if now - self._said_at >= _EVERY:
            self._said_at = now
            share = f" ({100 * done // of} %)" if of else ""
            print(f"{what}: {done:,} of {of:,}{share}", file=sys.stderr, flush=True)


def size_text(size: float) -> str:
    """Bytes as a person says them."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
