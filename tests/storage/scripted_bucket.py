"""A small S3 server that a test controls: it answers, hangs or drips. Objects are kept in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.storage.bucket_server import BUCKET, BucketServer


class Behaviour(Enum):
    """How the server treats a request."""

    ANSWER = "answer"
    HANG = "accept the connection and not answer, until it behaves in another way"
    DRIP = "answer with one byte of the body each half second"


class ScriptedBucket(ThreadingHTTPServer):
    """``behaviour`` may be changed at any time; ``requests`` lists the method and path of each request."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaves = threading.Event()  # hanging requests wait for this event
        self.stopped = threading.Event()
        self.behaviour = Behaviour.ANSWER
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []

    @property
    def behaviour(self) -> Behaviour:
        """How the server treats the next requests, and the requests that hang now."""
        return self._behaviour

    @behaviour.setter
    def behaviour(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        if behaviour is Behaviour.HANG:
            self.behaves.clear()
        else:
            self.behaves.set()

    @property
    def settings(self) -> dict[str, str]:
        """The environment of a workspace whose images are in this bucket."""
        return BucketServer(url=f"http://127.0.0.1:{self.server_port}").settings("images")

    def put(self, sha256: str, content: bytes) -> None:
        """Store an image file without a request."""
        self.objects[f"/{BUCKET}/images/{sha256[:2]}/{sha256}"] = content


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedBucket
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        self.server.requests.append((self.command, self.path))
        self.server.behaves.wait()
        if self.server.stopped.is_set():
            self.close_connection = True
            return
        behaviour = self.server.behaviour
        path = self.path.partition("?")[0]
        if self.command == "PUT":
            self.server.objects[path] = self._read_body()
            self._answer(200, b"")
        elif path in self.server.objects:
            self._answer(200, self.server.objects[path], drip=behaviour is Behaviour.DRIP)
        else:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    do_GET = do_HEAD = do_PUT = _serve  # noqa: N815 - the library's names

    def _read_body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        raise ValueError("this server reads no chunked bodies")

    def _answer(self, status: int, content: bytes, *, drip: bool = False) -> None:
        try:
            self._send(status, content, drip=drip)
        except OSError:  # the client has closed the connection
            self.close_connection = True

    def _send(self, status: int, content: bytes, *, drip: bool) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", '"0"')
        self.send_header("Last-Modified", "Mon, 02 Mar 2026 09:00:00 GMT")
        self.end_headers()
        if self.command == "HEAD":
            return
        if not drip:
            self.wfile.write(content)
            return
        for byte in content:
            self.wfile.write(bytes([byte]))
            if self.server.stopped.wait(0.5):
                return

    def log_message(self, *_: object) -> None:
        """Log nothing: the test reads ``requests``."""


@contextmanager
def scripted_bucket() -> Iterator[ScriptedBucket]:
    """The server on a free port."""
    server = ScriptedBucket()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.behaves.set()
        server.shutdown()
        server.server_close()
        thread.join()
