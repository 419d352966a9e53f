"""The input of a release: batches, outcomes of questions, and names of reviewers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from sqlmodel import Session

from domain.batches import Batch
from domain.errors import NotFound, Refused
from domain.gold import GoldItem, LeftOut
from domain.people import Action, Person, require
from release.manifest import DrawnBatch
from release.rule import settle
from release.service.patients import without_removed_images
from release.splits import SplitPlan
from release.tally import Counting, Tally
from storage.browsing import applying
from storage.release import gold
from storage.release.gold_questions import judged_questions
from storage.sampling import batches as batch_rows
from storage.sampling import draws, frames


class Names(StrEnum):
    """How reviewers are named in a release."""

    ACCOUNT = "account"
    DISPLAY = "display"
    PSEUDONYM = "pseudonym"


def releasable(db: Session, *, by: Person) -> dict[str, list[str]]:
    """The batches of each dataset that has any, in the order of creation."""
    require(by, Action.MAKE_RELEASE)
    found = {
        name: [
            each.name for each in batch_rows.list_batches(db, dataset_id=frames.dataset_number(db, name=name))
        ]
        for name in frames.dataset_sizes(db)
    }
    return {name: names for name, names in found.items() if names}


def drawn_batches(db: Session, dataset: str, names: Sequence[str] | None) -> tuple[int, list[DrawnBatch]]:
    """The number of a dataset, and its batches with their draws.

    Args:
        db: a session that reads.
        dataset: its name.
        names: of batches; None or empty for all.

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
    """The outcome of each judged question, in the order of import.

    Args:
        db: a session that reads.
        batches: whose verdicts count.
        with_report: whether to read the exams' reports.
        only: numbers of questions; None for all judged ones.
    """
    settled = map(settle, judged_questions(db, batches=batches, with_report=with_report, only=only))
    return without_removed_images(db, settled)


def tally_of(db: Session, counting: Counting, drawn: list[DrawnBatch]) -> Tally:
    """The counts of a release, with the numbers of questions that nobody judged."""
    batches = [each.batch for each in drawn]
    return counting.tally(
        unjudged=gold.count_unjudged(db, batches=batches), drawn=gold.drawn_by_stratum(db, batches=batches)
    )


def reviewer_names(db: Session, batches: list[Batch], names: Names) -> dict[int, str]:
    """The name of each reviewer in the release, by person id."""
    found = gold.reviewers(db, batches=batches)
    if names is Names.PSEUDONYM:
        return {person: f"reviewer-{place}" for place, person in enumerate(found, start=1)}
    return {person: pair[names is Names.DISPLAY] for person, pair in found.items()}


def check_something(
    dataset: str, tally: Tally, splits: Mapping[str, Mapping[str, int]] | None, split: SplitPlan | None
) -> None:
    """Check that there is something to release, on each side of a split.

    Args:
        dataset: its name, for the error's text.
        tally: the counts of the release.
        splits: counts by side; None without a split.
        split: the plan of the split.

    Raises:
        Refused: there is nothing to release, with the reasons.
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
