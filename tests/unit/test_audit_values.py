"""Audit entries as fields with text."""

import json
from datetime import UTC, datetime

from accounts.audit_values import list_audit_fields
from domain.audit import NO_ENTRY, AuditEntry


def _describe(old, new):
    entry = AuditEntry(
        number=1,
        at=datetime(2026, 3, 2, tzinfo=UTC),
        person_id=1,
        person_name="cora",
        action="change settings",
        subject="batch 1",
        old=None if old is ... else json.dumps(old),
        new=None if new is ... else json.dumps(new),
        reason="",
        previous_hash=NO_ENTRY,
        hash="",
    )
    return [str(field) for field in list_audit_fields(entry)]


def test_new_values_are_listed_by_name():
    assert _describe(..., {"name": "first", "draw": 1, "show_report": True, "by": None}) == [
        "name: first",
        "draw: 1",
        "show report: yes",
        "by: none",
    ]


def test_only_changed_values_are_listed_with_old_and_new_value():
    assert _describe({"level": None, "years": 3}, {"level": "resident", "years": 3}) == [
        "level: none → resident"
    ]


def test_nested_values_have_their_path():
    assert _describe(..., {"plan": {"n": 24, "shares": {"easy": 1.0}, "strata": []}}) == [
        "plan n: 24",
        "plan shares easy: 1.0",
        "plan strata: none",
    ]


def test_a_removed_value_is_listed_as_removed():
    assert _describe({"a": 1, "b": 2}, {"a": 1}) == ["b: 2 → removed"]


def test_values_that_are_no_objects_are_shown():
    assert _describe("nobody", "ravi") == ["value: nobody → ravi"]
    assert _describe(..., ["leo", "rea"]) == ["value: leo, rea"]


def test_long_lists_state_their_length():
    assert _describe(..., list(range(1, 15))) == [
        "value: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … (14 in all)"
    ]


def test_an_entry_without_change_lists_its_values():
    assert _describe({"roles": ["admin"]}, {"roles": ["admin"]}) == ["roles: admin → admin"]


def test_an_entry_without_values_has_no_fields():
    assert _describe(..., ...) == []
