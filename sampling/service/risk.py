"""Services for the risk of an error in the questions of a dataset, and for draws by risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from domain.batches import RiskDesign, RiskSource, SamplingPlan, Stratum
from domain.checks import Check
from domain.errors import Refused
from domain.people import Action, Person, require
from sampling.allocation import allocate
from sampling.risk import (
    combine_signals,
    compute_draw_numbers,
    compute_inclusion_probabilities,
    sort_for_review,
)
from sampling.strategies import ErrorAssumptions, StrategyPoint, simulate_strategies
from storage.quality import check_states
from storage.sampling import draws, frames, risk_signals
from storage.types import AnySelect

#: Combined with the seed by XOR, so that the order of review does not depend on which questions were drawn.
_REVIEW_SEED = 0x5DEECE66D


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskOverview:
    """For each source of risk, the number of questions of a dataset in which it indicates an error."""

    dataset_size: int
    questions: dict[RiskSource, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskDraw:
    """A draw by risk: the questions of the frame with risk and probability, and the drawn ones.

    ``risks`` and ``probabilities`` follow the order of ``frame``. ``drawn`` has indices into the frame in the
    order of review. ``in_uniform_arm`` states whether each drawn question would have been drawn without any
    risk. ``exams`` maps the row id of each drawn question to the row id of its exam. ``strata`` has the
    numbers of drawn and available questions.
    """

    frame: frames.Frame
    risks: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    drawn: NDArray[np.intp]
    in_uniform_arm: NDArray[np.bool_]
    exams: dict[int, int]
    strata: tuple[Stratum, ...]
    planned: int


def describe_risk(db: Session, *, by: Person, dataset: str) -> RiskOverview:
    """Count the questions of a dataset in which each source of risk indicates an error.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.DRAW_BATCH)
    dataset_id = frames.load_dataset_row_id(db, name=dataset)
    frame = _load_whole_frame(db, dataset_id)
    signals = _load_signals(db, dataset_id, frame.numbers)
    return RiskOverview(
        dataset_size=len(frame.numbers),
        questions={source: int(np.count_nonzero(values)) for source, values in signals.items()},
    )


def list_seeds(db: Session, *, by: Person, dataset: str) -> set[int]:
    """Return the seeds of the batches of a dataset.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.DRAW_BATCH)
    return draws.list_seeds(db, dataset_id=frames.load_dataset_row_id(db, name=dataset))


def compare_strategies(
    db: Session,
    *,
    by: Person,
    dataset: str,
    assumptions: ErrorAssumptions,
    sizes: Sequence[int],
    design: RiskDesign | None = None,
) -> list[StrategyPoint]:
    """Simulate uniform draws and draws by the present risk of a dataset's questions.

    The highest risk of the dataset counts as 1. ``design`` has the weights of the sources of risk; None for
    all sources with equal weights.

    Raises:
        NotFound: there is no such dataset.
        Refused: no source of risk indicates anything.
    """
    require(by, Action.DRAW_BATCH)
    dataset_id = frames.load_dataset_row_id(db, name=dataset)
    frame = _load_whole_frame(db, dataset_id)
    risks = load_frame_risks(db, dataset_id=dataset_id, numbers=frame.numbers, design=design)
    if not risks.any():
        raise Refused(
            "There is nothing to compare: no source of risk indicates an error in this dataset. Run the "
            "checks, import predictions of models, or evaluate a model."
        )
    return simulate_strategies(risks / risks.max(), assumptions, sizes=sizes)


def load_frame_risks(
    db: Session, *, dataset_id: int, numbers: NDArray[np.int64], design: RiskDesign | None = None
) -> NDArray[np.float64]:
    """Return the present risk of questions, 0 to 1, in the order of ``numbers``.

    The function checks no permission; the calling service does.
    """
    return combine_signals(_load_signals(db, dataset_id, numbers), design or RiskDesign())


def draw_by_risk(
    db: Session,
    *,
    dataset_id: int,
    batch_id: int | None,
    after: int,
    through: int,
    already_drawn: int,
    plan: SamplingPlan,
    excluded: AnySelect | None,
) -> RiskDraw:
    """Compute a draw by risk; writes nothing.

    Args:
        db: a session.
        dataset_id: the dataset.
        batch_id: the batch to extend; None for a new one.
        after: the frame begins after this question id.
        through: the last question id of the frame.
        already_drawn: the number of questions that earlier draws of the plan took.
        plan: a plan with a risk design.
        excluded: selects the ids of questions that are not part of the frame. Questions of other random
            batches are part of it, because their probability in this draw is needed for estimates.

    Raises:
        Refused: no source of risk indicates anything.
    """
    assert plan.risk is not None  # noqa: S101 - the caller has checked it
    frame = frames.load_frame(
        db,
        dataset_id=dataset_id,
        after=after,
        through=through,
        stratify_by=plan.strata,
        names=plan.names,
        excluded=excluded,
    )
    risks = load_frame_risks(db, dataset_id=dataset_id, numbers=frame.numbers, design=plan.risk)
    if len(risks) and not risks.any() and batch_id is None:
        raise Refused(
            "None of the chosen sources of risk indicates an error in this dataset. Run the checks, import "
            "predictions of models or evaluate a model, or draw without risk."
        )
    is_available = np.ones(len(risks), dtype=np.bool_)
    if plan.exclude_drawn:
        taken_ids = frames.list_in_other_batches(db, dataset_id=dataset_id, batch_id=batch_id)
        is_available = ~np.isin(frame.numbers, taken_ids)
    sizes = np.bincount(frame.strata[is_available], minlength=len(frame.cells)).tolist()
    planned = allocate(dict(zip(frame.cells, sizes, strict=True)), plan=plan, already_drawn=already_drawn)
    planned_by_cell = {(stratum.tier, stratum.further): stratum.drawn for stratum in planned}
    counts_to_draw = [planned_by_cell[cell] for cell in frame.cells]
    arguments = (risks, frame.strata, is_available)
    probabilities, floors = compute_inclusion_probabilities(
        *arguments, counts_to_draw=counts_to_draw, uniform_share=plan.risk.uniform_share
    )
    draw_numbers = compute_draw_numbers(frame.hashes, seed=plan.seed)
    drawn = np.flatnonzero(is_available & (draw_numbers < probabilities))
    exams = frames.map_questions_to_exams(db, question_ids=frame.numbers[drawn].tolist())
    order = sort_for_review(
        draw_numbers[drawn],
        compute_draw_numbers(frame.hashes[drawn], seed=plan.seed ^ _REVIEW_SEED),
        [exams[number] for number in frame.numbers[drawn].tolist()],
    )
    drawn = drawn[order]
    counts = np.bincount(frame.strata[drawn], minlength=len(frame.cells)).tolist()
    count_by_cell = dict(zip(frame.cells, counts, strict=True))
    return RiskDraw(
        frame=frame,
        risks=risks,
        probabilities=probabilities,
        drawn=drawn,
        in_uniform_arm=draw_numbers[drawn] < floors[drawn],
        exams=exams,
        strata=tuple(
            Stratum(
                tier=stratum.tier,
                further=stratum.further,
                size=stratum.size,
                drawn=count_by_cell[stratum.tier, stratum.further],
            )
            for stratum in planned
        ),
        planned=sum(counts_to_draw),
    )


def _load_whole_frame(db: Session, dataset_id: int) -> frames.Frame:
    through = frames.load_last_question_row_id(db, dataset_id=dataset_id)
    return frames.load_frame(db, dataset_id=dataset_id, after=0, through=through)


def _load_signals(
    db: Session, dataset_id: int, numbers: NDArray[np.int64]
) -> dict[RiskSource, NDArray[np.float64]]:
    """Return how strongly each source indicates an error in each question, 0 to 1.

    CHECKS: 1 - 1/2^k if k checks other than the contradiction check reported a problem. CONTRADICTIONS: 1 if
    the contradiction check reported the question. KEY: the share of model answers that differ from the key.
    MODELS: the share of pairs of models whose answers differ. TEXT_ONLY: the share of correct answers
    without the radiographs.
    """
    order = np.argsort(numbers)
    sorted_numbers = numbers[order]

    def align(signal_numbers: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        aligned = np.zeros(len(numbers))
        if len(sorted_numbers):
            positions = np.minimum(np.searchsorted(sorted_numbers, signal_numbers), len(sorted_numbers) - 1)
            is_known = sorted_numbers[positions] == signal_numbers
            aligned[order[positions[is_known]]] = values[is_known]
        return aligned

    states = check_states.load_states(db, dataset_id=dataset_id)
    checks = {check for check, state in states.items() if state.is_on}
    problems = risk_signals.count_problems_by_question(
        db, dataset_id=dataset_id, checks=checks - {Check.CONTRADICTION}
    )
    contradictions = risk_signals.count_problems_by_question(
        db, dataset_id=dataset_id, checks=checks & {Check.CONTRADICTION}
    )
    with_image = risk_signals.load_model_answers(db, dataset_id=dataset_id, with_image=True)
    without_image = risk_signals.load_model_answers(db, dataset_id=dataset_id, with_image=False)
    pairs = with_image.answers * (with_image.answers - 1) / 2
    return {
        RiskSource.CHECKS: align(problems.numbers, 1 - np.exp2(-problems.checks.astype(np.float64))),
        RiskSource.CONTRADICTIONS: align(contradictions.numbers, np.ones(len(contradictions.numbers))),
        RiskSource.KEY: align(
            with_image.numbers, 1 - with_image.equal_to_key / np.maximum(with_image.answers, 1)
        ),
        RiskSource.MODELS: align(
            with_image.numbers,
            np.where(pairs > 0, 1 - with_image.equal_pairs / np.maximum(pairs, 1), 0.0),
        ),
        RiskSource.TEXT_ONLY: align(
            without_image.numbers, without_image.equal_to_key / np.maximum(without_image.answers, 1)
        ),
    }
