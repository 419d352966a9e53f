"""Pictures that were made once, kept on the disk until somebody clears the folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from imaging.display import QUALITY, RENDERING


def picture_name(sha256: str, *, longest: int | None) -> str:
    """The name of one picture: of which file, which size, made how. It names nothing of an exam."""
    return f"{sha256}-{longest or 'full'}-q{QUALITY}-r{RENDERING}.jpg"


def cached_picture(folder: Path, *, sha256: str, longest: int | None, make: Callable[[], bytes]) -> bytes:
    """The picture from ``folder``, made first if it is not there. Two that make it at once do no harm.

    Args:
        folder: the workspace's cache; made if missing.
        sha256: of the original file, lower-case hex.
        make: gives the picture's bytes; its errors pass through and nothing is kept.
    """
    path = folder / "radiographs" / sha256[:2] / picture_name(sha256, longest=longest)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        content = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, incoming = tempfile.mkstemp(dir=path.parent, prefix=".incoming-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(incoming).replace(path)  # all of it or nothing
    finally:
        Path(incoming).unlink(missing_ok=True)
    return content
