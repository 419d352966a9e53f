"""benchmarks/soak_readers.py with four readers instead of a hundred, on the real server."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.soak_readers import run_readers
from benchmarks.soak_world import open_postgres_workspace, open_sqlite_workspace

pytestmark = pytest.mark.full


@pytest.mark.parametrize(
    ("open_workspace", "processes"), [(open_sqlite_workspace, 1), (open_postgres_workspace, 2)]
)
def test_no_work_of_concurrent_readers_is_lost_or_repeated(open_workspace, processes, tmp_path, monkeypatch):
    monkeypatch.delenv("OVERREAD_TEST_POSTGRES_URL", raising=False)  # a database of this test's own
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    # In a second thread: after a browser test, Playwright's event loop runs in this thread.
    with open_workspace(tmp_path) as workspace, ThreadPoolExecutor(1) as thread:
        options = {"readers": 4, "verdicts": 3, "thinking_seconds": 0.3, "processes": processes}
        outcome = thread.submit(run_readers, workspace, **options).result()
    assert len(outcome.timings.acknowledged) == 12, outcome.timings.problems
    assert not [problem for problem in outcome.timings.problems if "stopped" in problem]
    assert outcome.is_complete
    assert outcome.faults == 0
