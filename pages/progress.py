"""Progress: how much of a batch is done, when it will be finished, and which errors were reported."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.people import Action, Person
from review import service as review
from review.pace import PACE_RULE
from review.progress import Progress, ProgressLine
from ui.batches.charts import build_progress_chart
from ui.batches.choice import choose_batch, load_batches_or_show_empty
from ui.batches.results import show_ratings, show_results, show_tier_agreement
from ui.chart import show_chart
from ui.context import clock, current_workspace, read_only_session, require_page
from ui.layout import show_metrics
from ui.tables import show_table
from ui.widgets import escape_markdown, format_relative_time, page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show one batch. Every estimate is shown with n."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Progress")
    batches = load_batches_or_show_empty(
        person, ("This page shows the progress of a batch after it is drawn and assigned.")
    )
    if not batches:
        return
    batch = choose_batch(batches, key="batch-to-follow")
    with read_only_session() as db:
        version = review.load_counts_version(db, by=person, batches=[batch.name])
    progress = _load_progress(batch.name, (str(current_workspace().home), *version), person)
    _show_summary(progress)
    if not progress.batch_line.requested:
        show_empty_state(
            "No questions of this batch are assigned yet",
            "Assign the batch to reviewers to follow their progress here.",
            page="pages/assign.py",
            label="Assign questions",
        )
        return
    _show_breakdown(progress)
    show_results(progress)
    show_ratings(progress)
    show_tier_agreement(progress)


@st.cache_data(max_entries=20, ttl=60, show_spinner="Counting …")
def _load_progress(batch: str, version: tuple[object, ...], _person: Person) -> Progress:
    """Compute the progress of a batch, cached until there is a new verdict.

    The result is cached for at most a minute, so that the pace stays current.
    """
    del version
    with read_only_session() as db:
        return review.load_progress(db, by=_person, batch=batch, now=clock())


def _show_summary(progress: Progress) -> None:
    batch_line = progress.batch_line
    st.caption(
        f"Batch {escape_markdown(progress.batch.name)} is {progress.batch.state.value}: "
        f"{count_text(batch_line.questions, 'question')}, "
        f"{count_text(batch_line.requested, 'judgement')} requested, {batch_line.unassigned:,} unassigned. "
        f"As of {clock():%Y-%m-%d %H:%M:%S} UTC."
    )
    if not batch_line.requested:
        return
    st.progress(
        batch_line.done / batch_line.requested,
        text=f"{batch_line.done:,} of {count_text(batch_line.requested, 'judgement')} done",
    )
    show_metrics(
        ("Done", f"{batch_line.done:,}", "Judgements with a verdict."),
        ("Skipped", f"{batch_line.skipped:,}", "Skipped with a reason; they can be judged later."),
        ("Left", f"{batch_line.left:,}", "Judgements not given yet."),
        (
            "Median viewing time",
            _format_median_time(batch_line),
            f"Until the first verdict; n = {batch_line.timed:,}.",
        ),
        ("Estimated finish", _format_finish(batch_line, is_brief=True), PACE_RULE),
    )


def _show_breakdown(progress: Progress) -> None:
    st.subheader("Breakdown")
    show_chart(build_progress_chart(progress.lines_by_reviewer))
    people_tab, tiers_tab, tasks_tab = st.tabs(["By reviewer", "By difficulty", "By task"])
    for tab, lines, first_column in (
        (people_tab, progress.lines_by_reviewer, "Reviewer"),
        (tiers_tab, progress.lines_by_tier, "Stated difficulty"),
        (tasks_tab, progress.lines_by_task, "Task"),
    ):
        with tab:
            show_table(
                [
                    *(_build_row(first_column, line, line.name) for line in lines),
                    _build_row(first_column, progress.batch_line, "All"),
                ]
            )
    st.caption(
        "Counts are judgements: a question with two reviewers counts twice. Median viewing time: "
        "image displayed and page visible, until a reviewer's first verdict on a question."
    )
    st.caption(escape_markdown(PACE_RULE))


def _build_row(first_column: str, line: ProgressLine, name: str) -> dict[str, object]:
    return {
        first_column: name,
        "Questions": line.questions,
        "Unassigned": line.unassigned,
        "Requested": line.requested,
        "Done": line.done,
        "Skipped": line.skipped,
        "Left": line.left,
        "Median viewing time (s)": "none yet"
        if line.seconds_median is None
        else f"{line.seconds_median:.1f}, n {line.timed:,}",
        "Estimated finish": _format_finish(line),
    }


def _format_median_time(line: ProgressLine) -> str:
    return "none yet" if line.seconds_median is None else f"{line.seconds_median:.0f} s"


#: Shortened notes, which fit into a metric. The table shows the full notes.
_SHORT_NOTES = {"not enough verdicts yet": "not yet known", "more than ten years at this pace": "> 10 years"}


def _format_finish(line: ProgressLine, *, is_brief: bool = False) -> str:
    if line.finish.expected_at is None:
        return _SHORT_NOTES.get(line.finish.note, line.finish.note) if is_brief else line.finish.note
    relative_time = format_relative_time(line.finish.expected_at, now=clock())
    return relative_time if is_brief else f"{line.finish.expected_at:%Y-%m-%d} ({relative_time})"


main()
