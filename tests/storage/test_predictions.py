"""Predictions imported from a file: all or nothing; each refusal has line and field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from domain.errors import InvalidValue, NotAllowed, NotFound
from reader_study import service as studies
from storage.audit.entries import iterate_entries
from storage.reader_study.cases import list_cases
from storage.reader_study.predictions import iterate_predictions, list_models
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_worlds import StudyWorld, make_study_world
from tests.storage.worlds import NOW

REVERSED_BOX = {"radiograph": "r", "label": "", "box": [9, 0, 1, 1]}


@pytest.fixture
def study_world(engine: Engine) -> StudyWorld:
    return make_study_world(engine, questions=6, cases=4)


def import_lines(
    study_world: StudyWorld, path: Path, lines: Sequence[object] | bytes, model: str = "m", **options: Any
):
    if isinstance(lines, bytes):
        path.write_bytes(lines)
    else:
        path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    with unit_of_work(study_world.engine) as db:
        return studies.import_predictions(
            db, by=study_world.cora, path=path, model=model, **{"study": "first", **options}, now=NOW
        )


def list_study_cases(study_world: StudyWorld):
    with read_only_session(study_world.engine) as db:
        return list_cases(db, study_id=study_world.study.id)


def test_answers_and_free_text_are_imported_with_their_parsing_rule(study_world, tmp_path):
    first, second, third = [case.blind_case.question_id for case in list_study_cases(study_world)][:3]
    outcome = import_lines(
        study_world,
        tmp_path / "m.jsonl",
        [
            {"question_id": first, "answer": "B", "seconds": 1.5},
            {"question_id": second, "raw": "Final answer: (B)"},
            {"question_id": third, "raw": "I am not sure."},
        ],
    )
    assert (outcome.predictions, outcome.failed, outcome.study_cases) == (3, 1, (3, 4))
    assert outcome.rules == {"explicit": 1, "failed": 1, "given": 1}
    with read_only_session(study_world.engine) as db:
        model = list_models(db)[0]
        predictions = list(iterate_predictions(db, model_id=model.id))
    assert (model.name, model.predictions, model.failed) == ("m", 3, 1)
    assert {(prediction.answer, prediction.rule) for prediction in predictions} == {
        ((1,), "given"),
        ((1,), "explicit"),
        (None, "failed"),
    }


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"question_id": "nowhere", "answer": "B"}, "question_id"),
        ({"answer": "B"}, "question_id"),
        ({"question_id": "Q", "answer": "Z"}, "answer"),
        ({"question_id": "Q", "answer": "A or B"}, "answer"),
        ({"question_id": "Q", "answer": [9]}, "answer"),
        ({"question_id": "Q", "answer": []}, "answer"),
        ({"question_id": "Q"}, "answer"),
        ({"question_id": "Q", "answer": "B", "model": "other"}, "model"),
        ({"question_id": "Q", "answer": "B", "secnods": 3}, "secnods"),
        ({"question_id": "Q", "answer": "B", "seconds": -1}, "seconds"),
        ({"question_id": "Q", "answer": "B", "probability": 87}, "probability"),
        ({"question_id": "Q", "answer": "B", "probability": -0.1}, "probability"),
        ({"question_id": "Q", "answer": "B", "probability": "0.9"}, "probability"),
        ({"question_id": "Q", "answer": "B", "boxes": [REVERSED_BOX]}, "boxes[0]"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_a_file_with_a_bad_line_is_refused_with_line_and_field(study_world, tmp_path, line, field):
    first_id, second_id = [case.blind_case.question_id for case in list_study_cases(study_world)][:2]
    if line.get("question_id") == "Q":
        line = line | {"question_id": second_id}
    outcome = import_lines(
        study_world, tmp_path / "m.jsonl", [{"question_id": first_id, "answer": "B"}, line]
    )
    assert [(refusal.record, refusal.field) for refusal in outcome.refusals] == [("2", field)]
    with read_only_session(study_world.engine) as db:
        assert list_models(db) == []


def test_a_stated_probability_is_stored_with_its_answer(study_world, tmp_path):
    first, second, third = [case.blind_case.question_id for case in list_study_cases(study_world)][:3]
    lines = [
        {"question_id": first, "answer": "B", "probability": 0.87},
        {"question_id": second, "answer": "B", "probability": 1},
        {"question_id": third, "answer": "B"},
    ]
    import_lines(study_world, tmp_path / "m.jsonl", lines)
    with read_only_session(study_world.engine) as db:
        [model] = list_models(db)
        stored = {prediction.probability for prediction in iterate_predictions(db, model_id=model.id)}
    assert stored == {0.87, 1.0, None}


def test_the_refusal_of_a_probability_in_per_cent_states_what_to_do(study_world, tmp_path):
    first = list_study_cases(study_world)[0].blind_case.question_id
    lines = [{"question_id": first, "answer": "B", "probability": 87}]
    [refusal] = import_lines(study_world, tmp_path / "m.jsonl", lines).refusals
    assert (refusal.file, refusal.record, refusal.field) == ("m.jsonl", "1", "probability")
    assert refusal.reason.startswith("87 must be 0 to 1")
    assert "Divide per cent by 100" in refusal.reason


@pytest.mark.slow
def test_duplicate_or_already_answered_question_is_refused(study_world, tmp_path):
    key = list_study_cases(study_world)[0].blind_case.question_id
    line = {"question_id": key, "answer": "B"}
    assert (
        "duplicate of line 1"
        in import_lines(study_world, tmp_path / "m.jsonl", [line, line]).refusals[0].reason
    )
    assert import_lines(study_world, tmp_path / "m.jsonl", [line]).predictions == 1
    refusal = import_lines(study_world, tmp_path / "m.jsonl", [line]).refusals[0]
    assert "has already answered" in refusal.reason
    assert import_lines(study_world, tmp_path / "m.jsonl", [line], model="another").predictions == 1


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n\n", b"\xff\xfe{", b"[1, 2]", b"{", b"null\n", b'{"question_id": "x"' * 500,
        b'{"question_id":' * 100_000, b'{"question_id": "a", "question_id": "b", "answer": "B"}',
        b'{"question_id": "a", "answer": NaN}', b'{"question_id": "a\\u0000", "answer": "B"}',
        b"x" * 3_000_000,
        b'{"question_id": "a", "raw": "\\ud800"}',
    ],
)  # fmt: skip
@pytest.mark.slow
def test_malicious_files_are_refused_with_a_line(study_world, tmp_path, content):
    outcome = import_lines(study_world, tmp_path / "m.jsonl", content)
    assert outcome.refused >= 1
    assert outcome.predictions == 0
    assert all(refusal.record.isdigit() and refusal.reason for refusal in outcome.refusals)


def test_import_of_predictions_is_audited(study_world, tmp_path):
    import_lines(
        study_world,
        tmp_path / "m.jsonl",
        [{"question_id": list_study_cases(study_world)[0].blind_case.question_id, "answer": "B"}],
    )
    with read_only_session(study_world.engine) as db:
        assert [row.action for row in iterate_entries(db)].count("import predictions") == 1


def test_unknown_sources_and_missing_permission_are_refused(study_world, tmp_path):
    line = [{"question_id": "x", "answer": "B"}]
    with pytest.raises(NotFound):
        import_lines(study_world, tmp_path / "m.jsonl", line, study="nowhere")
    with pytest.raises(NotFound):
        import_lines(study_world, tmp_path / "m.jsonl", line, study=None, dataset="nowhere")
    with pytest.raises(InvalidValue, match="model"):
        import_lines(study_world, tmp_path / "m.jsonl", line, model=" ")
    with pytest.raises(NotAllowed), unit_of_work(study_world.engine) as db:
        studies.import_predictions(
            db, by=study_world.people["rea"], path=tmp_path / "m.jsonl", model="m", now=NOW
        )


def write_rexrank(path, records):
    """Write the file that ReXrank writes: its input records with model_prediction, by question id."""
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")


def test_output_of_rexranks_programs_is_imported(study_world, tmp_path):
    keys = [case.question.id for case in list_study_cases(study_world)[:3]]
    replies = ["B", "The answer is C.", "I cannot tell."]
    path = tmp_path / "rexrank.json"
    write_rexrank(
        path,
        {
            key: {"question": "Which?", "options": ["A. x", "B. y"], "ImagePath": ["a.png"],
                  "model_prediction": reply}
            for key, reply in zip(keys, replies, strict=True)
        },
    )  # fmt: skip
    with unit_of_work(study_world.engine) as db:
        outcome = studies.import_predictions(
            db, by=study_world.cora, path=path, model="m", study="first", now=NOW
        )
    assert (outcome.refusals, outcome.predictions, outcome.failed) == ((), 3, 1)
    predictions = load_predictions(study_world, "m")
    assert {prediction.raw for prediction in predictions} == set(replies)
    assert sorted(str(prediction.answer) for prediction in predictions) == ["(1,)", "(2,)", "None"]


def test_record_of_rexrank_without_a_prediction_is_refused(study_world, tmp_path):
    keys = [case.question.id for case in list_study_cases(study_world)[:2]]
    path = tmp_path / "rexrank.json"
    write_rexrank(path, {keys[0]: {"model_prediction": "B"}, keys[1]: {"question": "Which?"}})
    with unit_of_work(study_world.engine) as db:
        outcome = studies.import_predictions(
            db, by=study_world.cora, path=path, model="m", study="first", now=NOW
        )
    assert [(refusal.record, refusal.field) for refusal in outcome.refusals] == [("2", "model_prediction")]
    assert outcome.predictions == 0


def load_predictions(study_world, name):
    with read_only_session(study_world.engine) as db:
        model = next(
            model for model in list_models(db, dataset_id=study_world.world.dataset_id) if model.name == name
        )
        return list(iterate_predictions(db, model_id=model.id, question_ids=range(1, 99)))
