"""The page of a study: imported predictions and readings, changes of the protocol, exclusions."""

from __future__ import annotations

import json

import pytest

from accounts.service import command_line_person
from domain.people import Role
from reader_study import service as studies
from storage.reader_study.cases import list_cases
from storage.reader_study.readings import iterate_readings
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text, skip_double_click_time, wait_for_jobs
from tests.storage.study_worlds import answer_case, make_study_world
from tests.storage.worlds import NOW

BY = command_line_person()


@pytest.fixture
def study_world(workspace):
    return make_study_world(workspace, cases=4)


@pytest.fixture
def open_study_page(study_world, sign_in_as, run_page):
    """``open_study_page(view)`` opens the study's page as cora, on that view."""

    def run(view: str):
        sign_in_as("cora", Role.COORDINATOR)
        app_test = run_page("pages/studies.py")
        next(control for control in app_test.segmented_control if view in control.options).set_value(
            view
        ).run()
        assert not app_test.exception
        return app_test

    return run


def press_button(page, label: str):
    next(button for button in page.button if button.label == label).click().run(timeout=60)
    assert not page.exception
    return page


def press_import_and_wait(page, kind="predictions"):
    """Press the button, and run the page again once the background job is done."""
    press_button(page, f"Import {kind}")
    wait_for_jobs()
    page.run(timeout=60)
    assert not page.exception
    return page


def fill_field(page, label: str, value: object) -> None:
    fields = [*page.text_input, *page.number_input, *page.selectbox]
    next(field for field in fields if field.label == label).set_value(value)


def load_case_ids(study_world) -> list[str]:
    with read_only_session() as db:
        return [case.blind_case.question_id for case in list_cases(db, study_id=study_world.study.id)]


@pytest.mark.slow
def test_predictions_are_imported_with_counts_per_extraction_rule(study_world, open_study_page):
    first, second, third, _ = load_case_ids(study_world)
    lines = [
        {"question_id": first, "answer": "B"},
        {"question_id": second, "raw": "Final answer: (B)"},
        {"question_id": third, "raw": "I cannot tell."},
    ]
    study_page = open_study_page("Imports")
    study_page.text_input[0].set_value("m")
    study_page.file_uploader[0].set_value(
        ("m.jsonl", "\n".join(map(json.dumps, lines)).encode(), "application/jsonl")
    )
    text = get_text(press_import_and_wait(study_page))
    assert "Imported 3 predictions of m, which has now answered 3 of 4 cases." in text
    rules = next(
        table.value
        for table in study_page.dataframe
        if "Predictions" in table.value and "Rule" in table.value
    )
    assert dict(zip(rules["Rule"], rules["Predictions"], strict=True)) == {
        "explicit": 1,
        "failed": 1,
        "given": 1,
    }


def test_predictions_with_an_invalid_line_are_refused(study_world, open_study_page):
    study_page = open_study_page("Imports")
    study_page.text_input[0].set_value("m")
    content = json.dumps({"question_id": load_case_ids(study_world)[0], "answer": "Z"}).encode()
    study_page.file_uploader[0].set_value(("m.jsonl", content, "application/jsonl"))
    assert "Nothing was imported from m.jsonl: 1 line is invalid." in get_text(
        press_import_and_wait(study_page)
    )
    with read_only_session() as db:
        assert studies.list_models(db, by=BY, study="first") == []


@pytest.mark.slow
def test_external_readings_are_imported(study_world, open_study_page):
    rows = [
        f"first,ext,{question_id},B,4,20,2026-03-02T09:0{minute}:00Z"
        for minute, question_id in enumerate(load_case_ids(study_world))
    ]
    text = "\n".join(["study,reader,question_id,answer,confidence,seconds,read_at", *rows])
    study_page = open_study_page("Imports")
    study_page.file_uploader[1].set_value(("r.csv", text.encode(), "text/csv"))
    assert "Imported 4 readings of 1 reader from r.csv." in get_text(
        press_import_and_wait(study_page, "readings")
    )


def test_readings_with_an_invalid_line_are_refused(study_world, open_study_page):
    first, second, *_ = load_case_ids(study_world)
    text = (
        "study,reader,question_id,answer,confidence,seconds,read_at\n"
        f"first,ext,{first},B,4,20,2026-03-02T09:00:00Z\n"
        f"first,ext,{second},Z,4,20,2026-03-02T09:01:00Z\n"
    )
    study_page = open_study_page("Imports")
    study_page.file_uploader[1].set_value(("r.csv", text.encode(), "text/csv"))
    result_page = press_import_and_wait(study_page, "readings")
    assert "Nothing was imported from r.csv: 1 line is invalid." in get_text(result_page)
    assert "**Line 3** (answer): " in get_text(result_page)
    with read_only_session() as db:
        assert list(iterate_readings(db, study_id=study_world.study.id)) == []


def test_case_is_excluded_with_its_reason(study_world, open_study_page):
    study_page = open_study_page("Readers and protocol")
    fill_field(study_page, "Case", 2)
    fill_field(study_page, "Reason for exclusion", "cut off")
    study_page.run()
    assert "Excluded from the analysis: case 2." in get_text(press_button(study_page, "Exclude"))
    with read_only_session() as db:
        [exclusion] = studies.list_exclusions(db, by=BY, study="first")
    assert (exclusion.case, exclusion.reader, exclusion.reason) == (2, None, "cut off")


@pytest.mark.slow
def test_amendment_needs_a_reason_and_keeps_the_reading_conditions(study_world, open_study_page):
    answer_case(study_world)
    study_page = open_study_page("Readers and protocol")
    assert next(checkbox for checkbox in study_page.checkbox if checkbox.label == "Allow going back").disabled
    fill_field(study_page, "Non-inferiority margin (percentage points)", 4.0)
    study_page.run()
    amend_button = next(button for button in study_page.button if button.label == "Save version 2")
    assert amend_button.disabled
    fill_field(study_page, "Reason for the change", "the margin was left out")
    study_page.run()
    text = get_text(press_button(skip_double_click_time(study_page), "Save version 2"))
    assert "Saved protocol version 2" in text
    with read_only_session() as db:
        latest_version = studies.list_protocol_versions(db, by=BY, study="first")[-1]
    assert (latest_version.protocol.margin, latest_version.answers_before, latest_version.reason) == (
        0.04,
        1,
        "the margin was left out",
    )


def test_model_choice_lists_answered_cases_and_saves_a_protocol_version(
    study_world, open_study_page, tmp_path
):
    answers = [{"question_id": question_id, "answer": "B"} for question_id in load_case_ids(study_world)[:3]]
    file = tmp_path / "m.jsonl"
    file.write_text("\n".join(map(json.dumps, answers)))
    with unit_of_work() as db:
        studies.import_predictions(db, by=BY, path=file, model="m", dataset="demo", now=NOW)
    study_page = open_study_page("Imports")
    table = next(table.value for table in study_page.dataframe if "In study" in table.value)
    assert table[["In study", "Cases answered"]].values.tolist() == [["no", "3 of 4"]]
    choice = next(field for field in study_page.multiselect if field.label == "Models in the study")
    assert (choice.value, choice.options) == ([], ["m (3 of 4 cases)"])
    choice.set_value(["m"]).run()
    assert "Saved protocol version 2." in get_text(press_button(study_page, "Save models"))
    table = next(table.value for table in study_page.dataframe if "In study" in table.value)
    assert table["In study"].tolist() == ["yes"]
