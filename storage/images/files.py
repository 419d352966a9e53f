"""Original image files, kept byte for byte under their SHA-256: in the workspace's folder, or in a bucket."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from storage.images.folder import FolderStore
from storage.workspace import Workspace


class ImageStore(Protocol):
    """Where image files are kept. Names are SHA-256 in lower-case hex; what is kept is never changed."""

    def holds(self, sha256: str) -> bool:
        """Whether the file is there."""

    def keep(self, sha256: str, content: bytes) -> None:
        """Keep the bytes, whole or not at all; they are safe when this returns."""

    def read(self, sha256: str) -> bytes:
        """The bytes, which are those of their name.

        Raises:
            NotFound: there is no such file.
            Refused: it has other bytes by now.
        """

    def on_disk(self, sha256: str) -> AbstractContextManager[Path]:
        """A file on this machine with the bytes, for as long as the block lasts.

        Raises:
            NotFound, Refused: as ``read``; but a folder's own file is handed out without a look into it.
        """

    def remove(self, sha256: str) -> None:
        """Take the file away; nothing happens where there is none."""

    def check(self) -> None:
        """See that files can be written and read there.

        Raises:
            NotNow: they can't, and why.
        """


def image_store(workspace: Workspace) -> ImageStore:
    """Where that workspace's image files are: the bucket of ``OVERREAD_IMAGES``, else its own folder."""
    if workspace.bucket:
        return _bucket_store(workspace.bucket)
    return FolderStore(workspace.images)


@lru_cache(maxsize=4)
def _bucket_store(address: str) -> ImageStore:
    from storage.images.bucket import BucketStore  # noqa: PLC0415 - half a second, for who has a bucket only

    return BucketStore(address)


def keep_image(workspace: Workspace, *, content: bytes) -> str:
    """Keep the bytes; the same bytes are kept once. They are safe when this returns.

    Returns:
        Their SHA-256, lower-case hex.
    """
    sha256 = hashlib.sha256(content).hexdigest()
    store = image_store(workspace)
    if not store.holds(sha256):
        store.keep(sha256, content)
    return sha256


def image_path(workspace: Workspace, *, sha256: str) -> Path:
    """Where the bytes of that SHA-256 lie, or would lie, in the workspace's own folder."""
    return FolderStore(workspace.images).path(sha256)


def read_image(workspace: Workspace, *, sha256: str) -> bytes:
    """The original bytes.

    Raises:
        NotFound: the workspace has no such file.
        Refused: its bytes have changed.
    """
    return image_store(workspace).read(sha256)
