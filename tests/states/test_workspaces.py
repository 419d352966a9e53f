"""The states contain what their names say; otherwise the matrix would test one workspace repeatedly."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from review.service import list_disputes
from storage.rows import metadata
from storage.unit_of_work import read_only_session
from tests.states.workspaces import STATES, State, person

#: For each table, the state from which on it has rows.
FIRST_ROWS = {
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


def rows() -> dict[str, int]:
    with read_only_session() as db:
        return {
            name: db.execute(select(func.count()).select_from(metadata.tables[name])).scalar_one()
            for name in FIRST_ROWS
        }


@pytest.mark.parametrize("name", STATES)
def test_each_state_holds_what_was_done_until_then_and_no_more(name, workspace_in):
    workspace_in(State(name=name))
    place = STATES.index(name)
    assert {table for table, count in rows().items() if count} == {
        table for table, first in FIRST_ROWS.items() if STATES.index(first) <= place
    }


@pytest.mark.parametrize(("name", "open_disputes"), [("partly judged", 0), ("disputed", 3), ("settled", 0)])
def test_three_disputes_are_open_until_they_are_settled(name, open_disputes, workspace_in):
    workspace_in(State(name=name))
    with read_only_session() as db:
        found = list_disputes(db, person=person(db, "rita"), batch_id=1)
    assert sum(each.adjudication is None for each in found) == open_disputes


def test_a_dataset_beside_is_in_its_own_state(workspace_in):
    workspace_in(State(name="imported", beside="drawn"))
    assert (rows()["question"], rows()["batch_question"]) == (24, 8)
