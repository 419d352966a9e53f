"""SIGTERM: requests in progress finish, new ones are refused, and no import is left incomplete."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, select

from storage.engine import make_engine
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.unit_of_work import read_only_session
from tests.e2e.conftest import ROOT, running_app

pytestmark = pytest.mark.full


def test_started_request_is_answered_before_the_process_ends(sqlite_template, tmp_path):
    """Half of a request is sent and the app is stopped. The second half is sent once new requests fail."""
    home = tmp_path / "workspace"
    home.mkdir()
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    with running_app(home, tmp_path / "log") as app:
        address = (urlsplit(app.url).hostname, urlsplit(app.url).port)
        body = b"name=ruth&password=wrong"
        with socket.create_connection(address, timeout=60) as connection:
            connection.sendall(
                b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body[:10]
            )
            time.sleep(0.5)  # the server has read the first half
            os.kill(app.process, signal.SIGTERM)
            while _accepts_connections(address):
                time.sleep(0.05)
            assert os.waitid(os.P_PID, app.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
            connection.sendall(body[10:])
            response = b"".join(iter(lambda: connection.recv(65536), b""))
        assert response.startswith(b"HTTP/1.1 303 ")  # to the form: the request has no form token
        assert response.endswith(b"\r\n\r\n")
        exit_info = os.waitid(os.P_PID, app.process, os.WEXITED | os.WNOWAIT)
        assert exit_info.si_status in {0, signal.SIGTERM}


def test_stopped_import_is_complete_or_absent(sqlite_template, tmp_path):
    home = tmp_path / "workspace"
    home.mkdir()
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    count = 20_000
    with (tmp_path / "questions.jsonl").open("w") as file:
        for number in range(count):
            record = {
                "id": f"q{number}",
                "exam": {"id": f"e{number // 2}", "radiographs": [
                    {"id": "pa", "file": "pa.png", "view": "PA"}]},
                "format": "closed", "stem": f"Is there an effusion, number {number}?", "answer": "yes",
            }  # fmt: skip
            file.write(json.dumps(record) + "\n")
    import_process = subprocess.Popen(
        [sys.executable, "cli.py", "import", "questions", str(tmp_path / "questions.jsonl"),
         "--dataset", "demo", "--without-images"],
        cwd=ROOT, env=os.environ | {"OVERREAD_HOME": str(home)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while import_process.poll() is None and not _is_writing(home):
        time.sleep(0.02)
    import_process.send_signal(signal.SIGTERM)
    import_process.wait(timeout=60)
    engine = make_engine(f"sqlite:///{home / 'overread.sqlite'}")
    with read_only_session(engine) as db:
        dataset_count = db.execute(select(func.count()).select_from(DatasetRow)).scalar_one()
        question_count = db.execute(select(func.count()).select_from(QuestionRow)).scalar_one()
    engine.dispose()
    assert (dataset_count, question_count) in {(0, 0), (1, count)}


def _accepts_connections(address: tuple[str | None, int | None]) -> bool:
    try:
        socket.create_connection(address, timeout=5).close()
    except OSError:
        return False
    return True


def _is_writing(home: Path) -> bool:
    """Whether the write-ahead log has grown, which shows that the import is writing."""
    log = home / "overread.sqlite-wal"
    return log.exists() and log.stat().st_size > 200_000
