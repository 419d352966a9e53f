"""The settings of a batch on screen: mode, parts, report, guideline, anchors.

The forms edit a snapshot of the settings, with its revision, taken when the person opened the batch. If
somebody else changes the settings meanwhile, the page says so and refuses to overwrite them. Both versions
can be seen.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.batches import Batch, BatchSettings, Mode, Parts
from domain.people import Person
from domain.ratings import RATING_NAMES, RATINGS
from review import service as review
from ui import state
from ui.context import clock, current_person, reading, unit_of_work
from ui.parts import act, notices
from web.review.guideline import without_images

_MODES = {
    Mode.JUDGE: "Judge: key and explanation are shown from the start",
    Mode.ANSWER_FIRST: "Answer first: they are fetched after the reviewer's own answer",
}
_PARTS = {
    Parts.ALL: "All: four ratings, kinds of error, corrections",
    Parts.IMAGE_ALIGNMENT: "Image alignment only",
    Parts.KEY: "Key only",
}


def settings_panel(batch: Batch, person: Person) -> None:
    """Draw the three forms, each with its own Save, and a warning if the settings were changed meanwhile."""
    opened = state.chosen(_snapshot(batch.id))
    if not isinstance(opened, Batch):
        opened = batch
        state.set_chosen(_snapshot(batch.id), batch)
    if opened.settings == batch.settings:
        opened = batch  # the revision also counts closing and reopening, which change no setting
        state.set_chosen(_snapshot(batch.id), batch)
    notices("settings")
    if opened.revision != batch.revision:
        st.warning("These settings were changed by somebody else since you opened them.")
        st.button(
            "Show the saved settings",
            key=f"settings-reload-{batch.id}-{batch.revision}",
            on_click=_reload,
            args=(batch,),
        )
    with reading() as db:
        frozen = review.settings_are_frozen(db, by=person, batch=batch.name)
    _way(opened, frozen=frozen)
    _guideline(opened)
    _anchors(opened)


def _way(batch: Batch, *, frozen: bool) -> None:
    form, settings = _form(batch, "way"), batch.settings
    with st.form(form, border=True):
        st.markdown("**Mode, parts, report**")
        if frozen:
            st.caption(
                "Judging has begun, so these stay: verdicts given one way can't be compared with verdicts "
                "given another. Draw a batch of its own for a new way."
            )
        st.radio(
            "Mode",
            list(_MODES),
            index=list(_MODES).index(settings.mode),
            key=f"{form}-mode",
            format_func=_MODES.__getitem__,
            disabled=frozen,
        )
        st.radio(
            "The form asks for",
            list(_PARTS),
            index=list(_PARTS).index(settings.parts),
            key=f"{form}-parts",
            format_func=_PARTS.__getitem__,
            disabled=frozen,
        )
        st.toggle(
            "Reviewers may open the report once they have rated image alignment",
            value=settings.show_report,
            key=f"{form}-report",
            disabled=frozen,
        )
        _save_button("Save mode, parts, report", _save_way, batch, form, disabled=frozen)


def _guideline(batch: Batch) -> None:
    form = _form(batch, "guideline")
    with st.form(form, border=True):
        st.markdown("**Guideline**")
        st.caption("Markdown; one click away while reviewing. Images are shown as links.")
        st.text_area(
            "Guideline", value=batch.settings.guideline, key=f"{form}-text", height=260,
            label_visibility="collapsed", placeholder="What reviewers should look at, with examples.",
        )  # fmt: skip
        with st.container(horizontal=True):
            _save_button("Save guideline", _save_guideline, batch, form)
            st.form_submit_button("Preview", key=f"{form}-preview")  # allow submit-without-act: it only shows
    typed = str(state.field(f"{form}-text") or "")
    if typed.strip():
        with st.container(border=True):
            st.caption("Preview" if typed != batch.settings.guideline else "As it is saved")
            st.markdown(without_images(typed))


def _anchors(batch: Batch) -> None:
    form = _form(batch, "anchors")
    with st.form(form, border=True):
        st.markdown("**Anchors**")
        st.caption("What each value of each rating means, 1 (worst) to 5 (best).")
        for first in range(0, len(RATINGS), 2):
            pair = RATINGS[first : first + 2]
            for column, rating in zip(st.columns(2, gap="large"), pair, strict=False):
                with column:
                    st.markdown(rating.label)
                    for value, text in enumerate(batch.settings.anchors[rating.id], start=1):
                        st.text_input(
                            f"{value}",
                            value=text,
                            key=f"{form}-{rating.id}-{value}",
                            label_visibility="collapsed",
                            icon=_ICONS[value],
                        )
        _save_button("Save anchors", _save_anchors, batch, form)


_ICONS = {
    1: ":material/counter_1:",
    2: ":material/counter_2:",
    3: ":material/counter_3:",
    4: ":material/counter_4:",
    5: ":material/counter_5:",
}


# --------------------------------------------------------------------------------------------------- writes
def _save_way(batch: Batch, form: str) -> str:
    return _save(
        batch,
        replace(
            batch.settings,
            mode=Mode(str(state.field(f"{form}-mode"))),
            parts=Parts(str(state.field(f"{form}-parts"))),
            show_report=bool(state.field(f"{form}-report")),
        ),
    )


def _save_guideline(batch: Batch, form: str) -> str:
    return _save(batch, replace(batch.settings, guideline=str(state.field(f"{form}-text") or "")))


def _save_anchors(batch: Batch, form: str) -> str:
    def texts(rating: str) -> tuple[str, str, str, str, str]:
        one, two, three, four, five = (
            str(state.field(f"{form}-{rating}-{value}") or "").strip() for value in range(1, 6)
        )
        return one, two, three, four, five

    return _save(batch, replace(batch.settings, anchors={rating: texts(rating) for rating in RATING_NAMES}))


def _save(batch: Batch, settings: BatchSettings) -> str:
    with unit_of_work() as db:
        saved = review.change_settings(
            db,
            by=current_person(),
            batch=batch.name,
            settings=settings,
            revision=batch.revision,
            now=clock(),
        )
    state.set_chosen(_snapshot(batch.id), saved)
    return f"Saved: batch {saved.name}, revision {saved.revision}."


def _reload(batch: Batch) -> None:
    state.set_chosen(_snapshot(batch.id), batch)
    state.clear_form(_name(batch))


def _save_button(label: str, action: object, batch: Batch, form: str, *, disabled: bool = False) -> None:
    st.form_submit_button(
        label,
        key=f"{form}-save",
        type="primary",
        disabled=disabled,
        on_click=act,
        args=(action, batch, form),
        kwargs={"place": "settings"},
    )


def _name(batch: Batch) -> str:
    return f"settings-{batch.id}"


def _form(batch: Batch, part: str) -> str:
    """Return the key of one form. It changes when the person loads the saved settings."""
    return f"{part}-{state.form(_name(batch))}"


def _snapshot(batch_id: int) -> str:
    return f"settings-opened-{batch_id}"
