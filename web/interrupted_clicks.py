"""Clicks that arrived while the database was unavailable. Their page reports them once it is reconnected.

Nothing is carried out for a person whose sign-in cannot be looked up: the gate closes the connection and the
click is lost. The browser reconnects by itself and would not mention the lost click.
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
    """Record that a click of the browser with that token was not carried out."""
    with _lock:
        _when[_key(token)] = now
        while len(_when) > _KEPT_AT_MOST:
            _when.popitem(last=False)


def take_interrupted(token: str | None) -> datetime | None:
    """Return the time of the latest lost click and forget it; the caller shows it. None if there is none."""
    if token is None or not _when:
        return None
    with _lock:
        return _when.pop(_key(token), None)


def _key(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
