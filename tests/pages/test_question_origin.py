"""The page Browse shows where a generated question comes from, from the release back to the report."""

import pytest
from streamlit.testing.v1 import AppTest

from domain.people import Role
from storage.rows.releases import ReleaseItemRow, ReleaseRow
from storage.unit_of_work import unit_of_work
from tests.pages.conftest import PAGE_TIMEOUT, ROOT, get_text
from tests.storage.import_worlds import Importer, make_record, to_json_lines
from tests.storage.worlds import NOW

REPORT = "FINDINGS: The heart size is normal. No pneumothorax."
ORIGIN = {
    "record": "CXR1",
    "source": "openi-csv",
    "evidence": [
        {"kind": "sentence", "text": "No pneumothorax.", "finding": "pneumothorax", "present": False}
    ],
    "calls": [
        {"stage": "questions", "prompt": "mcq@2", "model": "qwen", "run": "gemex 1", "request": "CXR1"}
    ],
}


@pytest.fixture
def page(workspace_engine, sign_in_as, browser, tmp_path):
    """The page Browse on question 1, which is public in one release and private in another."""
    Importer(workspace_engine, tmp_path)(to_json_lines(make_record(1, report=REPORT, provenance=ORIGIN)))
    with unit_of_work(workspace_engine) as db:
        for number, side in ((1, "public"), (2, "private")):
            db.add(
                ReleaseRow(
                    id=number, dataset_id=1, name=f"v{number}", rule="", items=1, manifest_sha256="0" * 64,
                    folder="", made_at=NOW,
                )
            )  # fmt: skip
            db.flush()
            db.add(ReleaseItemRow(release_id=number, question_id=1, side=side))
    sign_in_as("cora", Role.COORDINATOR)
    page = AppTest.from_file(str(ROOT / "pages/browse.py"), default_timeout=PAGE_TIMEOUT)
    page.query_params["question"] = "1"
    return page.run()


def test_each_step_from_the_release_to_the_report_is_shown_or_linked(page):
    assert not page.exception
    text = get_text(page).replace("\u2060", "")
    assert "[origins of the release](/files/releases/1/provenance.jsonl)" in text
    assert "/files/releases/2/" not in text  # the keys of private questions are not in the release
    assert "no problems found by the structural checks" in text
    assert "Written from record CXR1 of openi-csv" in text
    assert "sentence: No pneumothorax. → pneumothorax absent" in text
    assert "[gemex 1: CXR1](/model_runs?run=gemex+1&request=CXR1)" in text
    assert "FINDINGS: The heart size is normal. :blue-background[No pneumothorax.]" in text
