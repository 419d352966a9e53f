"""Recipes on Open-i reports: with a real local model, and with a scripted one whose replies are valid.

The tests check the path, not the quality. The images are phantoms, also by their names, and show no finding
of the reports.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from PIL import Image
from sqlalchemy import func, select

import cli
from demo.phantom.render import render_exam
from domain.language_models import RequestStatus
from generation.recipes import RECIPES
from language_models import service as models
from storage.rows.datasets import ImageRow, QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.collections.folder import COLLECTIONS
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.local_model import LOCAL_MODEL, running_local_model
from tests.storage.model_server import running_model_server
from tests.storage.recipe_replies import answer
from tests.storage.test_corrected_examples import assign_generated
from tests.storage.test_generate_processes import ROOT, wait_until
from tests.storage.test_model_runs import BY, add_endpoint, read_calls
from tests.storage.worlds import NOW, make_world
from tests.unit.generation_sources import write_csv

OPENI = COLLECTIONS / "openi-iu-xray"
#: Tokens of prompt and reply: the shipped prompts need about 1,000.
CONTEXT = 4096


@pytest.fixture(scope="module")
def local_model(tmp_path_factory):
    with running_local_model(tmp_path_factory.mktemp("model"), context=CONTEXT) as url:
        yield url


def write_source(folder, count):
    """The first records of Open-i, with phantoms as their images."""
    folder.mkdir()
    with (OPENI / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        reports = [row for _, row in zip(range(count), csv.DictReader(file), strict=False)]
    write_csv(folder / "indiana_reports.csv", reports)
    images = []
    for number, report in enumerate(reports):
        exam = render_exam(number, rows=160, columns=128)
        for name, image in zip(("Frontal", "Lateral"), exam.images, strict=True):
            file_name = f"phantom-{report['uid']}-{name.casefold()}.png"
            Image.fromarray((image.pixels >> 4).astype("uint8")).save(folder / file_name)
            images.append({"uid": report["uid"], "filename": file_name, "projection": name})
    write_csv(folder / "indiana_projections.csv", images)
    return folder


def generate(recipe, source, out, *arguments):
    return cli.main(
        ["generate", recipe, "openi-csv", str(source), "--out", str(out), "--endpoint", "local", *arguments]
    )


def store_short_prompts(engine, tokens):
    """Store new versions of the shipped prompts that cut off the small model's endless replies earlier."""
    labels = []
    with unit_of_work(engine) as db:
        for prompt in models.list_prompts(db, by=BY):
            content = re.sub(r"max_tokens = \d+", f"max_tokens = {tokens}", prompt.content)
            version, _ = models.save_prompt(db, by=BY, content=content, note="Short replies", now=NOW)
            labels += ["--prompt", version.label]
    return labels


@pytest.mark.full
def test_a_real_model_answers_and_each_reply_is_used_or_counted(workspace_engine, local_model, tmp_path):
    report_count = 1
    add_endpoint(
        workspace_engine, local_model, model=LOCAL_MODEL, max_parallel=1, timeout_seconds=300, name="local"
    )
    source = write_source(tmp_path / "source", report_count)
    with unit_of_work(workspace_engine) as db:
        for shipped_recipe in RECIPES.values():
            for stage in shipped_recipe.stages:
                models.save_prompt(db, by=BY, content=stage.read_shipped_prompt(), note="Shipped", now=NOW)
    prompt_arguments = store_short_prompts(workspace_engine, tokens=160)
    for recipe in ("gemex", "rexvqa"):
        prompts = [
            part
            for name, label in zip(prompt_arguments[::2], prompt_arguments[1::2], strict=True)
            if label.startswith(recipe)
            for part in (name, label)
        ]
        out = tmp_path / f"{recipe}.jsonl"
        assert generate(recipe, source, out, *prompts) == 0
        left_out = [
            json.loads(line)
            for line in out.with_name(f"{recipe}.left-out.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        questions = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        with read_only_session(workspace_engine) as db:
            runs = [
                progress.run
                for progress in models.list_runs(db, by=BY, now=NOW)
                if progress.run.name.startswith(recipe)
            ]
            failed_counts = {
                run.stage: len(models.list_requests(db, by=BY, name=run.name, status=RequestStatus.FAILED))
                for run in runs
            }
        unusable_counts = Counter(
            line["stage"] for line in left_out if line["kind"].startswith("no usable reply")
        )
        assert {stage: count for stage, count in failed_counts.items() if count} == unusable_counts
        assert runs[-1].requests == report_count
        assert {question["source"]["generator"] for question in questions} <= {LOCAL_MODEL}
        exams = {question["exam"]["id"] for question in questions} | {line["exam"] for line in left_out}
        assert len(exams) == report_count  # no exam disappears
        calls, content = len(read_calls(workspace_engine)), out.read_bytes()
        assert generate(recipe, source, out, *prompts) == 0
        assert (len(read_calls(workspace_engine)), out.read_bytes()) == (calls, content)
    assert {call.model for call in read_calls(workspace_engine)} <= {LOCAL_MODEL, None}


@pytest.mark.soak
@pytest.mark.parametrize("recipe", ["gemex", "rexvqa"])
def test_questions_of_a_small_model_on_ten_reports_are_reviewed_and_released(
    workspace_engine, local_model, tmp_path, recipe
):
    """The command is killed in its first stage and repeated; each reply can be used."""
    world = make_world(workspace_engine, questions=1)
    add_endpoint(
        workspace_engine, local_model, model=LOCAL_MODEL, max_parallel=1, timeout_seconds=600, name="local"
    )
    source, out = write_source(tmp_path / "source", 10), tmp_path / "questions.jsonl"
    arguments = ["--short-replies", "--lease", "1", "--dataset", "made", "--images", str(source)]
    command = ["generate", recipe, "openi-csv", str(source), "--out", str(out), "--endpoint", "local"]
    process = subprocess.Popen([sys.executable, "cli.py", *command, *arguments], cwd=ROOT, env=os.environ)
    wait_until(lambda: read_calls(workspace_engine), process)
    process.kill()
    process.communicate()
    assert cli.main([*command, *arguments]) == 0
    calls = read_calls(workspace_engine)
    assert [call.failure for call in calls if call.failure] == []
    assert {call.model for call in calls} == {LOCAL_MODEL}
    questions = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert questions
    assert {question["source"]["generator"] for question in questions} == {LOCAL_MODEL}
    world = assign_generated(world)
    for question in world.questions:
        save_verdict(world, make_acceptance(world, question=question))
    folder = tmp_path / "release"
    assert (
        cli.main(["release", "create", "made", "--name", "v1", "--out", str(folder), "--with-reports"]) == 0
    )
    origins = [json.loads(line) for line in (folder / "provenance.jsonl").read_text().splitlines()]
    assert {origin["question_id"] for origin in origins} == {question["id"] for question in questions}
    assert all(origin["calls"] for origin in origins)


@pytest.mark.full
@pytest.mark.parametrize("recipe", ["gemex", "rexvqa"])
def test_valid_replies_on_ten_reports_become_questions_with_phantoms(
    workspace_engine, tmp_path, recipe, capsys
):
    source = write_source(tmp_path / "source", 10)
    out = tmp_path / "questions.jsonl"
    with running_model_server(answer=answer) as server:
        add_endpoint(workspace_engine, server.url)
        assert generate(recipe, source, out, "--dataset", "made", "--images", str(source)) == 0
    with read_only_session(workspace_engine) as db:
        question_count = db.execute(select(func.count()).select_from(QuestionRow)).scalar_one()
        image_count = db.execute(select(func.count()).select_from(ImageRow)).scalar_one()
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert question_count == len(lines) > 40
    assert image_count == 2 * len({line["exam"]["id"] for line in lines})
    files = {image["file"] for line in lines for image in line["exam"]["radiographs"]}
    assert all(file.startswith("phantom-") for file in files)
    assert "Structural checks: no problems" in capsys.readouterr().out
