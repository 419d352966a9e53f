"""Loads a sample from the database: the batches that count, the cells, and the outcomes of the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from domain.batches import STRATA, Batch, DerivedNames, FormScope, RiskDesign
from domain.errors import NotFound, Refused
from domain.vocabulary import Difficulty
from review.estimates import Sample
from review.outcomes import Judgements, resolve_outcomes
from review.service.joint_probabilities import list_draws_in_order, load_joint_probabilities
from sampling.service import load_frame_risks, load_nonrandom_batch_ids
from storage.browsing import bulk_actions
from storage.quality.problems import select_with_problems
from storage.review import outcomes
from storage.review.latest_verdicts import load_latest_verdicts
from storage.review.outcomes import ReviewedQuestionColumns
from storage.sampling import batches as batch_storage
from storage.sampling import draws, frames
from storage.sampling.draws import Draw
from storage.types import AnySelect

#: (segment, tier, values of the further strata). A segment is (id before its first question, id of its last).
CellKey = tuple[tuple[int, int], Difficulty | None, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleData:
    """The data of a sample.

    Attributes:
        batches: the batches that count.
        draws: (draw id, last question id of its frame) of each draw of these batches, in order.
        excluded: (name, reason) of the other batches.
        skipped: (batch id, question id) of the skipped questions.
        dataset_size: the number of questions of the dataset.
        rejected_in_bulk: the number of these questions that bulk actions reject.
    """

    dataset: str
    dataset_id: int
    batches: tuple[Batch, ...]
    draws: tuple[tuple[int, int], ...]
    excluded: tuple[tuple[str, str], ...]
    drawn_columns: ReviewedQuestionColumns
    judgements: Judgements
    skipped: frozenset[tuple[int, int]]
    dataset_size: int
    rejected_in_bulk: int

    @property
    def frame_key(self) -> tuple[object, ...]:
        """The values that determine which questions the sample represents."""
        return self.draws, tuple(sorted(self.judged_batches)), self.dataset_size, self.rejected_in_bulk

    @property
    def judged_batches(self) -> frozenset[int]:
        """The ids of the batches with a verdict."""
        return frozenset(np.unique(self.judgements.latest_verdicts.batches).tolist())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatasetRisks:
    """The current risk of an error of each question in the cells of a sample; both arrays have shape (N,)."""

    numbers: NDArray[np.int64]
    risks: NDArray[np.float64]

    def find(self, numbers: Collection[int]) -> dict[int, float]:
        """Return the risks of the given questions, without questions that the sample does not represent."""
        wanted = np.array(sorted(numbers), dtype=np.int64)
        positions = np.minimum(np.searchsorted(self.numbers, wanted), len(self.numbers) - 1)
        is_known = self.numbers[positions] == wanted
        return dict(zip(wanted[is_known].tolist(), self.risks[positions[is_known]].tolist(), strict=True))


def load_sample_data(
    db: Session, *, dataset: str, names: Sequence[str] | None, flags: bool = False
) -> SampleData:
    """Load the data of a sample. The function checks no permission.

    Args:
        db: a read-only session.
        dataset: the name of the dataset.
        names: the names of the batches; None for all random batches of the dataset.
        flags: whether to load also the yes/no fields of the verdicts.

    Raises:
        NotFound: the dataset or a batch does not exist.
        Refused: none of the batches can be used for estimates.
    """
    dataset_id = frames.load_dataset_row_id(db, name=dataset)
    dataset_batches = batch_storage.list_batches(db, dataset_id=dataset_id)
    missing = sorted(set(names or ()) - {batch.name for batch in dataset_batches})
    if missing:
        raise NotFound(
            f"The dataset {dataset!r} has no batch {', '.join(missing)}. Choose from: "
            f"{', '.join(batch.name for batch in dataset_batches) or 'none'}."
        )
    search_batches = bulk_actions.load_batches_from_search(db)
    requested = [batch for batch in dataset_batches if not names or batch.name in names]
    reasons_by_batch = {batch.name: explain_exclusion(batch, search_batches) for batch in requested}
    usable = [batch for batch in requested if not reasons_by_batch[batch.name]]
    # All draws must leave out the same questions, or chances would be unequal.
    same_checks = [batch for batch in usable if set(batch.plan.checks) == set(usable[0].plan.checks)]
    for batch in usable:
        if batch not in same_checks:
            reasons_by_batch[batch.name] = (
                f"it leaves out questions by other checks than batch {usable[0].name}; choose it alone"
            )
    counted = _select_independent_batches(_select_same_names(same_checks, reasons_by_batch), reasons_by_batch)
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
        draws=tuple((draw.id or 0, draw.frame_through) for _, draw in list_draws_in_order(db, counted)),
        excluded=excluded,
        drawn_columns=outcomes.load_reviewed_questions(db, batch_ids=ids),
        judgements=Judgements(
            latest_verdicts=load_latest_verdicts(db, batch_ids=ids, ratings=flags),
            adjudications=tuple(outcomes.load_adjudication_outcomes(db, batch_ids=ids)),
            key_only_batches=frozenset(
                batch.id for batch in counted if batch.settings.parts is FormScope.KEY
            ),
        ),
        skipped=frozenset(outcomes.load_skipped_questions(db, batch_ids=ids)),
        dataset_size=frames.load_dataset_sizes(db)[dataset],
        rejected_in_bulk=bulk_actions.count_rejected(db, dataset_id=dataset_id),
    )


def _select_same_names(batches: Sequence[Batch], reasons_by_batch: dict[str, str]) -> tuple[Batch, ...]:
    """Return the batches whose strata have the same names; add the reasons why the others do not count."""
    names: dict[str, object] = {}
    counted = []
    for batch in batches:
        if any(names.get(feature, values) != values for feature, values in batch.plan.names.items()):
            reasons_by_batch[batch.name] = (
                f"its strata have other controlled names than batch {batches[0].name}; choose it alone"
            )
        else:
            names |= batch.plan.names
            counted.append(batch)
    return tuple(counted)


def _select_independent_batches(
    batches: Sequence[Batch], reasons_by_batch: dict[str, str]
) -> tuple[Batch, ...]:
    """Return only batches with different seeds if one was drawn by risk; add the reasons for the others."""
    if all(batch.plan.risk is None for batch in batches):
        return tuple(batches)
    first_by_seed: dict[int, Batch] = {}
    for batch in batches:
        first = first_by_seed.setdefault(batch.plan.seed, batch)
        if first is not batch:
            reasons_by_batch[batch.name] = (
                f"it was drawn with the same seed as batch {first.name}; choose it alone"
            )
    return tuple(first_by_seed.values())


def build_sample(
    db: Session,
    data: SampleData,
    batches: Sequence[Batch] | None = None,
    *,
    dataset_risks: DatasetRisks | None = None,
) -> Sample:
    """Build a sample from batches, without loading verdicts again.

    Args:
        db: a read-only session.
        data: the result of :func:`load_sample_data`.
        batches: some of the batches in ``data``; None for all.
        dataset_risks: the result of :func:`load_dataset_risks`, for prediction-powered estimates.
    """
    batches = data.batches if batches is None else batches
    ids = {batch.id for batch in batches}
    cells = SampleCells(db, data, batches)
    cell_by_question = cells.map_questions_to_cells(data.drawn_columns)
    probabilities = None
    if cells.is_weighted:
        probabilities = load_joint_probabilities(
            db,
            batches=batches,
            left_out=cells.left_out,
            questions=data.drawn_columns,
            judgements=data.judgements,
        )
        cell_by_question = {
            number: cell for number, cell in cell_by_question.items() if number in probabilities
        }
    columns = data.drawn_columns
    clusters = dict(zip(columns.numbers.tolist(), columns.clusters.tolist(), strict=True))
    resolved_outcomes = resolve_outcomes(data.judgements, ids, cell_by_question, clusters)
    judged = {outcome.question_row_id for outcome in resolved_outcomes}
    skipped = {number for batch, number in data.skipped if batch in ids} - judged
    has_risks = dataset_risks is not None and bool(dataset_risks.risks.any())
    return Sample(
        names=cells.names,
        sizes=cells.sizes,
        outcomes=resolved_outcomes,
        skipped=Counter(cell_by_question[number] for number in skipped if number in cell_by_question),
        dataset_size=max(data.dataset_size, sum(cells.sizes.values())),
        probabilities=probabilities,
        skipped_weight=sum(1 / probabilities[number] for number in skipped if number in probabilities)
        if probabilities
        else 0.0,
        risks=dataset_risks.find(judged) if dataset_risks is not None and has_risks else None,
        mean_risk=float(dataset_risks.risks.mean()) if dataset_risks is not None and has_risks else None,
    )


def load_dataset_risks(db: Session, data: SampleData, *, design: RiskDesign | None = None) -> DatasetRisks:
    """Load the risk of all questions that the sample represents. The function checks no permission.

    ``design`` has the weights of the sources of risk; None for all sources.
    """
    cells = SampleCells(db, data, data.batches)
    parts = [
        frames.load_frame(
            db,
            dataset_id=data.dataset_id,
            after=after,
            through=through,
            with_rejected=cells.with_rejected,
            excluded=cells.excluded,
        ).numbers
        for after, through in cells.segments
    ]
    numbers = np.sort(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)
    return DatasetRisks(
        numbers=numbers,
        risks=load_frame_risks(db, dataset_id=data.dataset_id, numbers=numbers, design=design),
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
    """The cells of a sample. Without draws by risk, a cell's questions had equal chances in each draw.

    ``left_out`` has the other batches whose questions the draws left out. ``is_weighted`` is True if any
    batch of the sample or of ``left_out`` was drawn by risk; the chances within a cell then differ.

    The limits of the draws' sampling frames divide the question ids into segments, so that all questions of a
    segment were in the same frames. A cell is the combination of a segment, a tier, and values of all further
    strata of the draws. If no two frames overlap, the sizes of the cells are the sizes of the strata at the
    draws; otherwise they are counted.
    """

    def __init__(self, db: Session, data: SampleData, batches: Sequence[Batch]) -> None:
        """Compute the segments and sizes."""
        dataset_id = data.dataset_id
        batch_draws = list_draws_in_order(db, batches)
        self.left_out = _list_left_out_batches(db, dataset_id, batch_draws)
        self.is_weighted = any(batch.plan.risk is not None for batch in (*batches, *self.left_out))
        strata_columns = {name for batch in batches for name in batch.plan.strata}
        self.further_columns = tuple(name for name in STRATA if name in strata_columns)
        #: The derived names of all batches. Batches with the same feature have the same names.
        self.derived_names: DerivedNames = {
            feature: values for batch in batches for feature, values in batch.plan.names.items()
        }
        self.with_rejected = _has_later_rejections(db, dataset_id, [draw.drawn_at for _, draw in batch_draws])
        ends = sorted({end for _, draw in batch_draws for end in (draw.frame_after, draw.frame_through)})
        self.segments = [
            (low, high)
            for low, high in pairwise(ends)
            if any(draw.frame_after <= low and high <= draw.frame_through for _, draw in batch_draws)
        ]
        self._ends = [high for _, high in self.segments]
        self.excluded = _select_excluded(db, dataset_id, batches)
        if self.is_weighted:
            undrawable = _select_undrawable(db, data, batch_draws, self.left_out)
            self.excluded = frames.unite_selects(
                [part for part in (self.excluded, undrawable) if part is not None]
            )
        self.sizes: dict[CellKey, int] = {}
        frame_ranges = sorted((draw.frame_after, draw.frame_through) for _, draw in batch_draws)
        if any(batch.plan.checks for batch in batches):
            # Results of checks may have changed since the draws; draws from the same ids had the same frame.
            frame_ranges = sorted(set(frame_ranges))
        is_disjoint = all(first[1] <= second[0] for first, second in pairwise(frame_ranges))
        # The strata of a draw count only the questions that it could take; weights represent all questions.
        is_frame_whole = not (self.is_weighted and self.left_out)
        has_same_strata = all(batch.plan.strata == self.further_columns for batch in batches)
        if is_disjoint and is_frame_whole and has_same_strata:
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
                    names=self.derived_names,
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
        columns = [drawn_columns.derive_feature(name, self.derived_names) for name in self.further_columns]
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
    """Select the ids of the questions outside the sampling frames; None if there are none.

    If a plan leaves out other batches, questions of a search or a balanced selection are outside its frame.
    Questions with a problem of a check that the plans name are also outside, unless they were drawn before
    the problem was found.
    """
    parts: list[AnySelect] = []
    if any(batch.plan.exclude_drawn for batch in batches):
        parts.append(frames.select_in_batches(dataset_id=dataset_id, batch_ids=load_nonrandom_batch_ids(db)))
    checks = {check for batch in batches for check in batch.plan.checks}
    if checks:
        drawn_ids = frames.select_in_batches(dataset_id=dataset_id, batch_ids=[batch.id for batch in batches])
        parts.append(select_with_problems(dataset_id=dataset_id, checks=checks, except_for=drawn_ids))
    return frames.unite_selects(parts)


def _list_left_out_batches(
    db: Session, dataset_id: int, batch_draws: Sequence[tuple[Batch, Draw]]
) -> list[Batch]:
    """Return the other random batches that were drawn before a draw that leaves out other batches."""
    last_draw_id = max((draw.id or 0 for batch, draw in batch_draws if batch.plan.exclude_drawn), default=0)
    if not last_draw_id:
        return []
    ignored_ids = load_nonrandom_batch_ids(db) | {batch.id for batch, _ in batch_draws}
    others = [
        batch
        for batch in batch_storage.list_batches(db, dataset_id=dataset_id)
        if batch.id not in ignored_ids
    ]
    earlier_ids = {
        batch.id for batch, draw in list_draws_in_order(db, others) if (draw.id or 0) < last_draw_id
    }
    return [batch for batch in others if batch.id in earlier_ids]


def _select_undrawable(
    db: Session, data: SampleData, batch_draws: Sequence[tuple[Batch, Draw]], left_out: Sequence[Batch]
) -> AnySelect | None:
    """Select the ids of the questions that no judged draw could take; None if there are none.

    They were certain to be drawn in a batch without verdicts that count, and later draws left them out.
    """
    judged = data.judged_batches
    judged_draws = [(batch, draw) for batch, draw in batch_draws if batch.id in judged]
    if not judged_draws:
        return None
    unjudged_draws = [(batch, draw) for batch, draw in batch_draws if batch.id not in judged]
    parts: list[AnySelect] = []
    for _, unjudged in (*unjudged_draws, *list_draws_in_order(db, left_out)):
        drawable_frames = [
            (draw.frame_after, draw.frame_through)
            for batch, draw in judged_draws
            if not batch.plan.exclude_drawn or (draw.id or 0) < (unjudged.id or 0)
        ]
        parts += draws.select_certain(draw_id=unjudged.id or 0, outside=drawable_frames)
    return frames.unite_selects(parts)


def _has_later_rejections(db: Session, dataset_id: int, draw_times: Sequence[datetime]) -> bool:
    """Whether a bulk action rejected questions after one of the draws."""
    rejection_times = bulk_actions.list_rejection_times(db, dataset_id=dataset_id)
    return any(rejection_time > draw_time for rejection_time in rejection_times for draw_time in draw_times)


def format_cell_name(key: CellKey) -> str:
    """Return the name of a cell on screen: its tier and further values."""
    _, tier, further = key
    return " / ".join([tier or "no tier", *(value or "none" for value in further)])
