"""The results of measures: one frozen dataclass per kind of result, and their flat records for JSON and CSV.

The fields of a result are the columns of ``measures.json`` and ``report.json``, in the declared order. If a
value is None, ``note`` gives the reason. Shares and differences are fractions (0 to 1, -1 to 1). ``low`` and
``high`` are the limits of the interval at the confidence level of the settings.

This module imports no pandas, so a page can read a stored report quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from domain.protocols import HelperRule

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = dict[str, Any]
#: Names of a ``measure``.
ACCURACY, AUC = "accuracy", "auc"
Tables = TypeVar("Tables", bound="DataclassInstance")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyResult:
    """The share of questions that a rater answered correctly, in one ``group`` of questions.

    The table that contains the result defines what a group is: a task, a category, a difficulty or an answer
    format. ``n`` is the number of questions that have both an answer and a reference answer.
    """

    rater: str
    kind: str
    group: str
    n: int
    correct: int
    estimate: float | None
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallAccuracy:
    """Micro accuracy (questions have equal weights) and macro accuracy (tasks have equal weights)."""

    rater: str
    kind: str
    n: int
    micro: float | None
    micro_low: float | None
    micro_high: float | None
    tasks: int
    macro: float | None
    macro_low: float | None
    macro_high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageResult:
    """Accuracy without the answers "cannot determine"; ``coverage`` is the share of questions that remain.

    ``undetermined`` counts these answers, ``not_reached`` the questions without any answer of the rater.
    """

    rater: str
    kind: str
    task: str
    n: int
    undetermined: int
    coverage: float | None
    n_determined: int
    correct: int
    estimate: float | None
    low: float | None
    high: float | None
    not_reached: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Agreement of two raters on the ``n`` questions of a task that both answered.

    ``low`` and ``high`` are the limits of kappa, ``interval`` is the method of the interval. ``both_wrong``
    is the share with the same answer among the ``both_wrong_n`` questions that both answered incorrectly.
    """

    a: str
    b: str
    task: str
    n: int
    observed: float | None = None
    kappa: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    interval: str | None = None
    ac1: float | None = None
    ac1_low: float | None = None
    ac1_high: float | None = None
    brennan_prediger: float | None = None
    jaccard: float | None = None
    both_wrong: float | None = None
    both_wrong_n: int = 0
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement:
    """Agreement of all raters of a ``kind`` on a task, and Cochran's Q of their accuracies.

    ``arm`` is the arm of the readers, "" if they have one arm only.

    ``n`` is the number of questions with two answers or more. ``q_n`` is the number of questions that all
    raters answered and that have a reference answer. ``interval`` names the methods of the intervals.
    """

    task: str
    raters: int
    n: int
    fleiss: float | None
    conger: float | None
    light: float | None
    alpha: float | None
    ac1: float | None
    cochran_q: float | None
    q_df: int
    q_p: float | None
    q_n: int
    kind: str
    arm: str
    percent: float | None
    percent_low: float | None
    percent_high: float | None
    fleiss_low: float | None
    fleiss_high: float | None
    conger_low: float | None
    conger_high: float | None
    alpha_low: float | None
    alpha_high: float | None
    ac1_low: float | None
    ac1_high: float | None
    interval: str = ""
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaContrast:
    """Mean kappa between readers minus mean kappa of a reader and ``model``, on the same cases.

    ``n`` is the number of questions that the model and at least one of ``readers`` readers answered. A
    difference above 0 means that readers agree more with each other than with the model. ``arm`` is the arm
    of the readers, "" if they have one arm only.
    """

    model: str
    arm: str
    task: str
    readers: int
    n: int
    between_readers: float | None
    with_model: float | None
    difference: float | None
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """Accuracy of ``a`` minus accuracy of ``b`` on the ``n`` questions that both answered.

    ``both``, ``a_only``, ``b_only`` and ``neither`` count the questions by who answered correctly.
    ``p_adjusted`` is ``p_exact`` adjusted within the declared family (see :mod:`measures.multiplicity`); None
    outside the family.
    """

    a: str
    b: str
    task: str
    n: int
    both: int
    a_only: int
    b_only: int
    neither: int
    difference: float | None
    low: float | None
    high: float | None
    p_exact: float | None
    p_mid: float | None
    p_adjusted: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpairedDifference:
    """Accuracy of ``a`` minus that of ``b``, each over all questions of that rater; ``how`` is the method."""

    a: str
    b: str
    task: str
    n_a: int
    n_b: int
    n_both: int
    difference: float | None
    low: float | None
    high: float | None
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MrmcComparison:
    """Mean of the readers' accuracies (or of another ``measure``) minus that of ``model``.

    Each reader counts once. ``arm`` is "" if the mean over the arms is used for a reader with several arms,
    otherwise the arm whose answers are used. With ``includes_helpers``, readers who helped to set the
    reference are included; with ``leave_one_out`` each of them, and the model, is scored by a reference made
    without this reader. With ``random_readers`` the interval is valid for similar readers, otherwise for
    these readers only; ``random_cases`` likewise. ``df`` is None if the normal distribution was used. ``p``
    is two-sided, for the hypothesis of no difference; ``p_adjusted`` is adjusted within the family. ``model``
    is the name of the model, or empty.
    """

    model: str = ""
    task: str = "all"
    measure: str = "accuracy"
    arm: str = ""
    includes_helpers: bool = False
    leave_one_out: bool = False
    readers: int
    cases: int
    difference: float | None
    se: float | None = None
    df: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    random_readers: bool = True
    random_cases: bool = True
    method: str = ""
    note: str = ""

    @property
    def helpers(self) -> HelperRule:
        """How readers who helped to set the reference are treated."""
        return _find_helper_rule(self)

    def is_above(self, margin: float) -> bool | None:
        """Whether the whole interval is above ``margin``; with margin 0, whether the readers are better.

        Args:
            margin: a difference of accuracies, -1 to 1. A margin other than 0 must be set before reading
                starts.

        Returns:
            None without an interval.
        """
        return None if self.low is None else self.low > margin

    def is_below(self, margin: float) -> bool | None:
        """Whether the whole interval is below ``margin``.

        If it is below 0, the model is better (superiority). If it is below a margin above 0, the model is
        worse by less than the margin (non-inferiority).

        Args:
            margin: a difference of accuracies, -1 to 1. A margin other than 0 must be set before reading
                starts.

        Returns:
            None without an interval.
        """
        return None if self.high is None else self.high < margin


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderMean:
    """The mean over the readers of a ``measure``: accuracy, sensitivity, specificity or auc.

    The other fields are those of :class:`MrmcComparison`.
    """

    measure: str
    task: str
    arm: str
    includes_helpers: bool
    readers: int
    cases: int
    estimate: float | None
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    random_readers: bool
    method: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmComparison:
    """Mean over the readers in ``a`` minus their mean in ``b``; each reader counts once.

    ``factor`` is "arm", or "period" or "sequence" for the checks of a crossover. In a crossover, a sequence
    is the arm in which a reader read a case first. The other fields are those of :class:`MrmcComparison`;
    ``mean_a`` and ``mean_b`` are the two means.
    """

    factor: str
    a: str
    b: str
    task: str
    measure: str = "accuracy"
    includes_helpers: bool
    leave_one_out: bool = False
    readers: int
    cases: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    random_readers: bool
    random_cases: bool
    method: str
    note: str

    @property
    def helpers(self) -> HelperRule:
        """How readers who helped to set the reference are treated."""
        return _find_helper_rule(self)


def _find_helper_rule(comparison: MrmcComparison | ArmComparison) -> HelperRule:
    if comparison.leave_one_out:
        return HelperRule.LEAVE_ONE_OUT
    return HelperRule.INCLUDED if comparison.includes_helpers else HelperRule.EXCLUDED


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryAgreement:
    """Fleiss' kappa of one ``category`` of answers against all others, in a group of raters.

    ``answers`` is the number of answers in the category. ``z`` tests all categories together against chance.
    """

    kind: str
    arm: str
    task: str
    category: str
    answers: int
    kappa: float | None
    z: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IntraclassResult:
    """An intraclass correlation (``icc``: ICC1 to ICC3k) of a group of raters on numeric answers.

    ``n`` is the number of questions that all raters of the group answered, ``f`` the F statistic.
    """

    kind: str
    arm: str
    task: str
    icc: str
    n: int
    raters: int
    estimate: float | None
    low: float | None
    high: float | None
    f: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationResult:
    """The expected calibration error (``ece``) of a rater's stated confidences, with its interval."""

    rater: str
    kind: str
    task: str
    n: int
    ece: float | None
    low: float | None
    high: float | None
    expected_if_calibrated: float | None
    brier: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityResult:
    """One bin of a reliability diagram: the accuracy of answers with a confidence in the bin."""

    rater: str
    task: str
    lower: float
    upper: float
    n: int
    mean_confidence: float
    correct: int
    estimate: float | None
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticResult:
    """Sensitivity, specificity, ppv, npv or auc of a rater for the positive answer; ``measure`` is its name.

    For shares, ``count`` of ``n`` answers are correct; for the AUC, ``n`` is the number of scores, ``count``
    is None, and ``se`` is the standard error.
    """

    rater: str
    kind: str
    task: str
    measure: str
    n: int
    count: int | None
    estimate: float | None
    low: float | None
    high: float | None
    se: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatAgreement:
    """Agreement of a rater's first answers with their answers to hidden repeats."""

    rater: str
    task: str
    n: int
    observed: float
    kappa: float | None
    se: float | None
    low: float | None
    high: float | None
    interval: str | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedSettings:
    """The settings that measures were computed with.

    ``family`` is a rule or a list of comparisons, ``adjustment`` the method for p values within it, and
    ``missing_answers`` the rule for questions that a model did not answer. ``agreement_basis`` states the
    categories of agreement, and ``missing_in_agreement`` an answer that counts as missing there. With
    ``leave_one_out``, each reader who helped to set the reference is also scored by a reference made without
    that reader.
    """

    seed: int
    bootstrap: int
    confidence: float
    family: str | tuple[str, ...]
    version: str
    weights: str
    reference: str | None
    adjustment: str
    missing_answers: str
    positive: str | None
    agreement_basis: str
    missing_in_agreement: str | None
    leave_one_out: bool = False


def to_record(result: DataclassInstance, names: Mapping[str, str] | None = None) -> Record:
    """Convert a result to a flat record.

    Args:
        result: an instance of a dataclass. A nested result is replaced by its columns.
        names: the column names by field name, where the two differ; not used for nested results.

    Returns:
        The values by column name, in the order of the fields.

    >>> from measures.means import Mean
    >>> to_record(Mean(n=2, estimate=0.5), {"estimate": "mean"})
    {'n': 2, 'mean': 0.5, 'low': None, 'high': None, 'note': ''}
    """
    record: Record = {}
    for name in _list_field_names(type(result)):
        value = getattr(result, name)
        if hasattr(value, "__dataclass_fields__"):  # is_dataclass takes twice as long
            record |= to_record(value)
        else:
            record[(names or {}).get(name, name)] = value
    return record


@cache
def _list_field_names(result_type: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(result_type))


def to_records(
    results: Iterable[DataclassInstance | Mapping[str, Any]], names: Mapping[str, str] | None = None
) -> list[Record]:
    """Convert results to flat records.

    Args:
        results: instances of dataclasses, or mappings, which are copied.
        names: the column names by field name, where the two differ.

    Returns:
        One record per result, in the same order.
    """
    return [dict(result) if isinstance(result, Mapping) else to_record(result, names) for result in results]


def tables_to_records(tables: DataclassInstance) -> dict[str, list[Record]]:
    """Convert the results of each table to flat records.

    Args:
        tables: a dataclass with one tuple of results per table. The metadata of a field contains the column
            names that differ from the field names of its results.

    Returns:
        The records by table name, in the order of the fields. Fields that are not tuples are left out.
    """
    return {
        field.name: to_records(getattr(tables, field.name), field.metadata)
        for field in fields(tables)
        if isinstance(getattr(tables, field.name), tuple)
    }


def tables_from_records(tables_type: type[Tables], records: Mapping[str, list[Record]]) -> Tables:
    """Restore tables from flat records; the inverse of :func:`tables_to_records`.

    Args:
        tables_type: the dataclass of the tables; its results must not be nested.
        records: flat records by table name.

    Returns:
        An instance of ``tables_type``.

    Raises:
        KeyError: a table is missing.
        TypeError: a record has an unknown column, or a column is missing.
    """
    hints = get_type_hints(tables_type)
    tables: dict[str, Any] = {}
    for field in fields(tables_type):
        row_type = get_args(hints[field.name])[0]
        if get_origin(row_type) is dict:
            tables[field.name] = tuple(records[field.name])
            continue
        field_by_column = {column: name for name, column in field.metadata.items()}
        tables[field.name] = tuple(
            row_type(**{field_by_column.get(column, column): value for column, value in record.items()})
            for record in records[field.name]
        )
    return tables_type(**tables)
