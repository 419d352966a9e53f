"""Adjudicate: questions on which reviewers disagree, or that have a reported problem, one by one."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch
from domain.count_texts import count_text
from domain.errors import DomainError
from domain.people import Action, Person
from domain.verdicts import judgement_label
from review.service import DisputedQuestion, list_batches_to_adjudicate, list_disputes
from ui import state
from ui.address import parse_id
from ui.context import read_only_session, require_page
from ui.forms.adjudication import mount_adjudication_form
from ui.forms.preferences import add_preferences
from ui.tables import show_table
from ui.widgets import escape_markdown, page_fragment, show_empty_state
from web.adjudication.routes import load_next_dispute

BATCH_PARAMETER, QUESTION_PARAMETER = "batch", "question"


@page_fragment
def main() -> None:
    """Show the form with its data. The form saves through its own routes, not through this page."""
    person = require_page(Action.ADJUDICATE)
    with read_only_session() as db:
        own_batches = list_batches_to_adjudicate(db, person=person)
    if not own_batches:
        st.title("Adjudicate")
        show_empty_state(
            "No disputes to adjudicate",
            (
                "When two reviewers disagree on a question, an adjudicator who did not judge it decides. "
                "The disputes of a batch appear here after a coordinator has named you as its adjudicator "
                "on the page Batches."
            ),
        )
        return
    batch = _choose_batch(person, own_batches)
    try:
        data = load_next_dispute(person, batch.id, question=parse_id(st.query_params.get(QUESTION_PARAMETER)))
        if data is None:
            with read_only_session() as db:
                disputes = list_disputes(db, person=person, batch_id=batch.id)
    except DomainError as error:
        st.warning(escape_markdown(str(error)))
        return
    if data is not None:
        mount_adjudication_form(add_preferences(data, person), on_completed=_clear_question)
        return
    st.title("Adjudicate")
    _show_completed(batch, disputes)


def _show_completed(batch: Batch, disputes: list[DisputedQuestion]) -> None:
    if not disputes:
        show_empty_state(
            f"No disputes in batch {batch.name}",
            "Questions on which two reviewers disagree, and those with a reported problem, appear here.",
        )
        return
    st.success(
        f"{count_text(len(disputes), 'dispute')} of batch {escape_markdown(batch.name)}: all adjudicated."
    )
    show_table(
        [
            {
                "Question": dispute.question_id,
                "Dispute": ", ".join(sorted(dispute.kinds)) or "no longer disputed",
                "Decision": judgement_label(dispute.adjudication.decision.value)
                if dispute.adjudication
                else "",
                "Reason": dispute.adjudication.reason if dispute.adjudication else "",
                "When (UTC)": f"{dispute.adjudication.given_at:%Y-%m-%d %H:%M}"
                if dispute.adjudication
                else "",
            }
            for dispute in disputes
        ]
    )
    st.selectbox(
        "Reopen a dispute",
        [dispute.question_row_id for dispute in disputes],
        index=None,
        placeholder="Choose a question id",
        format_func={dispute.question_row_id: dispute.question_id for dispute in disputes}.__getitem__,
        key=f"settle-again-{batch.id}",
        on_change=_reopen_dispute,
        args=(batch.id,),
    )


def _reopen_dispute(batch_id: int) -> None:
    question_row_id = state.get_widget_value(f"settle-again-{batch_id}")
    if question_row_id is not None:
        st.query_params.from_dict({BATCH_PARAMETER: str(batch_id), QUESTION_PARAMETER: str(question_row_id)})


def _choose_batch(person: Person, own_batches: list[Batch]) -> Batch:
    requested_id = parse_id(st.query_params.get(BATCH_PARAMETER))
    names = {batch.id: batch.name for batch in own_batches}
    batch_id = requested_id if requested_id in names else _find_open_batch(person, own_batches)
    if len(own_batches) > 1:
        batch_id = st.selectbox(
            "Batch",
            list(names),
            index=list(names).index(batch_id),
            format_func=names.__getitem__,
            key=f"settle-batch-{'-'.join(map(str, names))}",
        )
    return next(batch for batch in own_batches if batch.id == batch_id)


def _find_open_batch(person: Person, own_batches: list[Batch]) -> int:
    """Return the id of the first batch with an open dispute; otherwise of the first batch."""
    if len(own_batches) == 1:
        return own_batches[0].id
    with read_only_session() as db:
        for batch in own_batches:
            if any(dispute.is_open for dispute in list_disputes(db, person=person, batch_id=batch.id)):
                return batch.id
    return own_batches[0].id


def _clear_question() -> None:
    """Remove the question from the URL when no dispute is left. The following script run shows the reason."""
    st.query_params.pop(QUESTION_PARAMETER, None)


main()
