"""What a release is made from: batches, settled questions, how reviewers are named; and a look ahead."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from sqlmodel import Session

from domain.batches import Batch
from domain.errors import NotFound, Refused
from domain.gold import GoldItem, LeftOut
from domain.people import Action, Person, require
from intake.collector import collector_paused
from release.manifest import DrawnBatch
from release.rule import settle
from release.service.looking_ahead import count_plain
from release.service.patients import without_removed_images
from release.splits import SplitPlan
from release.tally import Counting, Tally
from storage.browsing import applying
from storage.privacy.patient_data import removed_everywhere
from storage.release import gold
from storage.release.gold_questions import judged_questions
from storage.review.adjudications import rules_of
from storage.sampling import batches as batch_rows
from storage.sampling import draws, frames


class Names(StrEnum):
    """How reviewers are named in a release."""

    ACCOUNT = "account"
    DISPLAY = "display"
    PSEUDONYM = "pseudonym"


def releasable(db: Session, *, by: Person) -> dict[str, list[str]]:
    """The batches of each dataset that has any, the oldest first."""
    require(by, Action.MAKE_RELEASE)
    found = {
        name: [
            each.name for each in batch_rows.list_batches(db, dataset_id=frames.dataset_number(db, name=name))
        ]
        for name in frames.dataset_sizes(db)
    }
    return {name: names for name, names in found.items() if names}


@collector_paused()
def preview_release(db: Session, *, by: Person, dataset: str, batches: Sequence[str] | None = None) -> Tally:
    """What a release made now would hold, without writing it."""
    require(by, Action.MAKE_RELEASE)
    _, drawn = drawn_batches(db, dataset, batches)
    of_batches = [each.batch for each in drawn]
    counting, only = Counting(), None
    if not removed_everywhere(db):  # else every image must be looked up
        only = count_plain(db, of_batches, counting)
    for settled in settled_questions(db, of_batches, with_report=False, only=only):
        counting.add(settled)
    return tally_of(db, counting, drawn)


def preview_version(
    db: Session, *, by: Person, dataset: str, batches: Sequence[str] | None = None
) -> tuple[object, ...]:
    """As long as it stays the same, so does :func:`preview_release`, which reads every judged question."""
    require(by, Action.MAKE_RELEASE)
    _, drawn = drawn_batches(db, dataset, batches)
    counted = gold.judged_version(db, batches=[each.batch for each in drawn])
    settings = tuple(rules_of(db, batch_id=each.batch.id).revision for each in drawn)
    return (*counted, settings, len(removed_everywhere(db)))


def drawn_batches(db: Session, dataset: str, names: Sequence[str] | None) -> tuple[int, list[DrawnBatch]]:
    """The dataset's number and these batches of it, all where ``names`` is empty.

    Raises:
        NotFound: no such dataset or batch.
        Refused: the dataset has no batch.
    """
    dataset_id = frames.dataset_number(db, name=dataset)
    there = batch_rows.list_batches(db, dataset_id=dataset_id)
    if not there:
        raise Refused(f"The dataset {dataset!r} has no batch yet. Draw one and have it judged.")
    missing = sorted(set(names or ()) - {each.name for each in there})
    if missing:
        raise NotFound(
            f"The dataset {dataset!r} has no batch {', '.join(missing)}. Those there are: "
            f"{', '.join(each.name for each in there)}."
        )
    chosen = applying.chosen_batches(db)
    return dataset_id, [
        DrawnBatch(
            batch=each,
            plan=batch_rows.plan_to_plain(each.plan),
            draws=tuple(draw.strata for draw in draws.draws_of(db, batch_id=each.id)),
            chosen=each.id in chosen,
        )
        for each in there
        if not names or each.name in names
    ]


def settled_questions(
    db: Session, batches: list[Batch], *, with_report: bool, only: Collection[int] | None = None
) -> Iterator[GoldItem | LeftOut]:
    """What becomes of each judged question, or of these ``only``, in the order in which they came in."""
    settled = map(settle, judged_questions(db, batches=batches, with_report=with_report, only=only))
    return without_removed_images(db, settled)


def tally_of(db: Session, counting: Counting, drawn: list[DrawnBatch]) -> Tally:
    """The counts, with those of the questions that nobody judged."""
    batches = [each.batch for each in drawn]
    return counting.tally(
        unjudged=gold.count_unjudged(db, batches=batches), drawn=gold.drawn_by_stratum(db, batches=batches)
    )


def reviewer_names(db: Session, batches: list[Batch], names: Names) -> dict[int, str]:
    """How each reviewer is called, by number."""
    found = gold.reviewers(db, batches=batches)
    if names is Names.PSEUDONYM:
        return {person: f"reviewer-{place}" for place, person in enumerate(found, start=1)}
    return {person: pair[names is Names.DISPLAY] for person, pair in found.items()}


def check_something(
    dataset: str, tally: Tally, splits: Mapping[str, Mapping[str, int]] | None, split: SplitPlan | None
) -> None:
    """See that there is something to release, on each side where there are two.

    Raises:
        Refused: nothing, with the reasons.
    """
    if not tally.judged:
        raise Refused(f"Nobody has judged a question of {dataset!r} in these batches yet.")
    if not tally.released:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in tally.left_out.items())
        raise Refused(f"No question of {dataset!r} can be released: {reasons}.")
    empty = [side for side, counts in (splits or {}).items() if not counts["questions"]]
    if empty and split is not None:
        raise Refused(
            f"No question falls on the {empty[0]} side with a private share of {split.private_share:g} and "
            f"seed {split.seed}: exams that share a patient or an image stay together. Choose another share "
            "or seed."
        )
