"""Errors that occur while files are read or written, with actionable messages."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DISK_FULL_CODES = {errno.ENOSPC, errno.EDQUOT}
_PERMISSION_CODES = {errno.EACCES, errno.EPERM, errno.EROFS}


def describe_file_error(error: OSError) -> str:
    """Describe an error for the user in one or two sentences: the file, the problem, what to do.

    Args:
        error: the error; :func:`add_filename_to_errors` adds a missing file name.

    >>> describe_file_error(OSError(28, "No space left on device", "out.csv"))
    'The disk is full: out.csv could not be written. Free some space, then try again.'
    """
    file = "a file" if error.filename is None else str(error.filename)
    if error.errno in _DISK_FULL_CODES:
        return f"The disk is full: {file} could not be written. Free some space, then try again."
    if error.errno in _PERMISSION_CODES:
        return (
            f"No permission for {file}. Choose another location, or ask the server's administrator for "
            "permission; then try again."
        )
    return f"{file} could not be read or written: {error.strerror or error}."


@contextmanager
def add_filename_to_errors(path: Path) -> Iterator[None]:
    """Add the file name to an :class:`OSError` without one, for example from writing to an open file.

    Args:
        path: the file that is written or read inside the ``with`` block.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
