"""Original image files: kept byte for byte in the workspace, under their SHA-256."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from domain.errors import NotFound
from domain.file_errors import naming
from storage.workspace import Workspace

SHA256_LENGTH = 64


def keep_image(workspace: Workspace, *, content: bytes) -> str:
    """Keep the bytes; the same bytes are kept once. They are on the disk when this returns.

    Returns:
        Their SHA-256, lower-case hex.
    """
    sha256 = hashlib.sha256(content).hexdigest()
    target = image_path(workspace, sha256=sha256)
    if target.exists():
        return sha256
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".incoming-")
    try:
        with naming(target), os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)  # all of it or nothing, whoever else is writing the same
    finally:
        Path(name).unlink(missing_ok=True)
    return sha256


def image_path(workspace: Workspace, *, sha256: str) -> Path:
    """Where the bytes of that SHA-256 lie, or would lie."""
    if len(sha256) != SHA256_LENGTH or not set(sha256) <= set("0123456789abcdef"):
        raise ValueError(f"no SHA-256: {sha256!r}")
    return workspace.images / sha256[:2] / sha256


def read_image(workspace: Workspace, *, sha256: str) -> bytes:
    """The original bytes.

    Raises:
        NotFound: the workspace has no such file.
    """
    try:
        return image_path(workspace, sha256=sha256).read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"The workspace {workspace.home} has no image {sha256}; import it again.") from error
