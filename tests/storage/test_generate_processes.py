"""Recipes in processes of their own: killed on the way, and with a real local model."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import func, select

import cli
from storage.rows.datasets import QuestionRow
from storage.rows.language_models import ModelCallRow
from storage.unit_of_work import read_only_session
from tests.storage.model_server import ModelServer, running_model_server
from tests.storage.recipe_replies import answer
from tests.storage.test_model_runs import add_endpoint
from tests.unit.generation_sources import write_openi

ROOT = Path(__file__).resolve().parents[2]
PARALLEL = 4


def make_reports(count: int) -> list[dict[str, str]]:
    return [
        {
            "uid": str(uid),
            "MeSH": "normal",
            "findings": f"The heart size is normal. There are {uid} sternal wires. The trachea is midline.",
            "impression": "No acute disease.",
        }
        for uid in range(1, count + 1)
    ]


def start_generate(source: Path, out: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [
            sys.executable, "cli.py", "generate", "gemex", "openi-csv", str(source), "--out", str(out),
            "--endpoint", "local", "--lease", "1", "--dataset", "made", "--without-images",
        ],
        cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_until(condition, process: subprocess.Popen) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def count_rows(engine, row) -> int:
    with read_only_session(engine) as db:
        return db.execute(select(func.count()).select_from(row)).scalar_one()


def count_replies(server: ModelServer) -> int:
    return sum(server.replies.values())


@pytest.mark.full
def test_a_recipe_that_is_killed_three_times_gives_the_same_questions(workspace_engine, tmp_path):
    report_count = 30
    source, out = write_openi(tmp_path / "source", *make_reports(report_count)), tmp_path / "questions.jsonl"
    with running_model_server(delay=0.05, answer=answer) as server:
        add_endpoint(workspace_engine, server.url, max_parallel=PARALLEL)
        for condition in (
            lambda: count_replies(server) >= report_count // 2,  # in stage I
            lambda: count_replies(server) >= report_count + report_count // 2,  # in stage II
            out.exists,  # before or in the import
        ):
            process = start_generate(source, out)
            wait_until(condition, process)
            process.kill()
            process.communicate()
            assert count_rows(workspace_engine, QuestionRow) in {0, 11 * report_count}
        process = start_generate(source, out)
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        assert "30 of 30 (100.0 %)" in output
        assert count_rows(workspace_engine, QuestionRow) == 11 * report_count
        # Each kill can repeat the calls in progress, and those that were answered but not yet stored.
        assert count_replies(server) - 2 * report_count <= 2 * 2 * PARALLEL
        with read_only_session(workspace_engine) as db:
            keys = list(db.scalars(select(ModelCallRow.key)))
        assert len(keys) == len(set(keys)) == 2 * report_count
        questions_before = out.read_bytes()
        for path in (out, out.with_name("questions.left-out.jsonl")):
            path.unlink()
        calls_before = count_replies(server)
        assert cli.main(
            ["generate", "gemex", "openi-csv", str(source), "--out", str(out), "--endpoint", "local"]
        ) == 0  # fmt: skip
        assert (out.read_bytes(), count_replies(server)) == (questions_before, calls_before)
