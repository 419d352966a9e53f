"""A release being written behind the page: with its images it takes minutes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from domain.people import Person
from release import service as release
from ui.behind.work import Work, begin
from ui.context import clock, current_workspace, reading, unit_of_work

WORK = "release"  # one at a time: two of one name would write the same files


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be released and how; key errors under ``under`` (a share of 1) are its condition."""

    dataset: str
    batches: tuple[str, ...]
    name: str
    called: release.Names
    images: bool
    reports: bool
    structured: bool
    forms: tuple[release.FormName, ...]
    split: release.SplitPlan | None
    under: float | None = None


def begin_release(person: Person, wish: Wish, *, judged: int) -> Work:
    """Begin it; ``judged`` questions are looked at for it.

    Raises:
        DomainError: another one is being made.
    """

    def carry_out(work: Work) -> str:  # allow write-without-act: a thread of its own
        unit = f"questions of release {wish.name}"
        work.tell(0, judged, unit)
        written = _written(person, wish, progress=lambda count: work.tell(count, judged, unit))
        with unit_of_work() as db:
            release.record_release(db, by=person, written=written, now=clock())
        return _told(wish, written)

    return begin(WORK, carry_out)  # allow write-without-act: a thread of its own, which the page watches


def _written(person: Person, wish: Wish, *, progress: Callable[[int], None]) -> release.Written:
    """Reading first, so that nobody who is judging waits for a large release."""
    workspace = current_workspace()
    with reading() as db:
        return release.write_release(
            db,
            by=person,
            dataset=wish.dataset,
            name=wish.name,
            out=release.usual_folder(workspace, dataset=wish.dataset, name=wish.name),
            batches=wish.batches or None,
            names=wish.called,
            with_images=wish.images,
            with_reports=wish.reports,
            with_sr=wish.structured,
            forms=wish.forms,
            split=wish.split,
            key_errors_under=wish.under,
            workspace=workspace,
            progress=progress,
        )


def _told(wish: Wish, written: release.Written) -> str:
    held = f"Release {written.name} of {wish.dataset} holds {written.tally.released:,} questions"
    if written.keys is not None:
        held += f"; the keys of the private ones are at {written.keys} on the server"
    if written.again:
        held += "; it was there already, the same byte for byte"
    return f"{held}. {written.met}" if written.met else f"{held}."
