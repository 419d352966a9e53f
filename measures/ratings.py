"""Ratings as they come in: a long table, one answer a row, checked line by line and turned into codes.

Columns: ``question_id, rater, answer`` and, where known, ``kind`` (reader, model, reference), ``task``,
``category``, ``exam``, ``n_options``, ``arm``, and ``correct`` (yes or no, where a key admits several
answers; without it an answer is right when it is the reference's), ``set_reference`` (yes of a
reader who helped to set the reference). An empty answer is missing; ``?`` is
"cannot determine"; several ticks are joined by ``|`` in any order.

Of ``arm``: ``training`` leaves every n; ``repeat`` counts only against the same rater's first answer. A rater
with answers in several other arms is taken as one rater an arm, named "name (arm)".
"""

from __future__ import annotations

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
    """The table with every known column as text without blanks around it; index = line of the file.

    Raises:
        Refused: a column or value that cannot be; names the line (the first row is line 2) and the field.
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
    """An answer with its ticks in one order, each once.

    >>> canonical("C | A")
    'A|C'
    """
    if "|" not in answer:
        return answer
    return "|".join(sorted({tick.strip() for tick in answer.split("|")} - {""}))


def repeats(table: pd.DataFrame) -> pd.DataFrame:
    """The hidden repeats, each with the same rater's first answer.

    Args:
        table: as :func:`checked` returns it.

    Returns:
        Columns question_id, task, exam, rater, first, again; pairs with an empty answer are left out.
    """
    first = table[~table["arm"].isin([TRAINING, REPEAT])].drop_duplicates(["question_id", "rater"])
    again = table[table["arm"] == REPEAT]
    both = again.merge(first, on=["question_id", "rater"], suffixes=("_again", ""))
    both = both[(both["answer"] != "") & (both["answer_again"] != "")]
    both = both.rename(columns={"answer": "first", "answer_again": "again"})
    return both[["question_id", "task", "exam", "rater", "first", "again"]]


def scale(labels: Iterable[str]) -> list[float]:
    """The values of ordered answers: numbers stand for themselves, single letters for their order.

    Args:
        labels: the answers.

    Returns:
        One value per answer, in the same order.

    Raises:
        Refused: answers without an order of their own; the message names some.

    >>> scale(["2", "10"])
    [2.0, 10.0]
    >>> scale(["A", "c"])
    [65.0, 67.0]
    """
    names = list(labels)
    try:
        return [float(name) for name in names]
    except ValueError:
        if all(len(name) == 1 and name.isascii() and name.isalpha() for name in names):
            return [float(ord(name.upper())) for name in names]
    shown = ", ".join(names[:5])
    raise Refused(
        f"answer: weights need answers with an order, numbers or single letters; found {shown}. "
        "Write the steps of the scale as numbers, or leave --weights out."
    )


def _text(column: pd.Series) -> pd.Series:
    """A column as text; each distinct value is looked at once, since answers and raters repeat."""
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")  # whole numbers that a gap made floats: "3.0" was "3" in the file
    number, distinct = pd.factorize(column)
    told = np.array([*(str(value).strip() for value in distinct), ""], dtype=object)
    return pd.Series(told[number], index=column.index, dtype=object)


def _refuse(bad: pd.Series, field: str, reason: str, table: pd.DataFrame) -> None:
    """Refuse the table where ``bad`` is true, with the first three lines."""
    if not bad.any():
        return
    lines = [f"line {line}: {field} {table.at[line, field]!r}: {reason}" for line in table.index[bad][:3]]
    more = int(bad.sum()) - len(lines)
    raise Refused("\n".join([*lines, *([f"… and {more:,} more such lines"] if more else [])]))
