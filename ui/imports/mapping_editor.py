"""The editor of a mapping from the columns of a table to fields, with a preview of the questions."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import streamlit as st

from domain.errors import InvalidValue
from domain.people import Person
from intake.service import Mapping, load_mapping
from intake.service.tables import (
    FIELD_NAMES,
    REQUIRED_FIELDS,
    LayoutIssue,
    TableSample,
    TriedRecord,
    create_mapping,
    find_builtin_mapping,
    find_layout_issues,
    guess_columns,
    list_saved_mappings,
    load_sample,
    load_saved_mapping,
    save_mapping,
    try_mapping,
)
from ui.context import current_workspace
from ui.imports.deliveries import Delivery
from ui.questions.card import show_stem_options_key
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice

_LABELS = {
    "id": "ID",
    "stem": "Question",
    "images": "Image",
    "options": "Options",
    "answer": "Answer",
    "content_type": "Content type",
}
#: The fields that are always visible. The others are in an expander.
_MAIN_FIELDS = ("stem", "answer", "images", "id")
_OPTIONS = "options"
#: The help texts of the fields that may have several columns.
_MULTI_COLUMN_HELP = {
    "options": "One column, or one column per option",
    "images": "One column, or one column per view",
}
_NONE = "(none)"
_PREVIEW_RECORDS = 3
_MAX_CELL_LENGTH = 300  # characters


def show_mapping_editor(delivery: Delivery, person: Person, form_key: str) -> Mapping | None:
    """Show the editor and return the mapping; return None while the mapping is incomplete.

    Raises:
        InvalidValue: the file is not a table.
        Refused: reading the file needs too much time or memory.
    """
    sample = _load_sample(delivery.path, delivery.path.stat().st_mtime_ns, person)
    builtin = find_builtin_mapping(sample)
    sources = [*([builtin.content.name] if builtin else []), "Columns", "Mapping file"]
    source = st.segmented_control("Mapping", sources, default=sources[0], key=f"{form_key}-mapping")
    try:
        if source == "Mapping file":
            mapping = _show_mapping_choice(person, form_key)
        elif builtin is not None and source == builtin.content.name:
            st.caption(escape_markdown(builtin.content.description or ""))
            mapping = builtin
        else:
            mapping = _show_column_choices(delivery, sample, form_key)
    except InvalidValue as error:
        st.error(escape_markdown(str(error)))
        return None
    if mapping is None:
        return None
    st.subheader("Records and resulting questions")
    if not mapping.content.join:
        file_stem = Path(delivery.name).stem
        for tried_record in try_mapping(sample, mapping, file_stem=file_stem, count=_PREVIEW_RECORDS):
            _show_tried_record(tried_record)
    st.button(
        "Save mapping file",
        key=f"{form_key}-save-mapping",
        on_click=run_action,
        args=(_save_mapping, mapping, person),
        kwargs={"notice_key": "mapping"},
    )
    show_notice("mapping")
    saved_names = list_saved_mappings(current_workspace(), by=person)
    if saved_names:
        links = " · ".join(f"[{escape_markdown(name)}](/files/mappings/{name})" for name in saved_names)
        st.caption(f"Saved mapping files: {links}")
    return mapping


def _save_mapping(mapping: Mapping, person: Person) -> str:
    return f"{save_mapping(current_workspace(), by=person, mapping=mapping)} saved."


@lru_cache(maxsize=8)
def _load_sample(path: Path, modified_ns: int, person: Person) -> TableSample:  # noqa: ARG001 - part of the key
    return load_sample(by=person, path=path)


def _show_mapping_choice(person: Person, form_key: str) -> Mapping | None:
    """Show the choice of a saved or an uploaded mapping file and return the mapping."""
    saved_names = list_saved_mappings(current_workspace(), by=person)
    saved_column, upload_column = st.columns(2)
    name = saved_column.selectbox(
        "Saved mapping file", [_NONE, *saved_names], key=f"{form_key}-saved-mapping", disabled=not saved_names
    )
    file = upload_column.file_uploader("Mapping file", type="toml", key=f"{form_key}-mapping-file")
    if file is None:
        if name == _NONE:
            return None
        return load_saved_mapping(current_workspace(), by=person, name=name)
    try:
        return load_mapping(file.getvalue().decode("utf-8-sig"), file.name)
    except UnicodeDecodeError:
        raise InvalidValue(file.name, "is not UTF-8; save the file as UTF-8") from None


def _show_column_choices(delivery: Delivery, sample: TableSample, form_key: str) -> Mapping | None:
    guessed_columns = guess_columns(sample)
    columns_by_field: dict[str, tuple[str, ...]] = {}
    for field, field_column in zip(_MAIN_FIELDS, st.columns(len(_MAIN_FIELDS)), strict=True):
        with field_column:
            columns_by_field[field] = _choose_columns(field, sample, guessed_columns, form_key)
    columns_by_field[_OPTIONS] = _choose_columns(
        _OPTIONS, sample, guessed_columns, form_key
    )  # several columns need the whole width
    with st.expander("More fields"):
        other_fields = [field for field in FIELD_NAMES if field not in (*_MAIN_FIELDS, _OPTIONS)]
        field_columns = st.columns(4)
        for index, field in enumerate(other_fields):
            with field_columns[index % 4]:
                columns_by_field[field] = _choose_columns(field, sample, guessed_columns, form_key)
    missing_labels = [_get_label(field) for field in REQUIRED_FIELDS if not columns_by_field[field]]
    if missing_labels:
        st.info(f"Choose the column for: {', '.join(missing_labels)}.")
        return None
    fixes = {
        issue.name: _choose_fix(issue, form_key)
        for issue in find_layout_issues(sample, columns_by_field, _list_image_names(delivery.images))
    }
    return create_mapping(Path(delivery.name).stem, columns_by_field, fixes, sample.input_settings)


def _choose_columns(
    field: str, sample: TableSample, guessed_columns: dict[str, tuple[str, ...]], form_key: str
) -> tuple[str, ...]:
    if field in _MULTI_COLUMN_HELP:
        chosen_columns = st.multiselect(
            _get_label(field),
            sample.columns,
            default=list(guessed_columns.get(field, ())),
            key=f"{form_key}-column-{field}",
            placeholder=_NONE,
            help=_MULTI_COLUMN_HELP[field],
        )
        return tuple(chosen_columns)
    columns = [_NONE, *sample.columns]
    default = guessed_columns.get(field, (_NONE,))[0]
    column = st.selectbox(
        _get_label(field), columns, index=columns.index(default), key=f"{form_key}-column-{field}"
    )
    return () if column == _NONE else (column,)


def _choose_fix(issue: LayoutIssue, form_key: str) -> str:
    labels = dict(issue.fixes) | {"": "Leave it as it is"}
    choice = st.radio(
        f":material/warning: {escape_markdown(issue.text)}",
        list(labels),
        format_func=labels.__getitem__,
        horizontal=True,
        key=f"{form_key}-fix-{issue.name}",
    )
    return choice or ""


def _show_tried_record(tried_record: TriedRecord) -> None:
    with st.container(border=True):
        record_column, question_column = st.columns(2)
        with record_column:
            record = (
                tried_record.record
                if isinstance(tried_record.record, dict)
                else {"record": tried_record.record}
            )
            show_table(
                [{"Column": name, "Value": str(value)[:_MAX_CELL_LENGTH]} for name, value in record.items()]
            )
        with question_column:
            if tried_record.question is None:
                st.error(escape_markdown(f"This record is not a valid question: {tried_record.reason}"))
                return
            st.caption(escape_markdown(f"{tried_record.question.id} · {tried_record.question.format.label}"))
            show_stem_options_key(tried_record.question)
            if tried_record.question.explanation:
                st.caption(escape_markdown(tried_record.question.explanation))


def _get_label(field: str) -> str:
    return _LABELS.get(field, field.capitalize())


@lru_cache(maxsize=8)
def _list_image_names(folder: Path | None) -> frozenset[str]:
    """Return the paths of the images, relative to the folder; an empty set for a zip in memory."""
    if folder is None:
        return frozenset()
    return frozenset(path.relative_to(folder).as_posix() for path in folder.rglob("*.*") if path.is_file())
