"""Small tables of ratings for the tests of measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pandas as pd

from measures.all_measures import Measures, compute_measures
from measures.records.settings import Settings

Result = TypeVar("Result")
#: Without resampling, for tests that need no intervals and should be quick.
NO_BOOTSTRAP = Settings(bootstrap=0)


def make_ratings(answers: dict[str, str], **extra_columns: dict[str, str] | str) -> pd.DataFrame:
    """Return one row per answer; ``answers``: rater -> answers to q1, q2, … in one string, blank for missing.

    The rater ``ref`` is the reference; raters whose name begins with m are models. ``extra_columns``: a
    string with one character per question, common to all raters or one for each rater.
    """
    rows = []
    for rater, answers_of_rater in answers.items():
        kind = "reference" if rater == "ref" else "model" if rater.startswith("m") else "reader"
        for index, answer in enumerate(answers_of_rater):
            row = {"question_id": f"q{index + 1}", "rater": rater, "answer": answer.strip(), "kind": kind}
            for name, values in extra_columns.items():
                row[name] = (values[rater] if isinstance(values, dict) else values)[index].strip()
            rows.append(row)
    return pd.DataFrame(rows)


def measure_answers(
    answers: dict[str, str], settings: Settings = NO_BOOTSTRAP, **extra_columns: dict[str, str] | str
) -> Measures:
    """Return the measures of the table that ``make_ratings`` makes."""
    return compute_measures(make_ratings(answers, **extra_columns), settings=settings)


def find_only(results: Sequence[Result], **criteria: object) -> Result:
    """The one result with these values."""
    (match,) = [
        result
        for result in results
        if all(getattr(result, name) == value for name, value in criteria.items())
    ]
    return match
