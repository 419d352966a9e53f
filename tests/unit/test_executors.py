"""Results are the same with one or two processes and on a Dask cluster, even if a worker is killed."""

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmarks.duplicate_questions import QuestionSource
from domain.errors import InvalidValue, Refused
from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from imaging.render_folder import plan_folder, render_all
from parallel import executors
from parallel.executors import map_in_order, open_executor
from quality.duplicates import search
from quality.duplicates.search import SearchSettings, find_pairs_in_exams, find_similar_wordings

ROOT = Path(__file__).resolve().parents[2]
full = pytest.mark.full
# the package distributed closes connections in the background, which pytest would report as errors
pytestmark = pytest.mark.filterwarnings("ignore")


def start(*arguments, log):
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments], cwd=ROOT, stdout=log, stderr=log, start_new_session=True
    )


class Cluster:
    """A scheduler and two workers, each a process that a test may kill."""

    def __init__(self, folder):
        self.log_path = folder / "dask.log"
        self.log = self.log_path.open("w")
        self.scheduler = start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", log=self.log
        )
        self.address = self._wait_for(r"(tcp://127\.0\.0\.1:\d+)")
        self.workers = [
            start(
                "worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard",
                "--local-directory", str(folder / f"worker-{number}"), log=self.log,
            )
            for number in (1, 2)
        ]  # fmt: skip
        self._wait_for(r"(?s)Registered to.*Registered to")

    def _wait_for(self, pattern):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if match := re.search(pattern, self.log_path.read_text()):
                return match[match.lastindex or 0]
            time.sleep(0.1)
        raise AssertionError(self.log_path.read_text())

    def stop(self):
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
            process.wait()
        self.log.close()


@contextmanager
def run_cluster(folder):
    cluster = Cluster(folder)
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(search, "PART_SIZE", 200)


def find_pairs(workers, *, progress=lambda _: None):
    with open_executor(workers) as executor:
        return find_pairs_in_exams(
            QuestionSource(4_000, seed=3), settings=SearchSettings(), executor=executor, progress=progress
        )


@full
def test_one_and_two_processes_and_a_cluster_with_a_killed_worker_find_the_same_pairs(tmp_path):
    expected = find_pairs("1")
    assert len(expected.pairs) > 250
    assert find_pairs("2") == expected
    with run_cluster(tmp_path) as cluster:
        killed: list[int] = []

        def kill_one(done):
            if done > 1_000 and not killed:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)
                killed.append(cluster.workers[0].pid)

        assert find_pairs(cluster.address, progress=kill_one) == expected
        assert killed
        questions = [("a", question) for question in QuestionSource(2_000, seed=3)]
        with open_executor(cluster.address) as executor:
            on_cluster = find_similar_wordings(questions, settings=SearchSettings(), executor=executor)
    with open_executor("1") as executor:
        assert find_similar_wordings(questions, settings=SearchSettings(), executor=executor) == on_cluster


@full
def test_a_scheduler_that_dies_gives_an_error_and_no_result(tmp_path):
    with run_cluster(tmp_path) as cluster:

        def kill_scheduler(done):
            if cluster.scheduler.poll() is None:
                os.kill(cluster.scheduler.pid, signal.SIGKILL)
                cluster.scheduler.wait()

        with pytest.raises(Refused, match=r"The Dask scheduler at tcp://127.* ended\. Nothing was stored"):
            find_pairs(cluster.address, progress=kill_scheduler)
        with pytest.raises(Refused, match="does not answer"):
            find_pairs(cluster.address)


@full
def test_a_scheduler_without_workers_is_refused(tmp_path):
    with run_cluster(tmp_path) as cluster:
        for worker in cluster.workers:
            os.kill(worker.pid, signal.SIGTERM)
            worker.wait()
        time.sleep(1)
        with pytest.raises(Refused, match=r"has no workers\. Start them in the folder of Overread"):
            find_pairs(cluster.address)


@full
def test_a_cluster_renders_the_same_files(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    source = tmp_path / "source"
    source.mkdir()
    rng = np.random.default_rng(1)
    for number in range(12):
        pixels = rng.integers(0, 255, (64, 48), dtype=np.uint8)
        Image.fromarray(pixels).save(source / f"{number}.png")
    (source / "damaged.png").write_bytes(b"\x89PNG\r\n\x1a\n damaged")

    def render(out, executor, decoder):
        jobs, _ = plan_folder(source, out, quarter=True)
        refusals = render_all(jobs, executor=executor, decoder=decoder, bits=8, window=None)
        texts = [str(refusal) for refusal in refusals if refusal is not None]
        return texts, {path.name: path.read_bytes() for path in sorted(out.rglob("*.png"))}

    with GuardedDecoder(workers=2) as decoder, ThreadPoolExecutor(2) as threads:
        expected = render(tmp_path / "threads", threads, decoder)
    assert len(expected[0]) == 1
    assert len(expected[1]) == 24
    with open_executor("1") as executor:
        assert render(tmp_path / "processes", executor, None) == expected
    with run_cluster(tmp_path) as cluster, open_executor(cluster.address) as executor:
        assert render(tmp_path / "cluster", executor, None) == expected


def kill_own_process(_):
    os.kill(os.getpid(), signal.SIGKILL)


@full
def test_a_killed_process_gives_an_error_and_no_result():
    with (
        pytest.raises(Refused, match=r"A process of the computation was killed\. Nothing was stored"),
        open_executor("1") as executor,
    ):
        list(map_in_order(executor, kill_own_process, [1, 2]))


@full
def test_a_process_does_not_run_the_page_that_started_it(tmp_path, monkeypatch):
    page = tmp_path / "page.py"
    page.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise SystemExit(1)")
    main = ModuleType("__main__")
    main.__file__ = str(page)
    main.__spec__ = None
    monkeypatch.setitem(sys.modules, "__main__", main)
    with open_executor("1") as executor:
        assert list(map_in_order(executor, abs, [-1, 2])) == [1, 2]
    assert not (tmp_path / "ran").exists()
    assert sys.modules["__main__"] is main


@pytest.mark.parametrize("setting", ["two", "0", "-1", "1.5"])
def test_a_setting_that_is_neither_a_number_nor_an_address_is_refused(setting):
    with (
        pytest.raises(InvalidValue, match=r"OVERREAD_WORKERS: .* is neither a number of processes"),
        open_executor(setting),
    ):
        raise AssertionError


def test_an_unreadable_image_error_can_be_pickled():
    content = pickle.dumps(UnreadableImage("a.png", "is damaged", attribute="IHDR"))
    error = pickle.loads(content)  # noqa: S301 - written by the line above
    assert (str(error), error.name, error.attribute) == ("a.png: IHDR: is damaged", "a.png", "IHDR")


def test_waiting_for_a_result_ends_if_the_scheduler_is_lost(monkeypatch):
    monkeypatch.setattr(executors, "_CHECK_SECONDS", 0.01)
    client: Any = SimpleNamespace(
        status="connecting", get_executor=lambda pure: SimpleNamespace(submit=lambda *_: Future())
    )
    with pytest.raises(CancelledError):
        list(executors.map_in_order(executors._DaskExecutor(client), abs, [1]))
