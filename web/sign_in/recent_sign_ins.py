"""Sign-ins that this process has confirmed recently, for use while the database is unavailable.

They give access only to the app's scripts, styles and fonts, which are the same for everybody and contain no
patient data. A page may load one of these files late, for example to report the lost connection. Without
the file, the page would stay broken until it is reloaded. All confidential data still requires the database.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from datetime import datetime, timedelta

_MAX_KEPT = 10_000
_confirmed_at: OrderedDict[str, datetime] = OrderedDict()
_lock = threading.Lock()


def note_confirmed(token: str, *, now: datetime) -> None:
    """Record that the database has just confirmed this sign-in."""
    with _lock:
        key = _hash_token(token)
        _confirmed_at[key] = now
        _confirmed_at.move_to_end(key)
        while len(_confirmed_at) > _MAX_KEPT:
            _confirmed_at.popitem(last=False)


def note_ended(token: str) -> None:
    """Record that the database has just found this sign-in invalid."""
    if _confirmed_at:
        with _lock:
            _confirmed_at.pop(_hash_token(token), None)


def was_confirmed(token: str | None, *, within: timedelta, now: datetime) -> bool:
    """Whether the latest lookup of this token found it valid, within the given time before ``now``."""
    if token is None:
        return False
    with _lock:
        confirmed_at = _confirmed_at.get(_hash_token(token))
    return confirmed_at is not None and now - confirmed_at <= within


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
