"""Image files in S3-compatible storage: Amazon S3, or another server with the same protocol.

Access keys and server are set by the usual environment variables: ``AWS_ACCESS_KEY_ID``,
``AWS_SECRET_ACCESS_KEY``, ``AWS_ENDPOINT_URL``, ``AWS_DEFAULT_REGION``.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import s3fs

from domain.errors import NotFound, NotNow
from storage.images.circuit_breaker import CircuitBreaker, CircuitOpen
from storage.images.folder import validate_sha256, verify_content

_LOG = logging.getLogger(__name__)
#: Seconds for one attempt: until the server accepts the connection, and until its next byte.
_CONNECT_TIMEOUT, _READ_TIMEOUT = 3, 5
#: Seconds for a request in total, including retries. This limit also ends requests to a server that answers
#: very slowly. An upload, for which no user waits, gets one more second per MiB.
_REQUEST_TIMEOUT = 8.0
_CONNECTIONS = 32
_PROBE = ".overread-check"


class BucketStore:
    """An image store with keys ``s3://bucket/prefix/ab/ab…``. It is thread-safe."""

    def __init__(
        self, address: str, *, timeout: float = _REQUEST_TIMEOUT, breaker: CircuitBreaker | None = None
    ) -> None:
        """``timeout`` is the time limit of a request in seconds, including retries."""
        self._timeout, self._breaker = timeout, breaker or CircuitBreaker()
        self._root = address.removeprefix("s3://").strip("/")
        self._files = s3fs.S3FileSystem(
            skip_instance_cache=True,  # the library's cache key ignores the environment
            use_listings_cache=False,  # other processes write too
            config_kwargs={
                "connect_timeout": _CONNECT_TIMEOUT,
                "read_timeout": _READ_TIMEOUT,
                "retries": {"mode": "standard", "total_max_attempts": 2},
                "max_pool_connections": _CONNECTIONS,
            },
        )

    def contains(self, sha256: str) -> bool:
        key = self._key(sha256)
        return bool(self._run_request(self._files._exists, key))

    def write(self, sha256: str, content: bytes) -> None:
        """Upload the object. It appears complete or not at all, and is stored when this returns."""
        key = self._key(sha256)
        self._run_request(self._files._pipe_file, key, content, extra=len(content) / (1 << 20))

    def read(self, sha256: str) -> bytes:
        key = self._key(sha256)
        try:
            content = self._run_request(self._files._cat_file, key)
        except FileNotFoundError as error:
            raise NotFound(f"s3://{self._root} has no image {sha256}; import it again.") from error
        return verify_content(sha256, content)

    @contextmanager
    def local_file(self, sha256: str) -> Iterator[Path]:
        """Yield a temporary copy that is deleted after the block. Originals are not cached on disk."""
        content = self.read(sha256)
        with tempfile.NamedTemporaryFile(prefix="overread-image-") as file:
            file.write(content)
            file.flush()
            del content
            yield Path(file.name)

    def remove(self, sha256: str) -> None:
        key = self._key(sha256)
        try:
            self._run_request(self._files._rm_file, key)
        except FileNotFoundError:
            return

    def check(self) -> None:
        """Write a few bytes and read them back."""
        key = f"{self._root}/{_PROBE}"
        try:
            self._run_request(self._files._pipe_file, key, b"overread")
            self._run_request(self._files._cat_file, key)
        except FileNotFoundError as error:
            raise NotNow(f"The bucket s3://{self._root} does not exist.") from error

    def _key(self, sha256: str) -> str:
        return f"{self._root}/{validate_sha256(sha256)[:2]}/{sha256}"

    def _run_request(self, request: Callable[..., Awaitable[Any]], *args: object, extra: float = 0.0) -> Any:  # noqa: ANN401 - whatever the library answers
        """Run one of the library's asynchronous requests, within the time limit plus ``extra`` seconds.

        Raises:
            FileNotFoundError: the object or the bucket does not exist.
            NotNow: the server cannot be reached, does not answer in time, or rejects the access keys.
        """
        timeout = self._timeout + extra

        def run() -> Any:  # noqa: ANN401 - as above
            bounded = asyncio.wait_for(request(*args), timeout)
            # This waits a little longer, in case the library's event loop is blocked.
            return asyncio.run_coroutine_threadsafe(bounded, self._files.loop).result(timeout + 1)

        try:
            return self._breaker.call(run, expected_errors=(FileNotFoundError, PermissionError))
        except FileNotFoundError:
            raise
        except PermissionError as error:
            _LOG.warning("s3://%s: %s", self._root, error)
            raise NotNow(
                f"The image store s3://{self._root} rejected its access keys. Inform the server's "
                "administrator."
            ) from error
        except CircuitOpen as error:
            raise NotNow(
                f"The image store s3://{self._root} has stopped answering. Try again in "
                f"{max(1, round(error.seconds))} s. If the error persists, inform the "
                "server's administrator; the server log gives the reason."
            ) from error
        except Exception as error:  # the library's connection errors have no narrower base class
            timed_out = isinstance(error, TimeoutError)
            reason = f"no answer within {timeout:g} s" if timed_out else f"{type(error).__name__}: {error}"
            _LOG.warning("s3://%s: %s", self._root, reason)
            raise NotNow(
                f"The image store s3://{self._root} "
                f"{f'did not answer within {timeout:g} s' if timed_out else 'could not be reached'}. Try "
                "again. If the error persists, inform the server's administrator; the server log gives the "
                "reason."
            ) from error
