"""The origin of a question: imported, shown in the history, released, and searched for patient data."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

import cli
from accounts.service import command_line_person
from browsing.service import load_history
from domain.provenance import CallReference, Evidence, EvidenceKind, Provenance
from privacy.service import find_hits
from records.questions import REVEALING_FIELDS
from release.splits import SplitPlan
from storage.intake.provenance import load_provenances
from storage.rows.datasets import QuestionProvenanceRow, QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.golden.release_world import make_judged_world, write_test_release
from tests.storage.import_worlds import Importer, make_record, to_json_lines

BY = command_line_person()
SENTENCE = "No pneumothorax."
PROVENANCE = Provenance(
    source="openi-csv",
    record="CXR1",
    evidence=(
        Evidence(kind=EvidenceKind.SENTENCE, text=SENTENCE, finding="pneumothorax", present=False),
        Evidence(kind=EvidenceKind.CODE, text="Cardiomegaly/mild", finding="cardiomegaly", present=True),
        Evidence(kind=EvidenceKind.SENTENCE, text="The heart is enlarged.", region="cardiac silhouette"),
    ),
    calls=(
        CallReference(
            stage="questions",
            prompt="gemex-questions@2",
            model="qwen3-vl",
            run="gemex-1",
            request="CXR1",
            key="ab" * 32,
        ),
    ),
)
RECORD = {
    "record": "CXR1",
    "source": "openi-csv",
    "evidence": [
        {"kind": "sentence", "text": SENTENCE, "finding": "pneumothorax", "present": False},
        {"kind": "code", "text": "Cardiomegaly/mild", "finding": "cardiomegaly", "present": True},
        {"kind": "sentence", "text": "The heart is enlarged.", "region": "cardiac silhouette"},
    ],
    "calls": [
        {
            "stage": "questions",
            "prompt": "gemex-questions@2",
            "model": "qwen3-vl",
            "run": "gemex-1",
            "request": "CXR1",
            "key": "ab" * 32,
        }
    ],
}


@pytest.fixture
def importer(engine, tmp_path):
    return Importer(engine, tmp_path)


def load_all(engine):
    with read_only_session(engine) as db:
        keys = dict(db.execute(select(QuestionRow.id, QuestionRow.key)).all())
        return {
            keys[number]: provenance
            for number, provenance in load_provenances(db.connection(), question_ids=list(keys)).items()
        }


def test_an_import_stores_the_origin_of_questions_that_state_an_origin(importer):
    # q-3 is read individually, because it is a closed question
    closed = {"format": "closed", "options": ..., "answer": "no", "task": ...}
    importer(
        to_json_lines(
            make_record(1, provenance=RECORD),
            make_record(2),
            make_record(3, provenance={"record": "CXR3"}, **closed),
        )
    )
    assert load_all(importer.engine) == {"q-1": PROVENANCE, "q-3": Provenance(record="CXR3")}


def test_a_refused_question_does_not_shift_the_origins_of_other_questions(importer):
    importer(
        to_json_lines(
            make_record(1, provenance=RECORD, answer=[9]),
            make_record(2, provenance={"record": "CXR2"}),
        ),
        skip_bad=True,
    )
    assert load_all(importer.engine) == {"q-2": Provenance(record="CXR2")}


@pytest.mark.parametrize(
    ("provenance", "field"),
    [
        ({"source": "openi-csv"}, "provenance"),
        ({"record": "CXR1", "reader": "somebody"}, "provenance"),
        ({"record": "CXR1", "evidence": [{"kind": "rumour"}]}, "provenance.evidence"),
    ],
)
def test_an_origin_with_a_missing_unknown_or_wrong_field_is_refused(importer, provenance, field):
    (refusal,) = importer.refused(to_json_lines(make_record(1, provenance=provenance))).refusals
    assert refusal.field.startswith(field)


def test_an_origin_cannot_be_changed(importer):
    importer(to_json_lines(make_record(1, provenance=RECORD)))
    for statement in ("UPDATE question_provenance SET content = '{}'", "DELETE FROM question_provenance"):
        with pytest.raises(DBAPIError, match="append-only"), importer.engine.begin() as connection:
            connection.execute(text(statement))


def test_the_history_and_its_command_state_the_origin(workspace_engine, tmp_path, capsys):
    Importer(workspace_engine, tmp_path)(to_json_lines(make_record(1, provenance=RECORD)))
    with read_only_session(workspace_engine) as db:
        assert load_history(db, by=BY, question_row_id=1).provenance == PROVENANCE
    assert cli.main(["history", "d", "q-1"]) == 0
    output = capsys.readouterr().out
    assert "written from record CXR1 of openi-csv" in output
    assert f"sentence: {SENTENCE} → pneumothorax absent" in output
    assert "code: Cardiomegaly/mild → cardiomegaly present" in output
    assert "sentence: The heart is enlarged. → cardiac silhouette" in output
    assert "questions, prompt gemex-questions@2, model qwen3-vl, run gemex-1, request CXR1" in output


# ------------------------------------------------------------------------------------------------- releases
@pytest.fixture
def judged_world(sqlite_engine):
    world = make_judged_world(sqlite_engine)
    content = json.dumps(RECORD)
    with unit_of_work(sqlite_engine) as db:
        db.add_all(QuestionProvenanceRow(question_id=number, content=content) for number in (1, 2, 4))
    return world


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_release_has_the_origin_of_each_question_with_its_verdicts(judged_world, tmp_path):
    write_test_release(judged_world, tmp_path / "v1", with_reports=True)
    first, second = read_lines(tmp_path / "v1" / "provenance.jsonl")  # question 4 is rejected
    assert {name: first[name] for name in RECORD} == RECORD
    assert [verdict["decision"] for verdict in first["verdicts"]] == ["accept"]
    assert [verdict["errors"] for verdict in second["verdicts"]] == [["wrong key", "wording"]]
    manifest = json.loads((tmp_path / "v1" / "manifest.json").read_text(encoding="utf-8"))
    assert "provenance.jsonl" in {entry["path"] for entry in manifest["files"]}


def test_a_release_without_reports_has_no_sentence_of_a_report(judged_world, tmp_path):
    write_test_release(judged_world, tmp_path / "v1")
    first = read_lines(tmp_path / "v1" / "provenance.jsonl")[0]
    assert first["evidence"] == [
        {"kind": "sentence", "finding": "pneumothorax", "present": False},
        {"kind": "code", "text": "Cardiomegaly/mild", "finding": "cardiomegaly", "present": True},
        {"kind": "sentence", "region": "cardiac silhouette"},
    ]
    for path in (tmp_path / "v1").rglob("*"):
        assert path.is_dir() or SENTENCE.encode() not in path.read_bytes()


def test_the_origin_of_a_private_question_is_with_its_key(judged_world, tmp_path):
    with unit_of_work(judged_world.engine) as db:
        db.add(QuestionProvenanceRow(question_id=3, content=json.dumps(RECORD)))
    write_test_release(
        judged_world, tmp_path / "v1", with_reports=True, split=SplitPlan(private_share=0.5, seed=1)
    )
    private_ids = {line["id"] for line in read_lines(tmp_path / "v1" / "private" / "questions.jsonl")}
    public_ids = {line["question_id"] for line in read_lines(tmp_path / "v1" / "provenance.jsonl")}
    key_ids = {line["question_id"] for line in read_lines(tmp_path / "v1-keys" / "provenance.jsonl")}
    assert key_ids
    assert key_ids <= private_ids
    assert not public_ids & private_ids
    assert "provenance" in REVEALING_FIELDS


def test_a_release_without_origins_has_no_provenance_file(sqlite_engine, tmp_path):
    write_test_release(make_judged_world(sqlite_engine), tmp_path / "v1")
    assert not (tmp_path / "v1" / "provenance.jsonl").exists()


# --------------------------------------------------------------------------------------------- patient data
def test_patient_data_in_an_origin_is_found_once(importer):
    """A sentence of the report is searched only in the report, a bullet in the origin."""
    dated_sentence = "Compared with 12 March 2019, the effusion is larger."
    evidence = [
        {"kind": "sentence", "text": dated_sentence},
        {"kind": "bullet", "text": "Seen by Dr. Sarah Miller on 14 May 2018."},
    ]
    importer(
        to_json_lines(
            make_record(1, report=dated_sentence, provenance={"record": "CXR1", "evidence": evidence})
        )
    )
    workspace = Workspace(home=importer.folder, database_url="")
    with read_only_session(importer.engine) as db:
        result = find_hits(db, by=BY, dataset="d", workspace=workspace)
    assert {hit.field for _, hit in result.hits} == {"report", "provenance 2"}
