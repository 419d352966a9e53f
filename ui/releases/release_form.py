"""The form that creates a release: options, condition, preview, and the button."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from domain.jobs import Job, JobStatus
from domain.people import Person
from release import service as release
from ui import state
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import current_person
from ui.dataset_choice import choose_dataset
from ui.layout import responsive_columns
from ui.releases.preview import load_and_show_tally, show_key_error_limit, show_tally
from ui.releases.release_job import ReleaseRequest, load_latest_release_job, start_release
from ui.widgets import run_action, show_notice

_NAME_STYLE_LABELS = {
    release.ReviewerNaming.ACCOUNT: "Sign-in names",
    release.ReviewerNaming.DISPLAY: "Display names",
    release.ReviewerNaming.PSEUDONYM: "Pseudonyms (reviewer-1, reviewer-2, …)",
}
_FORMAT_LABELS = {
    release.FormatName.REXVQA: "ReXVQA",
    release.FormatName.GEMEX: "GEMeX",
    release.FormatName.COCO: "COCO boxes",
    release.FormatName.PARQUET: "Parquet",
}
_STARTED_KEY = "release-started"


@dataclass(frozen=True, slots=True, kw_only=True)
class _SplitChoice:
    """The chosen percentages of the splits. They may be contradictory until the release is started."""

    private: int
    valid: int
    test: int
    seed: int

    def build_plan(self) -> release.SplitPlan | None:
        """Return the plan; None if no split was chosen.

        Raises:
            InvalidValue: the percentages add up to 100 or more.
        """
        if not (self.private or self.valid or self.test):
            return None
        return release.SplitPlan(
            private_share=self.private / 100,
            valid_share=self.valid / 100,
            test_share=self.test / 100,
            seed=self.seed,
        )


def show_release_form(person: Person, batches: dict[str, list[str]]) -> None:
    """Show the form, the preview of the release, and the button that creates it."""
    job = load_latest_release_job(person)
    _clear_when_done(job)
    form_key = state.form_key("release")
    left, right = responsive_columns(2, 3, name="release")
    with left:
        request, split_choice = _choose_request(person, form_key, batches)
    with right:
        tally = load_and_show_tally(person, request.dataset, request.batches)
        key_error_limit = show_key_error_limit(person, request.dataset, request.batches, form_key)
        # The button is above the tables: they get their height late and would move a button below them.
        if not show_job_progress(job):
            st.button(
                "Create release",
                type="primary",
                key=f"{form_key}-make",
                disabled=tally is None
                or not tally.released
                or not request.name.strip()
                or not key_error_limit.is_met,
                on_click=run_action,
                args=(
                    _start_release,
                    replace(request, under=key_error_limit.limit, judged=tally.judged if tally else 0),
                    split_choice,
                ),
                kwargs={"notice_key": "make"},
            )
        show_job_outcome(job)
        show_notice("make")
        if tally is not None:
            show_tally(tally)


def _choose_request(
    person: Person, form_key: str, batches: dict[str, list[str]]
) -> tuple[ReleaseRequest, _SplitChoice]:
    dataset = choose_dataset(person, list(batches), key=f"{form_key}-dataset")
    chosen_batches = st.multiselect(
        "Batches",
        batches[dataset],
        key=f"{form_key}-batches-{dataset}",
        placeholder="All batches of the dataset",
        help="Only verdicts in these batches count. If a reviewer judged a question more than once, "
        "the latest verdict counts.",
    )
    name = st.text_input("Release name", key=f"{form_key}-name", placeholder="for example v1")
    name_style = st.selectbox(
        "Reviewer names in the release",
        list(_NAME_STYLE_LABELS),
        key=f"{form_key}-names",
        format_func=_NAME_STYLE_LABELS.__getitem__,
    )
    formats = st.multiselect(
        "Additional formats",
        list(_FORMAT_LABELS),
        default=list(_FORMAT_LABELS),
        key=f"{form_key}-forms",
        format_func=_FORMAT_LABELS.__getitem__,
        placeholder="JSON Lines and CSV only",
    )
    images = st.checkbox("Include original images", key=f"{form_key}-images")
    reports = st.checkbox(
        "Include radiology reports", key=f"{form_key}-reports", help="Reports may reveal the answers."
    )
    structured = st.checkbox(
        "Include boxes as DICOM structured reports",
        key=f"{form_key}-sr",
        help="Bounding boxes as TID 1500 reports, one per radiograph that was imported as DICOM.",
    )
    request = ReleaseRequest(
        dataset=dataset,
        batches=tuple(chosen_batches),
        name=name,
        called=name_style,
        images=images,
        reports=reports,
        structured=structured,
        forms=tuple(formats),
        split=None,
    )
    return request, _choose_split(form_key)


_SPLIT_LABELS = {"private": "Private", "valid": "Validation", "test": "Test"}


def _choose_split(form_key: str) -> _SplitChoice:
    """Show the shares of the splits in one row, and the seed."""
    help_by_split = {
        "private": "The keys of this share of exams are withheld for scoring models. Patients and images are "
        "never in two splits. All images are decoded for this, which takes time.",
        "valid": "The rest of the public questions becomes the training split.",
        "test": "The rest of the public questions becomes the training split.",
    }
    st.markdown("**Splits**")
    st.caption("The remaining exams form the training split.")
    percent_by_split = {}
    for column, (split, help_text) in zip(st.columns(3), help_by_split.items(), strict=True):
        percent_by_split[split] = column.number_input(
            f"{_SPLIT_LABELS[split]} (%)",
            min_value=0,
            max_value=90,
            value=0,
            step=5,
            key=f"{form_key}-{split}",
            help=help_text,
        )
    seed = st.number_input(
        "Seed of the splits",
        value=0,
        step=1,
        key=f"{form_key}-split-seed",
        disabled=not any(percent_by_split.values()),
    )
    return _SplitChoice(seed=int(seed), **percent_by_split)


def _start_release(request: ReleaseRequest, split_choice: _SplitChoice) -> None:
    request = replace(request, split=split_choice.build_plan())
    state.set_selection(_STARTED_KEY, start_release(current_person(), request).number)


def _clear_when_done(job: Job | None) -> None:
    """Reset the form when its release is complete. After a refusal, the input is kept for correction."""
    if job is not None and job.number == state.get_selection(_STARTED_KEY) and job.status is JobStatus.DONE:
        state.clear_form("release")
        state.set_selection(_STARTED_KEY, None)
