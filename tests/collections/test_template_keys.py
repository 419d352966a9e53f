"""Template questions of all Open-i records: an independent label reader agrees with their keys."""

import json
from collections import Counter

import pytest

from generation.sources import load_source
from generation.templates.question_file import write_question_file
from tests.collections.folder import COLLECTIONS
from tests.collections.label_reader import check_claim, list_claims, read_records

OPENI = COLLECTIONS / "openi-iu-xray"


@pytest.fixture(scope="module")
def content():
    return load_source("openi-csv", OPENI)


def test_all_records_of_open_i_are_read(content):
    assert (len(content.exams), content.refusals) == (590, ())


def test_the_xml_files_state_the_same_as_the_tables(content):
    exams = {exam.id: exam for exam in content.exams}
    pairs = [(exam, exams[exam.id]) for exam in load_source("openi-xml", OPENI / "ecgen-radiology").exams]
    assert len(pairs) == 15
    for from_xml, from_table in pairs:
        assert from_xml.report.findings == from_table.report.findings
        assert {code.code for code in from_xml.codes} == {code.code for code in from_table.codes}


@pytest.mark.full
def test_an_independent_label_reader_agrees_with_the_keys(content, tmp_path):
    path = tmp_path / "questions.jsonl"
    counts = write_question_file(path, content.exams, seed=1)
    records = read_records(OPENI)
    results: Counter[str] = Counter()
    faults = []
    for line in path.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        record = records[question["exam"]["id"]]
        outcomes = {check_claim(record, *claim) for claim in list_claims(question)}
        outcome = next(value for value in ("contradicts", "undetermined", "agrees") if value in outcomes)
        results[outcome] += 1
        if outcome == "contradicts":
            faults.append((question["id"], question["stem"]))
    assert faults == []
    assert results["agrees"] / results.total() > 0.99
    assert counts.exams == 590
    assert counts.exams - counts.without_questions > 560
