"""Loads the numbers of all stages for Home: data, review, results and studies."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from domain.batches import BatchState
from domain.people import Person
from quality.service import DatasetProblems, list_dataset_problems
from reader_study.service import StudyReaders, count_finished_readers
from release.service import ReleaseRecord, list_releases
from review.service import BatchOverview, count_open_disputes, list_batch_overviews, load_counts_version
from ui.context import current_workspace, read_only_session


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceState:
    """The state of a workspace: its datasets, batches, open disputes, releases and studies.

    ``batches`` and ``releases`` begin with the newest, ``studies`` with the oldest.
    """

    datasets: tuple[DatasetProblems, ...]
    batches: tuple[BatchOverview, ...]
    open_disputes: int
    releases: tuple[ReleaseRecord, ...]
    studies: tuple[StudyReaders, ...]

    @property
    def questions(self) -> int:
        return sum(dataset.questions for dataset in self.datasets)

    @property
    def questions_with_problems(self) -> int:
        return sum(dataset.with_problems for dataset in self.datasets)

    @property
    def open_batches(self) -> tuple[BatchOverview, ...]:
        return tuple(overview for overview in self.batches if overview.batch.state is BatchState.OPEN)

    @property
    def judgements_done(self) -> int:
        return sum(overview.done for overview in self.batches)

    @property
    def judgements_requested(self) -> int:
        return sum(overview.requested for overview in self.batches)

    @property
    def readers(self) -> int:
        return sum(study.readers for study in self.studies)

    @property
    def readers_finished(self) -> int:
        return sum(study.finished for study in self.studies)


def load_workspace_state(person: Person) -> WorkspaceState:
    """Load the state of the workspace. Counts that take long on a large workspace are cached."""
    home = str(current_workspace().home)
    with read_only_session() as db:
        batches = tuple(list_batch_overviews(db, by=person))
        version = load_counts_version(db, by=person)
        releases = tuple(list_releases(db, by=person))
        studies = tuple(count_finished_readers(db, by=person))
    return WorkspaceState(
        datasets=_load_datasets(home, person),
        batches=batches,
        open_disputes=_count_disputes((home, *version), person) if batches else 0,
        releases=releases,
        studies=studies,
    )


# Cached for ten seconds: counting the problems of a million questions takes about a second, and a check may
# change the counts at any time.
@st.cache_data(max_entries=10, ttl=10, show_spinner=False)
def _load_datasets(home: str, _person: Person) -> tuple[DatasetProblems, ...]:
    del home
    with read_only_session() as db:
        return tuple(list_dataset_problems(db, by=_person))


@st.cache_data(max_entries=10, show_spinner=False)
def _count_disputes(version: tuple[object, ...], _person: Person) -> int:
    del version
    with read_only_session() as db:
        return count_open_disputes(db, by=_person)
