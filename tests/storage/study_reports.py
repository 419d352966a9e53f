"""A study's report for tests: imported predictions, scored cases, the report, and one of its records."""

from __future__ import annotations

import json
from typing import Any

from reader_study import service as studies
from storage.reader_study.cases import list_cases
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_worlds import StudyWorld
from tests.storage.worlds import NOW


def predict(made: StudyWorld, tmp_path, said: dict[str, dict[str, Any]], model: str = "m") -> None:
    path = tmp_path / f"{model}.jsonl"
    path.write_text("\n".join(json.dumps({"question_id": key} | value) for key, value in said.items()))
    with unit_of_work(made.engine) as db:
        outcome = studies.import_predictions(db, by=made.cora, path=path, model=model, study="first", now=NOW)
    assert outcome.refusals == ()


def scored(made: StudyWorld):
    with read_only_session(made.engine) as db:
        return [case for case in list_cases(db, study_id=made.study.id) if case.scored]


def report(made: StudyWorld, model: str | None = None):
    with read_only_session(made.engine) as db:
        return studies.load_or_compute_report(db, by=made.cora, study="first", model=model)


def of(results, **wanted):
    (found,) = [
        each for each in results if all(getattr(each, name) == value for name, value in wanted.items())
    ]
    return found
