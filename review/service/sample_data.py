"""Loads a sample from the database: the batches that count, the cells, and the outcomes of the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np
from sqlmodel import Session

from domain.batches import Batch, FormScope
from domain.errors import NotFound, Refused
from domain.vocabulary import Difficulty
from review.estimates import Sample
from review.outcomes import Judgements, resolve_outcomes
from storage.browsing import applied_rules
from storage.quality.problems import select_with_problems
from storage.review import outcomes
from storage.review.latest_verdicts import load_latest_verdicts
from storage.review.outcomes import ReviewedQuestionColumns
from storage.sampling import batches as stored
from storage.sampling import draws, frames
from storage.types import AnySelect

#: (segment, tier, values of the further strata). A segment is (id before its first question, id of its last).
CellKey = tuple[tuple[int, int], Difficulty | None, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleData:
    """The data of a sample.

    ``batches`` has the batches that count, and ``excluded`` (name, reason) of the others. ``skipped`` has
    (batch id, question id) of the skipped questions. ``dataset_size`` is the number of questions of the
    dataset, and ``rejected_since`` the number of those rejected by rule.
    """

    dataset: str
    dataset_id: int
    batches: tuple[Batch, ...]
    excluded: tuple[tuple[str, str], ...]
    drawn_columns: ReviewedQuestionColumns
    judgements: Judgements
    skipped: frozenset[tuple[int, int]]
    dataset_size: int
    rejected_since: int


def load_sample_data(db: Session, *, dataset: str, names: Sequence[str] | None) -> SampleData:
    """Load the data of a sample. The function checks no permission.

    Args:
        db: a read-only session.
        dataset: the name of the dataset.
        names: the names of the batches; None for all random batches of the dataset.

    Raises:
        NotFound: the dataset or a batch does not exist.
        Refused: none of the batches can be used for estimates.
    """
    dataset_id = frames.load_dataset_number(db, name=dataset)
    dataset_batches = stored.list_batches(db, dataset_id=dataset_id)
    missing = sorted(set(names or ()) - {batch.name for batch in dataset_batches})
    if missing:
        raise NotFound(
            f"The dataset {dataset!r} has no batch {', '.join(missing)}. Choose from: "
            f"{', '.join(batch.name for batch in dataset_batches) or 'none'}."
        )
    search_batches = applied_rules.load_batches_from_search(db)
    requested = [batch for batch in dataset_batches if not names or batch.name in names]
    reasons_by_batch = {batch.name: explain_exclusion(batch, search_batches) for batch in requested}
    usable = [batch for batch in requested if not reasons_by_batch[batch.name]]
    # Questions that some draws left out and others did not would have unequal chances.
    counted = tuple(batch for batch in usable if set(batch.plan.checks) == set(usable[0].plan.checks))
    for batch in usable:
        if batch not in counted:
            reasons_by_batch[batch.name] = (
                f"it leaves out questions by other checks than batch {counted[0].name}; choose it alone"
            )
    excluded = tuple((name, reason) for name, reason in reasons_by_batch.items() if reason)
    if not counted:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in excluded)
        raise Refused(
            f"No batch of {dataset!r} can be used for estimates{f' ({reasons})' if reasons else ''}. Draw "
            "a random batch and have it reviewed."
        )
    ids = [batch.id for batch in counted]
    return SampleData(
        dataset=dataset,
        dataset_id=dataset_id,
        batches=counted,
        excluded=excluded,
        drawn_columns=outcomes.load_reviewed_questions(db, batch_ids=ids),
        judgements=Judgements(
            latest_verdicts=load_latest_verdicts(db, batch_ids=ids),
            adjudications=tuple(outcomes.load_adjudication_outcomes(db, batch_ids=ids)),
            key_only_batches=frozenset(
                batch.id for batch in counted if batch.settings.parts is FormScope.KEY
            ),
        ),
        skipped=frozenset(outcomes.load_skipped_questions(db, batch_ids=ids)),
        dataset_size=frames.load_dataset_sizes(db)[dataset],
        rejected_since=applied_rules.count_rejected(db, dataset_id=dataset_id),
    )


def build_sample(db: Session, data: SampleData, batches: Sequence[Batch] | None = None) -> Sample:
    """Build a sample from batches, without loading verdicts again.

    Args:
        db: a read-only session.
        data: the result of :func:`load_sample_data`.
        batches: some of the batches in ``data``; None for all.
    """
    batches = data.batches if batches is None else batches
    ids = {batch.id for batch in batches}
    cells = SampleCells(db, data.dataset_id, batches)
    cell_by_question = cells.map_questions_to_cells(data.drawn_columns)
    resolved_outcomes = resolve_outcomes(data.judgements, ids, cell_by_question)
    judged = {outcome.question_number for outcome in resolved_outcomes}
    skipped = {number for batch, number in data.skipped if batch in ids} - judged
    return Sample(
        names=cells.names,
        sizes=cells.sizes,
        outcomes=resolved_outcomes,
        skipped=Counter(cell_by_question[number] for number in skipped if number in cell_by_question),
        dataset_size=max(data.dataset_size, sum(cells.sizes.values())),
    )


def explain_exclusion(batch: Batch, search_batches: set[int]) -> str:
    """Return why a batch cannot be used for estimates; "" if it can.

    Args:
        batch: the batch.
        search_batches: the ids of the batches that were made from a search.
    """
    if batch.id in search_batches:
        return "its questions were selected by a search, not drawn at random"
    if batch.plan.balance is not None:
        return "its exams were selected by their findings, not drawn at random"
    if batch.settings.parts is FormScope.IMAGE_ALIGNMENT:
        return "only image alignment was judged"
    return ""


class SampleCells:
    """The cells of a sample. All questions of a cell had the same chance in each of the draws.

    The limits of the draws' sampling frames divide the question ids into segments, so that all questions of a
    segment were in the same frames. A cell is the combination of a segment, a tier, and values of all further
    strata of the draws. If no two frames overlap, the sizes of the cells are those of the draws; otherwise
    they are counted.
    """

    def __init__(self, db: Session, dataset_id: int, batches: Sequence[Batch]) -> None:
        """Compute the segments and sizes."""
        batch_draws = [(batch, draw) for batch in batches for draw in draws.list_draws(db, batch_id=batch.id)]
        strata_columns = {name for batch in batches for name in batch.plan.strata}
        self.further_columns = tuple(name for name in ("task", "category") if name in strata_columns)
        self.with_rejected = _has_later_rejections(db, dataset_id, [draw.drawn_at for _, draw in batch_draws])
        ends = sorted({end for _, draw in batch_draws for end in (draw.frame_after, draw.frame_through)})
        self.segments = [
            (low, high)
            for low, high in pairwise(ends)
            if any(draw.frame_after <= low and high <= draw.frame_through for _, draw in batch_draws)
        ]
        self._ends = [high for _, high in self.segments]
        self.excluded = _select_excluded(db, dataset_id, batches)
        self.sizes: dict[CellKey, int] = {}
        frame_ranges = sorted((draw.frame_after, draw.frame_through) for _, draw in batch_draws)
        if any(batch.plan.checks for batch in batches):
            # What the checks report may have changed since; draws of the same questions had the same frame.
            frame_ranges = sorted(set(frame_ranges))
        is_disjoint = all(first[1] <= second[0] for first, second in pairwise(frame_ranges))
        if is_disjoint and all(batch.plan.strata == self.further_columns for batch in batches):
            for _, draw in batch_draws:
                segment = (draw.frame_after, draw.frame_through)
                for stratum in draw.strata:
                    self.sizes.setdefault((segment, stratum.tier, stratum.further), stratum.size)
        else:
            for segment in self.segments:
                counts = frames.count_frame(
                    db,
                    dataset_id=dataset_id,
                    after=segment[0],
                    through=segment[1],
                    stratify_by=self.further_columns,
                    with_rejected=self.with_rejected,
                    excluded=self.excluded,
                )
                self.sizes |= {(segment, tier, values): count for (tier, values), count in counts.items()}
        self.names: dict[CellKey, str] = {key: format_cell_name(key) for key in self.sizes}

    def map_questions_to_cells(self, drawn_columns: ReviewedQuestionColumns) -> dict[int, CellKey]:
        """Return the cell of each question, by question id."""
        # The segments are sorted and disjoint, and every question of these draws is in one of them.
        segments = np.searchsorted(self._ends, drawn_columns.numbers)
        is_inside = segments < len(self._ends)
        columns = [drawn_columns.features[name] for name in self.further_columns]
        code_columns = [segments, drawn_columns.tiers[1], *(places for _, places in columns)]
        cache: dict[tuple[int, ...], CellKey] = {}
        cell_by_question = {}
        for number, codes_of_question in zip(
            drawn_columns.numbers[is_inside].tolist(),
            zip(*(code_column[is_inside].tolist() for code_column in code_columns), strict=True),
            strict=True,
        ):
            if codes_of_question not in cache:
                segment, tier, *values = codes_of_question
                further = tuple(
                    column_values[code] for (column_values, _), code in zip(columns, values, strict=True)
                )
                cache[codes_of_question] = (self.segments[segment], drawn_columns.tiers[0][tier], further)
            cell_by_question[number] = cache[codes_of_question]
        return cell_by_question


def _select_excluded(db: Session, dataset_id: int, batches: Sequence[Batch]) -> AnySelect | None:
    """Select the ids of the questions that were no part of the frames; None if there are none.

    Questions of a search or a balanced selection were no part of the frames of plans that leave out other
    batches. Questions with a problem of a check that the plans name were none either, unless they had no
    problem when they were drawn.
    """
    parts: list[AnySelect] = []
    if any(batch.plan.not_drawn for batch in batches):
        not_random = applied_rules.load_batches_from_search(db) | {
            batch.id
            for batch in stored.list_batches(db, dataset_id=dataset_id)
            if batch.plan.balance is not None
        }
        parts.append(frames.select_in_batches(dataset_id=dataset_id, batch_ids=not_random))
    checks = {check for batch in batches for check in batch.plan.checks}
    if checks:
        drawn = frames.select_in_batches(dataset_id=dataset_id, batch_ids=[batch.id for batch in batches])
        parts.append(select_with_problems(dataset_id=dataset_id, checks=checks, except_for=drawn))
    return frames.unite_selects(parts)


def _has_later_rejections(db: Session, dataset_id: int, drawn_at: Sequence[datetime]) -> bool:
    """Whether a rule rejected questions after one of the draws."""
    rules_applied_at = applied_rules.list_rejection_times(db, dataset_id=dataset_id)
    return any(rule > draw for rule in rules_applied_at for draw in drawn_at)


def format_cell_name(key: CellKey) -> str:
    """Return the name of a cell on screen: its tier and further values."""
    _, tier, further = key
    return " / ".join([tier or "no tier", *(value or "none" for value in further)])
