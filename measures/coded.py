"""Ratings as arrays of shape (questions, raters): answer numbers, and correct, incorrect or missing.

The truth is the reference's answer; a question that the reference did not answer has none. Training cases and
repeats are left out. A rater with answers in several arms becomes one rater per arm, named "name (arm)".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from domain.errors import Refused
from measures.ratings import ALL, NO, REPEAT, TRAINING, UNDETERMINED, YES


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A task or category; ``rows`` are the row numbers of its questions in :class:`Coded`."""

    name: str
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """Ratings as arrays: q questions in the order of their ids, r raters in the order of their names.

    ``answers`` (q, r): index into ``labels``, -1 if missing. ``right`` (q, r): 1 correct, 0 incorrect or
    "cannot determine", -1 if the answer or the truth is missing. ``task`` and ``category`` (q,): index into
    ``tasks`` and ``categories``, -1 if not stated. ``exam`` (q,): exam numbers; a question without an exam is
    an exam of its own; None if no question states one. ``options`` (q,): number of options, 0 if not stated.
    ``several`` (q,): whether any rater ticked more than one option. ``reference``: column of the reference.
    ``set_reference`` (r,): whether the rater helped to set the reference.
    """

    questions: tuple[str, ...]
    raters: tuple[str, ...]
    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    answers: NDArray[np.int64]
    right: NDArray[np.int64]
    tasks: tuple[str, ...]
    task: NDArray[np.int64]
    categories: tuple[str, ...]
    category: NDArray[np.int64]
    exam: NDArray[np.int64] | None
    options: NDArray[np.int64]
    several: NDArray[np.bool_]
    reference: int | None
    set_reference: tuple[bool, ...]

    @property
    def undetermined(self) -> int:
        """The index of "cannot determine" in ``labels``; -2 if nobody answered so."""
        return self.labels.index(UNDETERMINED) if UNDETERMINED in self.labels else -2

    @property
    def judged(self) -> list[int]:
        """The columns of all raters except the reference."""
        return [at for at in range(len(self.raters)) if at != self.reference]

    def cells(self) -> list[Cell]:
        """All questions as "all", then each task with its questions."""
        every = Cell(name=ALL, rows=np.arange(len(self.questions)))
        return [every, *_cells(self.tasks, self.task)]

    def category_cells(self) -> list[Cell]:
        """Each category with its questions."""
        return _cells(self.categories, self.category)

    def exams(self, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The exam numbers of these questions; None if no question states an exam."""
        return None if self.exam is None else self.exam[rows]


def coded(table: pd.DataFrame, *, reference: str | None = None) -> Coded:
    """Convert a checked table to arrays, without training cases and repeats.

    Args:
        table: as :func:`measures.ratings.checked` returns it.
        reference: the rater whose answers are the truth; None for the rater of kind "reference", if any.

    Returns:
        The arrays; ``right`` is -1 throughout if there is no reference and no ``correct`` column.

    Raises:
        Refused: two lines contradict each other, the reference is not in the table, several raters are of
            kind "reference" and none is named, or only training cases and repeats are there.
    """
    table = table[~table["arm"].isin([TRAINING, REPEAT])]
    if not len(table):
        raise Refused("every rating is of a training case or a repeat: nothing is left to measure")
    table = table.assign(rater=_by_arm(table))
    questions = _distinct(table["question_id"])
    raters = _distinct(table["rater"])
    kind_of = _one_each(table, "rater", "kind")
    helped = _one_each(table, "rater", "set_reference")
    truth = _reference(raters, kind_of, reference)
    labels = tuple(sorted(set(table["answer"]) - {""}, key=_natural))
    q, r = _codes(table["question_id"], questions), _codes(table["rater"], raters)
    answers = np.full((len(questions), len(raters)), -1, dtype=np.int64)
    unsure = labels.index(UNDETERMINED) if UNDETERMINED in labels else -2
    answers[q, r] = _codes(table["answer"], labels)
    task_of, exam_of, category_of, options_of = (
        _one_each(table, "question_id", name) for name in ("task", "exam", "category", "n_options")
    )
    tasks, task = _numbers(questions, task_of)
    categories, category = _numbers(questions, category_of)
    exams, exam = _numbers(questions, exam_of)
    exam = np.where(exam < 0, len(exams) + np.arange(len(questions)), exam)
    ticked = np.array([label.count("|") > 0 for label in labels] + [False])
    return Coded(
        questions=questions,
        raters=raters,
        kinds=tuple(
            "reference" if at == truth else (kind_of.get(name) or "reader") for at, name in enumerate(raters)
        ),
        labels=labels,
        answers=answers,
        right=_overruled(_right(answers, truth, unsure), table["correct"], q, r, answers == unsure),
        tasks=tasks,
        task=task,
        categories=categories,
        category=category,
        exam=exam if exams else None,
        options=np.array([int(options_of.get(name) or 0) for name in questions], dtype=np.int64),
        several=np.asarray(ticked[answers].any(axis=1)),
        reference=truth,
        set_reference=tuple(helped.get(name) in YES for name in raters),
    )


def _codes(column: pd.Series, names: tuple[str, ...]) -> NDArray[np.int64]:
    """The index of each value in ``names``, -1 if it is not there."""
    number = {name: at for at, name in enumerate(names)}
    which, distinct = pd.factorize(column)
    places = np.array([number.get(value, -1) for value in distinct], dtype=np.int64)
    return places[which]


def _cells(names: tuple[str, ...], number_of: NDArray[np.int64]) -> list[Cell]:
    return [Cell(name=name, rows=np.flatnonzero(number_of == at)) for at, name in enumerate(names)]


def _distinct(column: pd.Series) -> tuple[str, ...]:
    return tuple(sorted(column.unique(), key=_natural))


def _natural(text: str) -> tuple[int, float, str]:
    """Sort key: numbers by value, then words alphabetically, then "?"."""
    if text == UNDETERMINED:
        return 2, 0.0, text
    try:
        number = float(text)
    except ValueError:
        return 1, 0.0, text
    return (0, number, text) if np.isfinite(number) else (1, 0.0, text)


def _by_arm(table: pd.DataFrame) -> pd.Series:
    """The raters' names, with the arm appended for raters who answered in several."""
    arms = table.groupby("rater")["arm"].nunique()
    divided = table["rater"].isin(arms.index[arms > 1])
    named = table["rater"] + " (" + table["arm"].where(table["arm"] != "", "no arm") + ")"
    return table["rater"].where(~divided, named)


def _one_each(table: pd.DataFrame, owner: str, field: str) -> Mapping[str, str]:
    """The value of a field for each owner; an owner's lines must agree, but some may leave it empty."""
    told = table.loc[table[field] != "", [owner, field]]
    pairs = told.drop_duplicates()
    again = pairs.duplicated(owner)
    if again.any():
        line = pairs.index[again][0]
        name, value = pairs.at[line, owner], pairs.at[line, field]
        other = pairs.loc[pairs[owner] == name]
        raise Refused(
            f"line {line}: {field} {value!r}: {owner} {name!r} has {other[field].iloc[0]!r} "
            f"on line {other.index[0]}"
        )
    return dict(zip(pairs[owner], pairs[field], strict=True))


def _numbers(
    questions: tuple[str, ...], value_of: Mapping[str, str]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    values = tuple(sorted(set(value_of.values()), key=_natural))
    number = {value: at for at, value in enumerate(values)}
    return values, np.array([number.get(value_of.get(name, ""), -1) for name in questions], dtype=np.int64)


def _reference(raters: tuple[str, ...], kind_of: Mapping[str, str], named: str | None) -> int | None:
    if named is not None:
        if named not in raters:
            raise Refused(f"--reference {named!r}: no such rater. There are {', '.join(raters)}.")
        return raters.index(named)
    stated = [name for name in raters if kind_of.get(name) == "reference"]
    if len(stated) > 1:
        raise Refused(
            f"kind: {', '.join(stated)} are all reference; name the one that is the truth: --reference NAME"
        )
    return raters.index(stated[0]) if stated else None


def _right(answers: NDArray[np.int64], truth: int | None, unsure: int) -> NDArray[np.int64]:
    """1 if an answer equals the reference's, 0 if it differs, -1 if one of the two is missing."""
    if truth is None:
        return np.full(answers.shape, -1, dtype=np.int64)
    key = answers[:, [truth]]
    known = (answers >= 0) & (key >= 0) & (key != unsure)
    return np.where(known, (answers == key).astype(np.int64), -1)


def _overruled(
    right: NDArray[np.int64],
    correct: pd.Series,
    q: NDArray[np.int64],
    r: NDArray[np.int64],
    unsure: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """``right`` with the file's ``correct`` column applied; "cannot determine" stays incorrect."""
    right = right.copy()
    for words, value in ((YES, 1), (NO, 0)):
        told = correct.isin(words).to_numpy()
        right[q[told], r[told]] = value
    right[(right == 1) & unsure] = 0
    return right
