"""Clicks that came in while the database was away: their page is told so when it is back.

Nothing is carried out for somebody whose sign-in can't be looked up, so the gate closes the connection and
the click is gone; the browser connects again by itself, and would say nothing of it.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from datetime import datetime

_KEPT_AT_MOST = 10_000
_when: OrderedDict[str, datetime] = OrderedDict()
_lock = threading.Lock()


def note_interrupted(token: str, *, now: datetime) -> None:
    """A click of the browser with that token was not carried out."""
    with _lock:
        _when[_key(token)] = now
        while len(_when) > _KEPT_AT_MOST:
            _when.popitem(last=False)


def take_interrupted(token: str | None) -> datetime | None:
    """When that was, once: whoever asks shows it."""
    if token is None or not _when:
        return None
    with _lock:
        return _when.pop(_key(token), None)


def _key(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
