"""What the machine says when a file can't be read or written, in words that lead on."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}


def file_trouble(error: OSError) -> str:
    """One or two sentences for the user: which file, what is wrong, what to do.

    >>> file_trouble(OSError(28, "No space left on device", "out.csv"))
    'The disk is full: out.csv could not be written. Make room on it, then try again.'
    """
    file = "a file" if error.filename is None else str(error.filename)
    if error.errno in _FULL:
        return f"The disk is full: {file} could not be written. Make room on it, then try again."
    if error.errno in _NOT_ALLOWED:
        return (
            f"No permission for {file}. Choose another place, or ask whoever runs this machine for the "
            "permission; then try again."
        )
    return f"{file} could not be read or written: {error.strerror or error}."


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's name into an error that has none: opening a file tells it, writing into it does not."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
