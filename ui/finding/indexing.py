"""The search index is brought up to date behind the page, in parts, so that nobody who is judging waits."""

from __future__ import annotations

from browsing.service import index_questions, search_index
from ui.behind.work import Work, begin, forget
from ui.context import reading, unit_of_work

INDEX = "search index"


def begin_index(*, told: str = "") -> None:
    """Begin it, or let it go on; at its end ``told`` is said, or nothing."""

    def carry_out(work: Work) -> str:
        more = True
        while more:
            with unit_of_work() as db:
                more = index_questions(db)
            with reading() as db:
                index = search_index(db)
            work.tell(index.through, index.newest, "questions")
        return told

    forget(INDEX)
    begin(INDEX, carry_out, once=True)  # allow write-without-act: a thread of its own, which the page watches
