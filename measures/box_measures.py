"""All measures of a table of boxes: agreement of raters, and free-response figures of merit.

The columns are ``case``, ``rater``, ``x_min``, ``y_min``, ``x_max``, ``y_max`` and, optionally, ``kind``
(reader, model, reference), ``arm``, ``patient``, ``score`` (higher if the mark is more suspicious) and
``set_reference`` (yes for a reader who helped to set the reference). Each line is a box. A line without
coordinates states that the rater read the case and drew no box. The boxes of the reference are the lesions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from domain.errors import InvalidValue, Refused
from measures.boxes import match_boxes, mean_overlap
from measures.free_response import (
    FigureOfMerit,
    FreeResponseFigures,
    HitRule,
    MarkedCase,
    free_response_figures,
    score_marks,
)
from measures.mrmc import fixed_case_analysis, fixed_readers, obuchowski_rockette
from measures.rating_values import NO, YES
from measures.ratings import KINDS
from measures.ratings_file import TableLayout
from measures.records.settings import VERSION
from measures.results import ArmComparison, MrmcComparison, Record, tables_to_records, to_record

COORDINATES = ("x_min", "y_min", "x_max", "y_max")
BOXES = TableLayout(
    required=("case", "rater", *COORDINATES),
    optional=("kind", "arm", "patient", "score", "set_reference"),
)
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxSettings:
    """The settings of the measures of boxes.

    ``reference`` is the rater whose boxes are the lesions; None for the rater of kind "reference". A mark
    hits a lesion by the rule ``hit``, with the smallest IoU ``threshold``. ``bootstrap`` is the number of
    resamples of mean overlaps, 0 for none.

    Raises:
        InvalidValue: the confidence is below 0.5 or not below 1, the threshold is not above 0 or is above 1,
            the seed is negative, or there are too few resamples.
    """

    reference: str | None = None
    hit: HitRule = HitRule.IOU
    threshold: float = 0.5
    seed: int = 0
    bootstrap: int = 2000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1:
            raise InvalidValue("confidence", f"must be at least 0.5 and below 1, not {self.confidence}")
        if not 0 < self.threshold <= 1:
            raise InvalidValue("iou", f"must be above 0 and at most 1, not {self.threshold}")
        if self.seed < 0:
            raise InvalidValue("seed", f"must be 0 or more, not {self.seed}")
        if self.bootstrap < 0 or 0 < self.bootstrap < 100:
            raise InvalidValue("bootstrap", f"must be 0 (none) or at least 100, not {self.bootstrap}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxAgreement:
    """The overlap of two raters' boxes, on the ``n`` of their common ``cases`` where one or both drew a box.

    ``mean_iou`` divides the sum of overlaps of a case by the larger of the two numbers of boxes,
    ``per_box_of_b`` by the number of b's boxes, and ``per_match`` by the number of matched pairs.
    """

    a: str
    b: str
    cases: int
    n: int
    mean_iou: float | None
    low: float | None
    high: float | None
    per_box_of_b: float | None
    per_match: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeResponseResult:
    """A figure of merit of a rater on the cases that the rater and the reference read.

    ``hits`` is the number of lesions that have a mark; ``false_marks`` counts the cases without a lesion that
    have a mark.
    """

    rater: str
    kind: str
    measure: str
    cases: int
    cases_with_lesion: int
    lesions: int
    hits: int
    false_marks: int
    estimate: float | None
    se: float | None
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxMeasures:
    """All results of one table of boxes, and the settings that they were computed with."""

    agreement: tuple[BoxAgreement, ...]
    free_response: tuple[FreeResponseResult, ...]
    mrmc: tuple[MrmcComparison, ...]
    arms: tuple[ArmComparison, ...]
    settings: BoxSettings

    def to_records(self) -> dict[str, list[Record]]:
        """Return the results as flat records by table name, without the settings."""
        return tables_to_records(self)

    def to_json(self) -> str:
        """Return all results as JSON; the same boxes and settings give the same bytes."""
        plain = self.to_records() | {"settings": to_record(self.settings) | {"version": VERSION}}
        return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rater:
    """A rater in one arm, with the ``boxes`` and ``scores`` by case, for each case that the rater read."""

    name: str
    person: str
    arm: str
    kind: str
    set_reference: bool
    boxes: dict[str, Matrix]
    scores: dict[str, list[float]]

    @property
    def has_scores(self) -> bool:
        """Whether each box has a score, and there is a box."""
        scores = [score for case_scores in self.scores.values() for score in case_scores]
        return bool(scores) and not any(math.isnan(score) for score in scores)


def compute_box_measures(table: pd.DataFrame, settings: BoxSettings) -> BoxMeasures:
    """Compute all measures of a table of boxes.

    Args:
        table: one box per row, in the layout ``BOXES``, from :func:`measures.ratings_file.read_table`.
        settings: the settings.

    Returns:
        The agreement of each pair of raters, and, if there is a reference and boxes have scores, the figures
        of merit and their comparisons. Comparisons use the cases that all raters of the comparison read.

    Raises:
        Refused: a value is not allowed, or lines contradict each other. The message contains line and field.
    """
    raters, patients = _read_raters(table)
    reference = _find_reference(raters, settings.reference)
    non_reference = [rater for rater in raters if rater is not reference]
    pairs = [
        *combinations(non_reference, 2),
        *([(rater, reference) for rater in non_reference] if reference else []),
    ]
    scored = [rater for rater in non_reference if rater.has_scores] if reference is not None else []
    marked = _MarkedCases(
        by_rater={}
        if reference is None
        else {rater.name: _mark_cases(rater, reference, settings) for rater in scored},
        patients=patients,
        confidence=settings.confidence,
    )
    return BoxMeasures(
        agreement=tuple(_measure_agreement(a, b, patients, settings) for a, b in pairs),
        free_response=tuple(
            _measure_rater(rater, marked, figure) for figure in FigureOfMerit for rater in scored
        ),
        mrmc=tuple(_compare_with_models(scored, marked)),
        arms=tuple(_compare_arms(scored, marked)),
        settings=settings,
    )


def _read_raters(table: pd.DataFrame) -> tuple[list[_Rater], dict[str, str]]:
    """Return the raters in the order of their names, and the patients that are stated, by case."""
    if not len(table):
        raise Refused("line 2: there are no boxes. After the line of column names, each line is one box.")
    for name in BOXES.optional:
        if name not in table.columns:
            table = table.assign(**{name: ""})
    lines = [_Line.parse(row) for row in table.to_dict("records")]
    arms: dict[str, set[str]] = {}
    for line in lines:
        arms.setdefault(line.rater, set()).add(line.arm)
    kinds = _find_stated_values("kind", [(line, line.kind) for line in lines])
    set_reference = _find_stated_values("set_reference", [(line, line.set_reference) for line in lines])
    raters: dict[str, _Rater] = {}
    patients: dict[str, str] = {}
    for line in lines:
        name = f"{line.rater} ({line.arm or 'no arm'})" if len(arms[line.rater]) > 1 else line.rater
        rater = raters.setdefault(
            name,
            _Rater(
                name=name, person=line.rater, arm=line.arm, kind=kinds.get(line.rater, "reader"),
                set_reference=set_reference.get(line.rater) == "yes", boxes={}, scores={},
            ),
        )  # fmt: skip
        if line.patient and patients.setdefault(line.case, line.patient) != line.patient:
            raise Refused(
                f"line {line.number}: patient {line.patient!r}: case {line.case!r} has "
                f"{patients[line.case]!r} before"
            )
        boxes = rater.boxes.setdefault(line.case, np.zeros((0, 4)))
        rater.scores.setdefault(line.case, [])
        if line.box is not None:
            rater.boxes[line.case] = np.vstack([boxes, line.box])
            rater.scores[line.case].append(line.score)
    return [raters[name] for name in sorted(raters)], patients


def _find_stated_values(column: str, values: Sequence[tuple[_Line, str]]) -> dict[str, str]:
    """Return the value that the lines of each rater state.

    Raises:
        Refused: two lines of a rater contradict each other.
    """
    first_lines: dict[str, tuple[_Line, str]] = {}
    for line, value in values:
        if not value:
            continue
        first_line, first_value = first_lines.setdefault(line.rater, (line, value))
        if value != first_value:
            raise Refused(
                f"line {line.number}: {column} {value!r}: {line.rater} has {first_value!r} in line "
                f"{first_line.number}. State the same value in all lines of a rater, or leave it empty."
            )
    return {rater: value for rater, (_, value) in first_lines.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of the file. ``box`` is None if the rater drew none; ``score`` is NaN if it is not stated.

    ``set_reference`` is "yes", "no", or "" if it is not stated.
    """

    number: int
    case: str
    rater: str
    kind: str
    arm: str
    patient: str
    set_reference: str
    box: tuple[float, ...] | None
    score: float

    @classmethod
    def parse(cls, row: Mapping[Hashable, object]) -> _Line:
        number = int(str(row["line"]))
        text = {str(name): str(value).strip() for name, value in row.items()}
        for name in ("case", "rater"):
            if not text[name]:
                raise Refused(f"line {number}: {name} '': is empty")
        kind = text["kind"].lower()
        if kind not in ("", *KINDS):
            raise Refused(f"line {number}: kind {kind!r}: must be {', '.join(KINDS)} or empty")
        set_reference = text["set_reference"].lower()
        if set_reference not in ("", *YES, *NO):
            raise Refused(f"line {number}: set_reference {set_reference!r}: must be yes, no or empty")
        values = [_parse_number(text[name], name, number) for name in COORDINATES]
        coordinates = [value for value in values if value is not None]
        if coordinates and len(coordinates) < len(values):
            name = COORDINATES[values.index(None)]
            raise Refused(f"line {number}: {name} '': is empty, but the box has other coordinates")
        if coordinates and not (coordinates[0] < coordinates[2] and coordinates[1] < coordinates[3]):
            raise Refused(
                f"line {number}: x_max, y_max {coordinates[2]:g}, {coordinates[3]:g}: must be above x_min, "
                f"y_min ({coordinates[0]:g}, {coordinates[1]:g})"
            )
        score = _parse_number(text["score"], "score", number)
        if score is not None and not coordinates:
            raise Refused(
                f"line {number}: score {text['score']!r}: the line has no box. Add x_min, y_min, x_max and "
                "y_max, or leave the score empty if the rater drew no box."
            )
        return cls(
            number=number, case=text["case"], rater=text["rater"], kind=kind, arm=text["arm"],
            patient=text["patient"],
            set_reference=set_reference and ("yes" if set_reference in YES else "no"),
            box=tuple(coordinates) if coordinates else None, score=math.nan if score is None else score,
        )  # fmt: skip


def _parse_number(text: str, name: str, line: int) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Refused(f"line {line}: {name} {text!r}: must be a number or empty")
    return value


def _find_reference(raters: Sequence[_Rater], requested: str | None) -> _Rater | None:
    if requested is not None:
        for rater in raters:
            if rater.name == requested:
                return rater
        names = ", ".join(rater.name for rater in raters)
        raise Refused(f"--reference: there is no rater {requested!r}. The raters are {names}.")
    references = [rater for rater in raters if rater.kind == "reference"]
    if len(references) > 1:
        names = ", ".join(rater.name for rater in references)
        raise Refused(f"kind: {names} are all of kind reference; choose one with --reference NAME")
    return references[0] if references else None


def _number_patients(cases: Sequence[str], patients: dict[str, str]) -> NDArray[np.int64]:
    """Return the patient number of each case; a case without a stated patient is a patient of its own."""
    names = [("patient", patients[case]) if case in patients else ("case", case) for case in cases]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


def _measure_agreement(a: _Rater, b: _Rater, patients: dict[str, str], settings: BoxSettings) -> BoxAgreement:
    cases = sorted(set(a.boxes) & set(b.boxes))
    overlap = mean_overlap(
        [match_boxes(b.boxes[case], a.boxes[case]) for case in cases],
        clusters=_number_patients(cases, patients).tolist(), seed=settings.seed, bootstrap=settings.bootstrap,
        confidence=settings.confidence,
    )  # fmt: skip
    return BoxAgreement(
        a=a.name, b=b.name, cases=len(cases), n=overlap.n, mean_iou=overlap.score, low=overlap.low,
        high=overlap.high, per_box_of_b=overlap.per_truth, per_match=overlap.per_match,
        note=overlap.note if cases else "not defined: no case was read by both",
    )  # fmt: skip


def _mark_cases(rater: _Rater, reference: _Rater, settings: BoxSettings) -> dict[str, MarkedCase]:
    """Return the marks on the cases that the rater and the reference read."""
    return {
        case: score_marks(
            reference.boxes[case], boxes, rater.scores[case], hit=settings.hit, threshold=settings.threshold
        )
        for case, boxes in sorted(rater.boxes.items())
        if case in reference.boxes
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _MarkedCases:
    """The marks of each rater by case, the stated patients by case, and the confidence level."""

    by_rater: dict[str, dict[str, MarkedCase]]
    patients: dict[str, str]
    confidence: float

    def list_common_cases(self, raters: Sequence[_Rater]) -> list[str]:
        """Return the cases that all of these raters read; none without a rater."""
        return (
            sorted(set.intersection(*(set(self.by_rater[rater.name]) for rater in raters))) if raters else []
        )

    def compute_figures(
        self, raters: Sequence[_Rater], cases: Sequence[str], figure: FigureOfMerit
    ) -> FreeResponseFigures:
        """Compute the figures of merit of raters on cases that all of them read."""
        return free_response_figures(
            [[self.by_rater[rater.name][case] for case in cases] for rater in raters],
            figure=figure,
            clusters=_number_patients(cases, self.patients),
        )

    def analyse(
        self, raters: Sequence[_Rater], contrasts: Matrix, figure: FigureOfMerit
    ) -> list[MrmcComparison]:
        """Analyse the mean of contrasts of the raters' figures: random and fixed readers, fixed cases."""
        cases = self.list_common_cases(raters)
        undefined = MrmcComparison(
            readers=len(contrasts), cases=len(cases), difference=None,
            note="not defined: no case with a lesion that all read, or no case without a lesion",
        )  # fmt: skip
        if not cases or not len(contrasts):
            return [replace(undefined, note="not defined: no reader, or no case that all read")]
        figures = self.compute_figures(raters, cases, figure)
        if np.isnan(figures.values).any():
            return [undefined]
        values, covariance = contrasts @ figures.values, figures.covariance_of(contrasts)
        if not np.isfinite(covariance).all():
            return [replace(undefined, note="no interval: only one case with a lesion, or only one without")]
        n, n_clusters = len(cases), len(figures.leave_one_out)
        random = obuchowski_rockette(values, covariance, cases=n, confidence=self.confidence)
        fixed = fixed_readers(values, covariance, cases=n, n_clusters=n_clusters, confidence=self.confidence)
        return [
            *(replace(result, method=f"{result.method} (jackknife)") for result in (random, fixed)),
            fixed_case_analysis(values, cases=n, confidence=self.confidence),
        ]


def _measure_rater(rater: _Rater, marked: _MarkedCases, figure: FigureOfMerit) -> FreeResponseResult:
    cases = marked.list_common_cases([rater])
    figures = marked.compute_figures([rater], cases, figure)
    value = float(figures.values[0])
    se = math.nan if math.isnan(value) else math.sqrt(float(figures.covariance_of(np.eye(1))[0, 0]))
    note = ""
    if not cases:
        note = "not defined: no case was read by both"
    elif math.isnan(value):
        note = "not defined: no case with a lesion, or no case without a lesion"
    elif not math.isfinite(se):
        note = "no interval: only one case with a lesion, or only one without"
    elif not 0 < value < 1 or se == 0:
        note = "no interval: the scores separate lesions and false marks completely"
    low = high = None
    if not note:
        z = NormalDist().inv_cdf(0.5 + marked.confidence / 2)
        logit, width = math.log(value / (1 - value)), z * se / (value * (1 - value))
        low, high = (1 / (1 + math.exp(-limit)) for limit in (logit - width, logit + width))
    marked_cases = [marked.by_rater[rater.name][case] for case in cases]
    lesions = [score for case in marked_cases for score in case.lesions]
    return FreeResponseResult(
        rater=rater.name, kind=rater.kind, measure=figure.value, cases=len(cases),
        cases_with_lesion=sum(bool(case.lesions) for case in marked_cases), lesions=len(lesions),
        hits=sum(score > -math.inf for score in lesions),
        false_marks=sum(not case.lesions and case.false_mark > -math.inf for case in marked_cases),
        estimate=None if math.isnan(value) else value, se=None if low is None else se, low=low, high=high,
        note=note,
    )  # fmt: skip


def _compare_with_models(raters: Sequence[_Rater], marked: _MarkedCases) -> Iterator[MrmcComparison]:
    """Compare readers' mean figures with models', by arm, without and with readers who set the reference."""
    readers = [rater for rater in raters if rater.kind == "reader"]
    models = [rater for rater in raters if rater.kind == "model"]
    arms = sorted({reader.arm for reader in readers})
    helper_sets = (False, True) if any(rater.set_reference for rater in readers) else (False,)
    for figure, model, arm, includes_helpers in product(FigureOfMerit, models, arms, helper_sets):
        compared_readers = [
            reader
            for reader in readers
            if reader.arm == arm and (includes_helpers or not reader.set_reference)
        ]
        contrasts = np.hstack([np.eye(len(compared_readers)), -np.ones((len(compared_readers), 1))])
        for result in marked.analyse([*compared_readers, model], contrasts, figure)[:2]:
            yield replace(
                result, model=model.name, measure=figure.value, arm=arm, includes_helpers=includes_helpers
            )


def _compare_arms(raters: Sequence[_Rater], marked: _MarkedCases) -> Iterator[ArmComparison]:
    """Compare each pair of arms, by the readers who read in both."""
    by_arm: dict[str, dict[str, _Rater]] = {}
    for rater in raters:
        if rater.kind == "reader":
            by_arm.setdefault(rater.arm, {})[rater.person] = rater
    for figure in FigureOfMerit:
        for a, b in combinations(sorted(by_arm), 2):
            people = sorted(set(by_arm[a]) & set(by_arm[b]))
            selected_raters = [by_arm[arm][name] for arm in (a, b) for name in people]
            contrasts = np.hstack([np.eye(len(people)), -np.eye(len(people))])
            cases = marked.list_common_cases(selected_raters)
            figures = marked.compute_figures(selected_raters, cases, figure).values if cases else np.zeros(0)
            means: list[float | None] = [None, None]
            if figures.size and not np.isnan(figures).any():
                means = [float(part.mean()) for part in np.split(figures, 2)]
            for result in marked.analyse(selected_raters, contrasts, figure):
                yield ArmComparison(
                    factor="arm", a=a, b=b, task="all", measure=figure.value, includes_helpers=True,
                    readers=result.readers, cases=result.cases, mean_a=means[0], mean_b=means[1],
                    difference=result.difference, se=result.se, df=result.df, low=result.low,
                    high=result.high, p=result.p, p_adjusted=None, random_readers=result.random_readers,
                    random_cases=result.random_cases, method=result.method, note=result.note,
                )  # fmt: skip
