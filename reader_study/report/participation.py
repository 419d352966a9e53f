"""Counts the cases assigned to each rater, and the answers that are missing, excluded and analysed."""

from __future__ import annotations

from collections import Counter

from domain.protocols import CannotDetermineRule
from domain.readings import Reading
from reader_study.report.report_data import ReportData
from reader_study.report.tables import Participation


def count_participation(data: ReportData) -> tuple[Participation, ...]:
    """Count the scored cases of each rater: assigned, without an answer, excluded, and analysed.

    A reader with imported readings is assigned all cases, once for each arm that the readings name.
    """
    return (*_count_readers(data), *_count_models(data))


def _count_readers(data: ReportData) -> list[Participation]:
    scored_case_ids = {case.blind_case.id for case in data.cases if case.scored}
    excludes_undetermined = data.versions[-1].protocol.cannot_determine is CannotDetermineRule.EXCLUDED
    assigned = Counter(
        slot.reader_id for slot in data.slots if slot.case_id in scored_case_ids and not slot.repeat
    )
    readings_by_reader: dict[int, list[Reading]] = {reader.id: [] for reader in data.readers}
    for reading in data.readings:
        if reading.key.case_id in scored_case_ids and not reading.key.repeat:
            readings_by_reader[reading.key.reader_id].append(reading)
    rows = []
    for reader in data.readers:
        readings = readings_by_reader[reader.id]
        n_arms = len({reading.key.arm for reading in readings}) or 1
        n_assigned = assigned[reader.id] or len(scored_case_ids) * n_arms
        n_excluded = sum(
            data.is_excluded(case_id=reading.key.case_id, reader_id=reader.id) for reading in readings
        )
        included = [
            reading
            for reading in readings
            if not data.is_excluded(case_id=reading.key.case_id, reader_id=reader.id)
        ]
        only_reported = sum(reading.unanswered for reading in included)
        undetermined = sum(reading.cannot_determine for reading in included)
        not_analysed = only_reported + (undetermined if excludes_undetermined else 0)
        rows.append(
            Participation(
                rater=reader.name, kind="reader", assigned=n_assigned, missing=n_assigned - len(readings),
                excluded=n_excluded, only_reported=only_reported, undetermined=undetermined, failed=0,
                analysed=len(included) - not_analysed,
            )
        )  # fmt: skip
    return rows


def _count_models(data: ReportData) -> list[Participation]:
    scored_cases = [case.blind_case for case in data.cases if case.scored]
    excluded_questions = {
        case.question_row_id for case in scored_cases if data.is_excluded(case_id=case.id, reader_id=None)
    }
    rows = []
    for model in data.models:
        predictions = [
            model.predictions[case.question_row_id]
            for case in scored_cases
            if case.question_row_id in model.predictions
        ]
        included = [
            prediction for prediction in predictions if prediction.question_row_id not in excluded_questions
        ]
        rows.append(
            Participation(
                rater=model.name, kind="model", assigned=len(scored_cases),
                missing=len(scored_cases) - len(predictions), excluded=len(predictions) - len(included),
                only_reported=0, undetermined=0,
                failed=sum(prediction.failed for prediction in included), analysed=len(included),
            )
        )  # fmt: skip
    return rows
