"""An S3-compatible server on this machine over real HTTP, and the settings that point a program to it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

BUCKET = "overread-test"


@dataclass(frozen=True, kw_only=True)
class BucketServer:
    """The server's address; every test uses a prefix of its own."""

    url: str

    def settings(self, prefix: str) -> dict[str, str]:
        """The environment of a workspace whose images are in the bucket, under that prefix."""
        return {
            "OVERREAD_IMAGES": f"s3://{BUCKET}/{prefix}",
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "a-key-for-tests",
            "AWS_SECRET_ACCESS_KEY": "a-secret-for-tests",
            "AWS_DEFAULT_REGION": "us-east-1",
        }


@contextmanager
def running_bucket_server() -> Iterator[BucketServer]:
    """moto's server on a free port, with one empty bucket."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        _make_bucket(url)
        yield BucketServer(url=url)
    finally:
        server.terminate()
        server.wait(timeout=20)


def _make_bucket(url: str) -> None:
    request = urllib.request.Request(f"{url}/{BUCKET}", method="PUT")  # noqa: S310 - our own server
    for _ in range(150):
        try:
            with urllib.request.urlopen(request, timeout=5):  # noqa: S310 - our own server
                return
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the S3-compatible server did not start")
