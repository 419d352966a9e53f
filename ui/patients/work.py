"""Searching texts and ranking images of a dataset, behind the page."""

from __future__ import annotations

from functools import partial

from domain.people import Person
from privacy.service import find_hits, rank_images, ranking_told, record_hits, record_ranks
from ui.behind.work import Work, begin
from ui.context import clock, current_workspace, reading, unit_of_work


def name_of(dataset: str, what: str) -> str:
    """What the search ("texts") or ranking ("pixels") of that dataset is called as work."""
    return f"{what} of {dataset}"


def start(dataset: str, what: str, person: Person) -> None:
    """Begin it."""
    carry_out = _search if what == "texts" else _rank  # allow write-without-act: a thread of its own
    begin(name_of(dataset, what), partial(carry_out, dataset, person))


def _search(dataset: str, person: Person, work: Work) -> str:
    with reading() as db:
        found = find_hits(db, by=person, dataset=dataset, workspace=current_workspace(), progress=work.tell)
    with unit_of_work() as db:
        record_hits(db, by=person, found=found, now=clock())
    headers = f" and for what {found.headers:,} image headers say" if found.headers else ""
    return f"Searched {found.questions:,} questions by pattern{headers}: {len(found.hits):,} passages."


def _rank(dataset: str, person: Person, work: Work) -> str:
    def told(done: int, of: int) -> None:
        work.tell(done, of, "images")

    with reading() as db:
        ranked = rank_images(db, by=person, dataset=dataset, workspace=current_workspace(), progress=told)
    with unit_of_work() as db:
        record_ranks(db, by=person, ranked=ranked, now=clock())
    return ranking_told(ranked)
