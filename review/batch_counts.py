"""Counts the questions, assignments and verdicts of a batch for the progress page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from domain.batches import AssignmentState, Batch
from domain.verdicts import ErrorKind
from measures.agreement import Weights, agreement_weights, contingency
from measures.kappa_intervals import kappa_interval
from measures.proportions import Proportion, wilson, wilson_by_cluster
from records.columns import (
    DECISIONS,
    STATES,
    TASKS,
    TIERS,
    AssignmentColumns,
    LatestVerdicts,
    QuestionColumns,
)
from review.pace import WINDOW, ExpectedFinish, estimate_finish
from review.progress import Progress, ProgressLine, Rate, TierTable
from review.rating_statistics import summarize_ratings, summarize_yes_no_fields

NO_TIER, NO_TASK, REVIEWERS_DIFFER = "no tier", "no task", "reviewers differ"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchData:
    """The data of a batch for counting. ``people`` has the names by person id."""

    questions: QuestionColumns
    assignments: AssignmentColumns
    verdicts: LatestVerdicts
    people: Mapping[int, str]


def count_batch(batch: Batch, data: BatchData, *, now: datetime) -> Progress:
    """Compute the progress of a batch.

    Args:
        batch: the batch.
        data: the data of the batch.
        now: the current time, from which the expected finish is computed.
    """
    index = _BatchIndex(data)
    reviewers = _build_reviewer_lines(index, now=now)
    n_only_skipped = int((index.is_skipped & ~index.is_reviewed).sum())
    rates = _ReviewRates(index, n_skipped=n_only_skipped)
    n_reviewed = int(index.is_reviewed.sum())
    exams = data.questions.exams[index.judged_rows]
    return Progress(
        batch=batch,
        batch_line=_build_total_line(batch.name, index, reviewers, now=now),
        lines_by_tier=_build_group_lines(index, data.questions.tiers, [*map(str, TIERS), NO_TIER], now=now),
        lines_by_task=_build_group_lines(index, data.questions.tasks, [*map(str, TASKS), NO_TASK], now=now),
        lines_by_reviewer=reviewers,
        reviewed=n_reviewed,
        skipped=wilson(n_only_skipped, n_reviewed + n_only_skipped),
        decisions=rates.estimate_decision_rates(),
        errors=rates.estimate_error_rates(),
        ratings=summarize_ratings(data.verdicts.ratings, exams),
        yes_no_fields=summarize_yes_no_fields(data.verdicts.flags, exams),
        tier_table=_build_tier_table(index),
        notes=_write_notes(index),
    )


class _BatchIndex:
    """The data of a batch, with the index of the question of each assignment and of each verdict.

    ``is_reviewed`` is a mask of the questions with a verdict, and ``is_skipped`` of the questions that a
    reviewer skipped.
    """

    def __init__(self, data: BatchData) -> None:
        """Compute the indices."""
        self.data = data
        self.n = len(data.questions.numbers)
        order = np.argsort(data.questions.numbers)
        sorted_row_ids = data.questions.numbers[order]
        self.assigned_rows = order[np.searchsorted(sorted_row_ids, data.assignments.questions)]
        self.judged_rows = order[np.searchsorted(sorted_row_ids, data.verdicts.questions)]
        self.is_reviewed = self.mask_of(self.judged_rows)
        skipped_assignments = data.assignments.states == STATES.index(AssignmentState.SKIPPED)
        self.is_skipped = self.mask_of(self.assigned_rows[skipped_assignments])

    def mask_of(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a mask of the questions with these indices."""
        mask = np.zeros(self.n, dtype=bool)
        mask[rows] = True
        return mask


# --------------------------------------------------------------------------------- breakdowns, by line
def _build_group_lines(
    index: _BatchIndex, groups: NDArray[np.int8], group_names: Sequence[str], *, now: datetime
) -> tuple[ProgressLine, ...]:
    """Return one line per group with a question.

    ``groups`` has the index of each question's group in ``group_names``; -1 stands for the last group.
    """
    group_of_question = np.where(groups < 0, len(group_names) - 1, groups)
    return tuple(
        _build_line(
            name,
            index,
            questions=int((group_of_question == group).sum()),
            assigned_mask=group_of_question[index.assigned_rows] == group,
            judged_mask=group_of_question[index.judged_rows] == group,
            now=now,
        )
        for group, name in enumerate(group_names)
        if (group_of_question == group).any()
    )


def _build_reviewer_lines(index: _BatchIndex, *, now: datetime) -> tuple[ProgressLine, ...]:
    assigned, judged = index.data.assignments.people, index.data.verdicts.people
    person_ids_by_name: dict[str, list[int]] = defaultdict(list)
    for person in np.union1d(assigned, judged).tolist():
        person_ids_by_name[index.data.people.get(person, f"person {person}")].append(person)
    return tuple(
        _build_line(
            name,
            index,
            questions=None,
            assigned_mask=np.isin(assigned, person_ids_by_name[name]),
            judged_mask=np.isin(judged, person_ids_by_name[name]),
            now=now,
        )
        for name in sorted(person_ids_by_name)
    )


def _build_total_line(
    name: str, index: _BatchIndex, reviewers: Sequence[ProgressLine], *, now: datetime
) -> ProgressLine:
    """Return the line of the whole batch, which finishes no earlier than its slowest reviewer."""
    all_assignments, all_verdicts = (
        np.ones(len(index.assigned_rows), dtype=bool),
        np.ones(len(index.judged_rows), dtype=bool),
    )
    line = _build_line(
        name, index, questions=index.n, assigned_mask=all_assignments, judged_mask=all_verdicts, now=now
    )
    expected_ends = [
        end for progress_line in (line, *reviewers) if (end := progress_line.finish.expected_at) is not None
    ]
    if line.finish.expected_at is None:
        return line
    return replace(line, finish=ExpectedFinish(expected_at=max(expected_ends)))


def _build_line(
    name: str,
    index: _BatchIndex,
    *,
    questions: int | None,
    assigned_mask: NDArray[np.bool_],
    judged_mask: NDArray[np.bool_],
    now: datetime,
) -> ProgressLine:
    """Return one line. If ``questions`` is None, the number of assigned questions is used."""
    assigned_count = int(index.mask_of(index.assigned_rows[assigned_mask]).sum())
    questions = assigned_count if questions is None else questions
    states = np.bincount(index.data.assignments.states[assigned_mask], minlength=len(STATES)).tolist()
    left = states[STATES.index(AssignmentState.OPEN)]
    times = index.data.verdicts.first_seconds[judged_mask]
    return ProgressLine(
        name=name,
        questions=questions,
        unassigned=questions - assigned_count,
        requested=sum(states),
        done=states[STATES.index(AssignmentState.DONE)],
        skipped=states[STATES.index(AssignmentState.SKIPPED)],
        left=left,
        seconds_median=float(np.median(times)) if len(times) else None,
        timed=len(times),
        finish=estimate_finish(
            _select_latest_times(index.data.verdicts.first_given_at[judged_mask]), left=left, now=now
        ),
    )


def _select_latest_times(times: NDArray[np.datetime64]) -> list[datetime]:
    """Return the latest times, at most :data:`WINDOW`, from which the pace is computed."""
    latest_times = times if len(times) <= WINDOW else np.partition(times, -WINDOW)[-WINDOW:]
    return [time.replace(tzinfo=UTC) for time in latest_times.astype("datetime64[us]").tolist()]


# ------------------------------------------------------------------------------------------------ shares
class _ReviewRates:
    """Computes shares of the reviewed questions. A question that several people judged counts once."""

    def __init__(self, index: _BatchIndex, *, n_skipped: int) -> None:
        """Use the reviewed questions, in the order of the batch."""
        self._index, self._n_skipped = index, n_skipped
        self._exams = index.data.questions.exams[index.is_reviewed]

    def estimate_error_rates(self) -> tuple[Rate, ...]:
        """Return the share of questions in which a reviewer reported an error, for each kind of error."""
        judged = self._index.data.verdicts
        return tuple(
            self._estimate_rate(kind, self._index.mask_of(self._index.judged_rows[judged.has_error(kind)]))
            for kind in ErrorKind
        )

    def estimate_decision_rates(self) -> tuple[Rate, ...]:
        """Return the share of each unanimous decision, and the share of questions where reviewers differ."""
        decisions = self._index.data.verdicts.decisions
        masks = [
            self._index.mask_of(self._index.judged_rows[decisions == code]) for code in range(len(DECISIONS))
        ]
        is_unanimous = np.sum(masks, axis=0) == 1
        rates = [
            self._estimate_rate(decision, mask & is_unanimous)
            for decision, mask in zip(DECISIONS, masks, strict=True)
        ]
        differs = self._index.is_reviewed & ~is_unanimous
        return (*rates, self._estimate_rate(REVIEWERS_DIFFER, differs)) if differs.any() else tuple(rates)

    def _estimate_rate(self, name: str, mask: NDArray[np.bool_]) -> Rate:
        share = wilson_by_cluster(mask[self._index.is_reviewed], self._exams)
        return Rate(name=str(name), share=share, if_skipped=self._compute_skipped_bounds(share))

    def _compute_skipped_bounds(self, share: Proportion) -> tuple[float, float] | None:
        if not self._n_skipped or not share.n:
            return None
        total = share.n + self._n_skipped
        return share.count / total, (share.count + self._n_skipped) / total


# ----------------------------------------------------------------------------------------- tiers and notes
def _build_tier_table(index: _BatchIndex) -> TierTable:
    questions, judged = index.data.questions, index.data.verdicts
    machine_codes = questions.tiers[index.judged_rows]
    has_both = (machine_codes >= 0) & (judged.tiers >= 0)
    machine_tiers = machine_codes[has_both].astype(np.int64)
    expert_tiers = judged.tiers[has_both].astype(np.int64)
    exams = questions.exams[index.judged_rows[has_both]]
    counts = contingency(machine_tiers, expert_tiers, k=len(TIERS))
    linear, quadratic = (
        kappa_interval(
            machine_tiers, expert_tiers, weights=agreement_weights(len(TIERS), weights), clusters=exams
        )
        for weights in (Weights.LINEAR, Weights.QUADRATIC)
    )
    methods = sorted({kappa.method for kappa in (linear, quadratic) if kappa.method})
    return TierTable(
        tiers=TIERS,
        counts=tuple(tuple(int(count) for count in row) for row in counts),
        missing_tier=len(has_both) - len(exams),
        linear=linear,
        quadratic=quadratic,
        note=f"95 % intervals: {' and '.join(methods)}, clustered by exam." if methods else "",
    )


def _write_notes(index: _BatchIndex) -> tuple[str, ...]:
    notes = []
    questions, n_reviewed = index.data.questions, int(index.is_reviewed.sum())
    rates = {round(probability, 9) for probability in np.unique(questions.inclusion_probabilities).tolist()}
    if rates and max(rates) > 1.001 * min(rates):
        notes.append(
            "Shares are of the reviewed questions, unweighted. The strata of this batch were drawn at "
            f"different rates ({100 * min(rates):.1f} to {100 * max(rates):.1f} %), so they are not shares "
            "of the dataset."
        )
    elif n_reviewed:
        notes.append("Shares are of the reviewed questions; they are not yet estimates for the dataset.")
    if len(np.unique(questions.exams[index.is_reviewed])) < n_reviewed:
        notes.append(
            "Some questions belong to the same exam and are not independent; the intervals allow for this."
        )
    n_with_several = int((np.bincount(index.judged_rows, minlength=index.n) > 1).sum())
    if n_with_several:
        notes.append(
            f"{n_with_several:,} of the reviewed questions have verdicts of more than one reviewer. A kind"
            " of error counts if at least one of them reported it."
        )
    return tuple(notes)
