"""Evaluations on the command line: an endpoint, a program (ReXrank's interface) that is killed, and files."""

from __future__ import annotations

import io
import json
import shlex
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli import main
from domain.evaluations import Condition
from evaluation import service as evaluations
from storage.unit_of_work import read_only_session
from tests.storage.evaluation_worlds import BY, add_vision_endpoint, load_results, make_evaluation_world
from tests.storage.vision_server import running_vision_server
from tests.storage.worlds import SECRETS

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
#: A program with ReXrank's interface. It decodes the images; the file "log" gets the input of each call.
PROGRAM = """
import argparse, json, sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.storage.vision_server import answer, read_coded_image
parser = argparse.ArgumentParser()
for name in ("input_json_file", "save_json_file", "img_root_dir"):
    parser.add_argument("--" + name, type=Path, required=True)
args = parser.parse_args()
records = json.loads(args.input_json_file.read_text())
with Path({log!r}).open("a") as log:
    log.write(args.input_json_file.read_text())
for record in records.values():
    seen = [read_coded_image((args.img_root_dir / path).read_bytes()) for path in record["ImagePath"]]
    assert [view for _, view, _, _ in seen] == record["ImageViewPosition"]
    text = "\\n".join(record["options"])
    record["model_prediction"] = answer(text, seen[0][2] if seen else None)
    time.sleep({pause})
{end}
args.save_json_file.write_text(json.dumps(records))
"""


@pytest.fixture
def world(workspace_engine, tmp_path):
    return make_evaluation_world(workspace_engine, tmp_path / "workspace")


def write_program(folder: Path, *, pause: float = 0.0, end: str = "") -> str:
    path = folder / "inference.py"
    path.write_text(PROGRAM.format(root=str(ROOT), log=str(folder / "log"), pause=pause, end=end))
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in this process."""
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        code = main(["evaluate", *arguments])
    return subprocess.CompletedProcess(arguments, code, output.getvalue(), errors.getvalue())


def count_answers(engine) -> int:
    with read_only_session(engine) as db:
        return evaluations.load_progress(db, by=BY, name="p", now=datetime.now(UTC)).answers


def test_a_program_that_is_killed_with_the_command_continues_with_the_next_part(world, tmp_path):
    planned = run("plan", "p", "demo", "v1", "--command", "Looker 1")
    assert "as given: 0 of 12 answers" in planned.stdout, planned.stderr
    slow = write_program(tmp_path, pause=0.3)
    command = [sys.executable, "cli.py", "evaluate", "run", "p", "--command", slow, "--part", "5"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while not count_answers(world.engine):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    stored_count = count_answers(world.engine)
    assert 0 < stored_count < 48
    finished = run("run", "p", "--command", write_program(tmp_path), "--part", "20")
    assert (finished.returncode, finished.stdout) == (0, "48 of 48 answers stored. $0.00.\n"), finished.stderr
    results = {
        accuracy.condition: accuracy.correct for accuracy in load_results(world.engine, "p").accuracies
    }
    assert (results[Condition.AS_GIVEN], results[Condition.SHUFFLED]) == (12, 12)
    log = (tmp_path / "log").read_text()
    for secret in [*SECRETS.values(), "correct_answer", "Findings", "Impression", "Cough", "061Y"]:
        assert secret not in log
    assert not (world.home / "cache" / "evaluations" / "1").exists()


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("raise SystemExit('no GPU found')", "ended with code 1. Its output ends with:\nno GPU found"),
        ("raise SystemExit(0)", "ended without an error, but wrote no file"),
        ("records = {}", "but its file has no model_prediction."),
    ],
)
def test_a_program_that_fails_is_reported_and_nothing_of_the_part_is_stored(world, tmp_path, end, message):
    run("plan", "p", "demo", "v1", "--command", "Looker 1", "--condition", "no-image")
    failed = run("run", "p", "--command", write_program(tmp_path, end=end))
    assert failed.returncode == 1
    assert message in failed.stderr
    assert count_answers(world.engine) == 0


def test_the_message_names_a_program_that_does_not_exist(world):
    run("plan", "p", "demo", "v1", "--command", "Looker 1", "--condition", "no-image")
    failed = run("run", "p", "--command", "/nowhere/python inference.py")
    assert "/nowhere/python cannot be started: No such file or directory." in failed.stderr


def test_an_evaluation_with_an_endpoint_runs_and_is_reported(world):
    with running_vision_server() as server:
        add_vision_endpoint(world.engine, server.url)
        assert run("plan", "p", "demo", "v1", "--endpoint", "vision").returncode == 0
        finished = run("run", "p")
    assert finished.stdout == "48 of 48 answers stored. $0.00.\n", finished.stderr
    report = run("report", "p").stdout
    assert "as given          100.0 %" in report
    assert "image reliance" in report
    report_data = json.loads(run("report", "p", "--json").stdout)
    assert report_data["accuracies"][0]["correct"] == 12
    assert "p\tdemo v1, public\tvision-model\t48 of 48 answers" in run("list").stdout
    assert "as given: 12 of 12 answers, finished" in run("show", "p").stdout


def test_a_file_is_imported_once_and_completely(world, tmp_path):
    run("plan", "p", "demo", "v1", "--files", "Elsewhere", "--condition", "as-given")
    path = tmp_path / "predictions.jsonl"
    lines = [{"question_id": f"Q{number}", "raw": "<answer>B</answer>"} for number in range(1, 13)]
    path.write_text("\n".join(json.dumps(line) for line in [*lines, {"question_id": "Q99", "answer": "A"}]))
    refused = run("import", "p", str(path))
    assert "'Q99' is not a question of p in the condition “as given”" in refused.stderr
    assert count_answers(world.engine) == 0
    path.write_text("\n".join(json.dumps(line) for line in lines))
    assert run("import", "p", str(path)).stdout.startswith("Imported 12 answers, 0 without")
    assert "'Q1' has an answer already" in run("import", "p", str(path)).stderr
    assert load_results(world.engine, "p").accuracies[0].correct == 4


def test_stated_probabilities_are_reported_and_exported(world, tmp_path):
    run("plan", "p", "demo", "v1", "--files", "Elsewhere", "--condition", "as-given")
    path = tmp_path / "predictions.jsonl"
    lines = [{"question_id": f"Q{n}", "answer": "B", "probability": 0.05 * n} for n in range(1, 13)]
    path.write_text("\n".join(json.dumps(line) for line in [*lines[:-1], lines[-1] | {"probability": 12}]))
    refused = run("import", "p", str(path))
    assert "predictions.jsonl" in refused.stderr
    assert "12: probability: 12 must be 0 to 1" in refused.stderr
    assert count_answers(world.engine) == 0
    path.write_text("\n".join(json.dumps(line) for line in lines))
    assert run("import", "p", str(path)).stdout.startswith("Imported 12 answers")
    report = run("report", "p").stdout
    assert "Calibration of stated probabilities" in report
    assert "as given, calibration: fewer than 200 answers: the interval is approximate." in report
    [report_data] = json.loads(run("report", "p", "--json").stdout)["calibrations"]
    assert report_data["calibration"]["n"] == 12
    copy = tmp_path / "copy.jsonl"
    run("export", "p", str(copy), "--format", "overread")
    exported = {
        line["question_id"]: line["probability"] for line in map(json.loads, copy.read_text().splitlines())
    }
    assert exported == {line["question_id"]: line["probability"] for line in lines}


def test_exported_answers_can_be_imported_again(world, tmp_path):
    with running_vision_server() as server:
        add_vision_endpoint(world.engine, server.url)
        run("plan", "p", "demo", "v1", "--endpoint", "vision")
        run("run", "p")
    for condition in ("as-given", "options-shuffled"):
        for export_format, suffix in (("overread", "jsonl"), ("rexrank", "json"), ("vlmevalkit", "tsv")):
            path, name = tmp_path / f"a.{suffix}", f"{condition} {export_format}"
            arguments = (str(path), "--condition", condition, "--format", export_format)
            assert run("export", "p", *arguments).stdout == f"Wrote 12 answers to {path}.\n"
            # Overread's file has the options in the order of the release, which is that of "as given".
            target = "as-given" if export_format == "overread" else condition
            run("plan", name, "demo", "v1", "--files", "Copy", "--condition", target)
            imported = run("import", name, str(path), "--condition", target)
            assert imported.stdout.startswith("Imported 12 answers, 0 without"), imported.stderr
            assert load_results(world.engine, name).accuracies[0].correct == 12


def test_answers_to_a_private_split_are_not_exported(workspace_engine, tmp_path):
    make_evaluation_world(workspace_engine, tmp_path / "workspace", private=0.5)
    run("plan", "p", "demo", "v1", "--files", "Elsewhere", "--split", "private", "--condition", "no-image")
    refused = run("export", "p", str(tmp_path / "a"), "--condition", "no-image", "--format", "rexrank")
    assert "uses a private split" in refused.stderr
    assert not (tmp_path / "a").exists()


def write_line(folder: Path) -> str:
    path = folder / "one.jsonl"
    path.write_text('{"question_id": "Q1", "answer": "A"}')
    return str(path)


def test_impossible_requests_are_refused_with_their_reason(world, tmp_path):
    assert "There is no evaluation 'p'" in run("show", "p").stderr
    assert run("list").stdout == "No evaluations. Plan one with `cli.py evaluate plan`.\n"
    run("plan", "p", "demo", "v1", "--files", "Elsewhere")
    assert "The answers of p come from a file" in run("run", "p").stderr
    assert "is not answered by a command, but by: file" in run("run", "p", "--command", "true").stderr
    assert (
        "does not have the condition “paraphrased”"
        in run("import", "p", write_line(tmp_path), "--condition", "paraphrased").stderr
    )
