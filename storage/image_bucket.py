"""Image files in S3-compatible storage: Amazon's, or a server of one's own that speaks the same.

Keys and server are named by the variables that every S3 program reads: ``AWS_ACCESS_KEY_ID``,
``AWS_SECRET_ACCESS_KEY``, ``AWS_ENDPOINT_URL``, ``AWS_DEFAULT_REGION``.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import s3fs

from domain.errors import DomainError, NotFound, NotNow
from storage.image_folder import checked_content, checked_sha256

_LOG = logging.getLogger(__name__)
#: Seconds; a server that is away is said to be away before the person at the screen gives up.
_CONNECT, _READ = 5, 60
_PROBE = ".overread-check"


class BucketStore:
    """``s3://bucket/prefix/ab/ab…``; threads may share it."""

    def __init__(self, address: str) -> None:
        self._root = address.removeprefix("s3://").strip("/")
        self._files = s3fs.S3FileSystem(
            skip_instance_cache=True,  # the library's key for it knows nothing of the environment
            use_listings_cache=False,  # other processes write too
            config_kwargs={
                "connect_timeout": _CONNECT,
                "read_timeout": _READ,
                "retries": {"mode": "standard", "total_max_attempts": 3},
            },
        )

    def holds(self, sha256: str) -> bool:
        key = self._key(sha256)
        return bool(self._ask(lambda: self._files.exists(key)))

    def keep(self, sha256: str, content: bytes) -> None:
        """The server has all of it when this returns: an object appears whole or not at all."""
        key = self._key(sha256)
        self._ask(lambda: self._files.pipe_file(key, content))

    def read(self, sha256: str) -> bytes:
        key = self._key(sha256)
        try:
            content = self._ask(lambda: self._files.cat_file(key))
        except FileNotFoundError as error:
            raise NotFound(f"s3://{self._root} has no image {sha256}; import it again.") from error
        return checked_content(sha256, content)

    @contextmanager
    def on_disk(self, sha256: str) -> Iterator[Path]:
        """A copy that lasts as long as the block: what is made of it is what is kept on the disk."""
        content = self.read(sha256)
        with tempfile.NamedTemporaryFile(prefix="overread-image-") as file:
            file.write(content)
            file.flush()
            del content
            yield Path(file.name)

    def remove(self, sha256: str) -> None:
        key = self._key(sha256)
        try:
            self._ask(lambda: self._files.rm_file(key))
        except FileNotFoundError:
            return

    def check(self) -> None:
        """Write a few bytes and read them back."""
        key = f"{self._root}/{_PROBE}"
        try:
            self._ask(lambda: self._files.pipe_file(key, b"overread"))
            self._ask(lambda: self._files.cat_file(key))
        except FileNotFoundError as error:
            raise NotNow(f"The bucket s3://{self._root} is not there.") from error

    def _key(self, sha256: str) -> str:
        return f"{self._root}/{checked_sha256(sha256)[:2]}/{sha256}"

    def _ask(self, question: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the library answers
        """The answer; a server that is away or says no is the domain's own error.

        Raises:
            FileNotFoundError: no such object, or no such bucket.
        """
        try:
            return question()
        except (FileNotFoundError, DomainError):
            raise
        except PermissionError as error:
            _LOG.warning("s3://%s: %s", self._root, error)
            raise NotNow(
                f"The image store s3://{self._root} refused the keys it was given. Tell whoever runs this "
                "server."
            ) from error
        except Exception as error:  # the library's connection errors have no other base in common
            _LOG.warning("s3://%s: %s: %s", self._root, type(error).__name__, error)
            raise NotNow(
                f"The image store s3://{self._root} could not be reached. Try again, and if it stays so, "
                "tell whoever runs this server; its log says why."
            ) from error
