"""Original image files, stored unchanged under their SHA-256: in the workspace's folder, or in a bucket."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from storage.images.folder import FolderStore
from storage.workspace import Workspace


class ImageStore(Protocol):
    """A store of image files. Names are SHA-256 in lower-case hex; a stored file never changes."""

    def contains(self, sha256: str) -> bool:
        """Return whether the store has the file."""

    def write(self, sha256: str, content: bytes) -> None:
        """Store the bytes completely or not at all. They are durable when this returns."""

    def read(self, sha256: str) -> bytes:
        """Return the bytes after comparing them with the SHA-256.

        Raises:
            NotFound: there is no such file.
            Refused: the bytes have changed.
        """

    def local_file(self, sha256: str) -> AbstractContextManager[Path]:
        """Yield the path of a local file with the bytes, which exists at least until the block ends.

        Raises:
            NotFound, Refused: as in ``read``; but a file in a folder is yielded without comparing its bytes.
        """

    def remove(self, sha256: str) -> None:
        """Delete the file, if it exists."""

    def check(self) -> None:
        """Check that files can be written and read.

        Raises:
            NotNow: they cannot; the message states why.
        """


def get_image_store(workspace: Workspace) -> ImageStore:
    """Return the workspace's image store: the bucket of ``OVERREAD_IMAGES``, or else a folder."""
    if workspace.bucket:
        return _bucket_store(workspace.bucket)
    return FolderStore(workspace.images)


@lru_cache(maxsize=4)
def _bucket_store(address: str) -> ImageStore:
    from storage.images.bucket import BucketStore  # noqa: PLC0415 - takes half a second and is needed for buckets only

    return BucketStore(address)


def store_image(workspace: Workspace, *, content: bytes) -> str:
    """Store the bytes; equal bytes are stored once. They are durable when this returns.

    Returns:
        The SHA-256 of the bytes, in lower-case hex.
    """
    sha256 = hashlib.sha256(content).hexdigest()
    store = get_image_store(workspace)
    if not store.contains(sha256):
        store.write(sha256, content)
    return sha256


def image_path(workspace: Workspace, *, sha256: str) -> Path:
    """Return the path for that SHA-256 in the workspace's folder, whether or not the file exists."""
    return FolderStore(workspace.images).path(sha256)


def read_image(workspace: Workspace, *, sha256: str) -> bytes:
    """Return the original bytes.

    Raises:
        NotFound: the workspace has no such file.
        Refused: its bytes have changed.
    """
    return get_image_store(workspace).read(sha256)
