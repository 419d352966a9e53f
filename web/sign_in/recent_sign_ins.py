"""Sign-ins that this process has confirmed recently, for use while the database is unavailable.

They give access to the app's scripts, styles and fonts only, which are the same for everybody and contain no
patient data. Otherwise a page that loads one of them late, to show that it is disconnected, would stay broken
until it is reloaded. Everything confidential still requires the database and is refused without it.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from datetime import datetime, timedelta

_KEPT_AT_MOST = 10_000
_when: OrderedDict[str, datetime] = OrderedDict()
_lock = threading.Lock()


def note_confirmed(token: str, *, now: datetime) -> None:
    """Record that the database has just confirmed this sign-in."""
    with _lock:
        key = _key(token)
        _when[key] = now
        _when.move_to_end(key)
        while len(_when) > _KEPT_AT_MOST:
            _when.popitem(last=False)


def note_ended(token: str) -> None:
    """Record that the database has just found this sign-in invalid."""
    if _when:
        with _lock:
            _when.pop(_key(token), None)


def was_confirmed(token: str | None, *, within: timedelta, now: datetime) -> bool:
    """Whether the latest lookup of this token found it valid, within the given time before ``now``."""
    if token is None:
        return False
    with _lock:
        found = _when.get(_key(token))
    return found is not None and now - found <= within


def _key(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
