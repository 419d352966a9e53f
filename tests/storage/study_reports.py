"""A study's report for tests: imported predictions, scored cases, the report, and one of its records."""

from __future__ import annotations

import json
from typing import Any

from reader_study import service as studies
from storage.reader_study.cases import list_cases
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_worlds import StudyWorld
from tests.storage.worlds import NOW


def import_model_answers(
    study_world: StudyWorld, tmp_path, answers: dict[str, dict[str, Any]], model: str = "m"
) -> None:
    path = tmp_path / f"{model}.jsonl"
    path.write_text("\n".join(json.dumps({"question_id": key} | value) for key, value in answers.items()))
    with unit_of_work(study_world.engine) as db:
        outcome = studies.import_predictions(
            db, by=study_world.cora, path=path, model=model, study="first", now=NOW
        )
    assert outcome.refusals == ()


def list_scored_cases(study_world: StudyWorld):
    with read_only_session(study_world.engine) as db:
        return [case for case in list_cases(db, study_id=study_world.study.id) if case.scored]


def load_report(study_world: StudyWorld, model: str | None = None):
    with read_only_session(study_world.engine) as db:
        return studies.load_or_compute_report(db, by=study_world.cora, study="first", model=model)


def find_result(results, **attributes):
    (match,) = [
        result
        for result in results
        if all(getattr(result, name) == value for name, value in attributes.items())
    ]
    return match
