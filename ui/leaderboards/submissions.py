"""Leaderboards: the form for a submission, the receipt, and the submissions of the person's own team."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, cast

import streamlit as st

from domain.errors import InvalidValue, NotFound, Refused
from domain.file_errors import add_filename_to_errors
from domain.leaderboards import ModelAccess, SubmissionDetails
from domain.people import Person
from leaderboard import service as leaderboards
from leaderboard.service import TeamStatus
from leaderboard.standings_text import (
    REPEATED_NOTE,
    describe_problem_count,
    describe_remaining,
    describe_score,
)
from ui import state
from ui.context import clock, current_person, current_workspace, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_MAX_SHOWN_REFUSALS = 10
_YES_NO = ("Yes", "No")


def show_submissions(person: Person, name: str) -> None:
    """Show the form and the submissions of the person's team; if they have no team, say so."""
    st.subheader("Your team")
    try:
        with read_only_session() as db:
            status = leaderboards.load_team_status(db, by=person, leaderboard=name, now=clock())
    except NotFound as error:
        st.info(escape_markdown(str(error)))
        return
    members = ", ".join(status.team.members)
    st.markdown(f"**{escape_markdown(status.team.name)}** · {escape_markdown(members)}")
    st.caption(escape_markdown(describe_remaining(status.remaining)))
    _show_form(name, status)
    _show_own_submissions(name, status)


def _show_form(name: str, status: TeamStatus) -> None:
    form_key = state.form_key(f"submission-{name}")
    with st.expander("Submit predictions", expanded=not status.submissions):
        with st.form(form_key, border=False):
            st.file_uploader(
                "File of predictions, up to 200 MB",
                key=f"{form_key}-file",
                help="overread.prediction/1 or a file of a supported harness, with an answer to each closed "
                "private question. It is checked first; an invalid file is not charged.",
            )
            left, right = st.columns(2)
            left.text_input("Method", key=f"{form_key}-method", placeholder="MedGemma 27B, fine-tuned")
            right.text_input("URL (optional)", key=f"{form_key}-url", placeholder="https://")
            st.text_area("Description (optional)", key=f"{form_key}-description", height=80)
            left, right = st.columns(2)
            left.radio(
                "Answers computed by",
                list(ModelAccess),
                index=None,
                key=f"{form_key}-access",
                format_func=lambda access: access.value,
                help="The provider of an API receives the private questions and images. The row is marked.",
            )
            right.radio(
                "Show on the leaderboard",
                _YES_NO,
                key=f"{form_key}-public",
                help="A submission that is not shown is scored for your team only; your team can publish it "
                "later. Of a shown submission, method, description and URL are public on the web site of the "
                "leaderboard.",
            )
            st.form_submit_button(
                "Submit",
                type="primary",
                on_click=run_action,
                args=(_submit_predictions, name, form_key),
                kwargs={"notice_key": f"submission-{name}"},
            )
        show_notice(f"submission-{name}")


def _show_own_submissions(name: str, status: TeamStatus) -> None:
    if not status.submissions:
        st.caption("No submissions yet.")
        return
    scores = {(score.submission_id, score.version): score for score in status.scores}
    versions = sorted({score.version for score in status.scores})
    version = status.leaderboard.version
    show_table(
        [
            {
                "Submission": str(submission.id),
                "Submitted": f"{submission.submitted_at:%Y-%m-%d %H:%M} UTC",
                "By": submission.submitted_by or "command line",
                "Method": submission.details.method,
                "Score": describe_score(scores.get((submission.id, version))),
                **{
                    f"Version {old_version}": describe_score(score)
                    if (score := scores.get((submission.id, old_version)))
                    else "–"
                    for old_version in versions
                    if old_version != version
                },
                "Public": "yes"
                if submission.details.is_public or submission.id == status.counted_submission_id
                else "no",
                "Counts": "yes" if submission.id == status.counted_submission_id else "",
            }
            for submission in status.submissions
        ],
        visible_rows=10,
    )
    chosen_id = st.selectbox(
        "Submission",
        [submission.id for submission in status.submissions],
        key=f"own-submission-{name}-{len(status.submissions)}",
        width=240,
    )
    is_public = next(
        submission.details.is_public for submission in status.submissions if submission.id == chosen_id
    )
    st.button(
        "Select for the leaderboard" if is_public else "Publish on the leaderboard",
        key=f"select-{name}-{chosen_id}",
        disabled=chosen_id == status.counted_submission_id,
        on_click=run_action,
        args=(_select_submission, name, chosen_id),
        kwargs={"notice_key": f"select-{name}"},
        help="One submission counts for a team. Without a selection it is the best public one, with the "
        "Ladder the last public one that changed the score. A selected submission becomes public.",
    )
    show_notice(f"select-{name}")
    with st.expander("Receipt"):
        with read_only_session() as db:
            receipt = leaderboards.load_receipt(
                db, by=current_person(), leaderboard=name, submission_id=chosen_id, now=clock()
            )
        st.code(receipt.to_json(), language="json")


def _submit_predictions(name: str, form_key: str) -> str:
    file = cast("UploadedFile | None", state.get_widget_value(f"{form_key}-file"))
    access = state.get_widget_value(f"{form_key}-access")
    if file is None:
        raise Refused("Choose a file of predictions.")
    if not isinstance(access, ModelAccess):
        raise InvalidValue("Answers computed by", "choose one")
    details = SubmissionDetails(
        method=str(state.get_widget_value(f"{form_key}-method") or "").strip(),
        description=str(state.get_widget_value(f"{form_key}-description") or "").strip(),
        url=str(state.get_widget_value(f"{form_key}-url") or "").strip(),
        access=access,
        is_public=state.get_widget_value(f"{form_key}-public") == _YES_NO[0],
    )
    person, now = current_person(), clock()
    folder = current_workspace().uploads / secrets.token_urlsafe(9)
    folder.mkdir(parents=True)
    try:
        path = folder / f"predictions{Path(file.name).suffix}"
        with add_filename_to_errors(path):
            path.write_bytes(file.getbuffer())
        with read_only_session() as db:
            checked = leaderboards.check_submission(
                db, by=person, leaderboard=name, path=path, file_name=Path(file.name).name, now=now
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if checked.refusals:
        raise Refused(_describe_refusals(checked))
    with unit_of_work() as db:
        receipt = leaderboards.record_submission(db, by=person, checked=checked, details=details, now=now)
    state.clear_form(f"submission-{name}")
    repeated_note = f" {REPEATED_NOTE}" if receipt.is_repeated else ""
    kept_note = (
        f" The score of the team stays {describe_score(receipt.displayed)}."
        if receipt.score is None and receipt.displayed
        else ""
    )
    return (
        f"Submission {receipt.submission.id}: {describe_score(receipt.score)}.{kept_note}{repeated_note} "
        f"{describe_remaining(receipt.remaining)}"
    )


def _describe_refusals(checked: leaderboards.CheckedSubmission) -> str:
    lines = [
        ": ".join(part for part in (refusal.record and f"line {refusal.record}", refusal.field) if part)
        + f": {refusal.reason}"
        for refusal in checked.refusals[:_MAX_SHOWN_REFUSALS]
    ]
    omitted_count = len(checked.refusals) - len(lines)
    return (
        f"Not submitted, nothing was charged: {describe_problem_count(len(checked.refusals))}. "
        + " · ".join(lines)
        + (f" · and {omitted_count:,} more" if omitted_count else "")
    )


def _select_submission(name: str, submission_id: int) -> str:
    with unit_of_work() as db:
        leaderboards.select_submission(
            db, by=current_person(), leaderboard=name, submission_id=submission_id, now=clock()
        )
    return f"Submission {submission_id} counts for your team."
