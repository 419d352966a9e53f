"""What a coordinator imports into a study and amends on its page: files, protocol, exclusions."""

from __future__ import annotations

import json

import pytest

from accounts.service import command_line_person
from domain.people import Role
from reader_study import service as studies
from storage.reader_study.cases import list_cases
from storage.reader_study.readings import iterate_readings
from storage.unit_of_work import read_only_session
from tests.pages.conftest import a_moment_later, settled, texts
from tests.storage.study_worlds import answer, make_study_world

BY = command_line_person()


@pytest.fixture
def made(workspace):
    return make_study_world(workspace, cases=4)


@pytest.fixture
def page(made, sign_in_as, run_page):
    """``page(part)``: the study's page as cora sees it, on one of its views."""

    def run(part: str):
        sign_in_as("cora", Role.COORDINATOR)
        found = run_page("pages/studies.py")
        next(each for each in found.segmented_control if part in each.options).set_value(part).run()
        assert not found.exception
        return found

    return run


def press(page, label: str):
    next(each for each in page.button if each.label == label).click().run(timeout=60)
    assert not page.exception
    return page


def bring_in(made, page, what="predictions"):
    """Press the button, and run the page again once the background job is done."""
    press(page, f"Bring in the {what}")
    settled()
    page.run(timeout=60)
    assert not page.exception
    return page


def fill(page, label: str, value: object) -> None:
    fields = [*page.text_input, *page.number_input, *page.selectbox]
    next(each for each in fields if each.label == label).set_value(value)


def cases(made) -> list[str]:
    with read_only_session() as db:
        return [case.blind_case.question_id for case in list_cases(db, study_id=made.study.id)]


def test_predictions_come_in_with_the_count_of_each_rule(made, page):
    first, second, third, _ = cases(made)
    lines = [
        {"question_id": first, "answer": "B"},
        {"question_id": second, "raw": "Final answer: (B)"},
        {"question_id": third, "raw": "I cannot tell."},
    ]
    found = page("Answers from outside")
    found.text_input[0].set_value("m")
    found.file_uploader[0].set_value(
        ("m.jsonl", "\n".join(map(json.dumps, lines)).encode(), "application/jsonl")
    )
    shown = texts(bring_in(made, found))
    assert "3 predictions of m came in; it has answered 3 of 4 cases." in shown
    rules = next(
        each.value for each in found.dataframe if "Predictions" in each.value and "Rule" in each.value
    )
    assert dict(zip(rules["Rule"], rules["Predictions"], strict=True)) == {
        "explicit": 1,
        "failed": 1,
        "given": 1,
    }


def test_a_file_with_a_bad_line_brings_nothing_in_and_names_the_line(made, page):
    found = page("Answers from outside")
    found.text_input[0].set_value("m")
    content = json.dumps({"question_id": cases(made)[0], "answer": "Z"}).encode()
    found.file_uploader[0].set_value(("m.jsonl", content, "application/jsonl"))
    assert "Nothing of m.jsonl came in: 1 line is refused." in texts(bring_in(made, found))
    with read_only_session() as db:
        assert studies.list_models(db, by=BY, study="first") == []


def test_readings_from_outside_come_in(made, page):
    rows = [f"first,ext,{key},B,4,20,2026-03-02T09:0{at}:00Z" for at, key in enumerate(cases(made))]
    text = "\n".join(["study,reader,question_id,answer,confidence,seconds,read_at", *rows])
    found = page("Answers from outside")
    found.file_uploader[1].set_value(("r.csv", text.encode(), "text/csv"))
    assert "4 readings of 1 reader came in from r.csv." in texts(bring_in(made, found, "readings"))


def test_a_file_of_readings_with_a_bad_line_brings_nothing_in_and_names_the_line(made, page):
    first, second, *_ = cases(made)
    text = (
        "study,reader,question_id,answer,confidence,seconds,read_at\n"
        f"first,ext,{first},B,4,20,2026-03-02T09:00:00Z\n"
        f"first,ext,{second},Z,4,20,2026-03-02T09:01:00Z\n"
    )
    found = page("Answers from outside")
    found.file_uploader[1].set_value(("r.csv", text.encode(), "text/csv"))
    shown = bring_in(made, found, "readings")
    assert "Nothing of r.csv came in: 1 line is refused." in texts(shown)
    assert "**Line 3, answer**: " in texts(shown)
    with read_only_session() as db:
        assert list(iterate_readings(db, study_id=made.study.id)) == []


def test_a_case_is_left_out_with_its_reason(made, page):
    found = page("Readers and protocol")
    fill(found, "Case", 2)
    fill(found, "Why it is left out", "cut off")
    found.run()
    assert "Left out of the analysis: case 2." in texts(press(found, "Leave it out"))
    with read_only_session() as db:
        [left] = studies.list_exclusions(db, by=BY, study="first")
    assert (left.case, left.reader, left.why) == (2, None, "cut off")


def test_an_amendment_needs_its_reason_and_keeps_the_conditions_of_reading(made, page):
    answer(made)
    found = page("Readers and protocol")
    assert next(each for each in found.checkbox if each.label == "Going back is allowed").disabled
    fill(found, "Margin, points", 4.0)
    found.run()
    write = next(each for each in found.button if each.label == "Write down version 2")
    assert write.disabled
    fill(found, "Why it is changed", "the margin was left out")
    found.run()
    shown = texts(press(a_moment_later(found), "Write down version 2"))
    assert "Version 2 of the protocol is written down" in shown
    with read_only_session() as db:
        last = studies.list_protocol_versions(db, by=BY, study="first")[-1]
    assert (last.protocol.margin, last.answers_before, last.why) == (0.04, 1, "the margin was left out")
