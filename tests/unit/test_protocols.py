"""The canonical text of a protocol, its hash, and what its file may contain."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from domain.errors import InvalidValue
from domain.protocols import (
    READING_CONDITIONS,
    Hypothesis,
    Protocol,
    diff_protocols,
    protocol_from_plain,
    protocol_to_plain,
)
from domain.readings import Reading, ReadingKey
from tests.storage.worlds import NOW

KEY = ReadingKey(study_id=1, reader_id=1, case_id=1, arm="all")


def test_the_hash_is_of_the_canonical_json():
    protocol = Protocol(notes="Größe ±5")
    assert protocol.sha256() == hashlib.sha256(protocol.to_canonical_json().encode()).hexdigest()
    assert "Größe ±5" in protocol.to_canonical_json()
    assert list(json.loads(protocol.to_canonical_json())) == sorted(protocol_to_plain(protocol))


def test_a_protocol_is_restored_from_json_with_the_same_hash():
    protocol = Protocol(hypothesis=Hypothesis.NON_INFERIORITY, margin=0.05, family=("a", "b"), seed=-3)
    restored = protocol_from_plain(json.loads(protocol.to_canonical_json()))
    assert (restored, restored.sha256()) == (protocol, protocol.sha256())


@pytest.mark.parametrize("name", ["margin", "seed", "going_back", "notes", "family"])
def test_a_change_changes_the_hash_and_is_listed(name):
    values: dict[str, Any] = {"margin": 0.01, "seed": 2, "going_back": True, "notes": "x", "family": ("a",)}
    changed = replace(Protocol(), **{name: values[name]})
    assert changed.sha256() != Protocol().sha256()
    assert [field for field, _, _ in diff_protocols(Protocol(), changed)] == [name]


def test_the_reading_conditions_are_fields_of_the_protocol():
    assert set(READING_CONDITIONS) <= set(protocol_to_plain(Protocol()))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"margin": 1.0}, "margin"),
        ({"hypothesis": Hypothesis.NON_INFERIORITY}, "margin"),
        ({"confidence": 0.2}, "confidence"),
        ({"idle_seconds": 5}, "idle_seconds"),
        ({"primary_comparison": " "}, "primary_comparison"),
        ({"bootstrap": -1}, "bootstrap"),
    ],
)
def test_the_error_for_an_invalid_protocol_names_its_field(changes, field):
    with pytest.raises(InvalidValue) as error:
        Protocol(**changes)
    assert error.value.field == field


@pytest.mark.parametrize(
    ("reading_values", "field"),
    [
        ({"answer": None}, "answer"),
        ({"answer": (1,), "cannot_determine": True}, "answer"),
        ({"answer": (1,), "confidence": 0}, "confidence"),
        ({"answer": (1,), "revision": 0}, "revision"),
        ({"answer": (1,), "seconds": float("nan")}, "seconds"),
    ],
)
def test_the_error_for_an_invalid_reading_names_its_field(reading_values, field):
    values = {"revision": 1, "seconds": 1.0, "confidence": 3} | reading_values
    with pytest.raises(InvalidValue) as error:
        Reading(
            key=KEY,
            position=1,
            protocol_version=1,
            seconds_looking=1.0,
            seconds_away=0.0,
            began_at=NOW,
            read_at=NOW,
            **values,
        )
    assert error.value.field == field
