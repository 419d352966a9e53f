"""Shows a random sample of replies with the answers that a rule extracted, to be marked right or wrong."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.marks import AnswerMark, ReplyId
from domain.people import Person
from domain.questions import format_answer, option_letter
from reader_study import service as studies
from reader_study.extraction import FAILED
from reader_study.report.tables import ExtractionRate
from reader_study.service import EXTRACTION_SAMPLE_SIZE, SampledReply, StudySummary
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.marking.mark_buttons import show_mark_buttons, show_neighbour_buttons
from ui.studies.extraction_rates import build_extraction_row
from ui.studies.predictions import RULE_DESCRIPTIONS
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice

_NOTICE = "extraction"
#: The number of characters of a reply that are shown; the rest is behind a button.
_MAX_REPLY_LENGTH = 4_000


def show_extraction_check(person: Person, summary: StudySummary) -> None:
    """Show the error rates by rule, and the sample of one rule."""
    study = summary.study
    st.caption(
        "Answers are extracted from the models' free text by fixed rules. Mark a random sample of each "
        "rule's replies: was the answer read as the reply states it? Whether it is correct does not matter."
    )
    rules = [rate.rule for rate in _load_rates(person, study.name)]
    if not rules:
        st.info("No model of this study has replies in free text. Import predictions with the field raw.")
        return
    left, right = st.columns(2)
    rule = left.selectbox(
        "Rule",
        rules,
        key=f"extraction-rule-{study.id}-{len(rules)}",
        format_func=lambda name: f"{name}: {RULE_DESCRIPTIONS.get(name, '')}",
    )
    size = right.number_input(
        "Sample size (replies)", 1, 10_000, EXTRACTION_SAMPLE_SIZE, key=f"extraction-size-{study.id}"
    )
    with read_only_session() as db:
        check = studies.load_extraction_check(db, by=person, study=study.name, rule=rule, size=int(size))
    _show_sample(person, study.name, check.rule or "", check.sample)
    show_notice(_NOTICE)
    st.subheader("Error rates by rule")
    show_table([build_extraction_row(rate) for rate in check.rates])


def _load_rates(person: Person, study: str) -> tuple[ExtractionRate, ...]:
    with read_only_session() as db:
        return studies.load_extraction_check(db, by=person, study=study, size=0).rates


def _show_sample(person: Person, study: str, rule: str, sample: tuple[SampledReply, ...]) -> None:
    selection = f"extraction-{study}-{rule}"
    requested_id = state.get_selection(selection)
    marked_replies = [reply for reply in sample if reply.mark is not None]
    st.progress(len(marked_replies) / len(sample) if sample else 0.0)
    st.caption(f"{len(marked_replies):,} of {count_text(len(sample), 'reply', 'replies')} marked")
    index = next((i for i, reply in enumerate(sample) if reply.id == requested_id), None)
    if index is None:
        index = next((i for i, reply in enumerate(sample) if reply.mark is None), None)
    if index is None:
        st.markdown("**Every reply of this sample is marked.** Choose another rule or a larger sample.")
    else:
        _show_reply(person, study, sample, index, selection=selection)
    last_marked = max(
        marked_replies, key=lambda reply: (reply.marked_at is not None, reply.marked_at), default=None
    )
    st.button(
        "Undo last mark",
        key=f"{selection}-undo-{'none' if last_marked is None else _make_reply_key(last_marked)}",
        shortcut="u",
        disabled=last_marked is None,
        on_click=run_action,
        args=(_save_mark, person, study, last_marked),
        kwargs={
            "mark": None,
            "selection": selection,
            "following": None if last_marked is None else last_marked.id,
            "notice_key": _NOTICE,
        },
    )


def _show_reply(
    person: Person, study: str, sample: tuple[SampledReply, ...], index: int, *, selection: str
) -> None:
    reply, question = sample[index], sample[index].question
    prediction = reply.prediction
    with st.container(border=True):
        st.caption(f"Reply {index + 1:,} of {len(sample):,}")
        st.markdown(escape_markdown(question.stem))
        for position, option in enumerate(question.options):
            st.markdown(escape_markdown(f"{option_letter(position)}. {option}"))
        st.caption("Reply of the model")
        text = prediction.raw or ""
        st.text(text[:_MAX_REPLY_LENGTH] or "(empty)")
        if len(text) > _MAX_REPLY_LENGTH:
            with st.expander(f"Rest of the reply ({len(text) - _MAX_REPLY_LENGTH:,} characters)"):
                st.text(text[_MAX_REPLY_LENGTH:])
        st.caption("Answer as read")
        answer = "none" if prediction.answer is None else format_answer(prediction.answer, question.options)
        st.markdown(f"**{escape_markdown(answer)}**")
        if prediction.rule == FAILED:
            st.caption("Right: the reply states no single answer. Wrong: it states one that was not read.")
    key = f"{selection}-{_make_reply_key(reply)}"
    later_then_earlier = (*sample[index + 1 :], *sample[:index])
    next_unmarked = next((candidate.id for candidate in later_then_earlier if candidate.mark is None), None)
    next_id = sample[index + 1].id if index + 1 < len(sample) else None
    show_mark_buttons(
        {AnswerMark.RIGHT: "Read correctly", AnswerMark.WRONG: "Read wrongly"},
        present=reply.mark,
        key=key,
        on_click=run_action,
        args=(_save_mark, person, study, reply),
        kwargs={
            "selection": selection,
            "following": next_unmarked if reply.mark is None else next_id,
            "notice_key": _NOTICE,
        },
    )
    # Letters instead of arrow keys: after a click on the choice of the part, arrow keys change the part.
    show_neighbour_buttons(
        selection,
        previous=sample[index - 1].id if index else None,
        following=next_id,
        key=key,
        shortcuts=("p", "n"),
    )


def _save_mark(
    person: Person,
    study: str,
    reply: SampledReply,
    *,
    mark: AnswerMark | None,
    selection: str,
    following: ReplyId | None,
) -> None:
    with unit_of_work() as db:
        studies.mark_extraction(
            db, by=person, study=study, reply=reply.id, revision=reply.revision + 1, mark=mark, now=clock()
        )
    state.set_selection(selection, following)


def _make_reply_key(reply: SampledReply) -> str:
    """Return a part of a widget key that identifies a reply and its latest mark."""
    return f"{reply.id.model_id}-{reply.id.question_row_id}-{reply.revision}"
