"""Records clicks that were lost because the database was unavailable; the page reports them later.

If a person's sign-in cannot be looked up, the gate closes the connection and the click is lost. The browser
reconnects by itself, without a message about the lost click.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from datetime import datetime

_MAX_KEPT = 10_000
_interrupted_at: OrderedDict[str, datetime] = OrderedDict()
_lock = threading.Lock()


def note_interrupted(token: str, *, now: datetime) -> None:
    """Record that a click in the browser with this token was not carried out."""
    with _lock:
        _interrupted_at[_hash_token(token)] = now
        while len(_interrupted_at) > _MAX_KEPT:
            _interrupted_at.popitem(last=False)


def pop_interrupted(token: str | None) -> datetime | None:
    """Return and delete the time of the latest lost click; None if there is none."""
    if token is None or not _interrupted_at:
        return None
    with _lock:
        return _interrupted_at.pop(_hash_token(token), None)


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
