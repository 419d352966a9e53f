"""A file that somebody hands in, taken in behind the page, which shows how far it is and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import Refused
from domain.people import Person
from ui import state
from ui.behind.work import Work, begin, work_of
from ui.imports.deliveries import Delivery, discard, uploaded


def begin_with_file(person: Person, work: str, form: str, take: Callable[[Delivery, Work], str]) -> None:
    """Begin ``work`` with that form's file; ``take`` says what came in, or refuses with a DomainError.

    Raises:
        Refused: no file was chosen, or one comes in already.
    """
    file = state.field(f"{form}-file")
    if file is None:
        raise Refused("Choose a file first.")
    delivery = uploaded(file, None, by=person, in_memory=False)  # type: ignore[arg-type]  # what an uploader holds

    def carry_out(begun: Work) -> str:
        try:
            return take(delivery, begun)
        finally:
            discard(delivery)

    state.set_chosen(work, begin(work, carry_out))


def clear_when_in(work: str) -> None:
    """Start the form anew where its file is in; a refused one stays, to be corrected."""
    begun = state.chosen(work)
    if isinstance(begun, Work) and begun is work_of(work) and begun.said is not None:
        state.clear_form(work)
        state.set_chosen(work, None)
