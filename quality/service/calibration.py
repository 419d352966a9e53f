"""Services for the calibration of near-duplicates: drawing pairs, judging them, and the estimate.

The pairs are wordings of the whole dataset for which the meaning comparison finds the same meaning; one exam
has too few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.duplicates import CalibrationPair
from domain.errors import NotFound, Refused
from domain.people import Action, Person, require
from quality.duplicates.calibration import (
    BIN_EDGES,
    PAIRS_PER_BIN,
    ThresholdEstimate,
    draw_pairs,
    estimate_wrong_merges,
)
from quality.duplicates.meaning import Outcome
from quality.duplicates.search import Pair, SearchSettings
from quality.service.duplicates import find_repeated_wordings
from storage.intake import datasets
from storage.quality import calibration_pairs
from storage.unit_of_work import read_only_session


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The latest calibration of a dataset: its pairs in the order of judging, and the estimates."""

    dataset: str
    embedding: str
    pairs: tuple[CalibrationPair, ...]
    estimates: tuple[ThresholdEstimate, ...]

    @property
    def judged(self) -> int:
        """The number of judged pairs."""
        return sum(pair.is_same is not None for pair in self.pairs)

    @property
    def next_pair(self) -> CalibrationPair | None:
        """The first pair without a judgement; None if all are judged."""
        return next((pair for pair in self.pairs if pair.is_same is None), None)


def draw_calibration(
    *,
    by: Person,
    dataset: str,
    settings: SearchSettings | None = None,
    seed: int,
    per_bin: int = PAIRS_PER_BIN,
    progress: Callable[[int], None] = lambda _: None,
    read_session: Callable[[], AbstractContextManager[Session]] = read_only_session,
) -> list[CalibrationPair]:
    """Draw pairs over the range of similarity. They are not stored yet.

    Args:
        by: the acting person.
        dataset: the name of the dataset.
        settings: how the similarity is computed; None for the defaults.
        seed: determines which pairs are drawn.
        per_bin: pairs per bin of similarity.
        progress: called with the number of compared wordings.
        read_session: opens a read-only session.

    Raises:
        NotFound: there is no such dataset.
        Refused: no two wordings are similar, so there is nothing to judge.
    """
    require(by, Action.IMPORT_QUESTIONS)
    settings = replace(settings or SearchSettings(), threshold=BIN_EDGES[0])
    _, similar_wordings = find_repeated_wordings(
        by=by, names=[dataset], settings=settings, progress=progress, read_session=read_session
    )
    pairs = [
        Pair(first.question.number, second.question.number, similarity, Outcome.DUPLICATE)
        for first, second, similarity in similar_wordings
    ]
    if not pairs:
        raise Refused(f"Dataset {dataset} has no two wordings that could be the same. Nothing to judge.")
    return draw_pairs(pairs, seed=seed, per_bin=per_bin)


def store_calibration(
    db: Session,
    *,
    by: Person,
    dataset: str,
    embedding: str,
    pairs: Sequence[CalibrationPair],
    now: datetime,
) -> None:
    """Store drawn pairs. On the page they replace earlier pairs; all judgements are kept.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.IMPORT_QUESTIONS)
    summary = datasets.load_dataset(db, name=dataset)
    calibration_pairs.add_pairs(db, dataset_id=summary.id, embedding=embedding, pairs=pairs, now=now)
    record_action(
        db,
        by=by,
        action="draw pairs for calibration",
        subject=f"dataset {summary.id}",
        new={"embedding": embedding, "pairs": len(pairs)},
        now=now,
    )


def judge_pair(
    db: Session, *, by: Person, dataset: str, pair_id: int, is_same: bool | None, now: datetime
) -> None:
    """Store whether the questions of a pair are the same; None undoes the judgement.

    Raises:
        NotFound: the dataset has no such pair.
        AlreadyThere: another judgement was saved at the same moment.
    """
    require(by, Action.IMPORT_QUESTIONS)
    summary = datasets.load_dataset(db, name=dataset)
    if calibration_pairs.find_dataset_of_pair(db, pair_id=pair_id) != summary.id:
        raise NotFound(f"Dataset {dataset} has no pair {pair_id}. `duplicates calibration` lists the pairs.")
    calibration_pairs.append_judgement(db, pair_id=pair_id, is_same=is_same, person_id=by.id or None, now=now)
    record_action(
        db,
        by=by,
        action="judge pair of questions",
        subject=f"dataset {summary.id}",
        new={"pair": pair_id, "same": is_same},
        now=now,
    )


def load_calibration(
    db: Session, *, by: Person, dataset: str, settings: SearchSettings | None = None
) -> Calibration:
    """Load the latest calibration of a dataset; without pairs if none was drawn.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.load_dataset(db, name=dataset)
    embedding = (settings or SearchSettings()).embedder.name
    pairs = calibration_pairs.load_pairs(db, dataset_id=summary.id, embedding=embedding)
    return Calibration(
        dataset=dataset,
        embedding=embedding,
        pairs=tuple(pairs),
        estimates=tuple(estimate_wrong_merges(pairs)),
    )
