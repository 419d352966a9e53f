"""The calibration of the similarity threshold: judged pairs, and the estimated share of wrong merges."""

from __future__ import annotations

import secrets

import streamlit as st

from domain.duplicates import CalibrationPair
from domain.people import Person
from quality.duplicates.calibration import explain_missing_rate
from quality.service import Calibration, judge_pair, load_calibration, load_pairs
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.duplicates.jobs import DrawRequest, load_latest_draw_job, start_draw
from ui.duplicates.pairs import show_pair
from ui.tables import show_table
from ui.widgets import run_action, show_notice

_NOTICE = "calibration"
_DRAW_NOTICE = "calibration-draw"


def show_calibration(person: Person, dataset: str) -> None:
    """Show the next pair with its buttons, the progress and the estimates."""
    with read_only_session() as db:
        calibration = load_calibration(db, by=person, dataset=dataset)
    st.markdown(
        "Judge whether the two questions ask the same thing; exam and image do not matter here. A table "
        "estimates the share of wrong merges for each minimum similarity. An estimate needs a judgement in "
        "each range of similarity from its minimum on."
    )
    pair = calibration.next_pair
    if calibration.pairs:
        st.progress(calibration.judged / len(calibration.pairs))
        st.caption(f"{calibration.judged:,} of {len(calibration.pairs):,} pairs judged")
    if pair is not None:
        _show_next_pair(person, calibration, pair)
    elif calibration.pairs:
        st.markdown("**All drawn pairs are judged.**")
    _show_undo(calibration)
    show_notice(_NOTICE)
    job = load_latest_draw_job(person, dataset)
    if not show_job_progress(job):
        st.button(
            "Draw other pairs" if calibration.pairs else "Draw pairs",
            key=f"draw-{dataset}-{len(calibration.pairs)}",
            type="secondary" if calibration.pairs else "primary",
            on_click=run_action,
            args=(_start_draw, dataset),
            kwargs={"notice_key": _DRAW_NOTICE},
            help="Draws up to 10 pairs from each range of similarity. Judgements of earlier pairs are kept.",
        )
    show_notice(_DRAW_NOTICE)
    show_job_outcome(job)
    if calibration.judged:
        show_table([_build_row(calibration, index) for index in range(len(calibration.estimates))])


def _show_next_pair(person: Person, calibration: Calibration, pair: CalibrationPair) -> None:
    with read_only_session() as db:
        (compared_pair,) = load_pairs(db, by=person, pairs=[(pair.first, pair.second, pair.similarity)])
    show_pair(compared_pair)
    buttons = (("Same", True, "s"), ("Different", False, "n"))
    for column, (label, is_same, shortcut) in zip(st.columns(2), buttons, strict=True):
        column.button(
            label,
            key=f"{label}-{pair.id}",
            shortcut=shortcut,
            width="stretch",
            on_click=run_action,
            args=(_save_judgement, calibration.dataset, pair.id, is_same),
            kwargs={"notice_key": _NOTICE},
        )


def _show_undo(calibration: Calibration) -> None:
    judged_ids = [pair.id for pair in calibration.pairs if pair.is_same is not None]
    if judged_ids:
        st.button(
            "Undo last judgement",
            key=f"undo-pair-{judged_ids[-1]}",
            shortcut="u",
            on_click=run_action,
            args=(_save_judgement, calibration.dataset, judged_ids[-1], None),
            kwargs={"notice_key": _NOTICE},
        )


def _build_row(calibration: Calibration, index: int) -> dict[str, object]:
    estimate = calibration.estimates[index]
    rate = explain_missing_rate(estimate)
    if estimate.rate is not None and estimate.low is not None and estimate.high is not None:
        rate = f"{estimate.rate:.1%} ({estimate.low:.1%} to {estimate.high:.1%})"
    return {
        "Minimum similarity": f"{estimate.threshold:.2f}",
        "Pairs in the dataset": estimate.pairs,
        "Judged": estimate.judged,
        "Wrong merges (95 % interval)": rate,
    }


def _start_draw(dataset: str) -> None:
    start_draw(current_person(), DrawRequest(dataset=dataset, seed=secrets.randbelow(2**31)))


def _save_judgement(dataset: str, pair_id: int, is_same: bool | None) -> None:
    with unit_of_work() as db:
        judge_pair(db, by=current_person(), dataset=dataset, pair_id=pair_id, is_same=is_same, now=clock())
