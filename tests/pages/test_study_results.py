"""The report of a study on its page: computed in the background on request, then stored."""

from __future__ import annotations

import asyncio
import io
import zipfile

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from domain.people import Role
from domain.protocols import Protocol
from tests.pages.conftest import get_text, wait_for_jobs
from tests.storage.study_reports import import_model_answers, list_scored_cases
from tests.storage.study_worlds import answer_case, make_design, make_study_world, read_all
from web.gate import Gate
from web.routes import ROUTES

pytestmark = pytest.mark.slow


def open_report(sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    return open_report_view(run_page)


def open_report_view(run_page):
    page = run_page("pages/studies.py")
    next(control for control in page.segmented_control if "Report" in control.options).set_value(
        "Report"
    ).run()
    assert not page.exception
    return page


def compute_report(page) -> str:
    """Create the report, and return the text of the page afterwards."""
    next(button for button in page.button if button.label == "Create report").click().run(timeout=120)
    wait_for_jobs(timeout=60)
    page.run(timeout=120)
    assert not page.exception
    return get_text(page)


def test_report_is_computed_on_request_and_its_first_figure_precedes_its_text(
    workspace, sign_in_as, run_page
):
    study_world = make_study_world(workspace, cases=4, protocol=Protocol(bootstrap=0))
    read_all(study_world, "rea", option=0)
    read_all(study_world, "rob", option=1)
    page = open_report(sign_in_as, run_page)
    assert "of 4 cases correctly" not in get_text(page)
    assert "of 4 cases correctly" in compute_report(page)
    texts = [element.value for element in page.markdown]
    [first_figure_index, *_] = [index for index, text in enumerate(texts) if "/figures/" in text]
    [first_sentence_index, *_] = [index for index, text in enumerate(texts) if "of 4 cases correctly" in text]
    assert first_figure_index < first_sentence_index


def test_study_without_answers_has_nothing_to_report(workspace, sign_in_as, run_page):
    make_study_world(workspace, cases=4)
    assert "nothing to report" in compute_report(open_report(sign_in_as, run_page))


def test_every_section_of_the_report_links_its_files_or_shows_a_message(workspace, sign_in_as, run_page):
    study_world = make_study_world(
        workspace, design=make_design(6, repeats=2, repeat_gap=1), protocol=Protocol(bootstrap=0)
    )
    read_all(study_world, "rea", option=0)
    read_all(study_world, "rob", option=1)
    page = open_report(sign_in_as, run_page)
    compute_report(page)
    expected_texts = {
        "Accuracy": "figures/accuracy-all.svg",
        "Differences": "No models in the study",
        "Agreement": "figures/repeats.csv",
        "Time and order": "figures/learning.svg",
        "Answers": "figures/confusion-rea.svg",
        "Lists and protocol": "tables/exclusions.csv",
    }
    for section, expected in expected_texts.items():
        section_control = next(control for control in page.segmented_control if section in control.options)
        section_control.set_value(section).run(timeout=60)
        assert not page.exception
        assert expected in get_text(page)


def test_differences_to_a_model_and_accuracies_by_category_are_shown(
    workspace, sign_in_as, run_page, tmp_path
):
    study_world = make_study_world(workspace, cases=4, protocol=Protocol(bootstrap=0))
    read_all(study_world, "rea", option=0)
    import_model_answers(
        study_world, tmp_path, {case.question.id: {"answer": "A"} for case in list_scored_cases(study_world)}
    )
    page = open_report(sign_in_as, run_page)
    compute_report(page)
    next(control for control in page.segmented_control if "Category" in control.options).set_value(
        "category"
    ).run()
    assert not page.exception
    assert "tables/by_category.csv" in get_text(page)
    next(control for control in page.segmented_control if "Differences" in control.options).set_value(
        "Differences"
    ).run(timeout=60)
    assert not page.exception
    assert "figures/differences-all.svg" in get_text(page)
    assert "Mean of the readers minus each model" in get_text(page)


def answer_all_yes(study_world, name):
    """Answer yes to every case, so that the AUC is 0.5."""
    for _ in range(6):
        answer_case(study_world, name, answer="yes")


def test_stored_report_is_shown_at_once(workspace, sign_in_as, run_page):
    study_world = make_study_world(workspace, cases=4, protocol=Protocol(bootstrap=0))
    read_all(study_world, "rea", option=0)
    compute_report(open_report(sign_in_as, run_page))
    assert "of 4 cases correctly" in get_text(open_report_view(run_page))


def test_results_of_imrmc_are_shown_beside_ours_and_another_file_is_refused(workspace, sign_in_as, run_page):
    study_world = make_study_world(
        workspace, cases=6, questions=12, per_exam=1, closed=12, protocol=Protocol(bootstrap=0)
    )
    answer_all_yes(study_world, "rea")
    page = open_report(sign_in_as, run_page)
    compute_report(page)
    header = "readerID,modalityA,modalityB,AUCA,varAUCA,AUCAminusAUCB,varAUCAminusAUCB"
    table = f"{header}\n1,1,NO_MOD,0.5,NA,NA,NA\n".encode()
    page.file_uploader[0].set_value(
        [("AUCperReader.csv", table, "text/csv"), ("x.csv", b"a,b\n", "text/csv")]
    ).run(timeout=60)
    assert not page.exception
    compared = next(frame.value for frame in page.dataframe if "Theirs" in frame.value)
    assert compared[["Result", "Reader", "Ours", "Theirs", "Line"]].to_numpy().tolist() == [
        ["AUC", "rea", "0.5", "0.5", "line 2"]
    ]
    assert "the column modalityA is missing" in page.error[0].value


def export_roc_files(page) -> None:
    next(button for button in page.button if button.label == "Export for iMRMC and RJafroc").click().run(
        timeout=60
    )
    assert not page.exception


def fetch(browser, address):
    """Return the response that the browser gets from an address."""
    app = Starlette(routes=ROUTES, middleware=[Middleware(Gate)])

    async def send():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            client.cookies.update(browser.cookies)
            return await client.get(address)

    return asyncio.run(send())


@pytest.mark.full
def test_files_for_roc_programs_are_downloaded_by_the_coordinator_only(
    workspace, sign_in_as, run_page, browser
):
    study_world = make_study_world(
        workspace, cases=6, questions=12, per_exam=1, closed=12, protocol=Protocol(bootstrap=0)
    )
    answer_all_yes(study_world, "rea")
    page = open_report(sign_in_as, run_page)
    compute_report(page)
    export_roc_files(page)
    [link] = [element.value for element in page.markdown if "roc-files.zip" in element.value]
    assert "6 yes/no questions" in link
    assert "6 ratings" in link
    address = "/files/roc-files.zip?study=first"
    assert f"({address})" in link
    with zipfile.ZipFile(io.BytesIO(fetch(browser, address).content)) as archive:
        assert {name.removeprefix("roc-files/") for name in archive.namelist()} == {
            "study.imrmc", "study.xlsx", "ids.csv", "ratings.csv",
        }  # fmt: skip
        assert b"BEGIN DATA:" in archive.read("roc-files/study.imrmc")
    assert fetch(browser, "/files/roc-files.zip?study=none").status_code == 404
    sign_in_as("rea")
    assert fetch(browser, address).status_code == 403


@pytest.mark.full
def test_a_study_without_yes_no_questions_has_no_files_for_roc_programs(workspace, sign_in_as, run_page):
    study_world = make_study_world(workspace, cases=4, protocol=Protocol(bootstrap=0))
    read_all(study_world, "rea", option=0)
    page = open_report(sign_in_as, run_page)
    compute_report(page)
    export_roc_files(page)
    assert "ROC files need yes/no questions with both keys" in page.error[0].value


def test_a_study_can_be_the_pilot_of_another_one(workspace, tmp_path, sign_in_as, run_page):
    study_world = make_study_world(workspace, cases=8, protocol=Protocol(bootstrap=0, model="m"))
    read_all(study_world, "rea", option=0)
    read_all(study_world, "rob", option=1)
    answers = {
        case.question.id: {"answer": "AB"[index % 2]}
        for index, case in enumerate(list_scored_cases(study_world))
    }
    import_model_answers(study_world, tmp_path, answers)
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page("pages/studies.py")
    page.session_state["studies-view"] = "Sample size"
    page.run(timeout=60)
    pilot = next(field for field in page.selectbox if field.label == "Pilot study")
    pilot.set_value("first").run(timeout=60)
    assert not page.exception
    text = get_text(page)
    assert "Pilot: 2 readers, 8 cases, model m; accuracy readers " in text
    stated_accuracy = float(text.partition("accuracy readers ")[2].partition("%")[0])
    [accuracy_field] = [field for field in page.number_input if field.label == "Reader accuracy (%)"]
    assert accuracy_field.value == pytest.approx(stated_accuracy, abs=0.06)
