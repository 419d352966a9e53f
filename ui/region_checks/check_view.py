"""A region check for the coordinator: its form, its experts, and its report."""

from __future__ import annotations

import secrets
from urllib.parse import urlencode

import streamlit as st

from browsing.service import list_browsable_datasets
from domain.count_texts import count_text
from domain.errors import Refused
from domain.people import Person
from domain.region_checks import SentenceMark
from generation import service as generation
from generation.region_checks import ALL_SENTENCES, MarkShare, RegionCheckOverview, RegionReport
from language_models import service as models
from measures.proportions import Proportion
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.prompt_bench.bench_view import choose_experts
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_empty_state, show_notice

_NOTICE, _EXPERTS_NOTICE = "new-region-check", "region-experts"
_NEW_CHECK = "New region check"
_NO_DATASET = "none: text only"
#: The default number of reports, as in GEMeX, section 3.1.2.
_DEFAULT_REPORTS = 100


def show_region_checks(person: Person) -> None:
    """Show the chosen check, or the form for a new one."""
    with read_only_session() as db:
        names = [check.name for check in generation.list_region_checks(db, by=person)]
    if not names:
        st.caption(
            "Stage I of the GEMeX recipe splits reports into sentences and names the region of each. Experts "
            "check a random sample of reports: whether each region is right, and whether a sentence is "
            "missing. They do not see each other's marks."
        )
        _show_form(person)
        return
    last_name = state.get_selection("region-check")
    name = st.selectbox(
        "Region check",
        [*names, _NEW_CHECK],
        index=names.index(last_name) if last_name in names else 0,
        key=f"region-check-of-{len(names)}",
        width=420,
    )
    if name == _NEW_CHECK:
        _show_form(person)
        return
    state.set_selection("region-check", name)
    with read_only_session() as db:
        overview = generation.load_region_check(db, by=person, name=name)
    check = overview.check
    show_notice(_NOTICE)
    st.caption(
        escape_markdown(
            f"{count_text(check.reports, 'report')} with {count_text(overview.total, 'sentence')} of run "
            f"{check.run} · prompt {check.prompt} · images {check.dataset or 'none'} · seed {check.seed} · "
            f"created {check.created_at:%Y-%m-%d %H:%M} UTC"
        )
    )
    _show_experts(overview)
    _show_report(overview)


def _show_form(person: Person) -> None:
    with read_only_session() as db:
        runs = [
            progress.run.name
            for progress in models.list_runs(db, by=person, now=clock())
            if progress.run.stage == generation.CHECKED_STAGE
        ]
        datasets = list_browsable_datasets(db, by=person)
    if not runs:
        show_empty_state(
            "No run of stage I yet",
            "Generate questions with the recipe GEMeX first. A pilot is enough.",
            page="pages/generate.py",
            label="Generate",
        )
        return
    form_key = state.form_key("region-check")
    with st.form(form_key, border=True):
        left, right = st.columns(2)
        left.text_input("Name", key=f"{form_key}-name", max_chars=60)
        right.selectbox("Run of stage I", runs, key=f"{form_key}-run")
        left.number_input(
            "Reports",
            1,
            models.MAX_REPORTS,
            _DEFAULT_REPORTS,
            key=f"{form_key}-reports",
            help="Drawn at random from the reports with a usable reply; all if there are fewer. The seed is "
            "recorded.",
        )
        right.selectbox(
            "Images and boxes",
            [_NO_DATASET, *datasets],
            key=f"{form_key}-dataset",
            help="The dataset into which questions on these exams were imported.",
        )
        st.form_submit_button(
            "Create region check",
            type="primary",
            on_click=run_action,
            args=(_create_check, form_key),
            # The page chooses the seed, so that repeating a failed action creates the same check.
            kwargs={"seed": secrets.randbits(32), "notice_key": _NOTICE},
        )
    show_notice(_NOTICE)


def _show_experts(overview: RegionCheckOverview) -> None:
    choose_experts(
        overview.experts,
        key=f"region-experts-{overview.check.id}",
        label="Marked by",
        help_text="Each expert marks all sentences, without seeing the marks of others.",
        on_click=run_action,
        args=(_assign_experts, overview.check.name),
        notice_key=_EXPERTS_NOTICE,
    )
    if overview.experts:
        show_table(
            [
                {
                    "Expert": expert.display_name,
                    "Marked": overview.done.get(expert.person_id, 0),
                    "Of": overview.total,
                }
                for expert in overview.experts
            ]
        )


def _show_report(overview: RegionCheckOverview) -> None:
    st.subheader("Report")
    name = overview.check.name
    try:
        with read_only_session() as db:
            report = generation.load_region_report(db, by=current_person(), name=name)
    except Refused as error:
        st.info(escape_markdown(str(error)))
        return
    mark_count, expected_count = sum(overview.done.values()), overview.total * len(overview.experts)
    if not mark_count:
        st.caption("No marks yet.")
    else:
        if mark_count < expected_count:
            st.caption(f"Preliminary: {mark_count:,} of {expected_count:,} marks are given.")
        headline = next(share for share in report.shares if share.group == ALL_SENTENCES)
        st.markdown(escape_markdown(describe_share(headline)))
        _show_shares(report)
    _show_regions(report)
    query = urlencode({"check": name})
    st.markdown(
        f"[Results as CSV](/files/region-check/report.csv?{query}) · "
        f"[Marks as CSV](/files/region-check/marks.csv?{query})"
    )


def describe_share(share: MarkShare) -> str:
    """Describe how many sentences are right, in one sentence."""
    right = share.right
    text = f"{right.count:,} of {count_text(right.n, 'marked sentence')} right"
    if right.estimate is None or right.low is None or right.high is None:
        return f"{text}."
    interval = f"{right.low * 100:.1f} to {right.high * 100:.1f} %"
    return (
        f"{text}: {right.estimate * 100:.1f} % (95 % interval {interval}, clustered by report; "
        f"{count_text(share.reports, 'report')})."
    )


def _show_shares(report: RegionReport) -> None:
    show_table(
        [
            {
                "Expert": share.expert or "all experts",
                "Sentences": share.group,
                "Marked": share.right.n,
                "Reports": share.reports,
                "Right": share.right.count,
                "Right (%)": _format_share(share.right),
                **{
                    kind.label.capitalize(): share.wrong[kind]
                    for kind in SentenceMark
                    if kind is not SentenceMark.RIGHT
                },
            }
            for share in report.shares
        ]
    )
    for pair in report.pairs:
        st.caption(
            escape_markdown(
                f"{pair.first} and {pair.second} gave the same mark to {pair.same.count:,} of "
                f"{count_text(pair.same.n, 'sentence')}: {_format_share(pair.same)}."
            )
        )


def _show_regions(report: RegionReport) -> None:
    if not report.regions:
        return
    st.markdown("**Regions of the grounded sentences**")
    show_table(
        [
            {
                "Region": row.region,
                "Sentences": row.share.count,
                "Share (%)": _format_share(row.share),
                "Marked as wrong region": row.wrong,
            }
            for row in report.regions
        ],
        visible_rows=12,
    )
    st.caption(
        f"Of {count_text(report.regions[0].share.n, 'grounded sentence')} of the sample, with 95 % intervals "
        "clustered by report."
    )


def _format_share(share: Proportion) -> str:
    if share.estimate is None or share.low is None or share.high is None:
        return share.note or "–"
    return f"{share.estimate * 100:.1f} ({share.low * 100:.1f} to {share.high * 100:.1f})"


def _create_check(form_key: str, *, seed: int) -> str:
    values = {
        field: state.get_widget_value(f"{form_key}-{field}")
        for field in ("name", "run", "reports", "dataset")
    }
    with unit_of_work() as db:
        check = generation.create_region_check(
            db,
            by=current_person(),
            name=str(values["name"] or "").strip(),
            run=str(values["run"]),
            reports=int(str(values["reports"])),
            seed=seed,
            dataset=None if values["dataset"] == _NO_DATASET else str(values["dataset"]),
            now=clock(),
        )
    state.clear_form("region-check")
    state.set_selection("region-check", check.name)
    return f"Created {check.name} with {count_text(check.reports, 'report')}. Choose the experts."


def _assign_experts(check: str, key: str) -> str:
    chosen_names = state.get_widget_value(key)
    with unit_of_work() as db:
        experts = generation.assign_region_experts(
            db,
            by=current_person(),
            check=check,
            to=[str(name) for name in chosen_names] if isinstance(chosen_names, list) else [],
            now=clock(),
        )
    names = ", ".join(expert.display_name for expert in experts) or "nobody"
    return f"Marked by {names}."
