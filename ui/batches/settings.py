"""Shows and changes the settings of a batch: mode, fields, report, guideline and anchors.

The forms edit a snapshot of the settings that was taken, with its revision, when the person opened the batch.
If another person changes the settings meanwhile, the page shows a warning and does not overwrite that change.
The person can then load the saved settings.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.batches import Batch, BatchSettings, FormScope, Mode
from domain.people import Person
from domain.ratings import RATING_IDS, RATINGS
from review import service as review
from ui import state
from ui.batches.draw import ONE_KEY_HELP
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.widgets import run_action, show_notice
from web.review.guideline import replace_images_by_links

_MODE_LABELS = {
    Mode.JUDGE: "From the start, with the explanation",
    Mode.ANSWER_FIRST: "After the reviewer's own answer, with the explanation",
}
_SCOPE_LABELS = {
    FormScope.ALL: "All: four ratings, kinds of error, corrections",
    FormScope.IMAGE_ALIGNMENT: "Image alignment only",
    FormScope.KEY: "Answer key only",
}


def show_settings_panel(batch: Batch, person: Person) -> None:
    """Show the three forms, each with its own button, and a warning if another person changed settings."""
    opened_batch = state.get_selection(_make_snapshot_key(batch.id))
    if not isinstance(opened_batch, Batch):
        opened_batch = batch
        state.set_selection(_make_snapshot_key(batch.id), batch)
    if opened_batch.settings == batch.settings:
        opened_batch = batch  # same settings: the revision rises also when the batch is closed or reopened
        state.set_selection(_make_snapshot_key(batch.id), batch)
    if opened_batch.revision != batch.revision:
        st.warning("Another user has changed these settings since you opened them.")
        st.button(
            "Show saved settings",
            key=f"settings-reload-{batch.id}-{batch.revision}",
            on_click=_load_saved_settings,
            args=(batch,),
        )
    with read_only_session() as db:
        is_frozen = review.are_settings_frozen(db, by=person, batch=batch.name)
    _show_mode_form(opened_batch, is_frozen=is_frozen)
    _show_guideline_form(opened_batch)
    _show_anchors_form(opened_batch)


def _show_mode_form(batch: Batch, *, is_frozen: bool) -> None:
    form_key, settings = _make_form_key(batch, "way"), batch.settings
    with st.form(form_key, border=True):
        st.markdown("**Answer key, fields and report**")
        if is_frozen:
            st.caption(
                "Review has begun, so these settings are fixed: verdicts given under different "
                "settings cannot be compared. Draw another batch for other settings."
            )
        st.radio(
            "Show answer key",
            list(_MODE_LABELS),
            index=list(_MODE_LABELS).index(settings.mode),
            key=f"{form_key}-mode",
            format_func=_MODE_LABELS.__getitem__,
            disabled=is_frozen,
        )
        st.radio(
            "Fields requested",
            list(_SCOPE_LABELS),
            index=list(_SCOPE_LABELS).index(settings.parts),
            key=f"{form_key}-parts",
            format_func=_SCOPE_LABELS.__getitem__,
            disabled=is_frozen,
        )
        st.toggle(
            "Reviewers may open the report after rating image alignment",
            value=settings.show_report,
            key=f"{form_key}-report",
            disabled=is_frozen,
        )
        st.toggle(
            "One keystroke accepts with top ratings",
            value=settings.one_key_accept,
            key=f"{form_key}-one-key",
            disabled=is_frozen,
            help=ONE_KEY_HELP,
        )
        _show_save_button("Save mode, fields and report", _save_mode, batch, form_key, disabled=is_frozen)
    show_notice(form_key)


def _show_guideline_form(batch: Batch) -> None:
    form_key = _make_form_key(batch, "guideline")
    with st.form(form_key, border=True):
        st.markdown("**Guideline**")
        st.caption("Markdown. Reviewers can open it from the review page. Images are shown as links.")
        st.text_area(
            "Guideline", value=batch.settings.guideline, key=f"{form_key}-text", height=260,
            label_visibility="collapsed", placeholder="What reviewers should look at, with examples.",
        )  # fmt: skip
        with st.container(horizontal=True):
            _show_save_button("Save guideline", _save_guideline, batch, form_key)
            st.form_submit_button(
                "Preview", key=f"{form_key}-preview"
            )  # allow submit-without-action: it saves nothing
    show_notice(form_key)
    guideline_text = str(state.get_widget_value(f"{form_key}-text") or "")
    if guideline_text.strip():
        with st.container(border=True):
            st.caption("Preview" if guideline_text != batch.settings.guideline else "Saved version")
            st.markdown(replace_images_by_links(guideline_text))


def _show_anchors_form(batch: Batch) -> None:
    form_key = _make_form_key(batch, "anchors")
    with st.form(form_key, border=True):
        st.markdown("**Anchors**")
        st.caption("The meaning of each rating value, from 1 (worst) to 5 (best).")
        for start in range(0, len(RATINGS), 2):
            pair = RATINGS[start : start + 2]
            for column, rating in zip(st.columns(2, gap="large"), pair, strict=False):
                with column:
                    st.markdown(rating.label)
                    for value, text in enumerate(batch.settings.anchors[rating.id], start=1):
                        st.text_input(
                            f"{value}",
                            value=text,
                            key=f"{form_key}-{rating.id}-{value}",
                            label_visibility="collapsed",
                            icon=_ICONS[value],
                        )
        _show_save_button("Save anchors", _save_anchors, batch, form_key)
    show_notice(form_key)


_ICONS = {
    1: ":material/counter_1:",
    2: ":material/counter_2:",
    3: ":material/counter_3:",
    4: ":material/counter_4:",
    5: ":material/counter_5:",
}


# --------------------------------------------------------------------------------------------------- writes
def _save_mode(batch: Batch, form_key: str) -> str:
    return _save_settings(
        batch,
        replace(
            batch.settings,
            mode=Mode(str(state.get_widget_value(f"{form_key}-mode"))),
            parts=FormScope(str(state.get_widget_value(f"{form_key}-parts"))),
            show_report=bool(state.get_widget_value(f"{form_key}-report")),
            one_key_accept=bool(state.get_widget_value(f"{form_key}-one-key")),
        ),
    )


def _save_guideline(batch: Batch, form_key: str) -> str:
    return _save_settings(
        batch, replace(batch.settings, guideline=str(state.get_widget_value(f"{form_key}-text") or ""))
    )


def _save_anchors(batch: Batch, form_key: str) -> str:
    def anchor_texts(rating: str) -> tuple[str, str, str, str, str]:
        one, two, three, four, five = (
            str(state.get_widget_value(f"{form_key}-{rating}-{value}") or "").strip() for value in range(1, 6)
        )
        return one, two, three, four, five

    return _save_settings(
        batch, replace(batch.settings, anchors={rating: anchor_texts(rating) for rating in RATING_IDS})
    )


def _save_settings(batch: Batch, settings: BatchSettings) -> str:
    with unit_of_work() as db:
        saved_batch = review.change_settings(
            db,
            by=current_person(),
            batch=batch.name,
            settings=settings,
            revision=batch.revision,
            now=clock(),
        )
    state.set_selection(_make_snapshot_key(batch.id), saved_batch)
    return f"Saved: batch {saved_batch.name}, revision {saved_batch.revision}."


def _load_saved_settings(batch: Batch) -> None:
    state.set_selection(_make_snapshot_key(batch.id), batch)
    state.clear_form(_make_form_name(batch))


def _show_save_button(
    label: str, action: object, batch: Batch, form_key: str, *, disabled: bool = False
) -> None:
    st.form_submit_button(
        label,
        key=f"{form_key}-save",
        type="primary",
        disabled=disabled,
        on_click=run_action,
        args=(action, batch, form_key),
        kwargs={"notice_key": form_key},
    )


def _make_form_name(batch: Batch) -> str:
    return f"settings-{batch.id}"


def _make_form_key(batch: Batch, part: str) -> str:
    """Return the key of one form. It changes when the person loads the saved settings."""
    return f"{part}-{state.form_key(_make_form_name(batch))}"


def _make_snapshot_key(batch_id: int) -> str:
    return f"settings-opened-{batch_id}"
