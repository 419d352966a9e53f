"""Compares two releases of a dataset: the changed questions, with the reported problems behind them."""

from __future__ import annotations

import json
from functools import lru_cache

import streamlit as st

from domain.errata import ErratumStatus
from domain.errors import DomainError
from domain.people import Person
from domain.questions import option_letter
from release import service as release
from release.private import KEYS, keys_folder_of
from ui.context import read_only_session
from ui.tables import show_table
from ui.widgets import escape_markdown

#: The maximum number of changes on the page; `cli.py release compare` writes all.
_MAX_ROWS = 500


def show_comparison(person: Person, known_releases: list[release.ReleaseRecord]) -> None:
    """Show a choice of two releases and their differences. Show nothing if no dataset has two."""
    releases_by_dataset: dict[str, list[release.ReleaseRecord]] = {}
    for record in known_releases:
        releases_by_dataset.setdefault(record.dataset, []).append(record)
    pairs = {
        (new.id, old.id): (new, old)
        for records in releases_by_dataset.values()
        for position, new in enumerate(records)
        for old in records[position + 1 :]
    }
    if not pairs:
        return
    st.subheader("Comparison")
    chosen_ids = st.selectbox(
        "Releases",
        list(pairs),
        format_func=lambda ids: (
            f"{pairs[ids][0].dataset} · {pairs[ids][0].name} compared with {pairs[ids][1].name}"
        ),
        key=f"compare-{len(pairs)}",
    )
    new, old = pairs[chosen_ids]
    try:
        with st.spinner("Comparing …"):
            comparison = _compare_releases(
                person,
                old.id,
                new.id,
                old.manifest_sha256,
                new.manifest_sha256,
                *_check_private_keys(old, new),
            )
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return
    st.markdown(escape_markdown(comparison.sentence))
    with read_only_session() as db:
        entries = release.list_errata(db, by=person)
    entries_by_question = {  # the latest problem of each question; the list is sorted from new to old
        entry.report.question_id: entry
        for entry in reversed(entries)
        if entry.report.dataset == new.dataset and _explains_changes(entry, old, new)
    }
    rows = [
        _build_row(change.question_id, change.field, change.before, change.after, entries_by_question)
        for change in comparison.changes
    ]
    for change_label, ids in (
        ("added", comparison.added),
        ("removed", comparison.removed),
        ("moved to or from the private split", comparison.moved),
    ):
        rows += [
            _build_row(question_id, change_label, None, None, entries_by_question) for question_id in ids
        ]
    if rows:
        show_table(rows[:_MAX_ROWS])
    if len(rows) > _MAX_ROWS:
        st.caption(
            f"The first {_MAX_ROWS:,} of {len(rows):,}; `cli.py release compare --out FILE` writes all."
        )


def _check_private_keys(*records: release.ReleaseRecord) -> list[bool]:
    """Return whether the private keys of each release are in their folder."""
    return [(keys_folder_of(record.folder) / KEYS).is_file() for record in records]


def _explains_changes(
    entry: release.ErratumEntry, old: release.ReleaseRecord, new: release.ReleaseRecord
) -> bool:
    """Whether the decision on a problem changed the question between the two releases."""
    return (
        entry.status in (ErratumStatus.CORRECTED, ErratumStatus.WITHDRAWN)
        and entry.settled_at is not None
        and old.made_at < entry.settled_at <= new.made_at
    )


@lru_cache(maxsize=4)
def _compare_releases(
    person: Person, old_id: int, new_id: int, *_cache_key: str | bool
) -> release.Comparison:
    """Compare two releases. The result is cached by manifest hash and by the presence of the private keys."""
    with read_only_session() as db:
        return release.compare_recorded_releases(db, by=person, old_id=old_id, new_id=new_id)


def _build_row(
    question_id: str,
    field: str,
    before: object,
    after: object,
    entries_by_question: dict[str, release.ErratumEntry],
) -> dict[str, object]:
    entry = entries_by_question.get(question_id)
    return {
        "Question": question_id,
        "Change": field.replace("_", " "),
        "Before": _format_value(field, before),
        "After": _format_value(field, after),
        "Reported problem": entry.report.kind.label if entry else "",
        "Reason": entry.reason if entry else "",
    }


def _format_value(field: str, value: object) -> str:
    if value is None:
        return ""
    if field == "answer" and isinstance(value, list):
        return ", ".join(option_letter(index) for index in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
