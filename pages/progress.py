"""Progress: how much of a batch is done, when it will be finished, and which errors were reported."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from review import service as review
from review.pace import RULE
from review.progress import Line, Progress
from ui.batches.charts import progress_bars
from ui.batches.choice import batches_or_empty, choose_batch
from ui.batches.findings import findings, ratings, tier_agreement
from ui.chart import chart
from ui.context import clock, current_workspace, reading, require_page
from ui.layout import figures
from ui.parts import empty_state, human_time, plain, screen
from ui.tables import table


@screen
def main() -> None:
    """One batch at a time; every figure with its n."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Progress")
    batches = batches_or_empty(person, "Once a batch is drawn and assigned, its progress is shown here.")
    if not batches:
        return
    batch = choose_batch(batches, key="batch-to-follow")
    with reading() as db:
        version = review.counted_version(db, by=person, batches=[batch.name])
    found = _counted(batch.name, (str(current_workspace().home), *version), person)
    _head(found)
    if not found.whole.asked:
        empty_state(
            "Nobody has a question of this batch yet",
            "Assign it to reviewers; what they do is counted here.",
            page="pages/assign.py",
            label="Assign questions",
        )
        return
    _lines(found)
    findings(found)
    ratings(found)
    tier_agreement(found)


@st.cache_data(max_entries=20, ttl=60, show_spinner="Counting the batch …")
def _counted(batch: str, version: tuple[object, ...], _person: Person) -> Progress:
    """The progress of a batch, cached until there is a new verdict.

    At most for a minute, so that the pace stays current.
    """
    del version
    with reading() as db:
        return review.progress(db, by=_person, batch=batch, now=clock())


def _head(found: Progress) -> None:
    whole = found.whole
    st.caption(
        f"Batch {plain(found.batch.name)} is {found.batch.state.value}: {whole.questions:,} questions, "
        f"{whole.asked:,} judgements asked for, {whole.unassigned:,} questions with nobody. "
        f"Read at {clock():%Y-%m-%d %H:%M:%S} UTC."
    )
    if not whole.asked:
        return
    st.progress(whole.done / whole.asked, text=f"{whole.done:,} of {whole.asked:,} done")
    figures(
        ("Done", f"{whole.done:,}", "Judgements with a verdict."),
        ("Skipped", f"{whole.skipped:,}", "Put aside with a reason; they can be judged later."),
        ("Left", f"{whole.left:,}", "Open judgements."),
        ("Median time looking", _seconds(whole), f"Until the first verdict; n = {whole.timed:,}."),
        ("Finish at this pace", _finish(whole, brief=True), RULE),
    )


def _lines(found: Progress) -> None:
    st.subheader("Who and what")
    chart(progress_bars(found.reviewers))
    people, tiers, tasks = st.tabs(["By reviewer", "By tier", "By task"])
    for tab, lines, what in (
        (people, found.reviewers, "Reviewer"),
        (tiers, found.tiers, "Machine tier"),
        (tasks, found.tasks, "Task"),
    ):
        with tab:
            table([*(_row(what, line, line.name) for line in lines), _row(what, found.whole, "all")])
    st.caption(
        "Counted in judgements: a question with two reviewers is asked for twice. Median time: seconds of "
        "looking (image drawn, page visible) until a person's first verdict on a question."
    )
    st.caption(plain(RULE))


def _row(what: str, line: Line, name: str) -> dict[str, object]:
    return {
        what: name,
        "Questions": line.questions,
        "With nobody": line.unassigned,
        "Asked for": line.asked,
        "Done": line.done,
        "Skipped": line.skipped,
        "Left": line.left,
        "Median s": "none yet"
        if line.seconds_median is None
        else f"{line.seconds_median:.1f}, n {line.timed:,}",
        "Finish at this pace": _finish(line),
    }


def _seconds(line: Line) -> str:
    return "none yet" if line.seconds_median is None else f"{line.seconds_median:.0f} s"


#: Short texts that fit under a heading; the table below has the full ones.
_SHORT = {"not enough verdicts yet": "not yet known", "more than ten years at this pace": "> 10 years"}


def _finish(line: Line, *, brief: bool = False) -> str:
    if line.finish.at is None:
        return _SHORT.get(line.finish.note, line.finish.note) if brief else line.finish.note
    when = human_time(line.finish.at, now=clock())
    return when if brief else f"{line.finish.at:%Y-%m-%d} ({when})"


main()
