"""Services for previewing and drawing batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlmodel import Session

from accounts.service.audit import record_action
from domain.batches import Batch, BatchSettings, BatchState, SamplingPlan, Stratum
from domain.count_texts import count_text
from domain.errors import InvalidValue, Refused
from domain.people import Action, Person, require
from generation.templates.report_findings import read_report
from intake.garbage_collector import pause_garbage_collector
from sampling.allocation import allocate
from sampling.balance import BalancedSelection, ExamFindings, select_balanced_exams
from sampling.draw import draw_questions, sort_by_hash
from sampling.notes import write_draw_notes
from sampling.service.risk import RiskDraw, draw_by_risk
from storage.browsing import bulk_actions
from storage.quality import problems
from storage.quality.name_mappings import load_derived_names
from storage.release.gold import iterate_exam_contents
from storage.sampling import batches, draws, frames
from storage.types import AnySelect
from terminology.findings import load_findings

#: Maximum length of the name of a batch, in characters.
MAX_NAME_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawPreview:
    """The questions that a draw would take: ``n`` of a frame of ``size``, by stratum.

    ``already_drawn`` is the number of questions that earlier draws of the same plan put into the batch.
    ``notes`` are sentences for the user, the most important first.
    """

    strata: tuple[Stratum, ...]
    notes: tuple[str, ...]
    size: int
    n: int
    already_drawn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawResult:
    """The result of a draw; ``added`` is the number of new questions, 0 if there was nothing to draw."""

    batch: Batch
    added: int
    strata: tuple[Stratum, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _DrawContext:
    """What a draw needs: the frame (question ids above ``after`` up to ``through``), the batch, and counts.

    ``draw_count`` and ``already_drawn`` count the earlier draws of the batch and their questions.
    ``excluded`` selects the ids of questions that are not part of the frame, if the plan excludes any.
    ``selection`` has the selected exams, if the plan has a balance. ``risk_draw`` has the drawn questions, if
    the plan has a risk design.
    """

    dataset_id: int
    batch: Batch | None
    after: int
    through: int
    draw_count: int
    already_drawn: int
    excluded: AnySelect | None
    selection: BalancedSelection | None
    risk_draw: RiskDraw | None


def list_drawable_datasets(db: Session, *, by: Person) -> dict[str, int]:
    """Return the number of questions of each dataset, by name."""
    require(by, Action.DRAW_BATCH)
    return frames.load_dataset_sizes(db)


@pause_garbage_collector()
def preview_draw(
    db: Session, *, by: Person, dataset: str, plan: SamplingPlan, batch_name: str | None = None
) -> DrawPreview:
    """Compute what :func:`draw_batch` would draw; writes nothing.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        plan: the sampling plan.
        batch_name: the name of an existing batch to add questions to; None or a new name for a new batch.

    Raises:
        NotFound: there is no such dataset.
        Refused: the batch has another dataset or plan, was created from a search, is closed, or is a practice
            set.
    """
    require(by, Action.DRAW_BATCH)
    plan = _add_name_mappings(db, plan, dataset=dataset, batch_name=batch_name)
    return _compute_preview(
        db, _load_draw_context(db, dataset=dataset, plan=plan, batch_name=batch_name), plan
    )


@pause_garbage_collector()
def draw_batch(
    db: Session,
    *,
    by: Person,
    dataset: str,
    plan: SamplingPlan,
    batch_name: str,
    settings: BatchSettings | None = None,
    now: datetime,
) -> DrawResult:
    """Draw a new batch, or add questions that were imported since the last draw to an existing batch.

    An existing batch is locked and keeps its questions. If the plan takes no new question, the batch does not
    change, and the new questions stay in the frame of the next draw.

    Args:
        db: a session that can write.
        by: the acting person.
        dataset: the name of the dataset.
        plan: the sampling plan; an existing batch must have the same plan.
        batch_name: the name of a new or an existing batch.
        settings: the settings of a new batch, None for the defaults; ignored for an existing batch.
        now: the current time.

    Raises:
        NotFound: there is no such dataset.
        InvalidValue: the name is not allowed.
        Refused: the batch has another dataset or plan, was created from a search, is closed, or is a practice
            set; or the first draw would take no question.
    """
    require(by, Action.DRAW_BATCH)
    name = _check_name(batch_name)
    plan = _add_name_mappings(db, plan, dataset=dataset, batch_name=name)
    draw_context = _load_draw_context(db, dataset=dataset, plan=plan, batch_name=name, lock=True)
    draw_preview = _compute_preview(db, draw_context, plan)
    if not draw_preview.n:
        if draw_context.batch is None:
            raise Refused(_describe_empty_draw(dataset, draw_preview, plan))
        return DrawResult(
            batch=draw_context.batch,
            added=0,
            strata=draw_preview.strata,
            notes=(_describe_no_addition(draw_preview), *draw_preview.notes),
        )
    batch = draw_context.batch or batches.add_batch(
        db,
        name=name,
        dataset_id=draw_context.dataset_id,
        plan=plan,
        settings=settings or BatchSettings(),
        by=by.id or None,
        now=now,
    )
    probabilities = _get_all_probabilities(draw_context.risk_draw)
    draws.add_draw(
        db,
        batch_id=batch.id,
        draw=draws.Draw(
            number=draw_context.draw_count + 1,
            frame_after=draw_context.after,
            frame_through=draw_context.through,
            frame_size=draw_preview.size,
            drawn_at=now,
            strata=draw_preview.strata,
        ),
        questions=_select_questions(
            db,
            draw_context,
            plan=plan,
            strata=draw_preview.strata,
            first_position=draws.load_last_position(db, batch_id=batch.id) + 1,
        ),
        probabilities=probabilities,
        by=by.id or None,
    )
    audit_values = {
        "name": name,
        "dataset": draw_context.dataset_id,
        "plan": batches.plan_to_dict(plan),
        "draw": draw_context.draw_count + 1,
        "frame_after": draw_context.after,
        "frame_through": draw_context.through,
        "questions": draw_preview.n,
        **({"probabilities_sha256": probabilities.sha256} if probabilities else {}),
    }
    record_action(db, by=by, action="draw batch", subject=f"batch {batch.id}", new=audit_values, now=now)
    return DrawResult(batch=batch, added=draw_preview.n, strata=draw_preview.strata, notes=draw_preview.notes)


def list_batches(db: Session, *, by: Person, dataset: str | None = None) -> list[tuple[Batch, int]]:
    """List all batches, or those of one dataset, with their numbers of questions, the oldest first.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.DRAW_BATCH)
    dataset_id = None if dataset is None else frames.load_dataset_row_id(db, name=dataset)
    sizes = batches.load_batch_sizes(db)
    return [(batch, sizes.get(batch.id, 0)) for batch in batches.list_batches(db, dataset_id=dataset_id)]


def list_batch_questions(db: Session, *, by: Person, batch: str) -> Iterator[batches.BatchQuestion]:
    """List the questions of a batch by position, with stratum, inclusion probability (0 to 1) and state.

    Raises:
        NotFound: there is no such batch.
    """
    require(by, Action.DRAW_BATCH)
    return batches.iterate_batch_questions(db, batch_id=batches.load_batch(db, name=batch).id)


def _add_name_mappings(
    db: Session, plan: SamplingPlan, *, dataset: str, batch_name: str | None
) -> SamplingPlan:
    """Add the controlled names of the plan's strata: those of an existing batch, else the current ones."""
    batch = batches.find_batch(db, name=batch_name) if batch_name else None
    if batch is not None and batch.plan.strata == plan.strata:
        return replace(plan, names=batch.plan.names)
    dataset_id = frames.load_dataset_row_id(db, name=dataset)
    return replace(plan, names=load_derived_names(db, dataset_id=dataset_id, features=plan.strata))


def _load_draw_context(
    db: Session, *, dataset: str, plan: SamplingPlan, batch_name: str | None, lock: bool = False
) -> _DrawContext:
    dataset_id = frames.load_dataset_row_id(db, name=dataset)
    if lock:
        # Two draws at the same time must not take the same questions, or have the same seed; and boxes must
        # not be corrected meanwhile.
        frames.lock_dataset(db, dataset_id=dataset_id)
    batch = batches.find_batch(db, name=batch_name, lock=lock) if batch_name else None
    earlier_draws: tuple[draws.Draw, ...] = ()
    if batch is not None:
        if batches.is_practice_set(db, batch_id=batch.id):
            raise Refused(f"{batch.name!r} is a practice set. Choose another name for the batch.")
        if batch.id in bulk_actions.load_batches_from_search(db):
            raise Refused(
                f"The batch {batch.name!r} was created from a search, so no questions can be drawn into "
                "it. Choose another name."
            )
        _check_can_extend(batch, dataset=dataset, dataset_id=dataset_id, plan=plan)
        if plan.balance is not None:
            raise Refused(
                f"The batch {batch.name!r} has a balanced selection of exams, which is drawn once. Choose "
                "another name."
            )
        earlier_draws = draws.list_draws(db, batch_id=batch.id)
    else:
        _check_seed(db, dataset_id=dataset_id, plan=plan)
    selection = _select_exams(db, dataset_id, plan)
    batch_id = batch.id if batch else None
    after = earlier_draws[-1].frame_through if earlier_draws else 0
    through = frames.load_last_question_row_id(db, dataset_id=dataset_id)
    already_drawn = sum(stratum.drawn for earlier_draw in earlier_draws for stratum in earlier_draw.strata)
    excluded = _select_excluded(db, plan, dataset_id=dataset_id, batch_id=batch_id, selection=selection)
    return _DrawContext(
        dataset_id=dataset_id,
        batch=batch,
        after=after,
        through=through,
        draw_count=len(earlier_draws),
        already_drawn=already_drawn,
        excluded=excluded,
        selection=selection,
        risk_draw=None
        if plan.risk is None
        else draw_by_risk(
            db,
            dataset_id=dataset_id,
            batch_id=batch_id,
            after=after,
            through=through,
            already_drawn=already_drawn,
            plan=plan,
            excluded=excluded,
        ),
    )


def _select_exams(db: Session, dataset_id: int, plan: SamplingPlan) -> BalancedSelection | None:
    """Select exams by the findings that their reports state; None without a balance."""
    if plan.balance is None:
        return None
    taken_exams = (
        frames.list_exams_in_other_batches(db, dataset_id=dataset_id) if plan.exclude_drawn else set()
    )
    exams = []
    for content in iterate_exam_contents(db, dataset_id=dataset_id):
        if content.questions and content.number not in taken_exams:
            findings = read_report(content.report or "")
            exams.append(
                ExamFindings(
                    number=content.number,
                    exam=content.exam,
                    findings=findings.stated,
                    is_healthy=findings.is_healthy,
                )
            )
    return select_balanced_exams(exams, plan.balance, seed=plan.seed)


def _select_excluded(
    db: Session,
    plan: SamplingPlan,
    *,
    dataset_id: int,
    batch_id: int | None,
    selection: BalancedSelection | None,
) -> AnySelect | None:
    """Select the ids of the questions that the plan leaves out of the frame; None if it leaves out none.

    In a draw by risk, questions of other random batches stay in the frame, because their probabilities are
    part of the joint probabilities; they are not drawn again.
    """
    parts: list[AnySelect] = []
    if selection is not None:
        parts.append(frames.select_outside_exams(dataset_id=dataset_id, exam_row_ids=selection.numbers))
    if plan.exclude_drawn and plan.risk is not None:
        parts.append(frames.select_in_batches(dataset_id=dataset_id, batch_ids=load_nonrandom_batch_ids(db)))
    elif plan.exclude_drawn:
        parts.append(frames.select_in_other_batches(dataset_id=dataset_id, batch_id=batch_id))
    if plan.checks:
        parts.append(problems.select_with_problems(dataset_id=dataset_id, checks=plan.checks))
    return frames.unite_selects(parts)


def load_nonrandom_batch_ids(db: Session) -> set[int]:
    """Return the ids of the batches whose questions were selected by a search or by findings of exams.

    The function checks no permission.
    """
    return bulk_actions.load_batches_from_search(db) | {
        batch.id for batch in batches.list_batches(db) if batch.plan.balance is not None
    }


def _check_seed(db: Session, *, dataset_id: int, plan: SamplingPlan) -> None:
    """Refuse the seed of another batch if either is drawn by risk: the draws would be dependent."""
    other_batches = batches.list_batches(db, dataset_id=dataset_id)
    taken_seeds = {
        batch.plan.seed for batch in other_batches if plan.risk is not None or batch.plan.risk is not None
    }
    if plan.seed in taken_seeds:
        seeds = {batch.plan.seed for batch in other_batches}
        free_seed = next(seed for seed in range(1, len(seeds) + 2) if seed not in seeds)
        raise Refused(
            f"Another batch of this dataset was drawn with seed {plan.seed}. A batch drawn by risk needs its "
            f"own seed, so that the draws are independent. Choose another seed, such as {free_seed}."
        )


def _check_can_extend(batch: Batch, *, dataset: str, dataset_id: int, plan: SamplingPlan) -> None:
    if batch.dataset_id != dataset_id:
        raise Refused(
            f"The batch {batch.name!r} does not belong to the dataset {dataset!r}. Choose another name."
        )
    if batches.plan_to_dict(batch.plan) != batches.plan_to_dict(plan):
        raise Refused(
            f"The batch {batch.name!r} was drawn with a different plan ({describe_plan(batch.plan)}). Use "
            "that plan to add newly imported questions, or choose another name."
        )
    if batch.state is BatchState.CLOSED:
        raise Refused(f"The batch {batch.name!r} is closed. Reopen it, or choose another name.")


def _compute_preview(db: Session, draw_context: _DrawContext, plan: SamplingPlan) -> DrawPreview:
    if draw_context.risk_draw is not None:
        strata = draw_context.risk_draw.strata
        notes: tuple[str, ...] = (_describe_risk_draw(draw_context.risk_draw),)
    else:
        counts = frames.count_frame(
            db,
            dataset_id=draw_context.dataset_id,
            after=draw_context.after,
            through=draw_context.through,
            stratify_by=plan.strata,
            names=plan.names,
            excluded=draw_context.excluded,
        )
        strata = allocate(counts, plan=plan, already_drawn=draw_context.already_drawn)
        notes = write_draw_notes(strata, plan=plan, already_drawn=draw_context.already_drawn)
    if plan.balance is not None and plan.per_1000 == 1000:
        notes = ()
    if plan.checks:
        notes = (*notes, _describe_left_out(db, draw_context, plan))
    if draw_context.selection is not None:
        notes = (*notes, _describe_selection(draw_context.selection))
    rejected = bulk_actions.count_rejected(db, dataset_id=draw_context.dataset_id)
    if rejected:
        notes = (
            *notes,
            f"{count_text(rejected, 'question')} of the dataset cannot be drawn: rejected by bulk actions.",
        )
    return DrawPreview(
        strata=strata,
        notes=notes,
        size=sum(stratum.size for stratum in strata),
        n=sum(stratum.drawn for stratum in strata),
        already_drawn=draw_context.already_drawn,
    )


def _select_questions(
    db: Session,
    draw_context: _DrawContext,
    *,
    plan: SamplingPlan,
    strata: tuple[Stratum, ...],
    first_position: int,
) -> Iterator[draws.DrawnQuestion]:
    """Select the questions to draw, with positions from ``first_position`` on.

    Exams are ordered by the lowest hash of their drawn questions, and the questions of an exam by their own
    hash. The order therefore depends on the seed and does not follow tiers or the order of the file.
    """
    if draw_context.risk_draw is not None:
        yield from _list_drawn_by_risk(draw_context.risk_draw, first_position)
        return
    frame = frames.load_frame(
        db,
        dataset_id=draw_context.dataset_id,
        after=draw_context.after,
        through=draw_context.through,
        stratify_by=plan.strata,
        names=plan.names,
        excluded=draw_context.excluded,
    )
    stratum_by_cell = {(stratum.tier, stratum.further): stratum for stratum in strata}

    def question_id_at(index: int) -> str:
        return frames.load_question_key(db, question_id=int(frame.numbers[index]))

    indices = draw_questions(
        frame.hashes,
        frame.strata,
        counts_to_draw=[stratum_by_cell[cell].drawn for cell in frame.cells],
        sizes=frame.sizes,
        seed=plan.seed,
        question_id_at=question_id_at,
    )
    indices = sort_by_hash(indices, frame.hashes, seed=plan.seed, question_id_at=question_id_at)
    numbers = frame.numbers[indices].tolist()
    cells = [frame.cells[stratum] for stratum in frame.strata[indices].tolist()]
    exam_by_question = frames.map_questions_to_exams(db, question_ids=numbers)
    exam_rank: dict[int, int] = {}
    for number in numbers:
        exam_rank.setdefault(exam_by_question[number], len(exam_rank))
    # Sorting is stable, so the questions of an exam stay in the order of their hashes.
    grouped = sorted(zip(numbers, cells, strict=True), key=lambda pair: exam_rank[exam_by_question[pair[0]]])
    for position, (number, cell) in enumerate(grouped, start=first_position):
        stratum = stratum_by_cell[cell]
        yield draws.DrawnQuestion(
            number=number,
            stratum=stratum.name,
            inclusion_probability=stratum.inclusion_probability,
            position=position,
        )


def _list_drawn_by_risk(risk_draw: RiskDraw, first_position: int) -> Iterator[draws.DrawnQuestion]:
    names = [
        Stratum(tier=tier, further=further, size=0, drawn=0).name for tier, further in risk_draw.frame.cells
    ]
    for position, (index, is_uniform) in enumerate(
        zip(risk_draw.drawn.tolist(), risk_draw.in_uniform_arm.tolist(), strict=True), start=first_position
    ):
        arm = "uniform arm" if is_uniform else "risk arm"
        yield draws.DrawnQuestion(
            number=int(risk_draw.frame.numbers[index]),
            stratum=f"{names[risk_draw.frame.strata[index]]} / {arm}",
            inclusion_probability=float(risk_draw.probabilities[index]),
            position=position,
        )


def _get_all_probabilities(risk_draw: RiskDraw | None) -> draws.DrawProbabilities | None:
    if risk_draw is None:
        return None
    order = np.argsort(risk_draw.frame.numbers)
    return draws.DrawProbabilities(
        numbers=risk_draw.frame.numbers[order],
        risks=risk_draw.risks[order],
        probabilities=risk_draw.probabilities[order],
    )


def _describe_risk_draw(risk_draw: RiskDraw) -> str:
    drawn_count = len(risk_draw.drawn)
    uniform_count = int(risk_draw.in_uniform_arm.sum())
    limits = ""
    if drawn_count:
        probabilities = risk_draw.probabilities[risk_draw.drawn]
        limits = f" Inclusion probabilities are {probabilities.min():.4g} to {probabilities.max():.4g}."
    return (
        f"This seed draws {count_text(drawn_count, 'question')} (expected: {risk_draw.planned:,}): "
        f"{uniform_count:,} with equal chances and {drawn_count - uniform_count:,} by risk.{limits}"
    )


def _describe_selection(selection: BalancedSelection) -> str:
    findings = load_findings()
    counts = ", ".join(f"{findings[name].noun} {count:,}" for name, count in selection.by_finding)
    total = len(selection.numbers)
    return (
        f"{count_text(total, 'exam')} selected by the findings in their reports: {selection.healthy:,} "
        f"healthy ({100 * selection.healthy / total:.2f} %), {counts or 'none with findings'}. "
        "Dataset estimates exclude this batch."
    )


def _describe_left_out(db: Session, draw_context: _DrawContext, plan: SamplingPlan) -> str:
    left_out = problems.count_questions_with_problems(
        db, dataset_id=draw_context.dataset_id, checks=plan.checks
    )
    names = ", ".join(check.label.lower() for check in plan.checks)
    return (
        f"{count_text(left_out, 'question')} of the dataset cannot be drawn because of problems found by "
        f"these checks: {names}. Estimates from this batch apply to the other questions."
    )


def describe_plan(plan: SamplingPlan) -> str:
    """Describe a plan in one line for the user, such as "100 per 1,000, seed 7, strata task"."""
    amount = f"{plan.n:,} in total" if plan.n is not None else f"{plan.per_1000} per 1,000"
    other_shares = {str(tier or "no difficulty"): share for tier, share in plan.shares.items() if share != 1}
    shares = "".join(f", {name} with share {share:g}" for name, share in other_shares.items())
    names = " and ".join(name.replace("_", " ") for name in plan.strata)
    strata = f", strata {names}" if names else ""
    exclusion = ", not in another batch" if plan.exclude_drawn else ""
    check_names = ", ".join(check.label.lower() for check in plan.checks)
    checks = f", without problems of {check_names}" if plan.checks else ""
    if plan.balance is not None:
        amount = (
            f"{amount} of {plan.balance.exams:,} exams balanced by finding, "
            f"{100 * plan.balance.healthy_share:g} % healthy"
        )
    return f"{amount}, seed {plan.seed}{shares}{strata}{exclusion}{checks}{_describe_risk_design(plan)}"


def _describe_risk_design(plan: SamplingPlan) -> str:
    if plan.risk is None:
        return ""
    sources = ", ".join(
        source.label.lower() + (f" x {weight:g}" if weight != 1 else "")
        for source, weight in plan.risk.weights.items()
    )
    return f", by risk ({sources}) with {100 * plan.risk.uniform_share:g} % uniform"


def _check_name(name: str) -> str:
    stripped = name.strip()
    if not stripped or len(stripped) > MAX_NAME_LENGTH or not stripped.isprintable():
        raise InvalidValue("batch", f"a batch name must have 1 to {MAX_NAME_LENGTH} printable characters")
    return stripped


def _describe_empty_draw(dataset: str, draw_preview: DrawPreview, plan: SamplingPlan) -> str:
    if not draw_preview.size and plan.checks:
        return (
            f"Every question of {dataset!r} has a problem found by one of the selected checks, or is in "
            "another batch. Select fewer checks."
        )
    if not draw_preview.size and plan.exclude_drawn:
        return (
            f"Every question of {dataset!r} is already in a batch. Import more questions, or allow questions "
            "of other batches."
        )
    if not draw_preview.size:
        return f"The dataset {dataset!r} has no questions yet. Import questions first."
    return (
        f"This plan takes none of the {draw_preview.size:,} questions of {dataset!r}. Increase the "
        "number per 1,000, or give a total number."
    )


def _describe_no_addition(draw_preview: DrawPreview) -> str:
    if not draw_preview.size:
        return "No questions have been imported since the last draw. The batch is unchanged."
    return (
        f"The plan takes none of the {draw_preview.size:,} questions imported since the last draw. The batch"
        " is unchanged, and they remain available for the next draw."
    )
