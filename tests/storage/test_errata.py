"""Problems in released questions: who may report them, how they are settled, and the corrected release."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select, text

import cli
from accounts.service import command_line_person
from domain.adjudications import Adjudication, AdjudicationRules, Dispute
from domain.corrections import Correction
from domain.errata import ErratumStatus
from domain.errors import AlreadyThere, InvalidValue, NotAllowed, NotFound, Refused, StaleRevision
from domain.evaluations import AnsweredBy, Condition
from domain.people import Person, Role
from domain.protocols import Protocol
from domain.verdicts import Decision, ErrorKind
from evaluation import service as evaluations
from leaderboard import service as leaderboards
from reader_study import service as studies
from reader_study.release_keys import load_keys
from release import service as release
from release.splits import Split
from review import service as review
from storage.accounts.people import load_person
from storage.engine import make_engine
from storage.rows.audit import AuditRow
from storage.rows.datasets import QuestionRow
from storage.rows.people import PersonRoleRow, PersonRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace
from tests.storage.evaluation_worlds import make_settings
from tests.storage.leaderboard_worlds import (
    BOARD,
    SPLIT,
    add_board,
    add_team,
    copy_leaderboard_world,
    make_leaderboard_world,
    submit,
    write_predictions,
)
from tests.storage.release_helpers import create_release
from tests.storage.study_worlds import SOURCE, StudyWorld, make_design, read_all
from tests.storage.worlds import NOW

BY = command_line_person()
KEY_SECRET = "SECRET-reason: the key is C"
LATER = NOW + timedelta(hours=1)
WRONG_KEY = ErrorKind.WRONG_KEY


def add_reviewer(engine, name) -> Person:
    with unit_of_work(engine) as db:
        row = PersonRow(name=name, display_name=name.title(), created_at=NOW)
        db.add(row)
        db.flush()
        db.add(PersonRoleRow(person_id=row.id, role="reviewer"))
        number = row.id or 0
    with read_only_session(engine) as db:
        return load_person(db, person_id=number)


@pytest.fixture(scope="module")
def template(sqlite_template, tmp_path_factory):
    """The release "v1" of 12 questions, half of them private, which tests copy; ruth judged all."""
    folder = tmp_path_factory.mktemp("template")
    shutil.copyfile(sqlite_template, folder / "overread.sqlite")
    engine = make_engine(f"sqlite:///{folder / 'overread.sqlite'}")
    yield make_leaderboard_world(engine, folder / "home", questions=12)
    engine.dispose()


@pytest.fixture
def board_world(template, tmp_path, monkeypatch):
    yield from copy_leaderboard_world(template, tmp_path, monkeypatch)


pytestmark = pytest.mark.full


@pytest.fixture
def anna(board_world) -> Person:
    """The adjudicator of the batch, who judged nothing."""
    return name_adjudicator(board_world)


def name_adjudicator(world) -> Person:
    person = add_reviewer(world.engine, "anna")
    with unit_of_work(world.engine) as db:
        review.change_adjudication_rules(
            db, by=world.world.people["cora"], batch="first", revision=0, now=NOW,
            rules=AdjudicationRules(adjudicators=("anna", "ruth", "remo")),
        )  # fmt: skip
    return person


def list_split_ids(world):
    """The ids of the public and of the private questions of "v1", sorted."""
    with read_only_session(world.engine) as db:
        keys = list(db.execute(select(QuestionRow.key).order_by(QuestionRow.id)).scalars())
    return [key for key in keys if key not in world.keys], sorted(world.keys)


def find_row_id(world, key):
    with read_only_session(world.engine) as db:
        return db.execute(select(QuestionRow.id).where(QuestionRow.key == key)).scalar_one()


def report(world, question, *, by=None, kind=WRONG_KEY, text="It is on the left.", now=LATER):
    by = by or world.world.people["ruth"]
    with read_only_session(world.engine) as db:
        reportable = release.open_reportable_question(db, by=by, release_id=1, question_id=question)
    with unit_of_work(world.engine) as db:
        return release.report_problem(db, by=by, reported=reportable, kind=kind, text=text, now=now)


def settle(world, person, question, *, reports, decision=Decision.REVISE, revision=1, **changes):
    fields = {"reason": "Seen.", "given_at": LATER + timedelta(hours=1), **changes}
    if decision is Decision.REVISE:
        fields.setdefault("correction", Correction(answer=((world.keys.get(question, 0) + 1) % 3,)))
    with unit_of_work(world.engine) as db:
        return review.adjudicate(
            db,
            person=person,
            report_ids=reports,
            adjudication=Adjudication(
                batch_id=world.world.batch.id, question_row_id=find_row_id(world, question),
                person_id=person.id, decision=decision, revision=revision, **fields,
            ),
        )  # fmt: skip


def list_entries(world, by=BY):
    with read_only_session(world.engine) as db:
        return release.list_errata(db, by=by)


def make_next_release(world, name="v1.1"):
    with unit_of_work(world.engine) as db:
        create_release(
            db, by=BY, dataset="demo", name=name, out=world.home / "releases" / name, split=SPLIT,
            workspace=current_workspace(), now=LATER,
        )  # fmt: skip
    return world.home / "releases" / name


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_study(world, cases=12):
    """Let rea read the cases of the dataset; the study is open."""
    with unit_of_work(world.engine) as db:
        study = studies.create_study(
            db, by=BY, name="study", source=SOURCE, design=make_design(cases), protocol=Protocol(), now=NOW
        )
        studies.assign_readers(db, by=BY, study="study", to=["rea"], now=NOW)
    people = world.world.people
    read_all(StudyWorld(world=world.world, engine=world.engine, people=people, study=study))


def search(world, by):
    with read_only_session(world.engine) as db:
        matches = release.search_reportable_questions(db, by=by, release_id=1, text="")
    return [match.question_id for match in matches]


def test_a_report_is_stored_once_with_the_released_question_and_an_audit_entry(board_world):
    public = list_split_ids(board_world)[0][0]
    first = report(board_world, public)
    assert report(board_world, public) == first  # a second click
    with pytest.raises(AlreadyThere, match="It is on the left"):
        report(board_world, public, text="Something else.")
    second = report(board_world, public, kind=ErrorKind.WORDING)
    assert second != first
    entries = list_entries(board_world)
    assert [(entry.report.id, entry.status) for entry in entries] == [
        (second, ErratumStatus.OPEN), (first, ErratumStatus.OPEN),
    ]  # fmt: skip
    assert entries[0].report.released.id == public
    with read_only_session(board_world.engine) as db:
        rows = db.execute(select(AuditRow.subject).where(AuditRow.what == "report problem")).scalars().all()
    assert rows == [f"release 1 question {find_row_id(board_world, public)}"] * 2


def test_a_stored_report_that_lacks_a_newer_field_of_questions_is_read(board_world):
    report(board_world, list_split_ids(board_world)[0][0])
    with unit_of_work(board_world.engine) as db:
        db.execute(text(
            "INSERT INTO erratum_report (release_id, question_id, side, kind, text, released, reported_by, "
            "reported_at) SELECT release_id, question_id, side, 'wording', text, "
            "json_remove(released, '$.subcategory'), reported_by, reported_at FROM erratum_report"
        ))  # fmt: skip
    older, newer = (entry.report.released for entry in list_entries(board_world))
    assert older == replace(newer, subcategory=None)


def test_reports_are_append_only(board_world):
    report(board_world, list_split_ids(board_world)[0][0])
    for statement in ("UPDATE erratum_report SET text = 'x'", "DELETE FROM erratum_report"):
        with pytest.raises(AlreadyThere, match="append-only"), unit_of_work(board_world.engine) as db:
            db.execute(text(statement))


def test_only_people_with_access_to_a_question_report_it(board_world):
    people, public = board_world.world.people, list_split_ids(board_world)[0][0]
    for person in (people["remo"], people["rea"]):  # they have neither judged nor read a question
        with pytest.raises(NotFound, match="no question"):
            report(board_world, public, by=person)
        with read_only_session(board_world.engine) as db:
            assert release.list_reportable_releases(db, by=person) == []
            assert release.search_reportable_questions(db, by=person, release_id=1, text="") == []
    for role in (Role.ADMIN, Role.SUBMITTER):
        with pytest.raises(NotAllowed):
            report(board_world, public, by=Person(id=99, name="x", display_name="X", roles=frozenset({role})))
    report(board_world, public, by=people["cora"])
    with pytest.raises(NotFound, match="no question"):
        report(board_world, "no such id")


@pytest.mark.parametrize("words", ["", " \n", "x" * 2_001, "a\x00b"])
def test_invalid_descriptions_are_refused(board_world, words):
    with pytest.raises(InvalidValue, match="description"):
        report(board_world, list_split_ids(board_world)[0][0], text=words)


def test_a_changed_release_is_refused(board_world):
    cora = board_world.world.people["cora"]
    public, private = (side[0] for side in list_split_ids(board_world))
    for path, question in ((board_world.release / "gold.jsonl", public),
                           (board_world.home / "releases" / "v1-keys" / "keys.jsonl", private)):  # fmt: skip
        path.write_bytes(path.read_bytes() + b"\n")
        with pytest.raises(InvalidValue, match="SHA-256"):
            report(board_world, question, by=cora)
        with pytest.raises(NotFound) as refusal:  # a reviewer sees no path of the server
            report(board_world, question)
        assert str(board_world.home) not in str(refusal.value)
    manifest = board_world.release / "manifest.json"
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    with pytest.raises(Refused, match="changed after its creation"):
        report(board_world, public, by=cora)


def test_a_reader_reports_after_the_study_is_closed_and_sees_no_key(board_world, anna):
    rea, question = board_world.world.people["rea"], list_split_ids(board_world)[0][0]
    read_study(board_world)
    with pytest.raises(NotFound):
        report(board_world, question, by=rea)
    with unit_of_work(board_world.engine) as db:
        studies.close_study(db, by=BY, study="study", now=LATER)
    assert len(search(board_world, rea)) == 12
    with read_only_session(board_world.engine) as db:
        reportable = release.open_reportable_question(db, by=rea, release_id=1, question_id=question)
    assert not reportable.shows_key
    report_id = report(board_world, question, by=rea)
    settle(board_world, anna, question, reports=[report_id], correction=Correction(stem="?"))
    with read_only_session(board_world.engine) as db:
        (entry,) = release.list_errata(db, by=rea)
    assert (entry.status, entry.changes, entry.settled_at is None) == (None, (), False)


def test_an_adjudicator_settles_a_report_in_a_question_with_one_verdict(board_world, anna):
    public = list_split_ids(board_world)[0]
    number = find_row_id(board_world, public[0])
    with read_only_session(board_world.engine) as db, pytest.raises(Refused, match="Fewer than two"):
        review.open_dispute(db, person=anna, batch_id=1, question_row_id=number)
    first = report(board_world, public[0])
    with read_only_session(board_world.engine) as db:
        (dispute,) = review.list_disputes(db, person=anna, batch_id=1)
        sheet = review.open_dispute(db, person=anna, batch_id=1, question_row_id=number)
        assert review.count_open_disputes(db, by=BY) == 1
    assert (dispute.question_id, dispute.kinds, dispute.is_open) == (public[0], {Dispute.REPORTED}, True)
    assert [stored_report.id for stored_report in sheet.reports] == [first]
    assert {"stem", "options", "answer", "explanation"} <= {
        difference.field for difference in sheet.differences
    }
    with pytest.raises(StaleRevision, match="reported in the meantime"):
        settle(board_world, anna, public[0], reports=())
    settle(board_world, anna, public[0], reports=[first], correction=Correction(stem="Better?"))
    (entry,) = list_entries(board_world)
    assert (entry.status, entry.reason) == (ErratumStatus.CORRECTED, "Seen.")
    assert [(change.field, change.after) for change in entry.changes] == [("stem", "Better?")]
    with read_only_session(board_world.engine) as db:
        assert review.count_open_disputes(db, by=BY) == 0
        assert not review.list_disputes(db, person=anna, batch_id=1)[0].is_open


def test_reviewers_of_the_question_and_its_reporter_may_not_settle_the_report(board_world, anna):
    people, question = board_world.world.people, list_split_ids(board_world)[0][0]
    report_id = report(board_world, question, by=people["cora"])
    with pytest.raises(NotAllowed, match="judged this question"):
        settle(board_world, people["ruth"], question, reports=[report_id])
    with unit_of_work(board_world.engine) as db:
        db.add(PersonRoleRow(person_id=anna.id, role="coordinator"))
    with read_only_session(board_world.engine) as db:
        anna = load_person(db, person_id=anna.id)
    own_report_id = report(board_world, question, by=anna)
    with pytest.raises(NotAllowed, match="reported a problem"):
        settle(board_world, anna, question, reports=[report_id, own_report_id])
    with read_only_session(board_world.engine) as db:
        assert review.list_disputes(db, person=anna, batch_id=1) == []


def test_reports_are_corrected_withdrawn_or_rejected_and_a_later_one_reopens_the_dispute(board_world, anna):
    one, two, three = list_split_ids(board_world)[0][:3]
    report_ids = [report(board_world, question) for question in (one, two, three)]
    settle(board_world, anna, one, reports=[report_ids[0]], correction=Correction(stem="Better?"))
    settle(board_world, anna, two, reports=[report_ids[1]], decision=Decision.REJECT)
    settle(board_world, anna, three, reports=[report_ids[2]], decision=Decision.ACCEPT)
    assert [entry.status for entry in reversed(list_entries(board_world))] == [
        ErratumStatus.CORRECTED, ErratumStatus.WITHDRAWN, ErratumStatus.REJECTED,
    ]  # fmt: skip
    late = LATER + timedelta(days=1)
    second_report_id = report(board_world, three, kind=ErrorKind.WORDING, now=late)
    assert [entry.status for entry in list_entries(board_world)][:2] == [
        ErratumStatus.OPEN, ErratumStatus.REJECTED,
    ]  # fmt: skip
    with read_only_session(board_world.engine) as db:
        assert [d.question_id for d in review.list_disputes(db, person=anna, batch_id=1) if d.is_open] == [
            three
        ]
    settle(
        board_world, anna, three, reports=[second_report_id], revision=2, given_at=late + timedelta(hours=1),
        correction=Correction(stem="Best?"),
    )  # fmt: skip
    assert list_entries(board_world)[0].status is ErratumStatus.CORRECTED


def test_the_release_has_the_public_errata_and_the_folder_of_keys_the_private_ones(board_world, anna):
    public, private = list_split_ids(board_world)
    public_report_id, private_report_id = report(board_world, public[0]), report(board_world, private[0])
    report(board_world, public[1])  # stays open
    settle(board_world, anna, public[0], reports=[public_report_id], correction=Correction(stem="Better?"))
    settle(board_world, anna, private[0], reports=[private_report_id], reason=KEY_SECRET)
    folder = make_next_release(board_world)
    (record,) = read_lines(folder / "errata.jsonl")
    assert (record["question_id"], record["release"], record["outcome"]) == (public[0], "v1", "corrected")
    assert record["changes"][0]["after"] == "Better?"
    assert "ruth" not in json.dumps(record)
    (secret,) = read_lines(folder.with_name("v1.1-keys") / "errata.jsonl")
    assert (secret["question_id"], secret["reason"]) == (private[0], KEY_SECRET)
    assert secret["changes"][0]["field"] == "answer"
    for path in folder.rglob("*"):
        assert not path.is_file() or KEY_SECRET.encode() not in path.read_bytes(), path
    assert release.verify_release(folder).ok
    assert not (board_world.release / "errata.jsonl").exists()


def test_a_withdrawn_private_question_reveals_nothing_in_the_public_errata(board_world, anna):
    private = list_split_ids(board_world)[1]
    report_id = report(board_world, private[0])
    settle(board_world, anna, private[0], reports=[report_id], decision=Decision.REJECT)
    folder = make_next_release(board_world)
    assert not (folder / "errata.jsonl").exists()
    (record,) = read_lines(folder.with_name("v1.1-keys") / "errata.jsonl")
    assert (record["question_id"], record["outcome"]) == (private[0], "withdrawn")


def test_later_reports_do_not_change_a_release_of_the_same_adjudications(board_world, anna, tmp_path):
    public = list_split_ids(board_world)[0]
    report_id = report(board_world, public[0])
    settle(board_world, anna, public[0], reports=[report_id], correction=Correction(stem="Better?"))
    folder = make_next_release(board_world)
    report(board_world, public[1])
    with read_only_session(board_world.engine) as db:
        second_release = release.write_release(
            db, by=BY, dataset="demo", name="v1.1", out=tmp_path / "again", split=SPLIT,
            workspace=current_workspace(),
        )  # fmt: skip
    for path in (path for path in folder.rglob("*") if path.is_file()):
        assert (second_release.folder / path.relative_to(folder)).read_bytes() == path.read_bytes(), path


def test_readers_do_not_learn_the_outcome_of_private_questions(board_world, anna):
    rea, question = board_world.world.people["rea"], list_split_ids(board_world)[1][0]
    read_study(board_world)
    with unit_of_work(board_world.engine) as db:
        studies.close_study(db, by=BY, study="study", now=LATER)
    report_id = report(board_world, question, by=rea)
    settle(board_world, anna, question, reports=[report_id], reason=KEY_SECRET)
    (entry,) = list_entries(board_world, rea)
    assert (entry.status, entry.reason, entry.changes) == (None, "", ())
    (entry,) = list_entries(board_world, BY)
    assert (entry.status, entry.reason) == (ErratumStatus.CORRECTED, KEY_SECRET)


def test_the_comparison_has_the_corrected_keys_of_private_questions(board_world, anna):
    private = list_split_ids(board_world)[1]
    report_id = report(board_world, private[0])
    settle(board_world, anna, private[0], reports=[report_id])
    make_next_release(board_world)
    with read_only_session(board_world.engine) as db:
        comparison = release.compare_recorded_releases(db, by=BY, old_id=1, new_id=2)
    old_key = board_world.keys[private[0]]
    assert comparison.sentence == "v1.1 compared with v1: 1 key changed; 11 unchanged"
    (change,) = comparison.changes
    assert (change.question_id, change.field) == (private[0], "answer")
    assert (change.before, change.after) == ([old_key], [(old_key + 1) % 3])


def test_submissions_are_scored_again_on_the_corrected_release(board_world, anna, tmp_path):
    """6 private questions, all answered with the former keys: 6 of 6, and 5 of 6 after one correction."""
    add_board(board_world.engine)
    add_team(board_world.engine, "A", "sam")
    path = write_predictions(tmp_path / "predictions.jsonl", board_world.keys)
    submit(board_world.engine, path, team="A")
    private = list_split_ids(board_world)[1]
    report_id = report(board_world, private[0])
    settle(board_world, anna, private[0], reports=[report_id])
    make_next_release(board_world)
    with unit_of_work(board_world.engine) as db:
        leaderboards.change_release(db, by=BY, leaderboard=BOARD, release="v1.1", now=LATER)
    with read_only_session(board_world.engine) as db:
        scores = [
            leaderboards.load_standings(db, by=BY, leaderboard=BOARD, version=version).rows[0].score.correct
            for version in (1, 2)
        ]
    assert scores == [6, 5]


def correct_and_withdraw(world, anna):
    """Release "v1.1": of two private questions with key 1, one gets key 2, and the other is withdrawn."""
    corrected, withdrawn = [key for key in sorted(world.keys) if world.keys[key] == 1][:2]
    report_ids = [report(world, key) for key in (corrected, withdrawn)]
    settle(world, anna, corrected, reports=[report_ids[0]], correction=Correction(answer=(2,)))
    settle(world, anna, withdrawn, reports=[report_ids[1]], decision=Decision.REJECT)
    make_next_release(world)


def test_an_evaluation_is_scored_again_with_the_keys_of_the_corrected_release(board_world, anna, tmp_path):
    """6 private questions, 2 with key 1, all answered 1: 2 of 6 before; none of 5 with the new keys."""
    assert sum(key == 1 for key in board_world.keys.values()) == 2
    settings = make_settings(split=Split.PRIVATE, conditions=(Condition.AS_GIVEN, Condition.SHUFFLED))
    path = tmp_path / "answers.jsonl"
    with unit_of_work(board_world.engine) as db:
        evaluations.plan_without_endpoint(
            db, by=BY, settings=settings, answered_by=AnsweredBy.FILE, model="Net", now=NOW
        )
        write_predictions(path, dict.fromkeys(board_world.keys, 1))
        evaluations.import_answers(db, by=BY, name="qwen", condition=Condition.AS_GIVEN, path=path, now=NOW)
    correct_and_withdraw(board_world, anna)
    counts = []
    for name in (None, "v1", "v1.1"):
        with unit_of_work(board_world.engine) as db:
            _, results = evaluations.open_results(db, by=BY, name="qwen", release=name, now=NOW)
        counts.append((results.accuracies[0].correct, results.accuracies[0].n))
    assert counts == [(2, 6), (2, 6), (0, 5)]
    with unit_of_work(board_world.engine) as db, pytest.raises(NotFound, match="no release 'v3'"):
        evaluations.open_results(db, by=BY, name="qwen", release="v3", now=NOW)


def test_a_study_is_scored_again_with_the_keys_of_the_corrected_release(board_world, anna):
    """The counts of the 12 cases equal those computed from the answers and the keys of each release."""
    read_study(board_world)
    with read_only_session(board_world.engine) as db:
        digest = studies.load_report_digest(db, by=BY, study="study")
    correct_and_withdraw(board_world, anna)
    counts, digests = [], []
    for name in (None, "v1", "v1.1"):
        with read_only_session(board_world.engine) as db:
            digests.append(studies.load_report_digest(db, by=BY, study="study", release=name))
            study_report = studies.load_or_compute_report(db, by=BY, study="study", release=name)
        (row,) = [row for row in study_report.tables.accuracy if row.group == "all"]
        counts.append((row.correct, row.n))
    with read_only_session(board_world.engine) as db:
        data = studies.load_report_data(db, by=BY, study="study")
    ids = {case.blind_case.id: case.blind_case.question_id for case in data.cases}
    answers = {ids[reading.key.case_id]: reading.answer for reading in data.readings}
    expected = []
    for name in ("v1", "v1", "v1.1"):
        keys = load_keys(board_world.home / "releases" / name)
        expected.append(
            (sum(answers[key] == keyed.question.answer for key, keyed in keys.items()), len(keys))
        )
    assert counts == expected
    assert [n for _, n in counts] == [12, 12, 11]
    assert digests[0] == digest
    assert len(set(digests)) == 3
    assert study_report.facts.source.endswith("with the answer keys of release v1.1")
    assert [exclusion.why for exclusion in study_report.tables.exclusions] == ["is not in release v1.1"]
    with read_only_session(board_world.engine) as db, pytest.raises(NotFound, match="no release 'v3'"):
        studies.load_report_data(db, by=BY, study="study", release="v3")


def test_answers_to_a_question_whose_stem_was_corrected_are_not_scored(board_world, anna, tmp_path):
    """The new stem asks for the other side: study and evaluation exclude it, the leaderboard refuses."""
    read_study(board_world)
    add_board(board_world.engine)
    path = write_predictions(tmp_path / "answers.jsonl", board_world.keys)
    with unit_of_work(board_world.engine) as db:
        evaluations.plan_without_endpoint(
            db, by=BY, settings=make_settings(split=Split.PRIVATE), answered_by=AnsweredBy.FILE, model="Net",
            now=NOW,
        )  # fmt: skip
        evaluations.import_answers(db, by=BY, name="qwen", condition=Condition.AS_GIVEN, path=path, now=NOW)
    question = sorted(board_world.keys)[0]
    report_id = report(board_world, question, kind=ErrorKind.WORDING)
    settle(board_world, anna, question, reports=[report_id], correction=Correction(stem="On the other side?"))
    make_next_release(board_world)
    with read_only_session(board_world.engine) as db:
        study_report = studies.load_or_compute_report(db, by=BY, study="study", release="v1.1")
    assert [exclusion.why for exclusion in study_report.tables.exclusions] == [
        "has another stem or other options in release v1.1"
    ]
    with unit_of_work(board_world.engine) as db:
        _, results = evaluations.open_results(db, by=BY, name="qwen", release="v1.1", now=NOW)
    assert results.accuracies[0].n == 5
    with unit_of_work(board_world.engine) as db, pytest.raises(Refused, match="with a new id, stem"):
        leaderboards.change_release(db, by=BY, leaderboard=BOARD, release="v1.1", now=LATER)


def test_reports_are_searched_stored_and_settled_on_either_database(engine, tmp_path):
    world = make_leaderboard_world(engine, tmp_path, questions=4)
    people = world.world.people
    question = sorted({*search(world, people["ruth"])} - set(world.keys))[0]
    assert search(world, people["remo"]) == search(world, people["rea"]) == []
    read_study(world, cases=4)
    assert search(world, people["rea"]) == []
    with unit_of_work(engine) as db:
        studies.close_study(db, by=BY, study="study", now=LATER)
    assert len(search(world, people["rea"])) == 4
    anna = name_adjudicator(world)
    report_id = report(world, question, by=people["rea"])
    settle(world, anna, question, reports=[report_id], correction=Correction(stem="Better?"))
    assert [entry.status for entry in list_entries(world)] == [ErratumStatus.CORRECTED]


def test_the_commands_report_and_list(board_world, capsys, tmp_path):
    question = list_split_ids(board_world)[0][0]
    arguments = [
        "errata",
        "report",
        "demo",
        "v1",
        question,
        "--kind",
        "wrong key",
        "--text",
        "Left, not right.",
    ]
    assert cli.main(arguments) == 0
    assert cli.main(["errata", "list"]) == 0
    out = capsys.readouterr().out
    assert "Left, not right.\topen" in out
    assert "1 report, 1 open." in out
    assert cli.main(["errata", "list", "--csv", str(tmp_path / "errata.csv")]) == 0
    assert "Left, not right." in (tmp_path / "errata.csv").read_text(encoding="utf-8")
    assert cli.main([*arguments[:4], "nothing", *arguments[5:]]) == 1
    assert "no question 'nothing'" in capsys.readouterr().err
