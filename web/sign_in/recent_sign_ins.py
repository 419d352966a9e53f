"""Sign-ins that this process has found to hold: known for a while when the database can't be asked.

They open the app's scripts, styles and fonts and nothing else; these are the same for all and hold nothing of
a patient. A page that loads one of them late, to show that it is not connected, would otherwise be broken
until it is reloaded. Everything with something to keep still asks the database, and is refused without it.
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
    """The database has just said whose sign-in this is."""
    with _lock:
        key = _key(token)
        _when[key] = now
        _when.move_to_end(key)
        while len(_when) > _KEPT_AT_MOST:
            _when.popitem(last=False)


def note_ended(token: str) -> None:
    """The database has just said that this is nobody's sign-in (any more)."""
    if _when:
        with _lock:
            _when.pop(_key(token), None)


def was_confirmed(token: str | None, *, within: timedelta, now: datetime) -> bool:
    """Whether the last word of the database on this token was that it holds, and no longer ago than that."""
    if token is None:
        return False
    with _lock:
        found = _when.get(_key(token))
    return found is not None and now - found <= within


def _key(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
