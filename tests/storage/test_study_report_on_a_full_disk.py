"""A report that cannot be stored is still returned, or a message says why it cannot be shown."""

from __future__ import annotations

import pytest

from domain.errors import NotNow
from domain.protocols import Protocol
from reader_study import service as studies
from storage.unit_of_work import read_only_session
from storage.workspace import Workspace
from tests.storage.study_worlds import make_design, make_study_world, read_all


@pytest.fixture
def world(sqlite_engine):
    world = make_study_world(
        sqlite_engine,
        design=make_design(8, training=1, repeats=2, repeat_gap=1),
        protocol=Protocol(model="m", bootstrap=0),
    )
    read_all(world, "rea", option=0)
    return world


@pytest.fixture
def unwritable_workspace(tmp_path) -> Workspace:
    """A workspace in which no report can be stored, because its cache folder is a file."""
    (tmp_path / "cache").write_text("a file where a folder is expected")
    return Workspace(home=tmp_path, database_url="")


@pytest.mark.slow
def test_a_report_that_cannot_be_stored_is_still_returned(world, unwritable_workspace):
    with read_only_session(world.engine) as db:
        report = studies.load_or_compute_report(
            db, by=world.cora, study="first", workspace=unwritable_workspace
        )
    assert report.facts.protocol_sha256


@pytest.mark.slow
def test_a_background_report_that_cannot_be_stored_raises_a_message(world, unwritable_workspace):
    with read_only_session(world.engine) as db:
        data = studies.load_report_data(db, by=world.cora, study="first")
    with pytest.raises(NotNow, match="The report was computed but could not be stored"):
        studies.compute_report(workspace=unwritable_workspace, digest="0" * 64, data=data)
