"""Near-duplicates in a workspace: found within exams, marked by a check; marking is refused above a limit."""

from datetime import timedelta

import pytest

import cli
from accounts.service import command_line_person
from domain.checks import CHECKS, Check
from domain.errors import NotAllowed, NotFound, Refused
from domain.language_models import DataUse, Endpoint
from domain.people import Person, Role
from language_models.service.endpoints import save_endpoint
from quality.duplicates.search import SearchSettings
from quality.service import (
    draw_calibration,
    find_duplicates,
    find_repeated_wordings,
    iterate_problems_csv,
    judge_pair,
    list_results,
    load_calibration,
    load_check_report,
    load_embedder,
    mark_duplicates,
    store_calibration,
)
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.embedding_server import running_server
from tests.storage.import_worlds import NOW, Importer, make_record, to_json_lines

BY = command_line_person()
STEM = "Is there a pleural effusion on the left side?"


def make_closed_question(number, stem=STEM, answer="yes", *, exam=1, **fields):
    radiographs = [{"id": "pa", "file": "pa.png", "view": "PA"}]
    return make_record(
        number,
        exam={"id": f"e-{exam}", "radiographs": radiographs},
        format="closed",
        stem=stem,
        options=...,
        answer=answer,
        **fields,
    )


@pytest.fixture
def importer(engine, tmp_path):
    return Importer(engine, tmp_path)


def find(importer, **options):
    return find_duplicates(
        by=BY, dataset="d", read_session=lambda: read_only_session(importer.engine), **options
    )


def mark(importer, report, **options):
    with unit_of_work(importer.engine) as db:
        mark_duplicates(db, by=BY, report=report, now=NOW, **options)


def load_problems(importer, check):
    with read_only_session(importer.engine) as db:
        return list(iterate_problems_csv(db, by=BY, dataset="d", check=check))[1:]


@pytest.fixture
def filled_importer(importer):
    importer(
        to_json_lines(
            make_closed_question(1, explanation="A short explanation of it."),
            make_closed_question(2, STEM.upper(), explanation="A longer explanation of the same question."),
            make_closed_question(3, STEM.replace("left", "right")),
            make_closed_question(4, STEM.replace("a pleural", "no pleural"), answer="no"),
            make_closed_question(5, exam=2),
            make_closed_question(6, "Is there a pneumothorax?", exam=2),
            make_closed_question(7, "Is there any pneumothorax?", answer="no", exam=2),
        )
    )
    return importer


def test_only_the_same_question_of_the_same_exam_is_marked(filled_importer):
    report = find(filled_importer)
    assert report.questions == 7
    assert [share.marked for share in report.shares if share.kind == "all"] == [1]
    mark(filled_importer, report)
    (line,) = load_problems(filled_importer, Check.DUPLICATE)
    assert "asks the same as question" in line
    assert line.startswith("q-1,")  # question 2 stays: its explanation is longer


def test_a_copy_in_another_dataset_of_the_same_exam_is_not_compared(filled_importer):
    """Hidden questions are such copies, with another key."""
    with unit_of_work(filled_importer.engine) as db:
        db.add(DatasetRow(id=2, name="hidden", created_at=NOW))
        db.flush()
        question = db.get(QuestionRow, 3)
        db.add(QuestionRow(**question.model_dump() | {"id": 100, "dataset_id": 2, "answer": '"no"'}))
    report = find(filled_importer)
    assert report.questions == 7
    assert not [pair for pair in report.contradictions if 100 in pair[:2]]


def test_both_questions_of_a_contradiction_are_listed_and_none_is_marked_as_a_duplicate(filled_importer):
    mark(filled_importer, find(filled_importer))
    lines = load_problems(filled_importer, Check.CONTRADICTION)
    assert len(lines) == 2
    assert all("contradicts the answer key of the same question" in line for line in lines)


def test_marking_switches_the_checks_on_and_covers_the_questions_of_the_search(filled_importer):
    report = find(filled_importer)
    filled_importer(to_json_lines(make_closed_question(8, exam=3)))  # imported after the search
    mark(filled_importer, report)
    with read_only_session(filled_importer.engine) as db:
        lines = {line.check: line for line in load_check_report(db, by=BY, dataset="d").lines}
    line = lines[Check.DUPLICATE]
    assert (line.state.is_on, line.with_problem, line.passed, line.not_run) == (True, 1, 6, 1)


def test_marking_again_replaces_the_marks(filled_importer):
    mark(filled_importer, find(filled_importer))
    mark(filled_importer, find(filled_importer))
    assert len(load_problems(filled_importer, Check.DUPLICATE)) == 1


def test_nothing_is_stored_above_the_limit(importer):
    importer(to_json_lines(*(make_closed_question(n, exam=n // 2) for n in range(1, 41))))
    report = find(importer)
    with pytest.raises(Refused, match="19 of 40 questions of the dataset would be marked"):
        mark(importer, report)
    assert load_problems(importer, Check.DUPLICATE) == []
    mark(importer, report, limit=0.5)
    assert len(load_problems(importer, Check.DUPLICATE)) == 19


def test_a_report_without_duplicates_marks_nothing(importer):
    importer(to_json_lines(make_closed_question(1)))
    report = find(importer)
    assert (report.marks, report.contradictions) == ((), ())
    mark(importer, report)
    assert load_problems(importer, Check.DUPLICATE) == []


def test_a_dataset_that_does_not_exist_is_refused(importer):
    importer(to_json_lines(make_closed_question(1)))
    with pytest.raises(NotFound):
        find_duplicates(by=BY, dataset="x", read_session=lambda: read_only_session(importer.engine))


def test_a_reviewer_may_neither_search_nor_mark(filled_importer):
    reviewer = Person(id=9, name="r", display_name="R", roles=frozenset({Role.REVIEWER}))
    report = find(filled_importer)
    with pytest.raises(NotAllowed):
        find_duplicates(
            by=reviewer, dataset="d", read_session=lambda: read_only_session(filled_importer.engine)
        )
    with unit_of_work(filled_importer.engine) as db, pytest.raises(NotAllowed):
        mark_duplicates(db, by=reviewer, report=report, now=NOW)


def test_wordings_are_compared_across_exams(filled_importer):
    count, pairs = find_repeated_wordings(
        by=BY, names=["d"], read_session=lambda: read_only_session(filled_importer.engine)
    )
    assert count == 5  # the effusion left (three times), right and negated; two about the pneumothorax
    assert pairs == []
    with read_only_session(filled_importer.engine) as db:
        assert list_results(db, by=BY, question_row_id=1)
    assert CHECKS[Check.DUPLICATE].on_by_default is False


@pytest.mark.slow
def test_the_command_shows_shares_and_marks(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    file = tmp_path / "q.jsonl"
    file.write_bytes(
        to_json_lines(make_closed_question(1), make_closed_question(2), make_closed_question(3, answer="no"))
    )
    assert cli.main(["import", "questions", str(file), "--dataset", "d", "--without-images"]) == 0
    assert cli.main(["duplicates", "find", "d"]) == 0
    output = capsys.readouterr().out
    assert "d: 3 questions compared within their exams." in output
    assert "asks the same as" in output
    assert "Contradicting keys: 2 pairs." in output
    assert cli.main(["duplicates", "mark", "d"]) == 0
    assert "1 question marked as near-duplicate, 2 pairs as contradicting." in capsys.readouterr().out
    assert cli.main(["duplicates", "wordings", "d"]) == 0
    assert "2 wordings, 0 pairs" in capsys.readouterr().out


@pytest.fixture
def importer_with_pairs(importer):
    stems = ("Is there a pneumothorax?", "Is a pneumothorax present?", "Does the film show a pneumothorax?")
    importer(to_json_lines(*(make_closed_question(n, stem, exam=n) for n, stem in enumerate(stems, start=1))))
    draw_and_store(importer)
    return importer


def draw_and_store(importer, *, now=NOW):
    pairs = draw_calibration(
        by=BY, dataset="d", seed=1, read_session=lambda: read_only_session(importer.engine)
    )
    with unit_of_work(importer.engine) as db:
        store_calibration(db, by=BY, dataset="d", embedding="lexical 3-4", pairs=pairs, now=now)


def load(importer):
    with read_only_session(importer.engine) as db:
        return load_calibration(db, by=BY, dataset="d")


def judge(importer, pair_id, is_same):
    with unit_of_work(importer.engine) as db:
        judge_pair(db, by=BY, dataset="d", pair_id=pair_id, is_same=is_same, now=NOW)


def test_a_judgement_leads_to_the_next_pair_and_can_be_undone(importer_with_pairs):
    before = load(importer_with_pairs)
    assert (len(before.pairs), before.judged) == (3, 0)
    judge(importer_with_pairs, before.pairs[0].id, True)
    assert load(importer_with_pairs).next_pair == before.pairs[1]
    judge(importer_with_pairs, before.pairs[0].id, None)
    assert load(importer_with_pairs) == before


def test_all_judgements_give_an_estimate(importer_with_pairs):
    for pair in load(importer_with_pairs).pairs:
        judge(importer_with_pairs, pair.id, pair.similarity > 0.6)
    after = load(importer_with_pairs)
    wrong = sum(pair.similarity <= 0.6 for pair in after.pairs)
    assert after.next_pair is None
    assert after.estimates[0].rate == pytest.approx(wrong / 3)


def test_another_draw_replaces_the_pairs(importer_with_pairs):
    judge(importer_with_pairs, load(importer_with_pairs).pairs[0].id, True)
    draw_and_store(importer_with_pairs, now=NOW + timedelta(minutes=1))
    assert (len(load(importer_with_pairs).pairs), load(importer_with_pairs).judged) == (3, 0)


def test_a_pair_of_another_dataset_is_not_judged(importer_with_pairs):
    with pytest.raises(NotFound, match="has no pair 99"):
        judge(importer_with_pairs, 99, True)


def test_a_dataset_without_similar_wordings_has_nothing_to_judge(importer):
    importer(to_json_lines(make_closed_question(1)))
    with pytest.raises(Refused, match="Nothing to judge"):
        draw_and_store(importer)
    assert load(importer).pairs == ()


@pytest.mark.slow
def test_the_model_of_an_endpoint_gives_the_similarity_if_the_dataset_permits_it(importer, filled_importer):
    with running_server() as (url, received):
        with unit_of_work(importer.engine) as db:
            for name, address, use in (
                ("here", url, DataUse.LOCAL),
                ("elsewhere", "https://models.example/v1", DataUse.REMOTE),
            ):
                endpoint = Endpoint(name=name, url=address, model="vectors", data_use=use)
                save_endpoint(db, by=BY, endpoint=endpoint, now=NOW)
            embedder = load_embedder(db, by=BY, endpoint="here", names=["d"])
            with pytest.raises(Refused):
                load_embedder(db, by=BY, endpoint="elsewhere", names=["d"])
            with pytest.raises(NotFound):
                load_embedder(db, by=BY, endpoint="nowhere", names=["d"])
        report = find(importer, settings=SearchSettings(embedder=embedder))
    assert [mark.question for mark in report.marks] == [mark.question for mark in find(importer).marks]
    assert report.settings["embedding"] == "model vectors"
    assert received
