"""The page Model scores: computation, sections, cases, and the audited private split."""

from __future__ import annotations

import pytest

from domain.people import Role
from release.splits import Split
from tests.pages.conftest import get_text, skip_double_click_time, wait_for_jobs
from tests.storage.evaluation_worlds import make_evaluation_world
from tests.storage.test_model_scores import import_answers, list_questions, plan, read_audit

PAGE = "pages/model_scores.py"


@pytest.fixture
def coordinator(sign_in_as):
    return sign_in_as("dana", Role.COORDINATOR)


def press(page, label):
    button = next(element for element in page.button if element.label == label)
    return skip_double_click_time(button.click().run())


def choose(page, section):
    return page.segmented_control[0].set_value(section).run()


def find_table(page, column):
    return next(table.value for table in page.dataframe if column in table.value.columns)


@pytest.mark.full
def test_page_of_an_empty_workspace_states_that_there_are_no_answers(coordinator, run_page):
    assert "No answers yet" in get_text(run_page(PAGE))


@pytest.mark.full
def test_scores_are_computed_and_shown_in_sections(coordinator, run_page, workspace_engine, tmp_path):
    make_evaluation_world(workspace_engine, tmp_path / "workspace")
    for name, letter in (("good", ""), ("biased", "A")):
        plan(name)
        lines = [
            {"question_id": question_id, "raw": letter or key} for question_id, key in list_questions(name)
        ]
        import_answers(tmp_path, name, lines)
    page = run_page(PAGE)
    assert "The scores of biased, good are not computed yet" in get_text(page)
    page = press(page, "Compute scores")
    wait_for_jobs()
    page = page.run()
    scores = find_table(page, "A-score")
    assert list(scores["Model"]) == ["biased (Net biased)", "good (Net good)"]
    assert scores["A-score"][1].startswith("100.0")
    assert scores["A-score"][0].startswith("33.3")
    page = choose(page, "By group")
    assert "Group" in find_table(page, "Group").columns
    page = choose(page, "Differences")
    assert find_table(page, "p (Holm)")["n"][0] == 12
    page = choose(page, "ReXVQA and GEMeX tables")
    assert "Random" in list(find_table(page, "Model")["Model"])
    assert "/files/model-scores/gemex-table-5.csv?release=1" in get_text(page)
    page = choose(page, "Cases")
    [cases] = [table.value for table in page.table]
    assert len(cases) == 8  # the key of four of twelve questions is A
    number = cases["Case"][0].rpartition("=")[2].rstrip(")")
    page.query_params["release"], page.query_params["question"] = "1", number
    text = get_text(page.run())
    assert "Answers of the models" in text
    assert "✓ correct" in text
    assert "✗ wrong" in text


@pytest.mark.full
def test_external_scores_are_imported_and_shown(coordinator, run_page, workspace_engine, tmp_path):
    make_evaluation_world(workspace_engine, tmp_path / "workspace")
    plan("net")
    questions = list_questions("net")
    import_answers(
        tmp_path, "net", [{"question_id": question_id, "raw": key} for question_id, key in questions]
    )
    page = press(run_page(PAGE), "Import scores")
    assert "Choose a CSV file." in get_text(page)
    rows = [
        "question_id,evaluation,name,version,score",
        *(f"{question_id},net,GREEN,1.0,40" for question_id, _ in questions),
    ]
    [uploader] = page.file_uploader
    uploader.set_value(("green.csv", "\n".join(rows).encode(), "text/csv"))
    page = press(page, "Import scores")
    wait_for_jobs()
    page = page.run()
    assert find_table(page, "GREEN")["GREEN"][0].startswith("40.00")


@pytest.mark.full
def test_a_private_split_is_opened_by_a_button_and_recorded_once(
    coordinator, run_page, workspace_engine, tmp_path
):
    make_evaluation_world(workspace_engine, tmp_path / "workspace", private=0.5)
    plan("secret", split=Split.PRIVATE)
    import_answers(
        tmp_path,
        "secret",
        [{"question_id": question_id, "raw": key} for question_id, key in list_questions("secret")],
    )
    page = press(run_page(PAGE), "Compute scores")
    wait_for_jobs()
    page = page.run()
    assert not page.dataframe
    before = len(read_audit("open results of private split"))
    page = press(page, "Open scores")
    assert find_table(page, "A-score")["A-score"][0].startswith("100.0")
    page = choose(page, "Cases")
    assert len(read_audit("open results of private split")) == before + 1
    assert "Cases of the private split are not exported" in get_text(page)


@pytest.mark.full
def test_a_reviewer_cannot_open_the_page(sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    assert "Model scores" not in [title.value for title in run_page(PAGE).title]
