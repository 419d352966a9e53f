"""The assumptions of a power analysis are estimated from a pilot study."""

from __future__ import annotations

import pytest

from domain.errors import Refused
from domain.protocols import Protocol
from measures.power import PowerAssumptions
from reader_study import service as studies
from storage.unit_of_work import read_only_session
from tests.storage.study_reports import import_model_answers, list_scored_cases, load_report
from tests.storage.study_worlds import make_design, make_study_world, read_all

pytestmark = pytest.mark.slow


def test_pilot_estimates_come_from_a_study_of_the_workspace(sqlite_engine, tmp_path):
    world = make_study_world(sqlite_engine, design=make_design(8), protocol=Protocol(model="m", bootstrap=0))
    read_all(world, "rea", option=0)
    with read_only_session(sqlite_engine) as db, pytest.raises(Refused, match="two readers or more"):
        studies.estimate_study_pilot(db, by=world.cora, study="first")
    read_all(world, "rob", option=1)
    cases = list_scored_cases(world)
    import_model_answers(
        world, tmp_path, {case.question.id: {"answer": "AB"[index % 2]} for index, case in enumerate(cases)}
    )
    with read_only_session(sqlite_engine) as db:
        pilot = studies.estimate_study_pilot(db, by=world.cora, study="first")
    assert (pilot.model, pilot.readers, pilot.cases) == ("m", 2, 8)
    report_accuracies = [
        row.estimate
        for row in load_report(world).tables.accuracy
        if row.group == "all" and row.kind == "reader"
    ]
    assert isinstance(pilot.assumptions, PowerAssumptions)
    assert pilot.assumptions.reader_accuracy == pytest.approx(sum(report_accuracies) / 2)
