"""Loads the input of a release: batches, outcomes of questions, and names of reviewers."""

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
from storage.browsing import bulk_actions
from storage.privacy.patient_data import load_removed_images
from storage.release import gold
from storage.release.gold_questions import iterate_judged_questions
from storage.sampling import batches as batch_rows
from storage.sampling import draws, frames


def list_releasable_batches(db: Session, *, by: Person) -> dict[str, list[str]]:
    """Return the names of the batches of each dataset that has batches, in order of creation."""
    require(by, Action.MAKE_RELEASE)
    batches_by_dataset = {
        name: [
            batch.name
            for batch in batch_rows.list_batches(db, dataset_id=frames.load_dataset_row_id(db, name=name))
        ]
        for name in frames.load_dataset_sizes(db)
    }
    return {name: names for name, names in batches_by_dataset.items() if names}


def load_drawn_batches(
    db: Session, dataset: str, batch_names: Sequence[str] | None
) -> tuple[int, list[DrawnBatch]]:
    """Return the id of a dataset, and its batches with their draws.

    Args:
        db: a read-only session.
        dataset: the name of the dataset.
        batch_names: the names of the batches; None or empty for all batches of the dataset.

    Raises:
        NotFound: the dataset or a batch does not exist.
        Refused: the dataset has no batch.
    """
    dataset_id = frames.load_dataset_row_id(db, name=dataset)
    batches = batch_rows.list_batches(db, dataset_id=dataset_id)
    if not batches:
        raise Refused(f"The dataset {dataset!r} has no batches. Draw a batch and have it reviewed.")
    missing = sorted(set(batch_names or ()) - {batch.name for batch in batches})
    if missing:
        raise NotFound(
            f"The dataset {dataset!r} has no batch {', '.join(missing)}. Choose from: "
            f"{', '.join(batch.name for batch in batches)}."
        )
    search_batch_ids = bulk_actions.load_batches_from_search(db)
    return dataset_id, [
        DrawnBatch(
            batch=batch,
            plan=batch_rows.plan_to_dict(batch.plan),
            draws=tuple(draw.strata for draw in draws.list_draws(db, batch_id=batch.id)),
            from_search=batch.id in search_batch_ids,
        )
        for batch in batches
        if not batch_names or batch.name in batch_names
    ]


def load_outcomes(
    db: Session, batches: list[Batch], *, with_report: bool, question_ids: Collection[int] | None = None
) -> Iterator[GoldItem | Excluded]:
    """Yield the outcome of each judged question, in order of import.

    Args:
        db: a read-only session.
        batches: the batches whose verdicts count.
        with_report: whether to load the reports of the exams.
        question_ids: the ids of the questions; None for all judged questions.
    """
    outcomes = map(
        decide_release,
        iterate_judged_questions(db, batches=batches, with_report=with_report, include=question_ids),
    )
    return exclude_removed_images(outcomes, load_removed_images(db))


def build_tally(db: Session, counter: TallyCounter, release_batches: list[DrawnBatch]) -> Tally:
    """Return the counts of a release, including the questions that were drawn and not judged."""
    batches = [drawn_batch.batch for drawn_batch in release_batches]
    return counter.build_tally(
        unjudged=gold.count_unjudged(db, batches=batches),
        drawn_by_stratum=gold.count_drawn_by_stratum(db, batches=batches),
    )


def load_reviewer_names(db: Session, batches: list[Batch], naming: ReviewerNaming) -> dict[int, str]:
    """Return the name of each reviewer in the release, by person id."""
    return name_reviewers(gold.load_reviewers(db, batches=batches), naming)
