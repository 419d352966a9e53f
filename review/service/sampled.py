"""Reads a sample from the database: the batches that count, its cells, the outcomes of its questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np
from sqlmodel import Session

from domain.batches import Batch, Parts
from domain.errors import NotFound, Refused
from domain.vocabulary import Difficulty
from review.estimates import Sample
from review.outcomes import Judgements, outcomes_of
from storage.browsing import applying
from storage.review import outcomes
from storage.review.outcomes import DrawnColumns
from storage.review.standing import standing_verdicts
from storage.sampling import batches as stored
from storage.sampling import draws, frames

#: ((number before the first, last number) of the segment, tier, further values).
CellKey = tuple[tuple[int, int], Difficulty | None, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFacts:
    """The data of a sample.

    ``batches`` are those that count; ``left_out`` are (name, reason) of the others. ``whole`` is the number
    of questions of the dataset, ``rejected_since`` of those rejected by rule. ``aside`` are (batch, question)
    that were skipped.
    """

    dataset: str
    dataset_id: int
    batches: tuple[Batch, ...]
    left_out: tuple[tuple[str, str], ...]
    drawn: DrawnColumns
    judgements: Judgements
    aside: frozenset[tuple[int, int]]
    whole: int
    rejected_since: int


def sample_facts(db: Session, *, dataset: str, names: Sequence[str] | None) -> SampleFacts:
    """Read the data of a sample. Checks no permission.

    Args:
        db: a session that reads.
        dataset: its name.
        names: of batches; None for all random batches of the dataset.

    Raises:
        NotFound: there is no such dataset or batch.
        Refused: none of the batches can be used for estimates.
    """
    dataset_id = frames.dataset_number(db, name=dataset)
    listed = stored.list_batches(db, dataset_id=dataset_id)
    missing = sorted(set(names or ()) - {each.name for each in listed})
    if missing:
        raise NotFound(
            f"The dataset {dataset!r} has no batch {', '.join(missing)}. Those there are: "
            f"{', '.join(each.name for each in listed) or 'none'}."
        )
    chosen = applying.chosen_batches(db)
    wanted = [each for each in listed if not names or each.name in names]
    left_out = tuple((each.name, why) for each in wanted if (why := why_not(each, chosen)))
    counted = tuple(each for each in wanted if not why_not(each, chosen))
    if not counted:
        said = "; ".join(f"{name}: {why}" for name, why in left_out)
        raise Refused(
            f"No batch of {dataset!r} says anything of its whole{f' ({said})' if said else ''}. Draw one at "
            "random and have it judged."
        )
    ids = [each.id for each in counted]
    return SampleFacts(
        dataset=dataset,
        dataset_id=dataset_id,
        batches=counted,
        left_out=left_out,
        drawn=outcomes.drawn_columns(db, batch_ids=ids),
        judgements=Judgements(
            standing=standing_verdicts(db, batch_ids=ids),
            settled=tuple(outcomes.settlements(db, batch_ids=ids)),
            key_only=frozenset(each.id for each in counted if each.settings.parts is Parts.KEY),
        ),
        aside=frozenset(outcomes.put_aside(db, batch_ids=ids)),
        whole=frames.dataset_sizes(db)[dataset],
        rejected_since=applying.count_rejected(db, dataset_id=dataset_id),
    )


def sample_of(db: Session, facts: SampleFacts, batches: Sequence[Batch] | None = None) -> Sample:
    """Combine batches to a sample; verdicts are not read again.

    Args:
        db: a session that reads.
        facts: of :func:`sample_facts`.
        batches: some of its batches; None for all.
    """
    batches = facts.batches if batches is None else batches
    ids = {each.id for each in batches}
    cells = Cells(db, facts.dataset_id, batches)
    cell_of = cells.of(facts.drawn)
    found = outcomes_of(facts.judgements, ids, cell_of)
    judged = {each.question_number for each in found}
    aside = {number for batch, number in facts.aside if batch in ids} - judged
    return Sample(
        names=cells.names,
        sizes=cells.sizes,
        outcomes=found,
        skipped=Counter(cell_of[number] for number in aside if number in cell_of),
        whole=max(facts.whole, sum(cells.sizes.values())),
    )


def why_not(batch: Batch, chosen: set[int]) -> str:
    """Why a batch can't be used for estimates; "" if it can.

    Args:
        batch: the batch.
        chosen: numbers of the batches that were made from a search.
    """
    if batch.id in chosen:
        return "its questions were found by a search, not drawn"
    if batch.settings.parts is Parts.IMAGE_ALIGNMENT:
        return "only image alignment was judged"
    return ""


class Cells:
    """The cells of a sample: within one, every question had the same chance in each of the draws.

    The ends of the draws' frames divide the question numbers into segments; all questions of a segment were
    in the same frames. A cell is a segment, a tier, and values of all further strata of the draws. If no two
    frames overlap, the sizes are those of the draws; otherwise they are counted.
    """

    def __init__(self, db: Session, dataset_id: int, batches: Sequence[Batch]) -> None:
        """Compute the segments and sizes."""
        drawn = [(batch, draw) for batch in batches for draw in draws.draws_of(db, batch_id=batch.id)]
        wanted = {name for batch in batches for name in batch.plan.strata}
        self.further = tuple(name for name in ("task", "category") if name in wanted)
        self.with_rejected = _rejected_later(db, dataset_id, [draw.drawn_at for _, draw in drawn])
        ends = sorted({end for _, draw in drawn for end in (draw.frame_after, draw.frame_through)})
        self.segments = [
            (low, high)
            for low, high in pairwise(ends)
            if any(draw.frame_after <= low and high <= draw.frame_through for _, draw in drawn)
        ]
        self._ends = [high for _, high in self.segments]
        self.sizes: dict[CellKey, int] = {}
        frames_ = sorted((draw.frame_after, draw.frame_through) for _, draw in drawn)
        apart = all(one[1] <= other[0] for one, other in pairwise(frames_))
        if apart and all(batch.plan.strata == self.further for batch in batches):
            for _, draw in drawn:
                segment = (draw.frame_after, draw.frame_through)
                for each in draw.strata:
                    self.sizes[segment, each.tier, each.further] = each.size
        else:
            for segment in self.segments:
                counts = frames.count_frame(
                    db, dataset_id=dataset_id, after=segment[0], through=segment[1], further=self.further,
                    with_rejected=self.with_rejected,
                )  # fmt: skip
                self.sizes |= {(segment, tier, values): n for (tier, values), n in counts.items()}
        self.names: dict[CellKey, str] = {key: cell_name(key) for key in self.sizes}

    def of(self, drawn: DrawnColumns) -> dict[int, CellKey]:
        """The cell of each question, by its number."""
        # The segments are in order and do not overlap; every question of these draws is in one.
        segments = np.searchsorted(self._ends, drawn.numbers)
        inside = segments < len(self._ends)
        columns = [drawn.features[name] for name in self.further]
        codes = [segments, drawn.tiers[1], *(places for _, places in columns)]
        known: dict[tuple[int, ...], CellKey] = {}
        found = {}
        for number, place in zip(
            drawn.numbers[inside].tolist(),
            zip(*(each[inside].tolist() for each in codes), strict=True),
            strict=True,
        ):
            if place not in known:
                segment, tier, *values = place
                further = tuple(all_[at] for (all_, _), at in zip(columns, values, strict=True))
                known[place] = (self.segments[segment], drawn.tiers[0][tier], further)
            found[number] = known[place]
        return found


def _rejected_later(db: Session, dataset_id: int, drawn_at: Sequence[datetime]) -> bool:
    """Whether a rule rejected questions after one of the draws."""
    applied = applying.rejecting_rules(db, dataset_id=dataset_id)
    return any(rule > draw for rule in applied for draw in drawn_at)


def cell_name(key: CellKey) -> str:
    """The name of a cell on screen: tier and further values."""
    _, tier, further = key
    return " / ".join([tier or "no tier", *(value or "none" for value in further)])
