"""Checks ratings that were read from a file: a long table with one answer per row.

The columns are ``question_id``, ``rater``, ``answer`` and, optionally, ``kind`` (reader, model, reference),
``task``, ``category``, ``exam``, ``patient``, ``n_options``, ``arm``, ``period`` (of a crossover),
``correct`` (yes or no, for keys that allow several answers; if empty, an answer is correct if it equals the
reference's), ``set_reference`` (yes for a reader who helped to set the reference), ``score`` (a number that
is higher if the positive answer is more likely), ``probability`` (the rater's stated probability, 0 to 1,
that the answer is correct) and ``selected`` (yes for an answer that was requested because of another rater's
answer, such as a second opinion on reported errors). An empty answer is missing, ``?`` is "cannot determine",
and several selected options are joined by ``|`` in any order.

Rows with ``arm`` "training" are not used. Rows with "repeat" are only compared with the same rater's first
answer. A rater with answers in several other arms becomes one rater per arm, named "name (arm)".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from domain.errors import Refused
from measures.rating_values import ALL, NO, NOT_MARKED, REPEAT, TRAINING, UNDETERMINED, YES

REQUIRED_COLUMNS = ("question_id", "rater", "answer")
OPTIONAL_COLUMNS = (
    "kind", "task", "category", "exam", "patient", "n_options", "arm", "period", "correct", "set_reference",
    "score", "probability", "selected",
)  # fmt: skip
KINDS = ("reader", "model", "reference")
_NUMBER_OF_OPTIONS = re.compile(r"(?!0$|1$)[0-9]{1,4}")


def check_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Check a table of ratings and normalise its values.

    Args:
        ratings: one answer per row. A column ``line`` states the line of the file where the row begins.

    Returns:
        All known columns as stripped text ("" if missing; selected options sorted). A column ``cluster`` is
        added: the patient, else the exam, else "". The index is the line of the
        file; without a column ``line``, the first row is line 2. Unknown columns are left out.

    Raises:
        Refused: a required column is missing, there is no row, a value is not allowed, or a rater answered a
            question twice in an arm. The message contains the first such lines and the field.
    """
    missing = [name for name in REQUIRED_COLUMNS if name not in ratings.columns]
    if missing:
        raise Refused(
            f"line 1: no column {', '.join(missing)}. Required columns: {', '.join(REQUIRED_COLUMNS)}; "
            f"optional: {', '.join(OPTIONAL_COLUMNS)}."
        )
    if not len(ratings):
        raise Refused(
            "line 2: there are no ratings. After the line of column names, each line is one rating."
        )
    names = [*REQUIRED_COLUMNS, *(name for name in OPTIONAL_COLUMNS if name in ratings.columns)]
    table = pd.DataFrame({name: _to_text(ratings[name]) for name in names}, copy=False)
    for name in OPTIONAL_COLUMNS:
        if name not in table:
            table[name] = ""
    if "line" in ratings.columns:
        table.index = pd.Index(ratings["line"].astype(int))
    else:
        table.index = pd.RangeIndex(2, 2 + len(table))
    _refuse_where(table["question_id"] == "", "question_id", "is empty", table)
    _refuse_where(table["rater"] == "", "rater", "is empty", table)
    table["kind"] = _map_distinct(table["kind"], str.lower)
    _refuse_where(~table["kind"].isin(["", *KINDS]), "kind", f"must be {', '.join(KINDS)} or empty", table)
    _refuse_where(table["task"] == ALL, "task", f'"{ALL}" is reserved for all tasks together', table)
    options = _map_distinct(table["n_options"], lambda text: text.removesuffix(".0"))
    table["n_options"] = options
    is_integer = options.isin([text for text in options.unique() if _NUMBER_OF_OPTIONS.fullmatch(text)])
    _refuse_where(
        (options != "") & ~is_integer, "n_options", "must be an integer of 2 or more, or empty", table
    )
    table["correct"] = _map_distinct(table["correct"], str.lower)
    _refuse_where(
        ~table["correct"].isin(["", NOT_MARKED, *YES, *NO]),
        "correct",
        f"must be yes, no, “{NOT_MARKED}” or empty",
        table,
    )
    table["answer"] = _map_distinct(table["answer"], canonical_answer)
    is_mixed = table["answer"].isin(
        [text for text in table["answer"].unique() if "|" in text and UNDETERMINED in text.split("|")]
    )
    _refuse_where(
        is_mixed, "answer", '"?" (cannot determine) cannot be selected together with an answer', table
    )
    for name in ("set_reference", "selected"):
        table[name] = _map_distinct(table[name], str.lower)
        _refuse_where(~table[name].isin(["", *YES, *NO]), name, "must be yes, no or empty", table)
    _refuse_where(
        (table["answer"] == "") & ~table["correct"].isin(["", NOT_MARKED]),
        "correct",
        "must be empty if there is no answer",
        table,
    )
    is_duplicate = table.duplicated(["question_id", "rater", "arm"])
    _refuse_where(is_duplicate, "question_id", "this rater answered this question on an earlier line", table)
    is_number = np.isfinite(parse_numbers(table["score"]))
    _refuse_where((table["score"] != "") & ~is_number, "score", "must be a number or empty", table)
    probabilities = parse_numbers(table["probability"])
    is_probability = (probabilities >= 0) & (probabilities <= 1)
    _refuse_where(
        (table["probability"] != "") & ~is_probability, "probability", "must be 0 to 1 or empty", table
    )
    return table.assign(cluster=_name_clusters(table))


def parse_numbers(column: pd.Series) -> NDArray[np.float64]:
    """Convert texts to numbers, each distinct text once; NaN for a text that is empty or not a number."""
    codes, distinct = pd.factorize(column)
    numbers = pd.to_numeric(pd.Series(distinct, dtype=object), errors="coerce")
    return np.asarray(numbers.to_numpy(dtype=np.float64)[codes])


def answer_by_threshold(
    table: pd.DataFrame, *, positive: str, threshold: float, reference: str | None
) -> pd.DataFrame:
    """Fill in missing answers from scores.

    The answer is the positive one if the score reaches the threshold, else the negative one.

    Args:
        table: a table that :func:`check_ratings` returned.
        positive: the positive answer.
        threshold: the smallest score that counts as the positive answer.
        reference: the rater whose answers are the truth; None for the rater of kind "reference".

    Raises:
        Refused: the reference does not have exactly two answers, of which one is the positive one.
    """
    is_reference = table["kind"] == "reference" if reference is None else table["rater"] == reference
    labels = set(table.loc[is_reference, "answer"]) - {"", UNDETERMINED}
    if len(labels) != 2 or positive not in labels:
        raise Refused(
            f"threshold: needs a reference with two answers, of which one is {positive!r}. Its answers are "
            f"{', '.join(sorted(labels)) or 'missing'}"
        )
    [negative] = labels - {positive}
    needs_answer = (table["answer"] == "") & (table["score"] != "")
    scores = pd.to_numeric(table["score"].where(needs_answer, "0"))
    answers = pd.Series(np.where(scores >= threshold, positive, negative), index=table.index, dtype=object)
    return table.assign(answer=table["answer"].where(~needs_answer, answers))


def canonical_answer(answer: str) -> str:
    """Sort the selected options as text, without duplicates. An answer without "|" is unchanged.

    Args:
        answer: one answer, or several answers joined by "|".

    >>> canonical_answer("C | A")
    'A|C'
    """
    if "|" not in answer:
        return answer
    return "|".join(sorted({option.strip() for option in answer.split("|")} - {""}))


def pair_repeats(table: pd.DataFrame) -> pd.DataFrame:
    """Pair each hidden repeat with the same rater's first answer.

    Args:
        table: a table that :func:`check_ratings` returned.

    Returns:
        One row per pair, with the columns question_id, task, cluster, rater, first_answer, second_answer.
        Pairs with an empty answer are left out.
    """
    first = table[~table["arm"].isin([TRAINING, REPEAT])].drop_duplicates(["question_id", "rater"])
    repeat_rows = table[table["arm"] == REPEAT]
    pairs = repeat_rows.merge(first, on=["question_id", "rater"], suffixes=("_again", ""))
    pairs = pairs[(pairs["answer"] != "") & (pairs["answer_again"] != "")]
    pairs = pairs.rename(columns={"answer": "first_answer", "answer_again": "second_answer"})
    return pairs[["question_id", "task", "cluster", "rater", "first_answer", "second_answer"]]


def compute_scale_positions(labels: Iterable[str]) -> list[float]:
    """Return the positions of ordered answers on a scale: the value of a number, the code of a letter.

    Args:
        labels: the answers, without "cannot determine".

    Returns:
        One value per answer, in the same order.

    Raises:
        Refused: the answers are neither all finite numbers nor all single letters.

    >>> compute_scale_positions(["2", "10"])
    [2.0, 10.0]
    >>> compute_scale_positions(["A", "c"])
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
    examples = ", ".join(names[:5])
    raise Refused(
        f"answer: weights need ordered answers (numbers or single letters). Found: {examples}. "
        "Write the steps of the scale as numbers, or omit --weights."
    )


def _to_text(column: pd.Series) -> pd.Series:
    """Convert a column to text. Each distinct value is converted once, because values repeat."""
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")  # pandas reads integers as floats if some are missing: "3" as "3.0"
    codes, distinct = pd.factorize(column)
    is_text = column.dtype == object and (codes >= 0).all()
    if is_text and all(isinstance(value, str) and value == value.strip() for value in distinct):
        return column  # no second copy of a large table
    texts = np.array([*(str(value).strip() for value in distinct), ""], dtype=object)
    return pd.Series(texts[codes], index=column.index, dtype=object)


def _map_distinct(column: pd.Series, convert: Callable[[str], str]) -> pd.Series:
    """Convert a column of texts. Each distinct text is converted once."""
    converted = {text: convert(text) for text in column.unique()}
    if all(text == value for text, value in converted.items()):
        return column
    return column.map(converted).astype(object)


def _name_clusters(table: pd.DataFrame) -> pd.Series:
    """Return the cluster of each line: the patient of its question, else the exam, else ""."""
    codes, questions = pd.factorize(table["question_id"])
    names = np.full(len(questions), "", dtype=object)
    for field in ("exam", "patient"):  # a patient replaces an exam
        value_codes, values = pd.factorize(table[field])
        is_stated = (values != "")[value_codes]
        value_by_question = np.full(len(questions), -1)
        value_by_question[codes[is_stated][::-1]] = value_codes[is_stated][
            ::-1
        ]  # reversed: the first line wins
        has_value = value_by_question >= 0
        names[has_value] = [f"{field} {values[code]}" for code in value_by_question[has_value]]
    return pd.Series(names[codes], index=table.index, dtype=object)


def _refuse_where(is_invalid: pd.Series, field: str, reason: str, table: pd.DataFrame) -> None:
    """Raise :class:`Refused` with the first three invalid lines, if there are any."""
    if not is_invalid.any():
        return
    lines = [
        f"line {line}: {field} {table.at[line, field]!r}: {reason}" for line in table.index[is_invalid][:3]
    ]
    n_more = int(is_invalid.sum()) - len(lines)
    raise Refused("\n".join([*lines, *([f"… and {n_more:,} more such lines"] if n_more else [])]))
