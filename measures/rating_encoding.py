"""Converts a checked table of ratings to arrays.

The truth of a question is the answer of the reference. A question that the reference did not answer has no
truth. Training cases and repeats are left out. A rater with answers in several arms gets one column per arm,
named "name (arm)".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from domain.errors import Refused
from domain.protocols import MissingAnswers
from measures.rating_matrix import RatingMatrix
from measures.rating_values import NO, NOT_MARKED, REPEAT, TRAINING, UNDETERMINED, YES
from measures.ratings import parse_numbers


def encode_ratings(
    table: pd.DataFrame,
    *,
    reference: str | None = None,
    missing_answers: MissingAnswers = MissingAnswers.COMMON,
) -> RatingMatrix:
    """Convert a checked table to arrays, without training cases and repeats.

    Args:
        table: a table that :func:`measures.ratings.check_ratings` returned.
        reference: the rater whose answers are the truth; None for the rater of kind "reference", if any.
        missing_answers: how questions count that a model did not answer.

    Returns:
        The arrays. Without a reference and a ``correct`` column, all values of ``correct`` are -1.

    Raises:
        Refused: two lines contradict each other, the reference is not in the table, several raters are of
            kind "reference" and ``reference`` is None, or the table has only training cases and repeats.
    """
    is_left_out = table["arm"].isin([TRAINING, REPEAT])
    if is_left_out.any():
        table = table[~is_left_out]
    if not len(table):
        raise Refused("All ratings are of training cases or repeats, which count in no measure.")
    table = table.assign(person=table["rater"], rater=append_arm_to_raters(table))
    questions = _sorted_values(table["question_id"])
    raters = _sorted_values(table["rater"])
    columns = _NumberedColumns(table)
    kind_by_rater = columns.value_by_owner("rater", "kind")
    set_reference_by_rater = columns.value_by_owner("rater", "set_reference")
    reference_column = _find_reference(raters, kind_by_rater, reference)
    labels = tuple(sorted(set(table["answer"]) - {""}, key=_natural_sort_key))
    question_index, rater_index = columns.indices("question_id", questions), columns.indices("rater", raters)
    answers = np.full((len(questions), len(raters)), -1, dtype=np.int64)
    undetermined_label = labels.index(UNDETERMINED) if UNDETERMINED in labels else -2
    answers[question_index, rater_index] = columns.indices("answer", labels)
    not_marked = np.zeros(answers.shape, dtype=np.bool_)
    not_marked[question_index, rater_index] = (table["correct"] == NOT_MARKED).to_numpy()
    answers[not_marked] = -1
    for owner, name in (("question_id", "exam"), ("question_id", "patient"), ("exam", "patient")):
        columns.value_by_owner(owner, name, except_owner="")
    task_by_question, cluster_by_question, category_by_question, options_by_question = (
        columns.value_by_owner("question_id", name) for name in ("task", "cluster", "category", "n_options")
    )
    tasks, task = _number_values(questions, task_by_question)
    categories, category = _number_values(questions, category_by_question)
    clusters, cluster = _number_values(questions, cluster_by_question)
    cluster = np.where(cluster < 0, len(clusters) + np.arange(len(questions)), cluster)
    periods = _sorted_values(table.loc[table["period"] != "", "period"])
    period = np.full(answers.shape, -1, dtype=np.int64)
    period[question_index, rater_index] = columns.indices("period", periods)
    scores, probabilities = np.full((2, *answers.shape), np.nan)
    scores[question_index, rater_index], probabilities[question_index, rater_index] = (
        parse_numbers(table["score"]),
        parse_numbers(table["probability"]),
    )
    has_several_selected = np.array([label.count("|") > 0 for label in labels] + [False])
    kinds = tuple(
        "reference" if column == reference_column else (kind_by_rater.get(name) or "reader")
        for column, name in enumerate(raters)
    )
    correct = _apply_correct_column(
        _score_answers(answers, reference_column, undetermined_label),
        table["correct"],
        question_index,
        rater_index,
        answers == undetermined_label,
    )
    if missing_answers is MissingAnswers.WRONG:
        has_truth = (correct >= 0).any(axis=1)
        is_missing = (answers < 0) & ~not_marked
        for column in (index for index, kind in enumerate(kinds) if kind == "model"):
            correct[has_truth & is_missing[:, column], column] = 0
    person_by_rater = dict(zip(table["rater"], table["person"], strict=True))
    arm_by_rater = dict(zip(table["rater"], table["arm"], strict=True))
    return RatingMatrix(
        questions=questions,
        raters=raters,
        kinds=kinds,
        labels=labels,
        answers=answers,
        correct=correct,
        not_marked=not_marked,
        tasks=tasks,
        task=task,
        categories=categories,
        category=category,
        cluster=cluster if clusters else None,
        cluster_unit="patient" if (table["patient"] != "").any() else "exam",
        options=np.array([int(options_by_question.get(name) or 0) for name in questions], dtype=np.int64),
        has_several_selected=np.asarray(has_several_selected[answers].any(axis=1)),
        reference=reference_column,
        set_reference=tuple(set_reference_by_rater.get(name) in YES for name in raters),
        persons=tuple(person_by_rater[name] for name in raters),
        arms=tuple(arm_by_rater[name] for name in raters),
        periods=periods,
        period=period,
        scores=scores,
        probabilities=probabilities,
        selected=_find_selected(table, question_index, rater_index, answers.shape),
    )


def _find_selected(
    table: pd.DataFrame,
    question_index: NDArray[np.int64],
    rater_index: NDArray[np.int64],
    shape: tuple[int, ...],
) -> NDArray[np.bool_]:
    """Mark the answers that were requested because of another rater's answer, shape (questions, raters)."""
    selected = np.zeros(shape, dtype=bool)
    selected[question_index, rater_index] = table["selected"].isin(YES).to_numpy()
    return selected


def _sorted_values(column: pd.Series) -> tuple[str, ...]:
    return tuple(sorted(column.unique(), key=_natural_sort_key))


def _natural_sort_key(text: str) -> tuple[int, float, str]:
    """Return a sort key that orders numbers by value, then words alphabetically, then "?"."""
    if text == UNDETERMINED:
        return 2, 0.0, text
    try:
        number = float(text)
    except ValueError:
        return 1, 0.0, text
    return (0, number, text) if np.isfinite(number) else (1, 0.0, text)


def append_arm_to_raters(table: pd.DataFrame) -> pd.Series:
    """Return the raters' names; the arm is appended for raters who answered in several arms."""
    arms = table.groupby("rater")["arm"].nunique()
    if (arms <= 1).all():
        return table["rater"]  # large tables need no second text for each line
    has_several_arms = table["rater"].isin(arms.index[arms > 1])
    name_with_arm = table["rater"] + " (" + table["arm"].where(table["arm"] != "", "no arm") + ")"
    return table["rater"].where(~has_several_arms, name_with_arm)


class _NumberedColumns:
    """The columns of a table as numbers of their distinct texts; each column is numbered once."""

    def __init__(self, table: pd.DataFrame) -> None:
        self._table = table
        self._columns: dict[str, tuple[NDArray[np.int32], list[str]]] = {}

    def indices(self, name: str, values: tuple[str, ...]) -> NDArray[np.int64]:
        """Return the index of each text of a column in ``values``, -1 if ``values`` does not contain it."""
        index_by_value = {value: index for index, value in enumerate(values)}
        codes, distinct = self._number(name)
        return np.array([index_by_value.get(value, -1) for value in distinct], dtype=np.int64)[codes]

    def value_by_owner(self, owner: str, field: str, *, except_owner: str | None = None) -> Mapping[str, str]:
        """Return the value of a field for each owner.

        The lines of an owner must agree, but may leave the field empty. The lines of ``except_owner`` do not
        count.
        """
        (owner_codes, owners), (field_codes, fields) = self._number(owner), self._number(field)
        is_stated = np.array([value != "" for value in fields])[field_codes]
        if except_owner in owners:
            is_stated &= owner_codes != owners.index(except_owner)
        owner_codes, field_codes = owner_codes[is_stated], field_codes[is_stated]
        first_codes = np.full(len(owners), -1, dtype=np.int32)
        first_codes[owner_codes[::-1]] = field_codes[::-1]  # the first line of an owner is assigned last
        if (first_codes[owner_codes] != field_codes).any():
            _refuse_conflict(self._table[is_stated], owner, field)
        return {
            name: fields[code] for name, code in zip(owners, first_codes.tolist(), strict=True) if code >= 0
        }

    def _number(self, name: str) -> tuple[NDArray[np.int32], list[str]]:
        if name not in self._columns:
            codes, distinct = pd.factorize(self._table[name])
            self._columns[name] = (codes.astype(np.int32), list(distinct))
        return self._columns[name]


def _refuse_conflict(stated: pd.DataFrame, owner: str, field: str) -> NoReturn:
    pairs = stated[[owner, field]].drop_duplicates()
    line = pairs.index[pairs.duplicated(owner)][0]
    name, value = pairs.at[line, owner], pairs.at[line, field]
    owner_rows = pairs.loc[pairs[owner] == name]
    raise Refused(
        f"line {line}: {field} {value!r}: {owner} {name!r} has {owner_rows[field].iloc[0]!r} "
        f"on line {owner_rows.index[0]}"
    )


def _number_values(
    questions: tuple[str, ...], value_by_question: Mapping[str, str]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    values = tuple(sorted(set(value_by_question.values()), key=_natural_sort_key))
    index_by_value = {value: index for index, value in enumerate(values)}
    return values, np.array(
        [index_by_value.get(value_by_question.get(name, ""), -1) for name in questions], dtype=np.int64
    )


def _find_reference(
    raters: tuple[str, ...], kind_by_rater: Mapping[str, str], requested: str | None
) -> int | None:
    if requested is not None:
        if requested not in raters:
            raise Refused(
                f"--reference: there is no rater {requested!r}. The raters are {', '.join(raters)}."
            )
        return raters.index(requested)
    reference_raters = [name for name in raters if kind_by_rater.get(name) == "reference"]
    if len(reference_raters) > 1:
        raise Refused(
            f"kind: {', '.join(reference_raters)} are all of kind reference; choose the one that is the "
            "truth with --reference NAME"
        )
    return raters.index(reference_raters[0]) if reference_raters else None


def _score_answers(
    answers: NDArray[np.int64], reference_column: int | None, undetermined_label: int
) -> NDArray[np.int64]:
    """Score each answer: 1 if it equals the reference's, 0 if it differs, -1 if one of the two is missing."""
    if reference_column is None:
        return np.full(answers.shape, -1, dtype=np.int64)
    reference_answers = answers[:, [reference_column]]
    is_comparable = (answers >= 0) & (reference_answers >= 0) & (reference_answers != undetermined_label)
    return np.where(is_comparable, (answers == reference_answers).astype(np.int64), -1)


def _apply_correct_column(
    scores: NDArray[np.int64],
    correct_column: pd.Series,
    question_index: NDArray[np.int64],
    rater_index: NDArray[np.int64],
    is_undetermined: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Replace scores by the file's ``correct`` column if it is stated; "cannot determine" stays incorrect."""
    scores = scores.copy()
    for spellings, value in ((YES, 1), (NO, 0)):
        matches = correct_column.isin(spellings).to_numpy()
        scores[question_index[matches], rater_index[matches]] = value
    scores[(scores == 1) & is_undetermined] = 0
    return scores
