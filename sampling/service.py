"""Services for drawing batches: preview a draw, then draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.batches import Batch, BatchSettings, BatchState, SamplingPlan, Stratum
from domain.errors import InvalidValue, Refused
from domain.people import Action, Person, require
from sampling.allocation import allocate
from sampling.draw import draw, in_order
from sampling.notes import notes_on
from storage.browsing import applying
from storage.sampling import batches, draws, frames

#: The longest name of a batch, in characters.
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The questions that a draw would take: ``n`` of a frame of ``size``, by stratum.

    ``already`` questions are in the batch from earlier draws of the same plan. ``notes`` are sentences for
    the user, the most important first.
    """

    strata: tuple[Stratum, ...]
    notes: tuple[str, ...]
    size: int
    n: int
    already: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The result of a draw: ``added`` questions are new in the batch, 0 if there was nothing to draw."""

    batch: Batch
    added: int
    strata: tuple[Stratum, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """The frame of a draw (question numbers above ``after`` up to ``through``), and earlier draws."""

    dataset_id: int
    batch: Batch | None
    after: int
    through: int
    draws: int
    already: int


def drawable(db: Session, *, by: Person) -> dict[str, int]:
    """The number of questions of each dataset, by name."""
    require(by, Action.DRAW_BATCH)
    return frames.dataset_sizes(db)


def preview(
    db: Session, *, by: Person, dataset: str, plan: SamplingPlan, batch_name: str | None = None
) -> Preview:
    """Compute what :func:`draw_batch` would draw; writes nothing.

    Args:
        db: a session that reads.
        by: who asks.
        dataset: its name.
        plan: the sampling plan.
        batch_name: of an existing batch to add to; None or a new name for a new batch.

    Raises:
        NotFound: there is no such dataset.
        Refused: the batch is of another dataset or plan, was made from a search, or is closed.
    """
    require(by, Action.DRAW_BATCH)
    return _preview(db, _reach(db, dataset=dataset, plan=plan, batch_name=batch_name), plan)


def draw_batch(
    db: Session,
    *,
    by: Person,
    dataset: str,
    plan: SamplingPlan,
    batch_name: str,
    settings: BatchSettings | None = None,
    now: datetime,
) -> Drawn:
    """Draw a new batch, or add questions that were imported since the last draw to a batch.

    Locks an existing batch. Questions in the batch stay. If the plan takes no new question, the batch does
    not change, and the new questions stay in the frame of the next draw.

    Args:
        db: a session that writes.
        by: who draws.
        dataset: its name.
        plan: the sampling plan; for an existing batch the same as before.
        batch_name: of a new or an existing batch.
        settings: of a new batch, None for the defaults; ignored for an existing one.
        now: the time.

    Raises:
        NotFound: there is no such dataset.
        InvalidValue: the name is not allowed.
        Refused: the batch is of another dataset or plan, was made from a search, or is closed; or the first
            draw would take nothing.
    """
    require(by, Action.DRAW_BATCH)
    name = _checked_name(batch_name)
    reach = _reach(db, dataset=dataset, plan=plan, batch_name=name, lock=True)
    seen = _preview(db, reach, plan)
    if not seen.n:
        if reach.batch is None:
            raise Refused(_why_nothing(dataset, seen))
        return Drawn(batch=reach.batch, added=0, strata=seen.strata, notes=(_nothing_new(seen), *seen.notes))
    batch = reach.batch or batches.add_batch(
        db,
        name=name,
        dataset_id=reach.dataset_id,
        plan=plan,
        settings=settings or BatchSettings(),
        by=by.id or None,
        now=now,
    )
    draws.add_draw(
        db,
        batch_id=batch.id,
        draw=draws.Draw(
            number=reach.draws + 1,
            frame_after=reach.after,
            frame_through=reach.through,
            frame_size=seen.size,
            drawn_at=now,
            strata=seen.strata,
        ),
        questions=_drawn_questions(
            db, reach, plan=plan, strata=seen.strata, first=draws.last_position(db, batch_id=batch.id) + 1
        ),
        by=by.id or None,
    )
    new = {
        "name": name,
        "dataset": reach.dataset_id,
        "plan": batches.plan_to_plain(plan),
        "draw": reach.draws + 1,
        "frame_after": reach.after,
        "frame_through": reach.through,
        "questions": seen.n,
    }
    record(db, by=by, what="draw batch", subject=f"batch {batch.id}", new=new, now=now)
    return Drawn(batch=batch, added=seen.n, strata=seen.strata, notes=seen.notes)


def list_batches(db: Session, *, by: Person, dataset: str | None = None) -> list[tuple[Batch, int]]:
    """All batches, or those of one dataset, with their numbers of questions, the oldest first.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.DRAW_BATCH)
    number = None if dataset is None else frames.dataset_number(db, name=dataset)
    sizes = batches.batch_sizes(db)
    return [(each, sizes.get(each.id, 0)) for each in batches.list_batches(db, dataset_id=number)]


def list_questions(db: Session, *, by: Person, batch: str) -> Iterator[batches.BatchQuestion]:
    """The questions of a batch with stratum, inclusion probability (0 to 1) and state, by position.

    Raises:
        NotFound: there is no such batch.
    """
    require(by, Action.DRAW_BATCH)
    return batches.batch_questions(db, batch_id=batches.load_batch(db, name=batch).id)


def _reach(
    db: Session, *, dataset: str, plan: SamplingPlan, batch_name: str | None, lock: bool = False
) -> _Reach:
    dataset_id = frames.dataset_number(db, name=dataset)
    batch = batches.find_batch(db, name=batch_name, lock=lock) if batch_name else None
    earlier: tuple[draws.Draw, ...] = ()
    if batch is not None:
        if batch.id in applying.chosen_batches(db):
            raise Refused(
                f"The questions of the batch {batch.name!r} were found by a search: nothing is drawn into "
                "it. Choose another name."
            )
        _check_same(batch, dataset=dataset, dataset_id=dataset_id, plan=plan)
        earlier = draws.draws_of(db, batch_id=batch.id)
    return _Reach(
        dataset_id=dataset_id,
        batch=batch,
        after=earlier[-1].frame_through if earlier else 0,
        through=frames.last_question_number(db, dataset_id=dataset_id),
        draws=len(earlier),
        already=sum(stratum.drawn for each in earlier for stratum in each.strata),
    )


def _check_same(batch: Batch, *, dataset: str, dataset_id: int, plan: SamplingPlan) -> None:
    if batch.dataset_id != dataset_id:
        raise Refused(
            f"The batch {batch.name!r} is of another dataset than {dataset!r}. Choose another name."
        )
    if batches.plan_to_plain(batch.plan) != batches.plan_to_plain(plan):
        raise Refused(
            f"The batch {batch.name!r} was drawn by another plan ({describe(batch.plan)}). Draw again by "
            "that plan to add the questions that came since, or choose another name."
        )
    if batch.state is BatchState.CLOSED:
        raise Refused(f"The batch {batch.name!r} is closed. Open it again, or choose another name.")


def _preview(db: Session, reach: _Reach, plan: SamplingPlan) -> Preview:
    counts = frames.count_frame(
        db, dataset_id=reach.dataset_id, after=reach.after, through=reach.through, further=plan.strata
    )
    strata = allocate(counts, plan=plan, already=reach.already)
    notes = notes_on(strata, plan=plan, already=reach.already)
    rejected = applying.count_rejected(db, dataset_id=reach.dataset_id)
    if rejected:
        notes = (
            *notes,
            f"{rejected:,} questions of the dataset are rejected by rule; none of them is drawn.",
        )
    return Preview(
        strata=strata,
        notes=notes,
        size=sum(each.size for each in strata),
        n=sum(each.drawn for each in strata),
        already=reach.already,
    )


def _drawn_questions(
    db: Session, reach: _Reach, *, plan: SamplingPlan, strata: tuple[Stratum, ...], first: int
) -> Iterator[draws.DrawnQuestion]:
    """The drawn questions, with positions from ``first`` on.

    Exams are ordered by the lowest hash of their drawn questions, the questions of an exam by their own hash.
    The order therefore depends on the seed, and neither tiers nor the order of the file form blocks.
    """
    frame = frames.read_frame(
        db, dataset_id=reach.dataset_id, after=reach.after, through=reach.through, further=plan.strata
    )
    by_cell = {(each.tier, each.further): each for each in strata}

    def key_of(index: int) -> str:
        return frames.question_key(db, question_id=int(frame.numbers[index]))

    indices = draw(
        frame.hashes,
        frame.strata,
        take=[by_cell[cell].drawn for cell in frame.cells],
        sizes=frame.sizes,
        seed=plan.seed,
        key_of=key_of,
    )
    indices = in_order(indices, frame.hashes, seed=plan.seed, key_of=key_of)
    numbers = frame.numbers[indices].tolist()
    cells = [frame.cells[stratum] for stratum in frame.strata[indices].tolist()]
    exams = frames.exam_numbers(db, question_ids=numbers)
    rank: dict[int, int] = {}
    for number in numbers:
        rank.setdefault(exams[number], len(rank))
    # Sorting is stable: within an exam the questions stay in the order of their hashes.
    together = sorted(zip(numbers, cells, strict=True), key=lambda each: rank[exams[each[0]]])
    for position, (number, cell) in enumerate(together, start=first):
        stratum = by_cell[cell]
        yield draws.DrawnQuestion(
            number=number,
            stratum=stratum.name,
            inclusion_probability=stratum.inclusion_probability,
            position=position,
        )


def describe(plan: SamplingPlan) -> str:
    """One line about a plan for the user: "100 of every 1,000, seed 7, strata task"."""
    amount = f"{plan.n:,} in all" if plan.n is not None else f"{plan.per_1000} of every 1,000"
    named = {str(tier or "none"): share for tier, share in plan.shares.items() if share != 1}
    shares = "".join(f", {name} with share {share:g}" for name, share in named.items())
    strata = f", strata {' and '.join(plan.strata)}" if plan.strata else ""
    return f"{amount}, seed {plan.seed}{shares}{strata}"


def _checked_name(name: str) -> str:
    stripped = name.strip()
    if not stripped or len(stripped) > LONGEST_NAME or not stripped.isprintable():
        raise InvalidValue("batch", f"a batch needs a name of 1 to {LONGEST_NAME} printable characters")
    return stripped


def _why_nothing(dataset: str, seen: Preview) -> str:
    if not seen.size:
        return f"The dataset {dataset!r} has no questions yet. Import some first."
    return (
        f"This plan takes none of the {seen.size:,} questions of {dataset!r}. Ask for more of every 1,000, "
        "or for so many in all."
    )


def _nothing_new(seen: Preview) -> str:
    if not seen.size:
        return "No questions have come in since the last draw; the batch is as it was."
    return (
        f"The plan takes none of the {seen.size:,} questions that came since the last draw; the batch is as "
        "it was, and they stay for the next draw."
    )
