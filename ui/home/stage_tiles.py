"""The tiles of Home. Each stage has one tile, with its numbers and a button that opens its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from domain.count_texts import count_text
from ui.home.workspace_state import WorkspaceState
from ui.layout import grid_columns
from ui.navigation import Stage
from ui.widgets import escape_markdown, go_to

_MAX_NAMES = 3  # the maximum number of datasets, releases or studies that a tile names


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTile:
    """A stage with its main number, further lines, and the page that its button opens."""

    stage: Stage
    value: str
    label: str
    lines: tuple[str, ...]
    page: str
    button: str


def build_tiles(workspace: WorkspaceState) -> tuple[StageTile, ...]:
    """Build the tiles of data, review, results and studies."""
    return (
        _build_data_tile(workspace),
        _build_review_tile(workspace),
        _build_results_tile(workspace),
        _build_studies_tile(workspace),
    )


def show_tiles(tiles: Sequence[StageTile]) -> None:
    """Show the tiles side by side. In a narrow window a row has two tiles (ui/assets/shell.css)."""
    columns = grid_columns(len(tiles), name="tiles")
    for column, tile in zip(columns, tiles, strict=True):
        with column.container(border=True, height="stretch"):
            st.subheader(tile.stage.value)
            st.metric(tile.label, tile.value)
            for line in tile.lines:
                st.caption(escape_markdown(line))
            if st.button(tile.button, key=f"tile-{tile.stage.name.lower()}", width="stretch"):
                go_to(tile.page)


def _build_data_tile(workspace: WorkspaceState) -> StageTile:
    if not workspace.datasets:
        lines = ["No dataset yet."]
    else:
        lines = [
            f"{count_text(workspace.questions_with_problems, 'question')} with problems found by checks",
            _join_names(
                [f"{dataset.name} ({dataset.questions:,})" for dataset in reversed(workspace.datasets)]
            ),
        ]
    return StageTile(
        stage=Stage.DATA,
        value=f"{workspace.questions:,}",
        label="Questions in " + count_text(len(workspace.datasets), "dataset"),
        lines=tuple(lines),
        page="pages/checks.py" if workspace.questions_with_problems else "pages/import_questions.py",
        button="View checks" if workspace.questions_with_problems else "Import questions",
    )


def _build_review_tile(workspace: WorkspaceState) -> StageTile:
    skipped_count = sum(overview.skipped for overview in workspace.batches)
    lines = [
        f"{len(workspace.open_batches):,} of {count_text(len(workspace.batches), 'batch', 'batches')} open"
    ]
    if skipped_count:
        lines.append(f"{count_text(skipped_count, 'judgement')} skipped")
    return StageTile(
        stage=Stage.REVIEW,
        value=f"{workspace.judgements_done:,} of {workspace.judgements_requested:,}",
        label="Judgements done",
        lines=tuple(lines) if workspace.batches else ("No batch yet.",),
        page="pages/progress.py" if workspace.batches else "pages/sampling.py",
        button="View progress" if workspace.batches else "Draw a batch",
    )


def _build_results_tile(workspace: WorkspaceState) -> StageTile:
    release_names = [f"{release.dataset} {release.name}" for release in workspace.releases]
    return StageTile(
        stage=Stage.RESULTS,
        value=f"{workspace.open_disputes:,}",
        label="Open disputes",
        lines=(
            (count_text(len(release_names), "release"), _join_names(release_names))
            if release_names
            else ("No releases yet.",)
        ),
        page="pages/releases.py",
        button="View releases",
    )


def _build_studies_tile(workspace: WorkspaceState) -> StageTile:
    return StageTile(
        stage=Stage.STUDIES,
        value=f"{workspace.readers_finished:,} of {workspace.readers:,}",
        label="Readers finished",
        lines=(
            (
                count_text(len(workspace.studies), "study", "studies"),
                _join_names(
                    [
                        f"{study.name}: {study.finished} of {study.readers}"
                        for study in reversed(workspace.studies)
                    ]
                ),
            )
            if workspace.studies
            else ("No study yet.",)
        ),
        page="pages/studies.py",
        button="View reader studies",
    )


def _join_names(names: Sequence[str]) -> str:
    omitted_count = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {omitted_count:,} more" if omitted_count > 0 else "")
