"""Results are converted to flat records, and back, in one module."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from measures.results import tables_from_records, tables_to_records, to_record


@dataclass(frozen=True, kw_only=True)
class Share:
    rater: str
    group: str
    estimate: float | None


@dataclass(frozen=True, kw_only=True)
class Nested:
    label: str
    share: Share
    words: str


@dataclass(frozen=True, kw_only=True)
class Tables:
    by_task: tuple[Share, ...] = field(metadata={"group": "task"})
    plain: tuple[dict[str, str], ...]


TABLES = Tables(by_task=(Share(rater="r", group="presence", estimate=None),), plain=({"Rater": "r"},))


def test_columns_are_the_fields_in_order_with_renamed_groups():
    records = tables_to_records(TABLES)
    assert list(records["by_task"][0].items()) == [("rater", "r"), ("task", "presence"), ("estimate", None)]
    assert records["plain"] == [{"Rater": "r"}]


def test_a_nested_result_is_flattened_in_place():
    nested = Nested(label="a", share=TABLES.by_task[0], words="w")
    assert list(to_record(nested)) == ["label", "rater", "group", "estimate", "words"]


def test_tables_are_restored_from_their_records():
    assert tables_from_records(Tables, tables_to_records(TABLES)) == TABLES


@pytest.mark.parametrize(
    ("records", "error"),
    [
        ({"plain": []}, KeyError),
        ({"plain": [], "by_task": [{"rater": "r", "task": "x"}]}, TypeError),
        ({"plain": [], "by_task": [{"rater": "r", "task": "x", "estimate": 1.0, "n": 3}]}, TypeError),
    ],
)
def test_a_missing_or_unknown_table_or_column_is_an_error(records, error):
    with pytest.raises(error):
        tables_from_records(Tables, records)
