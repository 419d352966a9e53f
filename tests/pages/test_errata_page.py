"""The pages Errata and Releases: report a problem, follow the report, and compare the corrected release."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.adjudications import Adjudication, AdjudicationRules
from domain.corrections import Correction
from domain.people import Role
from domain.verdicts import Decision, ErrorKind
from release.service import list_errata, open_reportable_question, report_problem
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text, skip_double_click_time
from tests.storage.backup_worlds import make_workspace
from tests.storage.leaderboard_worlds import BY, SPLIT, make_leaderboard_world
from tests.storage.release_helpers import create_release
from tests.storage.worlds import NOW

pytestmark = pytest.mark.full

PAGE = "pages/errata.py"


def find(elements, label):
    return next(element for element in elements if element.label == label)


def submit_report(page, question, description):
    find(page.selectbox, "Question").select(question).run()
    find(page.selectbox, "Problem").select(ErrorKind.WORDING).run()
    find(page.text_area, "Description").set_value(description)
    return skip_double_click_time(find(page.button, "Report problem").click().run())


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.REVIEWER, Role.READER])
def test_without_a_release_the_page_says_so(workspace, sign_in_as, run_page, role):
    sign_in_as("jo", role)
    assert "No released questions yet" in get_text(run_page(PAGE))


def test_a_problem_is_reported_settled_and_compared(sign_in_as, run_page, workspace_engine, tmp_path):
    home = tmp_path / "workspace"
    world = make_leaderboard_world(workspace_engine, home, questions=12).world
    sign_in_as("dana", Role.COORDINATOR)
    page = submit_report(run_page(PAGE), "Q1", " ")
    assert "description: is empty" in get_text(page)
    page = submit_report(page, "Q1", "Ambiguous.")
    text = get_text(page)
    assert "Reported: wording in question Q1." in text
    assert "Adjudicators of the batches of these questions decide" in text
    assert page.dataframe[0].value.to_dict("records")[0]["Outcome"] == "open"
    with read_only_session(workspace_engine) as db:
        (entry,) = list_errata(db, by=BY)
        reported_question = open_reportable_question(db, by=BY, release_id=1, question_id="Q1")
    remo, first_report = world.people["remo"], entry.report

    def settle(report_ids, revision, decision, reason, **correction):
        review.adjudicate(
            db, person=remo, report_ids=report_ids,
            adjudication=Adjudication(
                batch_id=world.batch.id, question_row_id=first_report.question_row_id, revision=revision,
                person_id=remo.id, decision=decision, correction=Correction(**correction), reason=reason,
                given_at=first_report.reported_at + timedelta(seconds=10 * revision),
            ),
        )  # fmt: skip

    with unit_of_work(workspace_engine) as db:
        review.change_adjudication_rules(
            db, by=BY, batch="first", rules=AdjudicationRules(adjudicators=("remo",)), revision=0, now=NOW
        )
        settle([first_report.id], 1, Decision.ACCEPT, "It is clear.")
        second_report_id = report_problem(
            db, by=BY, reported=reported_question, kind=ErrorKind.WORDING, text="Ambiguous to me, too.",
            now=first_report.reported_at + timedelta(seconds=15),
        )  # fmt: skip
        settle([first_report.id, second_report_id], 2, Decision.REVISE, "It was.", stem="Clear?")
        create_release(
            db, by=BY, dataset="demo", name="v1.1", out=home / "releases" / "v1.1", split=SPLIT,
            now=first_report.reported_at + timedelta(minutes=1),
            workspace=make_workspace(workspace_engine, home),
        )  # fmt: skip
    row = run_page(PAGE).dataframe[0].value.to_dict("records")[0]
    assert (row["Outcome"], row["Reason"]) == ("corrected", "It was.")
    assert row["Changes"].endswith("→ Clear?")
    page = run_page("pages/releases.py")
    assert "v1.1 compared with v1: 1 stem changed; 11 unchanged" in get_text(page)
    (row,) = page.dataframe[-1].value.to_dict("records")
    assert (row["Question"], row["Change"], row["After"], row["Reason"]) == (
        "Q1",
        "stem",
        "Clear?",
        "It was.",
    )
    assert "errata.jsonl" in get_text(page)
