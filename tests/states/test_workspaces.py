"""The states contain what their names say; otherwise the tests in all states would repeat one workspace."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from review.service import list_disputes
from storage.rows.all_tables import metadata
from storage.unit_of_work import read_only_session
from tests.states.workspaces import STATES, State, load_person

#: For each table, the first state in which it has rows.
FIRST_STATE_BY_TABLE = {
    "person": "nothing",
    "question": "imported",
    "problem": "imported",
    "batch": "drawn",
    "batch_question": "drawn",
    "assignment": "assigned",
    "hidden_question": "hidden questions",
    "verdict": "partly judged",
    "adjudication": "settled",
    "release": "released",
    "reader_study": "study made",
    "study_reader": "readers assigned",
    "reading": "partly read",
    "prediction": "reported",
}


def count_rows() -> dict[str, int]:
    with read_only_session() as db:
        return {
            name: db.execute(select(func.count()).select_from(metadata.tables[name])).scalar_one()
            for name in FIRST_STATE_BY_TABLE
        }


@pytest.mark.parametrize("name", STATES)
@pytest.mark.slow
def test_each_state_has_rows_in_the_expected_tables_only(name, workspace_in):
    workspace_in(State(name=name))
    state_index = STATES.index(name)
    assert {table for table, count in count_rows().items() if count} == {
        table
        for table, first_state in FIRST_STATE_BY_TABLE.items()
        if STATES.index(first_state) <= state_index
    }


@pytest.mark.parametrize(
    ("name", "open_dispute_count"), [("partly judged", 0), ("disputed", 3), ("settled", 0)]
)
@pytest.mark.slow
def test_disputes_are_open_until_they_are_adjudicated(name, open_dispute_count, workspace_in):
    workspace_in(State(name=name))
    with read_only_session() as db:
        disputes = list_disputes(db, person=load_person(db, "rita"), batch_id=1)
    assert sum(dispute.adjudication is None for dispute in disputes) == open_dispute_count


@pytest.mark.slow
def test_a_second_dataset_has_its_own_state(workspace_in):
    workspace_in(State(name="imported", second_dataset_state="drawn"))
    assert (count_rows()["question"], count_rows()["batch_question"]) == (24, 8)
