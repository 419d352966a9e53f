"""A sample as it lies in the database: which batches count, its cells, what became of its questions."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from sqlmodel import Session

from domain.batches import Batch, Parts
from domain.errors import NotFound, Refused
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty
from review.estimates import KEY_KINDS, Outcome, Sample
from storage import applying, draws, frames, outcomes
from storage import batches as stored
from storage.outcomes import FEATURES, DrawnFacts, Said, Settled

#: (first number before it, last number), tier, further values.
CellKey = tuple[tuple[int, int], Difficulty | None, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFacts:
    """Everything about a sample that was read: the batches that count, their questions, their outcomes.

    ``left_out`` are batches that say nothing of the whole, each with the reason.
    """

    dataset: str
    dataset_id: int
    batches: tuple[Batch, ...]
    left_out: tuple[tuple[str, str], ...]
    sample: Sample
    questions: Mapping[int, DrawnFacts]
    rejected_since: int


def sample_facts(db: Session, *, dataset: str, names: Sequence[str] | None) -> SampleFacts:
    """All random batches of the dataset, or those of these names; no action is asked for here.

    Raises:
        NotFound: no such dataset or batch.
        Refused: none of the batches says anything of the whole.
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
    of_batch = {each.id: each for each in counted}
    questions = outcomes.drawn_facts(db, batch_ids=list(of_batch))
    cells = Cells(db, dataset_id, counted)
    found = _outcomes(db, of_batch, questions, cells)
    judged = {each.question_number for each in found}
    aside = outcomes.put_aside(db, batch_ids=list(of_batch)) - judged
    sample = Sample(
        names=cells.names,
        sizes=cells.sizes,
        outcomes=found,
        skipped=Counter(cells.of(questions[number]) for number in aside if number in questions),
        whole=max(frames.dataset_sizes(db)[dataset], sum(cells.sizes.values())),
    )
    return SampleFacts(
        dataset=dataset,
        dataset_id=dataset_id,
        batches=counted,
        left_out=left_out,
        sample=sample,
        questions=questions,
        rejected_since=applying.count_rejected(db, dataset_id=dataset_id),
    )


def why_not(batch: Batch, chosen: set[int]) -> str:
    """Why a batch says nothing of the whole; "" where it does. ``chosen``: those that a search found."""
    if batch.id in chosen:
        return "its questions were found by a search, not drawn"
    if batch.settings.parts is Parts.IMAGE_ALIGNMENT:
        return "only image alignment was judged"
    return ""


class Cells:
    """The parts of the whole within which every question had the same chance in each of the draws.

    Between two ends of frames all draws have the same questions before them, so the segments of numbers
    between those ends, by tier and by all further fields of these draws, are such parts. Where no two
    frames overlap the draws' own counts are their sizes; else they are counted anew.
    """

    def __init__(self, db: Session, dataset_id: int, batches: Sequence[Batch]) -> None:
        """Find the segments and their sizes."""
        drawn = [(batch, draw) for batch in batches for draw in draws.draws_of(db, batch_id=batch.id)]
        wanted = {name for batch in batches for name in batch.plan.strata}
        self.further = tuple(name for name in ("task", "category") if name in wanted)
        self._places = [FEATURES.index(name) for name in self.further]
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

    def of(self, question: DrawnFacts) -> CellKey:
        """The cell of a question."""
        # The segments lie one after the other; every question is in one.
        segment = self.segments[bisect_left(self._ends, question.number)]
        return segment, question.tier, tuple([question.features[place] for place in self._places])


def _rejected_later(db: Session, dataset_id: int, drawn_at: Sequence[datetime]) -> bool:
    """Whether a rule rejected questions after one of the draws had them in its frame."""
    applied = applying.rejecting_rules(db, dataset_id=dataset_id)
    return any(rule > draw for rule in applied for draw in drawn_at)


def cell_name(key: CellKey) -> str:
    """Tier and further values of a cell, as they are shown."""
    _, tier, further = key
    return " / ".join([tier or "no tier", *(value or "none" for value in further)])


def value_of(question: DrawnFacts, name: str) -> str:
    """The question's value of one of :data:`FEATURES`."""
    return question.features[FEATURES.index(name)]


def _outcomes(
    db: Session, of_batch: Mapping[int, Batch], questions: Mapping[int, DrawnFacts], cells: Cells
) -> list[Outcome]:
    settled = outcomes.settlements(db, batch_ids=list(of_batch))
    found = []
    for number, said in outcomes.said_of(db, batch_ids=list(of_batch)).items():
        if number not in questions:
            continue
        full = [each for each in said if of_batch[each.batch_id].settings.parts is not Parts.KEY]
        standing = settled.get(number)
        decision, errors, key_error = _came_to(full or said, standing)
        if standing is None and 0 < len(full) < len(said):  # who looked at the key alone counts for it too
            key_error = any(_key_error(each) for each in said)
        found.append(
            Outcome(
                question_number=number,
                exam_number=questions[number].exam_number,
                cell=cells.of(questions[number]),
                decision=decision,
                errors=errors,
                key_error=key_error,
                key_only=not full,
            )
        )
    return found


def _came_to(
    said: Sequence[Said], settled: Settled | None
) -> tuple[Decision | None, frozenset[ErrorKind], bool]:
    """(decision, kinds of error, whether the key is wrong): the adjudication's, else the reviewers'."""
    if settled is None and len(said) == 1:
        return said[0].decision, said[0].errors, _key_error(said[0])
    if settled is None:
        decisions = {each.decision for each in said}
        errors = frozenset[ErrorKind]().union(*(each.errors for each in said))
        decision = decisions.pop() if len(decisions) == 1 else None
        return decision, errors, any(_key_error(each) for each in said)
    if settled.decision is Decision.ACCEPT:
        return settled.decision, frozenset(), False
    followed = [each for each in said if each.person_id in settled.follows] or list(said)
    errors = frozenset[ErrorKind]().union(*(each.errors for each in followed))
    rejected_for_key = settled.decision is Decision.REJECT and any(_key_error(each) for each in followed)
    return settled.decision, errors, settled.key_changed or rejected_for_key


def _key_error(said: Said) -> bool:
    return said.key_changed or not KEY_KINDS.isdisjoint(said.errors)
