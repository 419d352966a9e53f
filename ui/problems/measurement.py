"""Shows how often the checks agree with the reviewers."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from quality.service import DatasetSummary
from review.check_measurement_text import MEASUREMENT_METHOD, format_kappa, format_subgroup_rate
from review.service import MEASUREMENT_GROUPS, CheckMeasurement, measure_checks, measure_difficulty
from ui.context import read_only_session
from ui.tables import show_table

_NO_GROUP = "all"
_LABELS = {"prompt_version": "prompt version"}


def show_measurements(dataset: DatasetSummary, person: Person) -> None:
    """Show the agreement of each check with the verdicts, which is computed on request."""
    with st.expander("Agreement with reviewers"):
        if not st.toggle("Compute", key=f"measure-{dataset.id}"):
            st.caption("Precision, recall and specificity of each check, from the random batches.")
            return
        group = st.segmented_control(
            "Group by",
            [_NO_GROUP, *MEASUREMENT_GROUPS],
            default=_NO_GROUP,
            required=True,
            format_func=lambda name: _LABELS.get(name, name),
            key=f"measure-by-{dataset.id}",
        )
        with read_only_session() as db:
            measurements = measure_checks(
                db, by=person, dataset=dataset.name, group=None if group == _NO_GROUP else group
            )
            difficulties = measure_difficulty(db, by=person, dataset=dataset.name)
        show_table([_build_row(measurement) for measurement in measurements], empty="Not measured yet.")
        st.caption(MEASUREMENT_METHOD)
        show_table(
            [
                {
                    "Source of difficulty": agreement.source.value.capitalize(),
                    "Weighted kappa with reviewers": format_kappa(agreement.kappa),
                }
                for agreement in difficulties
            ]
        )
        st.caption(
            "Kappa uses quadratic weights; its interval is clustered by exam. It describes the judged "
            "questions and is not extrapolated to the dataset."
        )


def _build_row(measurement: CheckMeasurement) -> dict[str, object]:
    group = {"Group": measurement.group} if measurement.group else {}
    return {
        **group,
        "Check": measurement.check.label,
        "Kind of error": measurement.target,
        "Precision": format_subgroup_rate(measurement.precision),
        "Recall": format_subgroup_rate(measurement.recall),
        "Specificity": format_subgroup_rate(measurement.specificity),
    }
