"""Two app processes on one PostgreSQL database and one bucket, alone or behind nginx."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Engine

from storage.engine import make_engine
from tests.e2e.conftest import ROOT

HOST = "overread.example.org"  # the browser resolves this name to this machine
CONFIGURATION = ROOT / "docs" / "deploy" / "nginx.conf"


@dataclass(kw_only=True)
class Processes:
    """The app's processes by port, the settings that they share, and their logs."""

    home: Path
    engine: Engine
    settings: dict[str, str]
    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def urls(self) -> list[str]:
        return [f"http://localhost:{port}" for port in self.running]

    def start(self, port: int) -> None:
        """Start a process; it may not answer yet."""
        with self.log(port).open("ab") as log_file:
            self.running[port] = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
                cwd=ROOT, env=os.environ | self.settings, stdout=log_file, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def wait_for(self, port: int) -> None:
        """Wait until that process answers."""
        wait_until_url_answers(f"http://localhost:{port}/health", self.log(port))

    def stop(self, port: int) -> int:
        """Stop a process as an update does, and return its exit code."""
        process = self.running.pop(port)
        process.terminate()
        return process.wait(timeout=60)

    def log(self, port: int) -> Path:
        return self.home.parent / f"process-{port}.log"

    def command(self, *arguments: str) -> str:
        """Run ``cli.py`` on the shared workspace and return its standard output."""
        result = subprocess.run(
            [sys.executable, "cli.py", *arguments],
            cwd=ROOT, env=os.environ | self.settings, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, f"cli.py {' '.join(arguments)}: {result.stderr}"
        return result.stdout


@contextmanager
def two_processes(home: Path, database_url: str, bucket: dict[str, str]) -> Iterator[Processes]:
    """Start both processes at once on an empty database: one creates the tables, the other waits."""
    settings = {"OVERREAD_HOME": str(home), "OVERREAD_DATABASE_URL": database_url, **bucket}
    settings["OVERREAD_ALLOWED_HOSTS"] = HOST
    settings["STREAMLIT_SERVER_COOKIE_SECRET"] = "the same in both processes"
    processes = Processes(home=home, engine=make_engine(database_url), settings=settings)
    ports = free_ports(2)
    try:
        for port in ports:
            processes.start(port)
        for port in ports:
            processes.wait_for(port)
        yield processes
    finally:
        for port in list(processes.running):
            processes.stop(port)
        processes.engine.dispose()


@contextmanager
def run_nginx(ports: list[int], folder: Path) -> Iterator[str]:
    """Run nginx with the configuration of docs/deploy, including TLS, and yield the address for browsers.

    Only addresses, ports and the path of the certificate are filled in. The access log states which process
    answered.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    assert program, (
        "nginx is not installed; `make test` leaves this test out where it is missing, and says so"
    )
    folder.mkdir()
    http_port, tls_port = free_ports(2)
    _make_certificate(folder)
    site = CONFIGURATION.read_text(encoding="utf-8")
    for old, new in {
        "server 127.0.0.1:8501": f"server 127.0.0.1:{ports[0]}",
        "server 127.0.0.1:8502": f"server 127.0.0.1:{ports[1]}",
        "listen 80;": f"listen 127.0.0.1:{http_port};",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{tls_port} ssl http2;",
        "/etc/ssl/overread/": f"{folder}/",
        "    access_log /var/log/nginx/overread.log overread;\n": "",
    }.items():
        assert old in site, f"{CONFIGURATION} has no {old!r} any more"
        site = site.replace(old, new)
    (folder / "overread.conf").write_text(site)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log warn; worker_processes 1;\n"
        "events { worker_connections 512; }\n"
        "http {\n"
        f"  log_format which '$upstream_addr $status $request_method $uri';\n"
        f"  access_log {folder}/access.log which;\n"
        + "".join(f"  {kind}_temp_path {folder}/{kind};\n" for kind in kinds)
        + f"  include {folder}/overread.conf;\n}}\n"
    )
    if os.getuid() == 0:  # the worker process drops root and writes its buffers below the folder
        for path in (folder, *folder.parents):
            if path.stat().st_uid == 0 and path.is_relative_to(folder.parent.parent):
                path.chmod(path.stat().st_mode | 0o055)
    server = subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf")])
    try:
        wait_until_url_answers(f"https://127.0.0.1:{tls_port}/health", folder / "error.log")
        yield f"https://{HOST}:{tls_port}"
    finally:
        server.terminate()
        server.wait(timeout=20)


def find_answering_ports(folder: Path, path: str) -> list[int]:
    """The ports of the processes to which nginx forwarded requests for that path, in order."""
    ports = re.findall(
        rf"^127\.0\.0\.1:(\d+) \d+ \w+ {re.escape(path)}$", (folder / "access.log").read_text(), re.M
    )
    return [int(port) for port in ports]


def free_ports(count: int) -> list[int]:
    """Find that many ports on which nothing listens."""
    sockets = [socket.socket() for _ in range(count)]
    for listener in sockets:
        listener.bind(("127.0.0.1", 0))
    ports = [listener.getsockname()[1] for listener in sockets]
    for listener in sockets:
        listener.close()
    return ports


def wait_until_url_answers(url: str, log: Path) -> None:
    """Wait until the address answers."""
    unverified_tls = ssl.create_default_context()
    unverified_tls.check_hostname, unverified_tls.verify_mode = False, ssl.CERT_NONE
    context = unverified_tls if url.startswith("https") else None
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=2, context=context):  # noqa: S310 - our own server
                return
        except OSError:
            time.sleep(0.2)
    log_text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    raise TimeoutError(f"{url} did not answer:\n{log_text}")


def _make_certificate(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", f"/CN={HOST}", "-keyout", folder / "privkey.pem",
         "-out", folder / "fullchain.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
