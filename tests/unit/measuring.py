"""Small tables of ratings for the tests of measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pandas as pd

from measures.all_measures import Measures, compute_measures
from measures.records.settings import Settings

Result = TypeVar("Result")
#: Without resampling, for tests that need no intervals and should be quick.
PLAIN = Settings(bootstrap=0)


def ratings(answers: dict[str, str], **more: dict[str, str] | str) -> pd.DataFrame:
    """One row per answer: rater -> answers of q1, q2, … in one string, blank for missing; ``kind`` by name.

    ``ref`` is the reference, names with m are models. Other columns: one string of values, one character per
    question.
    """
    rows = []
    for rater, given in answers.items():
        kind = "reference" if rater == "ref" else "model" if rater.startswith("m") else "reader"
        for at, answer in enumerate(given):
            row = {"question_id": f"q{at + 1}", "rater": rater, "answer": answer.strip(), "kind": kind}
            for name, values in more.items():
                row[name] = (values[rater] if isinstance(values, dict) else values)[at].strip()
            rows.append(row)
    return pd.DataFrame(rows)


def measured(answers: dict[str, str], settings: Settings = PLAIN, **more: dict[str, str] | str) -> Measures:
    """The measures of such a table."""
    return compute_measures(ratings(answers, **more), settings=settings)


def only(results: Sequence[Result], **wanted: object) -> Result:
    """The one result with these values."""
    (found,) = [
        each for each in results if all(getattr(each, name) == value for name, value in wanted.items())
    ]
    return found
