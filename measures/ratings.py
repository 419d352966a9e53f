"""Ratings as they are read from a file: a long table with one answer per row, checked row by row.

Columns: ``question_id``, ``rater``, ``answer`` and, if known, ``kind`` (reader, model, reference), ``task``,
``category``, ``exam``, ``n_options``, ``arm``, ``correct`` (yes or no, for keys that admit several answers;
without it an answer is correct if it equals the reference's) and ``set_reference`` (yes for a reader who
helped to set the reference). An empty answer is missing, ``?`` is "cannot determine", several ticks are
joined by ``|`` in any order.

Rows with ``arm`` "training" count nowhere; rows with "repeat" are only compared with the same rater's first
answer. A rater with answers in several other arms becomes one rater per arm, named "name (arm)".
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from domain.errors import Refused

NEEDED = ("question_id", "rater", "answer")
KNOWN = ("kind", "task", "category", "exam", "n_options", "arm", "correct", "set_reference")
KINDS = ("reader", "model", "reference")
UNDETERMINED, ALL, TRAINING, REPEAT = "?", "all", "training", "repeat"
YES, NO = ("1", "true", "yes"), ("0", "false", "no")


def checked(ratings: pd.DataFrame) -> pd.DataFrame:
    """Check a table of ratings and bring its values to one form.

    Args:
        ratings: one answer per row; a column ``line`` gives the line of the file that the row began on.

    Returns:
        Every known column as stripped text, "" if missing, with ticks in one order; the index is the line of
        the file (the first row is line 2 without a column ``line``). Unknown columns are left out.

    Raises:
        Refused: a needed column is missing, there is no row, a value is not allowed, or a rater answered a
            question twice in an arm; names the first lines and the field.
    """
    missing = [name for name in NEEDED if name not in ratings.columns]
    if missing:
        raise Refused(
            f"line 1: no column {', '.join(missing)}. Needed are {', '.join(NEEDED)}; "
            f"known are {', '.join(KNOWN)}."
        )
    if not len(ratings):
        raise Refused("line 2: no rating. The first line names the columns; one rating a line follows.")
    names = [*NEEDED, *(name for name in KNOWN if name in ratings.columns)]
    table = pd.DataFrame({name: _text(ratings[name]) for name in names})
    for name in KNOWN:
        if name not in table:
            table[name] = ""
    if "line" in ratings.columns:
        table.index = pd.Index(ratings["line"].astype(int))
    else:
        table.index = pd.RangeIndex(2, 2 + len(table))
    _refuse(table["question_id"] == "", "question_id", "is empty", table)
    _refuse(table["rater"] == "", "rater", "is empty", table)
    table["kind"] = table["kind"].str.lower()
    _refuse(~table["kind"].isin(["", *KINDS]), "kind", f"must be {', '.join(KINDS)} or empty", table)
    _refuse(table["task"] == ALL, "task", f'"{ALL}" is kept for all tasks together', table)
    options = table["n_options"].str.replace(r"\.0$", "", regex=True)
    table["n_options"] = options
    whole = options.str.fullmatch(r"[0-9]{1,4}") & ~options.isin(["0", "1"])
    _refuse((options != "") & ~whole, "n_options", "must be a whole number of 2 or more, or empty", table)
    table["correct"] = table["correct"].str.lower()
    _refuse(~table["correct"].isin(["", *YES, *NO]), "correct", "must be yes, no or empty", table)
    table["answer"] = table["answer"].map({answer: canonical(answer) for answer in table["answer"].unique()})
    mixed = table["answer"].map(lambda answer: "|" in answer and UNDETERMINED in answer.split("|"))
    _refuse(mixed, "answer", '"?" (cannot determine) cannot be ticked together with an answer', table)
    table["set_reference"] = table["set_reference"].str.lower()
    told = table["set_reference"].isin(["", *YES, *NO])
    _refuse(~told, "set_reference", "must be yes, no or empty", table)
    _refuse((table["answer"] == "") & (table["correct"] != ""), "correct", "is stated of no answer", table)
    twice = table.duplicated(["question_id", "rater", "arm"])
    _refuse(twice, "question_id", "this rater answered this question on an earlier line", table)
    return table


def canonical(answer: str) -> str:
    """An answer with its ticks sorted as text, each once; an answer without "|" is unchanged.

    Args:
        answer: one answer, or several joined by "|".

    >>> canonical("C | A")
    'A|C'
    """
    if "|" not in answer:
        return answer
    return "|".join(sorted({tick.strip() for tick in answer.split("|")} - {""}))


def repeats(table: pd.DataFrame) -> pd.DataFrame:
    """The hidden repeats, each paired with the same rater's first answer.

    Args:
        table: as :func:`checked` returns it.

    Returns:
        Columns question_id, task, exam, rater, first, again; one row per pair. Pairs with an empty answer are
        left out.
    """
    first = table[~table["arm"].isin([TRAINING, REPEAT])].drop_duplicates(["question_id", "rater"])
    again = table[table["arm"] == REPEAT]
    both = again.merge(first, on=["question_id", "rater"], suffixes=("_again", ""))
    both = both[(both["answer"] != "") & (both["answer_again"] != "")]
    both = both.rename(columns={"answer": "first", "answer_again": "again"})
    return both[["question_id", "task", "exam", "rater", "first", "again"]]


def scale(labels: Iterable[str]) -> list[float]:
    """The positions of ordered answers on a scale: the value of a number, the alphabetical place of a letter.

    Args:
        labels: the answers, without "cannot determine".

    Returns:
        One value per answer, in the same order.

    Raises:
        Refused: the answers are neither all finite numbers nor all single letters; the message names some.

    >>> scale(["2", "10"])
    [2.0, 10.0]
    >>> scale(["A", "c"])
    [65.0, 67.0]
    """
    names = list(labels)
    try:
        values = [float(name) for name in names]
    except ValueError:
        values = [math.nan]
    if all(math.isfinite(value) for value in values):
        return values
    if all(len(name) == 1 and name.isascii() and name.isalpha() for name in names):
        return [float(ord(name.upper())) for name in names]
    shown = ", ".join(names[:5])
    raise Refused(
        f"answer: weights need answers with an order, numbers or single letters; found {shown}. "
        "Write the steps of the scale as numbers, or leave --weights out."
    )


def _text(column: pd.Series) -> pd.Series:
    """A column as text; each distinct value is converted once, since answers and raters repeat."""
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")  # whole numbers that a gap made floats: "3.0" was "3" in the file
    number, distinct = pd.factorize(column)
    told = np.array([*(str(value).strip() for value in distinct), ""], dtype=object)
    return pd.Series(told[number], index=column.index, dtype=object)


def _refuse(bad: pd.Series, field: str, reason: str, table: pd.DataFrame) -> None:
    """Raise :class:`Refused` with the first three lines where ``bad`` is true, if there is any."""
    if not bad.any():
        return
    lines = [f"line {line}: {field} {table.at[line, field]!r}: {reason}" for line in table.index[bad][:3]]
    more = int(bad.sum()) - len(lines)
    raise Refused("\n".join([*lines, *([f"… and {more:,} more such lines"] if more else [])]))
