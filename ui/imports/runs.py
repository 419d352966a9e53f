"""Imports that run behind the page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from domain.errors import Refused
from domain.people import Person
from intake.service import ImportRefused, ImportReport, Progress, door_of, import_questions
from ui.behind.work import Words, Work, begin
from ui.behind.work import latest_of as latest_work_of
from ui.context import clock, current_workspace, reading, unit_of_work
from ui.finding.indexing import begin_index
from ui.imports.deliveries import Delivery, discard

_WORDS = Words(
    trouble=lambda text: text if text.startswith("Not saved") else f"Nothing was imported. {text}",
    fault="The import failed and nothing was imported. The server's log says why.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be imported and how."""

    delivery: Delivery
    file_format: str
    dataset: str
    skip_known: bool
    skip_bad: bool
    minimum_explanation: int | None
    deidentify: bool = False


def start(wish: Wish, person: Person) -> Work:
    """Start an import, or give the one that was started for this delivery: a double click starts one."""
    carry_out = partial(_carry_out, wish, person)  # allow write-without-act: a thread of its own
    return begin(name_of(wish), carry_out, by=person, about=wish, once=True, words=_WORDS)


def name_of(wish: Wish) -> str:
    """What its import is called as work."""
    return f"import {wish.delivery.id}"


def latest_of(person: Person) -> Work | None:
    """The import that the person started last; found again after F5."""
    return latest_work_of(person, Wish)


def _carry_out(wish: Wish, person: Person, work: Work) -> str:
    def told(progress: Progress) -> None:
        counts = (
            f"{progress.records:,} records read · {progress.images:,} images read · "
            f"{progress.refused:,} refused"
        )
        work.tell_part(progress.part, f"{progress.part:.0%} · {counts}")

    with reading() as db:
        door = door_of(db, by=person, deidentify=wish.deidentify)
    try:
        with unit_of_work() as db:
            report = import_questions(
                db,
                by=person,
                door=door,
                path=wish.delivery.path,
                file_name=wish.delivery.name,
                file_format=wish.file_format,
                dataset=wish.dataset,
                images=wish.delivery.images,
                workspace=current_workspace(),
                skip_known=wish.skip_known,
                skip_bad=wish.skip_bad,
                minimum_explanation=wish.minimum_explanation,
                now=clock(),
                progress=told,
            )
    except ImportRefused as error:
        work.result = error.report
        raise Refused(
            f"Nothing was imported from {error.report.file_name}: {error.report.refused:,} refused."
        ) from error
    work.result = report
    discard(wish.delivery)
    begin_index()
    return _said(report)


def _said(report: ImportReport) -> str:
    came = f"{report.questions:,} questions, {report.exams:,} new exams and {report.images:,} new images came"
    parts = [f"{came} into {report.dataset} from {report.file_name} ({report.file_format})."]
    if report.known:
        parts.append(f"{report.known:,} were there already and were left out.")
    if report.refused:
        parts.append(f"{report.refused:,} were refused and left out.")
    return " ".join(parts)
