"""Model scores: the choice of split, models and slice, and the job that computes scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from domain.count_texts import count_text
from domain.errors import Refused
from domain.people import Person
from evaluation import service as evaluations
from evaluation.score_table import DIMENSIONS
from evaluation.scoreboard import ScoredModel, find_rows
from evaluation.service import EvaluatedSplit, SplitScores
from ui import state
from ui.background_jobs import job_control
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import clock, current_person, unit_of_work
from ui.layout import grid_columns
from ui.widgets import escape_markdown, run_action, show_notice

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The chosen models, and whether each question is in the chosen slice."""

    scored: SplitScores
    models: tuple[ScoredModel, ...]
    rows: NDArray[np.bool_]

    @property
    def key(self) -> str:
        """The beginning of the keys of widgets."""
        return self.scored.evaluated_split.key


def choose_split(sets: list[EvaluatedSplit]) -> EvaluatedSplit:
    """Show the choice of the split."""
    splits_by_title = {evaluated_split.title: evaluated_split for evaluated_split in sets}
    titles = list(splits_by_title)
    requested = (st.query_params.get("release"), st.query_params.get("split"))
    index = next(
        (
            position
            for position, evaluated_split in enumerate(sets)
            if (str(evaluated_split.release_id), evaluated_split.split) == requested
        ),
        0,
    )
    title = st.selectbox("Release", titles, index=index, key=f"score-set-{len(titles)}", width=420)
    return splits_by_title[title]


def show_computation(person: Person, evaluated_split: EvaluatedSplit) -> None:
    """Show the progress of the computation, or the button that starts it if scores are missing."""
    subject = evaluated_split.key
    job = job_control.load_latest_job(evaluations.MODEL_SCORES, by=person, subject=subject)
    if not show_job_progress(job) and evaluated_split.waiting:
        names = ", ".join(scores.evaluation.name for scores in evaluated_split.waiting)
        st.info(escape_markdown(f"The scores of {names} are not computed yet, or have new answers."))
        st.button(
            "Compute scores",
            key=f"compute-{subject}",
            type="primary",
            on_click=run_action,
            args=(_start_computation, evaluated_split.release_id, evaluated_split.split, subject),
            kwargs={"notice_key": "model-scores"},
        )
    show_job_outcome(job)
    show_notice("model-scores")


def show_column_import(evaluated_split: EvaluatedSplit) -> None:
    """Show the form that stores external scores."""
    form_key = state.form_key(f"columns-{evaluated_split.key}")
    with st.expander("External scores", expanded=False):
        with st.form(form_key, border=False):
            st.file_uploader(
                "CSV file",
                type="csv",
                key=f"{form_key}-file",
                help="Columns question_id, evaluation, name, version and score (BERTScore, RadGraph), "
                "in percent. They replace the stored scores of the same name and evaluation.",
            )
            st.form_submit_button(
                "Import scores",
                on_click=run_action,
                args=(_import_columns, evaluated_split, form_key),
                kwargs={"notice_key": "score-columns"},
            )
        show_notice("score-columns")


def open_split(person: Person, evaluated_split: EvaluatedSplit) -> SplitScores | None:
    """Return the scores of a split; None if no score is computed.

    For a private split that was not opened yet, show a button that opens it, and return None.
    """
    if not any(scores.is_computed for scores in evaluated_split.evaluations):
        return None
    key = f"opened {evaluated_split.key}"
    if evaluated_split.is_private and state.get_selection(key) is None:
        st.caption("This is the private split. Opening the scores is recorded in the audit trail.")
        st.button(
            "Open scores",
            key=f"open-{key}",
            on_click=run_action,
            args=(_open_private, evaluated_split.release_id, evaluated_split.split, key),
            kwargs={"notice_key": "open-scores"},
        )
        show_notice("open-scores")
        return None
    return evaluations.load_split_scores(by=person, evaluated_split=evaluated_split)


def choose_slice(scored: SplitScores) -> Slice:
    """Show the choice of models and of the slice."""
    prefix = f"{scored.evaluated_split.key} slice"
    names = [model.name for model in scored.models]
    chosen_names = st.multiselect(
        "Models", names, default=names, key=f"{prefix}-models-{len(names)}", placeholder="All models"
    )
    dimensions = {
        name: dimension
        for name, dimension in scored.questions.dimensions.items()
        if len(dimension.values) > 1
    }
    chosen_values: dict[str, list[str]] = {}
    with st.expander("Filter", expanded=False):
        for column, (name, dimension) in zip(
            grid_columns(max(1, len(dimensions)), name="slice"), dimensions.items(), strict=False
        ):
            chosen_values[name] = column.multiselect(
                DIMENSIONS[name], dimension.values, key=f"{prefix}-{name}", placeholder="All"
            )
    rows = find_rows(scored.questions, chosen_values)
    st.caption(f"{int(rows.sum()):,} of {count_text(len(rows), 'question')} selected.")
    models = tuple(model for model in scored.models if not chosen_names or model.name in chosen_names)
    return Slice(scored=scored, models=models, rows=rows)


def _import_columns(evaluated_split: EvaluatedSplit, form_key: str) -> str:
    file = cast("UploadedFile | None", state.get_widget_value(f"{form_key}-file"))
    if file is None:
        raise Refused("Choose a CSV file.")
    with unit_of_work() as db:
        names = evaluations.import_score_columns(
            db,
            by=current_person(),
            release_id=evaluated_split.release_id,
            split=evaluated_split.split,
            content=file.getvalue(),
            file_name=file.name,
            now=clock(),
        )
    state.clear_form(f"columns-{evaluated_split.key}")
    _start_computation(evaluated_split.release_id, evaluated_split.split, evaluated_split.key)
    return f"Stored {', '.join(names)}."


def _start_computation(release_id: int, split: str, subject: str) -> None:
    job_control.start_job(
        evaluations.MODEL_SCORES,
        evaluations.ScoreParameters(release_id=release_id, split=split),
        by=current_person(),
        subject=subject,
    )


def _open_private(release_id: int, split: str, key: str) -> None:
    with unit_of_work() as db:
        evaluations.open_scores(db, by=current_person(), release_id=release_id, split=split, now=clock())
    state.set_selection(key, True)
