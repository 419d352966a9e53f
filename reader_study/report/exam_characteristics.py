"""Counts the analysed exams of a study by sex and age, as far as their files state them."""

from __future__ import annotations

from collections import Counter

from domain.compliance import NOT_STATED, group_age
from domain.vocabulary import Sex
from reader_study.report.report_data import ReportData
from reader_study.report.tables import ExamCharacteristic

_SEXES = {sex.value: sex.name.lower() for sex in Sex}


def count_exam_characteristics(data: ReportData) -> tuple[ExamCharacteristic, ...]:
    """Count the exams of the scored cases that are not excluded for all raters.

    A characteristic that no exam states has no rows.
    """
    exams = {
        case.blind_case.exam_row_id
        for case in data.cases
        if case.scored and not data.is_excluded(case_id=case.blind_case.id, reader_id=None)
    }
    demographics = [data.demographics.get(exam, (None, None)) for exam in exams]
    values = {
        "sex": [_SEXES.get(sex or "", NOT_STATED) for sex, _ in demographics],
        "age": [group_age(age or "") for _, age in demographics],
    }
    return tuple(
        ExamCharacteristic(
            characteristic=name, value=value, exams=count, n=len(exams), share=count / len(exams)
        )
        for name, exam_values in values.items()
        if set(exam_values) - {NOT_STATED}
        for value, count in sorted(Counter(exam_values).items(), key=lambda item: _sort_key(item[0]))
    )


def _sort_key(value: str) -> tuple[bool, bool, str]:
    """Return a sort key: age groups from the youngest to the oldest, then "not stated"."""
    return value == NOT_STATED, not value.startswith("under"), value
