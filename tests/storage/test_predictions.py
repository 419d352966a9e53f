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

BACKWARDS = {"radiograph": "r", "label": "", "box": [9, 0, 1, 1]}


@pytest.fixture
def made(engine: Engine) -> StudyWorld:
    return make_study_world(engine, questions=6, cases=4)


def take(made: StudyWorld, path: Path, lines: Sequence[object] | bytes, model: str = "m", **more: Any):
    if isinstance(lines, bytes):
        path.write_bytes(lines)
    else:
        path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    with unit_of_work(made.engine) as db:
        return studies.import_predictions(
            db, by=made.cora, path=path, model=model, **{"study": "first", **more}, now=NOW
        )


def cases(made: StudyWorld):
    with read_only_session(made.engine) as db:
        return list_cases(db, study_id=made.study.id)


def test_answers_and_free_text_come_in_with_the_rule_that_read_them(made, tmp_path):
    first, second, third = [case.blind_case.question_id for case in cases(made)][:3]
    outcome = take(
        made,
        tmp_path / "m.jsonl",
        [
            {"question_id": first, "answer": "B", "seconds": 1.5},
            {"question_id": second, "raw": "Final answer: (B)"},
            {"question_id": third, "raw": "I am not sure."},
        ],
    )
    assert (outcome.predictions, outcome.failed, outcome.study_cases) == (3, 1, (3, 4))
    assert outcome.rules == {"explicit": 1, "failed": 1, "given": 1}
    with read_only_session(made.engine) as db:
        model = list_models(db)[0]
        kept = list(iterate_predictions(db, model_id=model.id))
    assert (model.name, model.predictions, model.failed) == ("m", 3, 1)
    assert {(each.answer, each.rule) for each in kept} == {
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
        ({"question_id": "Q", "answer": "B", "boxes": [BACKWARDS]}, "boxes[0]"),
    ],
)  # fmt: skip
def test_one_bad_line_refuses_the_file_and_names_line_and_field(made, tmp_path, line, field):
    one, two = [case.blind_case.question_id for case in cases(made)][:2]
    if line.get("question_id") == "Q":
        line = line | {"question_id": two}
    outcome = take(made, tmp_path / "m.jsonl", [{"question_id": one, "answer": "B"}, line])
    assert [(each.record, each.field) for each in outcome.refusals] == [("2", field)]
    with read_only_session(made.engine) as db:
        assert list_models(db) == []


def test_a_question_twice_in_a_file_or_answered_before_is_refused(made, tmp_path):
    key = cases(made)[0].blind_case.question_id
    line = {"question_id": key, "answer": "B"}
    assert "line 1 already" in take(made, tmp_path / "m.jsonl", [line, line]).refusals[0].reason
    assert take(made, tmp_path / "m.jsonl", [line]).predictions == 1
    assert "before" in take(made, tmp_path / "m.jsonl", [line]).refusals[0].reason
    assert take(made, tmp_path / "m.jsonl", [line], model="another").predictions == 1


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
def test_files_made_to_do_harm_are_refused_with_a_line(made, tmp_path, content):
    outcome = take(made, tmp_path / "m.jsonl", content)
    assert outcome.refused >= 1
    assert outcome.predictions == 0
    assert all(each.record.isdigit() and each.reason for each in outcome.refusals)


def test_what_came_in_is_on_record(made, tmp_path):
    take(made, tmp_path / "m.jsonl", [{"question_id": cases(made)[0].blind_case.question_id, "answer": "B"}])
    with read_only_session(made.engine) as db:
        assert [row.what for row in iterate_entries(db)].count("import predictions") == 1


def test_unknown_places_and_people_without_the_right_are_refused(made, tmp_path):
    line = [{"question_id": "x", "answer": "B"}]
    with pytest.raises(NotFound):
        take(made, tmp_path / "m.jsonl", line, study="nowhere")
    with pytest.raises(NotFound):
        take(made, tmp_path / "m.jsonl", line, study=None, dataset="nowhere")
    with pytest.raises(InvalidValue, match="model"):
        take(made, tmp_path / "m.jsonl", line, model=" ")
    with pytest.raises(NotAllowed), unit_of_work(made.engine) as db:
        studies.import_predictions(db, by=made.people["rea"], path=tmp_path / "m.jsonl", model="m", now=NOW)
