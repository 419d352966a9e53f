"""Shows what a release would contain at present, and whether it meets the condition on key errors."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from domain.count_texts import count_text
from domain.errors import DomainError, Refused
from domain.people import Person
from release import service as release
from review.service import check_key_errors
from ui.context import current_workspace, read_only_session
from ui.tables import show_table
from ui.widgets import escape_markdown


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyErrorLimit:
    """The condition on key errors, and whether it is met.

    ``limit`` is a share from 0 to 1; the upper 95 % limit of the rate of key errors must be below it. None
    means that there is no condition.
    """

    limit: float | None
    is_met: bool


def load_and_show_tally(person: Person, dataset: str, batches: tuple[str, ...]) -> release.Tally | None:
    """Show the number of released questions and return all counts; on an error, show it and return None."""
    try:
        with read_only_session() as db:
            version = release.compute_preview_cache_key(
                db, by=person, dataset=dataset, batches=batches or None
            )
        tally = _load_tally(dataset, batches, (str(current_workspace().home), *version), person)
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return None
    st.markdown(f"**{_describe_tally(tally)}**")
    return tally


def show_tally(tally: release.Tally) -> None:
    """Show the counts by outcome and by stratum."""
    show_table(
        [
            {"Verdict": "accepted unchanged", "Questions": tally.accepted, "Outcome": "released"},
            {"Verdict": "corrected", "Questions": tally.revised, "Outcome": "released"},
            *(
                {"Verdict": reason, "Questions": count, "Outcome": "excluded"}
                for reason, count in tally.excluded.items()
            ),
            {"Verdict": "not judged yet", "Questions": tally.unjudged, "Outcome": "excluded"},
        ]
    )
    show_table(
        [
            {
                "Stratum": stratum,
                "Drawn": counts["drawn"],
                "Judged": counts["judged"],
                "Released": counts["released"],
            }
            for stratum, counts in tally.strata.items()
        ]
    )


def show_key_error_limit(
    person: Person, dataset: str, batches: tuple[str, ...], form_key: str
) -> KeyErrorLimit:
    """Show the input of the condition, the present estimate, and whether the dataset meets the condition."""
    is_limited = st.toggle(
        "Require a low rate of answer key errors",
        key=f"{form_key}-rule",
        help="The upper 95 % limit for the whole dataset must be below the value. Skipped and "
        "uncovered questions count as errors. "
        "The condition is stated in the manifest and the data card.",
    )
    if not is_limited:
        return KeyErrorLimit(limit=None, is_met=True)
    percent = st.number_input(
        "Upper limit (%)", min_value=0.1, max_value=100.0, value=5.0, step=0.5, key=f"{form_key}-under"
    )
    limit = float(percent) / 100
    try:
        with read_only_session() as db:
            version = release.compute_preview_cache_key(
                db, by=person, dataset=dataset, batches=batches or None
            )
        result_text = _load_key_error_check(
            dataset, batches, limit, (str(current_workspace().home), *version), person
        )
        st.success(escape_markdown(result_text), icon=":material/check:")
    except Refused as error:
        st.error(escape_markdown(str(error)), icon=":material/block:")
        return KeyErrorLimit(limit=limit, is_met=False)
    return KeyErrorLimit(limit=limit, is_met=True)


@st.cache_data(max_entries=20, show_spinner="Counting the questions of the release …")
def _load_tally(
    dataset: str, batches: tuple[str, ...], version: tuple[object, ...], _person: Person
) -> release.Tally:
    """Return the counts. They are cached until a verdict changes, because they need all judged questions."""
    del version
    with read_only_session() as db:
        return release.preview_release(db, by=_person, dataset=dataset, batches=batches or None)


@st.cache_data(max_entries=20, ttl=60, show_spinner="Estimating key errors …")
def _load_key_error_check(
    dataset: str, batches: tuple[str, ...], limit: float, version: tuple[object, ...], _person: Person
) -> str:
    """Return the estimate as text. It is cached for a minute at most, because imports change it.

    The creation of the release computes it again.

    Raises:
        Refused: the dataset does not meet the condition.
    """
    del version
    with read_only_session() as db:
        return check_key_errors(db, by=_person, dataset=dataset, batches=batches or None, limit=limit)


def _describe_tally(tally: release.Tally) -> str:
    if not tally.judged:
        return "No verdicts in these batches yet."
    return f"The release will contain {tally.released:,} of {count_text(tally.judged, 'judged question')}."
