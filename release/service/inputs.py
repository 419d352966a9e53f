"""The input of a release: batches, outcomes of questions, and names of reviewers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlmodel import Session

from domain.batches import Batch
from domain.errors import NotFound, Refused
from domain.gold import Excluded, GoldItem
from domain.people import Action, Person, require
from release.manifest import DrawnBatch
from release.names import ReviewerNaming, name_reviewers
from release.rule import decide_release, exclude_removed_images
from release.tally import Tally, TallyCounter
from storage.browsing import applied_rules
from storage.privacy.patient_data import load_removed_images
from storage.release import gold
from storage.release.gold_questions import iterate_judged_questions
from storage.sampling import batches as batch_rows
from storage.sampling import draws, frames


def list_releasable_batches(db: Session, *, by: Person) -> dict[str, list[str]]:
    """The batches of each dataset that has any, in the order of creation."""
    require(by, Action.MAKE_RELEASE)
    batches_by_dataset = {
        name: [
            batch.name
            for batch in batch_rows.list_batches(db, dataset_id=frames.load_dataset_number(db, name=name))
        ]
        for name in frames.load_dataset_sizes(db)
    }
    return {name: names for name, names in batches_by_dataset.items() if names}


def load_drawn_batches(
    db: Session, dataset: str, batch_names: Sequence[str] | None
) -> tuple[int, list[DrawnBatch]]:
    """The number of a dataset, and its batches with their draws.

    Args:
        db: a session that reads.
        dataset: its name.
        batch_names: of batches; None or empty for all.

    Raises:
        NotFound: no such dataset or batch.
        Refused: the dataset has no batch.
    """
    dataset_id = frames.load_dataset_number(db, name=dataset)
    batches = batch_rows.list_batches(db, dataset_id=dataset_id)
    if not batches:
        raise Refused(f"The dataset {dataset!r} has no batches. Draw a batch and have it reviewed.")
    missing = sorted(set(batch_names or ()) - {batch.name for batch in batches})
    if missing:
        raise NotFound(
            f"The dataset {dataset!r} has no batch {', '.join(missing)}. Batches: "
            f"{', '.join(batch.name for batch in batches)}."
        )
    search_batch_ids = applied_rules.load_batches_from_search(db)
    return dataset_id, [
        DrawnBatch(
            batch=batch,
            plan=batch_rows.plan_to_plain(batch.plan),
            draws=tuple(draw.strata for draw in draws.list_draws(db, batch_id=batch.id)),
            from_search=batch.id in search_batch_ids,
        )
        for batch in batches
        if not batch_names or batch.name in batch_names
    ]


def load_outcomes(
    db: Session, batches: list[Batch], *, with_report: bool, question_numbers: Collection[int] | None = None
) -> Iterator[GoldItem | Excluded]:
    """The outcome of each judged question, in the order of import.

    Args:
        db: a session that reads.
        batches: whose verdicts count.
        with_report: whether to read the exams' reports.
        question_numbers: numbers of questions; None for all judged ones.
    """
    outcomes = map(
        decide_release,
        iterate_judged_questions(db, batches=batches, with_report=with_report, include=question_numbers),
    )
    return exclude_removed_images(outcomes, load_removed_images(db))


def build_tally(db: Session, counter: TallyCounter, release_batches: list[DrawnBatch]) -> Tally:
    """The counts of a release, with the numbers of questions that nobody judged."""
    batches = [drawn_batch.batch for drawn_batch in release_batches]
    return counter.build_tally(
        unjudged=gold.count_unjudged(db, batches=batches),
        drawn_by_stratum=gold.count_drawn_by_stratum(db, batches=batches),
    )


def load_reviewer_names(db: Session, batches: list[Batch], naming: ReviewerNaming) -> dict[int, str]:
    """The name of each reviewer in the release, by person id."""
    return name_reviewers(gold.load_reviewers(db, batches=batches), naming)
