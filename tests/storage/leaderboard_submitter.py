"""A process that submits files of predictions for several teams at once.

``python -m tests.storage.leaderboard_submitter URL FOLDER``: each subfolder has the name of a team and the
files to submit. Prints a line for each answer: the id of the submission, or "refused".
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from domain.errors import NotNow, Refused
from storage.engine import make_engine
from tests.storage.leaderboard_worlds import BY, submit

RETRY_SECONDS = 300


def write_line(text: str) -> None:
    """Write a line at once, so that lines of several threads are not mixed."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    url, folder = sys.argv[1:]
    engine = make_engine(url)

    def submit_file(path: Path) -> None:
        deadline = time.monotonic() + RETRY_SECONDS
        while True:
            try:
                answer = str(submit(engine, path, by=BY, team=path.parent.name).submission.id)
            except Refused:
                answer = "refused"
            except NotNow:  # the database is busy; a file that is sent again is charged only once
                if time.monotonic() > deadline:
                    raise
                continue
            write_line(answer)
            return

    files = sorted(Path(folder).glob("*/*.jsonl"), key=lambda path: (path.name, path.parent.name))
    write_line("begun")
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(submit_file, files))
