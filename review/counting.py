"""Counts a batch's questions, assignments and verdicts for the progress page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from domain.batches import AssignmentState, Batch
from domain.verdicts import ErrorKind
from measures.agreement import Weights, contingency, weighted_kappa
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
from review.progress import ProgressLine, Progress, Rate, TierTable
from review.rated import summarize_flags, summarize_ratings

NO_TIER, NO_TASK, REVIEWERS_DIFFER = "no tier", "no task", "reviewers differ"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchData:
    """The data of a batch to count; ``people`` are names by person id."""

    questions: QuestionColumns
    assigned: AssignmentColumns
    judged: LatestVerdicts
    people: Mapping[int, str]


def count_batch(batch: Batch, data: BatchData, *, now: datetime) -> Progress:
    """Compute the progress of a batch.

    Args:
        batch: the batch.
        data: its data.
        now: the time, for the expected end.
    """
    index = _BatchIndex(data)
    reviewers = _build_reviewer_lines(index, now=now)
    only_skipped = int((index.skipped & ~index.reviewed).sum())
    rates = _ReviewRates(index, skipped=only_skipped)
    reviewed = int(index.reviewed.sum())
    exams = data.questions.exams[index.judged]
    return Progress(
        batch=batch,
        whole=_build_total_line(batch.name, index, reviewers, now=now),
        tiers=_build_group_lines(index, data.questions.tiers, [*map(str, TIERS), NO_TIER], now=now),
        tasks=_build_group_lines(index, data.questions.tasks, [*map(str, TASKS), NO_TASK], now=now),
        reviewers=reviewers,
        reviewed=reviewed,
        skipped=wilson(only_skipped, reviewed + only_skipped),
        decisions=rates.of_decisions(),
        errors=rates.of_errors(),
        ratings=summarize_ratings(data.judged.ratings, exams),
        flags=summarize_flags(data.judged.flags, exams),
        tier_table=_build_tier_table(index),
        notes=_write_notes(index),
    )


class _BatchIndex:
    """The data of a batch, with the index of the question of each assignment and of each verdict.

    ``reviewed`` and ``skipped``, by question: whether somebody judged it, and whether somebody skipped it.
    """

    def __init__(self, facts: BatchData) -> None:
        """Compute the indices."""
        self.facts = facts
        self.n = len(facts.questions.numbers)
        order = np.argsort(facts.questions.numbers)
        sorted_numbers = facts.questions.numbers[order]
        self.assigned = order[np.searchsorted(sorted_numbers, facts.assigned.questions)]
        self.judged = order[np.searchsorted(sorted_numbers, facts.judged.questions)]
        self.reviewed = self.marked(self.judged)
        is_skipped = facts.assigned.states == STATES.index(AssignmentState.SKIPPED)
        self.skipped = self.marked(self.assigned[is_skipped])

    def marked(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A mask of the questions with these indices."""
        mask = np.zeros(self.n, dtype=bool)
        mask[rows] = True
        return mask


# --------------------------------------------------------------------------------- breakdowns, by line
def _build_group_lines(
    index: _BatchIndex, groups: NDArray[np.int8], group_names: Sequence[str], *, now: datetime
) -> tuple[ProgressLine, ...]:
    """One line per group that has a question; ``groups`` are indices of ``group_names``, -1 is its last entry."""
    group_of_question = np.where(groups < 0, len(group_names) - 1, groups)
    return tuple(
        _build_line(
            name,
            index,
            questions=int((group_of_question == group).sum()),
            assigned_mask=group_of_question[index.assigned] == group,
            judged_mask=group_of_question[index.judged] == group,
            now=now,
        )
        for group, name in enumerate(group_names)
        if (group_of_question == group).any()
    )


def _build_reviewer_lines(index: _BatchIndex, *, now: datetime) -> tuple[ProgressLine, ...]:
    assigned, judged = index.facts.assigned.people, index.facts.judged.people
    person_ids_by_name: dict[str, list[int]] = defaultdict(list)
    for person in np.union1d(assigned, judged).tolist():
        person_ids_by_name[index.facts.people.get(person, f"person {person}")].append(person)
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


def _build_total_line(name: str, index: _BatchIndex, reviewers: Sequence[ProgressLine], *, now: datetime) -> ProgressLine:
    """The line of the whole batch; its expected end is not before that of the slowest reviewer."""
    all_assignments, all_verdicts = np.ones(len(index.assigned), dtype=bool), np.ones(len(index.judged), dtype=bool)
    line = _build_line(name, index, questions=index.n, assigned_mask=all_assignments, judged_mask=all_verdicts, now=now)
    ends = [end for progress_line in (line, *reviewers) if (end := progress_line.finish.at) is not None]
    if line.finish.at is None:
        return line
    return replace(line, finish=ExpectedFinish(at=max(ends)))


def _build_line(
    name: str,
    index: _BatchIndex,
    *,
    questions: int | None,
    assigned_mask: NDArray[np.bool_],
    judged_mask: NDArray[np.bool_],
    now: datetime,
) -> ProgressLine:
    """One line; if ``questions`` is None, it counts the questions that its people have."""
    assigned_count = int(index.marked(index.assigned[assigned_mask]).sum())
    questions = assigned_count if questions is None else questions
    states = np.bincount(index.facts.assigned.states[assigned_mask], minlength=len(STATES)).tolist()
    left = states[STATES.index(AssignmentState.OPEN)]
    times = index.facts.judged.first_seconds[judged_mask]
    return ProgressLine(
        name=name,
        questions=questions,
        unassigned=questions - assigned_count,
        asked=sum(states),
        done=states[STATES.index(AssignmentState.DONE)],
        skipped=states[STATES.index(AssignmentState.SKIPPED)],
        left=left,
        seconds_median=float(np.median(times)) if len(times) else None,
        timed=len(times),
        finish=estimate_finish(_select_latest_times(index.facts.judged.first_given_at[judged_mask]), left=left, now=now),
    )


def _select_latest_times(times: NDArray[np.datetime64]) -> list[datetime]:
    """The latest times, as many as the pace needs."""
    latest = times if len(times) <= WINDOW else np.partition(times, -WINDOW)[-WINDOW:]
    return [moment.replace(tzinfo=UTC) for moment in latest.astype("datetime64[us]").tolist()]


# ------------------------------------------------------------------------------------------------ shares
class _ReviewRates:
    """Shares of the reviewed questions; a question that several people judged counts once."""

    def __init__(self, counted: _BatchIndex, *, skipped: int) -> None:
        """Use the reviewed questions, in the order of the batch."""
        self._counted, self._skipped = counted, skipped
        self._exams = counted.facts.questions.exams[counted.reviewed]

    def of_errors(self) -> tuple[Rate, ...]:
        """For each kind of error: the share of questions in which at least one reviewer found it."""
        judged = self._counted.facts.judged
        return tuple(
            self._rate(kind, self._counted.marked(self._counted.judged[judged.has_error(kind)]))
            for kind in ErrorKind
        )

    def of_decisions(self) -> tuple[Rate, ...]:
        """For each decision: the share of questions in which all reviewers made it; and where they differ."""
        decisions = self._counted.facts.judged.decisions
        masks = [self._counted.marked(self._counted.judged[decisions == code]) for code in range(len(DECISIONS))]
        is_unanimous = np.sum(masks, axis=0) == 1
        rates = [self._rate(decision, mask & is_unanimous) for decision, mask in zip(DECISIONS, masks, strict=True)]
        differs = self._counted.reviewed & ~is_unanimous
        return (*rates, self._rate(REVIEWERS_DIFFER, differs)) if differs.any() else tuple(rates)

    def _rate(self, name: str, where: NDArray[np.bool_]) -> Rate:
        share = wilson_by_cluster(where[self._counted.reviewed], self._exams)
        return Rate(name=str(name), share=share, if_skipped=self._bounds(share))

    def _bounds(self, share: Proportion) -> tuple[float, float] | None:
        if not self._skipped or not share.n:
            return None
        total = share.n + self._skipped
        return share.count / total, (share.count + self._skipped) / total


# ----------------------------------------------------------------------------------------- tiers and notes
def _build_tier_table(index: _BatchIndex) -> TierTable:
    questions, judged = index.facts.questions, index.facts.judged
    machine_codes = questions.tiers[index.judged]
    has_both = (machine_codes >= 0) & (judged.tiers >= 0)
    machine_tiers, expert_tiers = machine_codes[has_both].tolist(), judged.tiers[has_both].tolist()
    exams = questions.exams[index.judged[has_both]]
    counts = contingency(machine_tiers, expert_tiers, k=len(TIERS))
    linear, quadratic = (
        weighted_kappa(machine_tiers, expert_tiers, k=len(TIERS), weights=weights, clusters=exams.tolist())
        for weights in (Weights.LINEAR, Weights.QUADRATIC)
    )
    has_shared_exams = len(np.unique(exams)) < len(exams)
    return TierTable(
        tiers=TIERS,
        counts=tuple(tuple(int(count) for count in row) for row in counts),
        without=len(has_both) - len(exams),
        linear=linear,
        quadratic=quadratic,
        note="95 % intervals from the standard error of Fleiss, Cohen and Everitt (1969)"
        + (", its influences summed by exam." if has_shared_exams else "."),
    )


def _write_notes(index: _BatchIndex) -> tuple[str, ...]:
    notes = []
    questions, reviewed = index.facts.questions, int(index.reviewed.sum())
    rates = {round(probability, 9) for probability in np.unique(questions.inclusion_probabilities).tolist()}
    if rates and max(rates) > 1.001 * min(rates):
        notes.append(
            "Shares are of the reviewed questions, unweighted. The strata of this batch were drawn at "
            f"different rates ({100 * min(rates):.1f} to {100 * max(rates):.1f} %), so they are not shares "
            "of the dataset."
        )
    elif reviewed:
        notes.append("Shares are of the reviewed questions; they are not yet estimates for the dataset.")
    if len(np.unique(questions.exams[index.reviewed])) < reviewed:
        notes.append(
            "Several of the questions are of one exam and not independent: the intervals count for that."
        )
    several_reviewers = int((np.bincount(index.judged, minlength=index.n) > 1).sum())
    if several_reviewers:
        notes.append(
            f"{several_reviewers:,} of the reviewed questions have verdicts of more than one reviewer. A kind of error "
            "counts where at least one of them found it."
        )
    return tuple(notes)
