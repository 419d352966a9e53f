"""The content of a release that would be made now, and whether it meets the condition on its key errors."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from domain.errors import DomainError, Refused
from domain.people import Person
from release import service as release
from review.service import check_key_errors
from ui.context import current_workspace, reading
from ui.parts import plain
from ui.tables import table


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyErrorLimit:
    """The condition on key errors, and whether it holds.

    ``under`` is the share that the upper 95 % limit must stay below; None for no condition.
    """

    under: float | None
    holds: bool


def tally_now(person: Person, dataset: str, chosen: tuple[str, ...]) -> release.Tally | None:
    """Draw the counts in one sentence and return them; if there are none, draw why and return None."""
    try:
        with reading() as db:
            version = release.preview_version(db, by=person, dataset=dataset, batches=chosen or None)
        tally = _counted(dataset, chosen, (str(current_workspace().home), *version), person)
    except DomainError as error:
        st.error(plain(str(error)))
        return None
    st.markdown(f"**{_sentence(tally)}**")
    return tally


def show_tally(tally: release.Tally) -> None:
    """Draw all counts."""
    table(
        [
            {"Questions": "accepted as they are", "Number": tally.accepted, "": "released"},
            {"Questions": "corrected", "Number": tally.revised, "": "released"},
            *(
                {"Questions": reason, "Number": count, "": "left out"}
                for reason, count in tally.left_out.items()
            ),
            {"Questions": "not judged yet", "Number": tally.unjudged, "": "left out"},
        ]
    )
    table(
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


def condition(person: Person, dataset: str, chosen: tuple[str, ...], form: str) -> KeyErrorLimit:
    """Draw the input of the condition; show, with the figure, whether the dataset meets it."""
    asked = st.toggle(
        "Only if key errors in the whole dataset are few",
        key=f"{form}-rule",
        help="The upper 95 % limit is asked, with all that is not covered or skipped counted as errors. "
        "The condition stands in the manifest and in the data card.",
    )
    if not asked:
        return KeyErrorLimit(under=None, holds=True)
    percent = st.number_input(
        "Upper limit under, %", min_value=0.1, max_value=100.0, value=5.0, step=0.5, key=f"{form}-under"
    )
    under = float(percent) / 100
    try:
        with reading() as db:
            version = release.preview_version(db, by=person, dataset=dataset, batches=chosen or None)
        met = _checked(dataset, chosen, under, (str(current_workspace().home), *version), person)
        st.success(plain(met), icon=":material/check:")
    except Refused as error:
        st.error(plain(str(error)), icon=":material/block:")
        return KeyErrorLimit(under=under, holds=False)
    return KeyErrorLimit(under=under, holds=True)


@st.cache_data(max_entries=20, show_spinner="Counting what a release would hold …")
def _counted(
    dataset: str, chosen: tuple[str, ...], version: tuple[object, ...], _person: Person
) -> release.Tally:
    """Return the counts, cached until somebody judges, because they need every judged question."""
    del version
    with reading() as db:
        return release.preview_release(db, by=_person, dataset=dataset, batches=chosen or None)


@st.cache_data(max_entries=20, ttl=60, show_spinner="Estimating the key errors of the whole …")
def _checked(
    dataset: str, chosen: tuple[str, ...], under: float, version: tuple[object, ...], _person: Person
) -> str:
    """Return the estimate, cached for a minute, because imports change it.

    Making the release computes it again.
    """
    del version
    with reading() as db:
        return check_key_errors(db, by=_person, dataset=dataset, batches=chosen or None, under=under)


def _sentence(tally: release.Tally) -> str:
    if not tally.judged:
        return "Nobody has judged a question of these batches yet."
    return f"A release made now would hold {tally.released:,} of the {tally.judged:,} judged questions."
