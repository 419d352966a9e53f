"""Leaderboards: quotas, receipts, the Ladder, ranks, reference rows and what each person may see."""

from __future__ import annotations

import hashlib
import json
import resource
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from openpyxl import Workbook
from sqlalchemy import select, update

from domain.errors import AlreadyThere, InvalidValue, NotAllowed, NotFound, NotNow, Refused, StaleRevision
from domain.evaluations import AnsweredBy, Condition
from domain.leaderboards import ModelAccess, Quotas, QuotaUse, ReferenceKind
from domain.people import Role
from domain.protocols import Protocol
from domain.studies import Arm, Crossing
from evaluation import service as evaluations
from intake import guarded_process
from leaderboard import service as leaderboards
from leaderboard.site import write_site
from reader_study import service as studies
from release.folder import hash_file
from release.splits import Split
from storage.engine import make_engine
from storage.leaderboard import boards
from storage.reader_study.cases import list_cases
from storage.reader_study.readings import iterate_readings
from storage.rows.audit import AuditRow
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.rows.studies import ReaderStudyRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.backup_worlds import make_workspace
from tests.storage.evaluation_worlds import make_settings
from tests.storage.leaderboard_worlds import (
    BOARD,
    BY,
    SPLIT,
    add_board,
    add_team,
    answer_with_errors,
    copy_leaderboard_world,
    make_details,
    make_leaderboard_world,
    submit,
    write_predictions,
)
from tests.storage.release_helpers import create_release
from tests.storage.study_worlds import SOURCE, StudyWorld, make_design, read_all
from tests.storage.worlds import NOW


@pytest.fixture(scope="module")
def template(sqlite_template, tmp_path_factory):
    """A release with private questions, which tests copy."""
    folder = tmp_path_factory.mktemp("template")
    shutil.copyfile(sqlite_template, folder / "overread.sqlite")
    engine = make_engine(f"sqlite:///{folder / 'overread.sqlite'}")
    yield make_leaderboard_world(engine, folder / "home")
    engine.dispose()


@pytest.fixture
def world(template, tmp_path, monkeypatch):
    yield from copy_leaderboard_world(template, tmp_path, monkeypatch)


@pytest.fixture
def anna(world):
    """A member of the team "A" of a leaderboard without Ladder."""
    add_board(world.engine)
    return add_team(world.engine, "A", "anna")["anna"]


pytestmark = pytest.mark.full


def make_file(world, tmp_path, is_wrong=lambda _: False, name="predictions.jsonl"):
    return write_predictions(tmp_path / name, answer_with_errors(world, is_wrong))


def load_status(world, by, board=BOARD, now=NOW):
    with read_only_session(world.engine) as db:
        return leaderboards.load_team_status(db, by=by, leaderboard=board, now=now)


def load_standings(world, board=BOARD, by=BY):
    with read_only_session(world.engine) as db:
        return leaderboards.load_standings(db, by=by, leaderboard=board)


def test_a_receipt_states_the_hashes_the_score_and_what_is_left(world, anna, tmp_path):
    path = make_file(world, tmp_path, lambda position: position < 6)
    receipt = submit(world.engine, path, by=anna)
    plain = json.loads(receipt.to_json())
    keys_sha256, _ = hash_file(world.release.with_name("v1-keys") / "keys.jsonl")
    assert (plain["file_sha256"], plain["file_bytes"]) == hash_file(path)
    assert plain["manifest_sha256"] == hash_file(world.release / "manifest.json")[0]
    assert plain["keys_sha256"] == keys_sha256
    n = len(world.keys)
    assert (plain["score"]["correct"], plain["score"]["n"]) == (n - 6, n)
    assert plain["remaining"] == {"day": 4, "month": 7, "total": 9}
    content = {key: value for key, value in plain.items() if key not in ("receipt_sha256", "remaining")}
    canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert plain["receipt_sha256"] == hashlib.sha256(canonical.encode()).hexdigest()


def test_the_score_equals_the_output_of_the_score_command(world, anna, tmp_path, capsys):
    import cli

    path = make_file(world, tmp_path, lambda position: position % 4 == 0)
    score = submit(world.engine, path, by=anna).score
    out = tmp_path / "score.json"
    assert cli.main(["score", str(path), "--release", str(world.release), "--out", str(out)]) == 0
    [overall] = [
        item for item in json.loads(out.read_text())["scores"]
        if item["side"] == "private" and item["by"] == "overall (micro)"
    ]  # fmt: skip
    assert (score.correct, score.n) == (overall["correct"], overall["n"])
    assert (score.low, score.high) == pytest.approx((overall["clustered_low"], overall["clustered_high"]))


def test_an_invalid_file_is_not_charged_and_its_invalid_lines_are_reported(world, anna, tmp_path):
    answers = answer_with_errors(world, lambda _: False)
    first = next(iter(answers))
    path = write_predictions(tmp_path / "predictions.jsonl", answers)
    path.write_text(path.read_text().replace(f'"{first}"', '"nowhere"'))
    with read_only_session(world.engine) as db:
        checked = leaderboards.check_submission(db, by=anna, leaderboard=BOARD, path=path, now=NOW)
    [refusal] = checked.refusals
    assert (refusal.record, refusal.reason) == (
        "1", "'nowhere' is not a question of the private split of the release"
    )  # fmt: skip
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="Nothing was charged"):
        leaderboards.record_submission(db, by=anna, checked=checked, details=make_details(), now=NOW)
    assert load_status(world, anna).remaining == QuotaUse(day=5, month=8, total=10)


def test_a_file_without_an_answer_to_each_question_is_refused(world, anna, tmp_path):
    answers = answer_with_errors(world, lambda _: False)
    left_out = answers.popitem()[0]
    path = write_predictions(tmp_path / "predictions.jsonl", answers)
    with read_only_session(world.engine) as db:
        checked = leaderboards.check_submission(db, by=anna, leaderboard=BOARD, path=path, now=NOW)
    [refusal] = checked.refusals
    assert refusal.reason == f"{left_out!r} has no answer (1 of {len(world.keys)} questions has none)"


def test_reading_stops_after_100_invalid_lines(world, anna, tmp_path):
    answers = {f"unknown {number}": 0 for number in range(150)}
    path = write_predictions(tmp_path / "predictions.jsonl", answers)
    with read_only_session(world.engine) as db:
        checked = leaderboards.check_submission(db, by=anna, leaderboard=BOARD, path=path, now=NOW)
    assert [refusal.record for refusal in checked.refusals] == [str(line) for line in range(1, 101)]


def test_a_file_that_takes_too_long_is_not_charged(world, anna, tmp_path, monkeypatch):
    monkeypatch.setattr(guarded_process, "_BASE_SECONDS", 0)
    path = make_file(world, tmp_path)
    with (
        read_only_session(world.engine) as db,
        pytest.raises(Refused, match="Not submitted, nothing was charged"),
    ):
        leaderboards.check_submission(db, by=anna, leaderboard=BOARD, path=path, now=NOW)
    assert load_status(world, anna).remaining == QuotaUse(day=5, month=8, total=10)


def make_workbook_bomb(path: Path) -> Path:
    """A workbook of less than 8 MB whose sheet has 800 MB of XML."""
    workbook = Workbook()
    workbook.active.append(["index", "question", "prediction"])
    small = path.with_name("small.xlsx")
    workbook.save(small)
    row = b"<row><c t='inlineStr'><is><t>" + b"A" * 1_000_000 + b"</t></is></c></row>"
    with (
        zipfile.ZipFile(small) as source,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
    ):
        for name in source.namelist():
            if name != "xl/worksheets/sheet1.xml":
                target.writestr(name, source.read(name))
                continue
            head, tail = source.read(name).split(b"</sheetData>")
            with target.open(name, "w") as sheet:
                sheet.write(head)
                for _ in range(800):
                    sheet.write(row)
                sheet.write(b"</sheetData>" + tail)
    return path


def test_a_workbook_bomb_is_not_charged_and_does_not_increase_the_memory_of_the_server(
    world, anna, tmp_path, monkeypatch
):
    monkeypatch.setattr(guarded_process, "_BASE_SECONDS", 2)
    path = make_workbook_bomb(tmp_path / "bomb.xlsx")
    assert path.stat().st_size < 8 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with read_only_session(world.engine) as db:
        try:
            checked = leaderboards.check_submission(db, by=anna, leaderboard=BOARD, path=path, now=NOW)
        except Refused as error:
            assert "Not submitted, nothing was charged" in str(error)  # noqa: PT017 - one of two outcomes
        else:
            assert checked.refusals
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10  # in KiB
    assert load_status(world, anna).remaining == QuotaUse(day=5, month=8, total=10)


def test_the_same_file_is_charged_once(world, anna, tmp_path):
    path = make_file(world, tmp_path)
    first, second = submit(world.engine, path, by=anna), submit(world.engine, path, by=anna)
    assert (first.is_repeated, second.is_repeated) == (False, True)
    assert second.submission.id == first.submission.id
    assert second.remaining == QuotaUse(day=4, month=7, total=9)


def test_quotas_limit_the_submissions_per_day_per_month_and_in_total(world, anna, tmp_path):
    """Five per day, eight per month, ten in total: 5 on day 1, 3 on day 2, then 2 in the next month."""

    def submit_variant(variant, now):
        path = make_file(world, tmp_path, lambda position: position < variant, f"{variant}.jsonl")
        return submit(world.engine, path, by=anna, now=now)

    for variant in range(5):
        submit_variant(variant, NOW)
    with pytest.raises(Refused, match="5 submissions of today"):
        submit_variant(5, NOW.replace(hour=23, minute=59))
    for variant in range(5, 8):
        submit_variant(variant, NOW + timedelta(days=1))
    with pytest.raises(Refused, match="8 submissions of this month"):
        submit_variant(8, NOW + timedelta(days=2))
    april = datetime(2026, 4, 1, tzinfo=UTC)
    for variant in range(8, 10):
        receipt = submit_variant(variant, april)
    assert receipt.remaining == QuotaUse(day=3, month=6, total=0)
    with pytest.raises(Refused, match="all 10 submissions"):
        submit_variant(10, april)


def test_a_file_counts_for_the_day_and_month_on_which_it_was_sent(world, anna, tmp_path):
    """Five files are sent on 1 April. A file sent in the last moment of 31 March then counts for March."""
    april = datetime(2026, 4, 1, tzinfo=UTC)
    paths = [make_file(world, tmp_path, lambda position, n=n: position < n, f"{n}.jsonl") for n in range(7)]
    for path in paths[:5]:
        receipt = submit(world.engine, path, by=anna, now=april)
    assert receipt.remaining == QuotaUse(day=0, month=3, total=5)
    last_moment = (april - timedelta(microseconds=1)).astimezone(timezone(timedelta(hours=5)))
    receipt = submit(world.engine, paths[5], by=anna, now=last_moment)
    assert receipt.remaining == QuotaUse(day=4, month=7, total=4)
    with pytest.raises(Refused, match="5 submissions of today"):
        submit(world.engine, paths[6], by=anna, now=april + timedelta(hours=23, minutes=59))


def test_concurrent_submissions_cannot_exceed_the_quota(world, anna, tmp_path):
    """Both files pass the check while one submission is left; one of them is stored."""
    paths = [make_file(world, tmp_path, lambda position, n=n: position < n, f"{n}.jsonl") for n in range(6)]
    for path in paths[:4]:
        submit(world.engine, path, by=anna)
    with read_only_session(world.engine) as db:
        checked = [
            leaderboards.check_submission(db, by=anna, leaderboard=BOARD, path=path, now=NOW)
            for path in paths[4:]
        ]
    results = []

    def record(submission):
        try:
            with unit_of_work(world.engine) as db:
                leaderboards.record_submission(
                    db, by=anna, checked=submission, details=make_details(), now=NOW
                )
            results.append("stored")
        except Refused as error:
            results.append(str(error))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(record, checked))
    assert sorted(results) == [
        "Your team has used its 5 submissions of today. Submit again tomorrow (UTC).", "stored"
    ]  # fmt: skip
    assert load_status(world, anna).remaining.day == 0


def test_leaderboards_on_which_the_person_has_a_team_come_first(world, anna):
    add_board(world.engine, name="newer board")
    with read_only_session(world.engine) as db:
        for_member, for_outsider = (leaderboards.list_leaderboards(db, by=by) for by in (anna, BY))
    assert [board.name for board in for_member] == [BOARD, "newer board"]
    assert [board.name for board in for_outsider] == ["newer board", BOARD]


def test_a_person_can_submit_only_for_their_own_team(world, anna, tmp_path):
    bert = add_team(world.engine, "B", "bert")["bert"]
    path = make_file(world, tmp_path)
    with pytest.raises(NotAllowed, match="not a member of this team"):
        submit(world.engine, path, by=bert, team="A")
    with unit_of_work(world.engine) as db:
        leaderboards.change_members(db, by=BY, leaderboard=BOARD, team="B", members=[], now=NOW)
    with pytest.raises(NotFound, match="not in a team"):
        submit(world.engine, path, by=bert)
    reader = world.world.people["rea"]
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="role submitter"):
        leaderboards.change_members(db, by=BY, leaderboard=BOARD, team="B", members=[reader.name], now=NOW)
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="another team"):
        leaderboards.change_members(db, by=BY, leaderboard=BOARD, team="B", members=["anna"], now=NOW)


def test_the_ladder_discloses_significant_gains_only(world, tmp_path):
    add_board(world.engine, uses_ladder=True)
    anna = add_team(world.engine, "A", "anna")["anna"]
    n = len(world.keys)

    def submit_with(wrong):
        path = make_file(world, tmp_path, lambda position: position < wrong, f"{wrong}.jsonl")
        return submit(world.engine, path, by=anna)

    first, slightly_better, worse, much_better = (submit_with(wrong) for wrong in (n, n - 2, n - 1, 2))
    assert first.score.correct == 0
    assert (slightly_better.score, worse.score) == (None, None)
    assert slightly_better.displayed == first.score
    assert much_better.score.correct == n - 2
    [row] = load_standings(world).rows
    assert row.submission.id == much_better.submission.id
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="did not change the score"):
        leaderboards.select_submission(
            db, by=anna, leaderboard=BOARD, submission_id=worse.submission.id, now=NOW
        )


def test_teams_are_ranked_by_the_submission_that_counts(world, anna, tmp_path):
    bert = add_team(world.engine, "B", "bert")["bert"]
    good = make_file(world, tmp_path, lambda position: position == 0, "good.jsonl")
    better = make_file(world, tmp_path, lambda _: False, "better.jsonl")
    bad = make_file(world, tmp_path, lambda position: position % 8 != 0, "bad.jsonl")
    chosen = submit(world.engine, good, by=anna)
    submit(world.engine, better, by=anna, is_public=False)
    submit(world.engine, bad, by=bert, access=ModelAccess.API)
    standings = load_standings(world)
    assert [(row.team, row.rank, row.group) for row in standings.rows] == [("A", 1, 1), ("B", 2, 2)]
    assert standings.rows[0].submission.id == chosen.submission.id  # the better one is not public
    [pair] = standings.differences
    assert (pair.better, pair.worse, pair.is_significant) == ("A", "B", True)
    [chance] = standings.references
    assert (chance.kind, chance.estimate) == (ReferenceKind.CHANCE, pytest.approx(1 / 3))


def test_the_submission_that_a_team_selects_counts(world, anna, tmp_path):
    submit(world.engine, make_file(world, tmp_path), by=anna)
    selected = submit(world.engine, make_file(world, tmp_path, lambda position: position == 0, "b"), by=anna)
    with unit_of_work(world.engine) as db:
        leaderboards.select_submission(
            db, by=anna, leaderboard=BOARD, submission_id=selected.submission.id, now=NOW
        )
    [row] = load_standings(world).rows
    assert row.submission.id == selected.submission.id
    assert load_status(world, anna).counted_submission_id == selected.submission.id


def test_changed_or_missing_keys_stop_scoring_and_are_not_leaked(world, anna, tmp_path, caplog):
    path = make_file(world, tmp_path)
    keys = world.release.with_name("v1-keys") / "keys.jsonl"
    content = keys.read_text()
    for damaged in (content.replace("SECRET", "CANARY"), "CANARY", None):
        if damaged is None:
            keys.unlink()
        else:
            keys.write_text(damaged)
        with pytest.raises(Refused, match="cannot score at the moment") as refusal:
            submit(world.engine, path, by=anna)
        shown = str(refusal.value) + caplog.text
        assert "CANARY" not in shown
        assert str(world.home) not in str(refusal.value)
    assert load_status(world, anna).remaining.total == 10


def test_names_are_unique_and_a_board_needs_a_private_split(world):
    add_board(world.engine)
    with pytest.raises(AlreadyThere):
        add_board(world.engine)
    with unit_of_work(world.engine) as db, pytest.raises(NotFound, match="no release"):
        leaderboards.create_leaderboard(
            db, by=BY, name="x", dataset="demo", release="v9", uses_ladder=True,
            quotas=make_quotas(), now=NOW,
        )  # fmt: skip
    add_team(world.engine, "A")
    with unit_of_work(world.engine) as db, pytest.raises(AlreadyThere):
        leaderboards.add_team(db, by=BY, leaderboard=BOARD, name="a", now=NOW)
    with unit_of_work(world.engine) as db, pytest.raises(InvalidValue, match="heading of a column"):
        leaderboards.add_team(db, by=BY, leaderboard=BOARD, name="Team", now=NOW)


def test_the_file_names_of_a_site_are_unique(world, tmp_path):
    """The second board's name equals the file name that the first board gets from its name and id."""
    add_board(world.engine, name="Board!")
    add_board(world.engine, name="board 1")
    add_board(world.engine, name="board")
    standings = [load_standings(world, name) for name in ("board", "board 1", "Board!")]
    names = {path.name for path in write_site(standings, tmp_path / "site", now=NOW)}
    assert names == {"index.html"} | {
        f"{name}.{ending}" for name in ("board-1", "board-1-2", "board-3") for ending in ("html", "json")
    }


def make_quotas():
    return Quotas(per_day=1, per_month=1, total=1)


def test_a_submitter_may_only_see_leaderboards_and_submit():
    from domain.access import ACTIONS_BY_ROLE, Action

    assert ACTIONS_BY_ROLE[Role.SUBMITTER] == {Action.SEE_LEADERBOARDS, Action.SUBMIT_PREDICTIONS}


def make_corrected_release(world, name, *, keys=None):
    """Create a release of the same split. ``keys`` has the new keys by question id."""
    workspace = make_workspace(world.engine, world.home)
    with unit_of_work(world.engine) as db:
        for question_id, index in (keys or {}).items():
            db.execute(update(QuestionRow).where(QuestionRow.key == question_id).values(answer=f"[{index}]"))
        create_release(
            db, by=BY, dataset="demo", name=name, out=world.home / "releases" / name, workspace=workspace,
            now=NOW, split=SPLIT,
        )  # fmt: skip


def test_a_corrected_release_scores_all_submissions_again_and_keeps_the_former_scores(world, anna, tmp_path):
    path = make_file(world, tmp_path)
    receipt = submit(world.engine, path, by=anna)
    n = len(world.keys)
    assert receipt.score.correct == n
    corrected = sorted(world.keys)[:3]
    make_corrected_release(world, "v1.1", keys={key: (world.keys[key] + 1) % 3 for key in corrected})
    with unit_of_work(world.engine) as db:
        board = leaderboards.change_release(db, by=BY, leaderboard=BOARD, release="v1.1", now=NOW)
    assert (board.version, board.release) == (2, "v1.1")
    status = load_status(world, anna)
    assert [(score.version, score.correct) for score in status.scores] == [(1, n), (2, n - 3)]
    assert status.remaining == receipt.remaining
    assert load_standings(world).rows[0].score.correct == n - 3
    with read_only_session(world.engine) as db:
        former = leaderboards.load_standings(db, by=BY, leaderboard=BOARD, version=1)
    assert (former.rows[0].score.correct, former.leaderboard.release) == (n, "v1")
    # A wrong answer by the former keys is the correct answer by the new keys.
    right = answer_with_errors(world, lambda position: position < 3)
    path = write_predictions(tmp_path / "right.jsonl", right)
    assert submit(world.engine, path, by=anna).score.correct == n
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="already"):
        leaderboards.change_release(db, by=BY, leaderboard=BOARD, release="v1.1", now=NOW)


def test_a_file_that_was_checked_for_the_former_release_is_not_stored(world, anna, tmp_path):
    path = make_file(world, tmp_path)
    with read_only_session(world.engine) as db:
        checked = leaderboards.check_submission(db, by=anna, leaderboard=BOARD, path=path, now=NOW)
    make_corrected_release(world, "v1.1", keys={min(world.keys): (world.keys[min(world.keys)] + 1) % 3})
    with unit_of_work(world.engine) as db:
        leaderboards.change_release(db, by=BY, leaderboard=BOARD, release="v1.1", now=NOW)
    with unit_of_work(world.engine) as db, pytest.raises(StaleRevision, match="nothing was charged"):
        leaderboards.record_submission(db, by=anna, checked=checked, details=make_details(), now=NOW)


def test_a_release_with_other_options_is_refused(world, anna):
    with unit_of_work(world.engine) as db:
        db.execute(
            update(QuestionRow)
            .where(QuestionRow.key == min(world.keys))
            .values(options='["Nodule","Effusion","Mass"]')
        )
    make_corrected_release(world, "v2")
    with (
        unit_of_work(world.engine) as db,
        pytest.raises(Refused, match="1 private question with a new id, stem, answer format or options"),
    ):
        leaderboards.change_release(db, by=BY, leaderboard=BOARD, release="v2", now=NOW)
    assert load_standings(world).leaderboard.version == 1


def make_study(world, name, **design):
    """A study of all questions of the dataset, of which rea is a reader."""
    with unit_of_work(world.engine) as db:
        cora = world.world.people["cora"]
        study = studies.create_study(
            db,
            by=cora,
            name=name,
            source=SOURCE,
            design=make_design(48, **design),
            protocol=Protocol(),
            now=NOW,
        )
        studies.assign_readers(db, by=cora, study=name, to=["rea"], now=NOW)
    return StudyWorld(world=world.world, engine=world.engine, people=world.world.people, study=study)


def set_readers(world, study):
    with unit_of_work(world.engine) as db:
        return leaderboards.set_readers_reference(db, by=BY, leaderboard=BOARD, study=study, now=NOW)


def test_the_readers_reference_covers_the_scored_questions_except_exclusions(world, anna):
    """The options of one question are changed, and two other private cases are excluded."""
    changed, excluded, excluded_for_reader, *counted = sorted(world.keys)
    with unit_of_work(world.engine) as db:
        db.execute(
            update(QuestionRow).where(QuestionRow.key == changed).values(options='["Mass","Nodule","Edema"]')
        )
    study_world = make_study(world, "readers")
    read_all(study_world, "rea", option=1)
    with unit_of_work(world.engine) as db:
        cases = list_cases(db, study_id=study_world.study.id)
        numbers = {case.question.id: case.blind_case.number for case in cases}
        ids = {case.question.id: case.blind_case.id for case in cases}
        for key, reader in ((excluded, None), (excluded_for_reader, "rea")):
            studies.exclude_readings(
                db,
                by=study_world.cora,
                study="readers",
                case=numbers[key],
                reader=reader,
                reason="test",
                now=NOW,
            )
    reference = set_readers(world, "readers")
    with read_only_session(world.engine) as db:
        answers = {
            reading.key.case_id: reading.answer
            for reading in iterate_readings(db, study_id=study_world.study.id)
        }
    correct = sum(answers[ids[key]] == (world.keys[key],) for key in counted)
    assert 0 < correct < len(counted)
    assert (reference.n, reference.estimate) == (len(counted), pytest.approx(correct / len(counted)))
    assert reference.name == "Mean of 1 reader"
    assert load_standings(world).references[-1] == reference


def test_a_study_with_two_arms_or_of_another_dataset_gives_no_readers_reference(world, anna):
    arms = (Arm(name="aided"), Arm(name="plain", clinical_info_shown=False))
    make_study(world, "arms", crossing=Crossing.CROSSOVER, arms=arms)
    with pytest.raises(Refused, match="2 arms"):
        set_readers(world, "arms")
    make_study(world, "readers")
    with unit_of_work(world.engine) as db:
        db.add(DatasetRow(name="other", created_at=NOW))
        db.flush()
        dataset_id = db.execute(select(DatasetRow.id).where(DatasetRow.name == "other")).scalar_one()
        db.execute(
            update(ReaderStudyRow).where(ReaderStudyRow.name == "readers").values(dataset_id=dataset_id)
        )
    with pytest.raises(Refused, match="is of dataset other"):
        set_readers(world, "readers")


def test_the_text_only_reference_uses_the_answers_without_image(world, anna, tmp_path):
    def set_reference(evaluation):
        with unit_of_work(world.engine) as db:
            return leaderboards.set_text_only_reference(
                db, by=BY, leaderboard=BOARD, evaluation=evaluation, now=NOW
            )

    def import_answers(answers):
        with unit_of_work(world.engine) as db:
            outcome = evaluations.import_answers(
                db, by=BY, name="private", condition=Condition.NO_IMAGE, now=NOW,
                path=write_predictions(tmp_path / "text.jsonl", answers),
            )  # fmt: skip
        assert not outcome.refused

    for split in (Split.PUBLIC, Split.PRIVATE):
        settings = make_settings(name=split.value, split=split, conditions=(Condition.NO_IMAGE,))
        with unit_of_work(world.engine) as db:
            evaluations.plan_without_endpoint(
                db, by=BY, settings=settings, answered_by=AnsweredBy.FILE, model="Net", now=NOW
            )
    with pytest.raises(Refused, match="Choose one of the private split"):
        set_reference("public")
    answers = answer_with_errors(world, lambda position: position < 6)
    last = answers.popitem()
    import_answers(answers)
    with pytest.raises(Refused, match="no answer without image to 1 question of"):
        set_reference("private")
    import_answers(dict([last]))
    reference = set_reference("private")
    n = len(world.keys)
    assert (reference.name, reference.n) == ("Net without image", n)
    assert reference.estimate == pytest.approx((n - 6) / n)
    assert reference.low < reference.estimate < reference.high


def test_a_team_publishes_the_submission_that_set_its_score_on_the_ladder(world, tmp_path):
    add_board(world.engine, uses_ladder=True)
    anna = add_team(world.engine, "A", "anna")["anna"]
    first = submit(world.engine, make_file(world, tmp_path), by=anna, is_public=False)
    assert first.score is not None
    assert load_standings(world).rows == ()
    with unit_of_work(world.engine) as db:
        leaderboards.select_submission(
            db, by=anna, leaderboard=BOARD, submission_id=first.submission.id, now=NOW
        )
    [row] = load_standings(world).rows
    assert row.submission.id == first.submission.id
    with read_only_session(world.engine) as db:
        [entry] = [e for e in db.execute(select(AuditRow)).scalars() if e.what == "select submission"]
    assert (json.loads(entry.old), json.loads(entry.new)) == ({"public": False}, {"public": True})


def convert_to_free_text(world, question_ids):
    with unit_of_work(world.engine) as db:
        db.execute(
            update(QuestionRow)
            .where(QuestionRow.key.in_(question_ids))
            .values(format="open", options="[]", answer='"Effusion"')
        )


def create_open_board(world):
    with unit_of_work(world.engine) as db:
        return leaderboards.create_leaderboard(
            db, by=BY, name="closed only", dataset="demo", release="open", uses_ladder=False,
            quotas=Quotas(per_day=9, per_month=9, total=9), now=NOW,
        )  # fmt: skip


@pytest.mark.parametrize("reply", [None, "Effusion", "another wording"])
def test_open_questions_are_not_scored_whatever_the_file_says(world, tmp_path, reply):
    open_id, *closed = sorted(world.keys)
    convert_to_free_text(world, [open_id])
    make_corrected_release(world, "open")
    assert create_open_board(world).questions == len(closed)
    add_team(world.engine, "A", board="closed only")
    path = write_predictions(tmp_path / "answers.jsonl", {key: world.keys[key] for key in closed})
    if reply is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"question_id": open_id, "answer": reply}) + "\n")
    score = submit(world.engine, path, team="A", board="closed only").score
    assert (score.correct, score.n) == (len(closed), len(closed))


def test_a_question_that_becomes_open_is_left_out_of_the_next_version(world, anna, tmp_path):
    submit(world.engine, make_file(world, tmp_path), by=anna)
    convert_to_free_text(world, [min(world.keys)])
    make_corrected_release(world, "open")
    with unit_of_work(world.engine) as db:
        board = leaderboards.change_release(db, by=BY, leaderboard=BOARD, release="open", now=NOW)
    [row] = load_standings(world).rows
    assert board.questions == row.score.n == row.score.correct == len(world.keys) - 1


def test_a_private_split_with_only_open_questions_is_refused(world):
    convert_to_free_text(world, list(world.keys))
    make_corrected_release(world, "open")
    with pytest.raises(Refused, match="has only open questions"):
        create_open_board(world)


def test_teams_and_members_are_locked_during_a_change(postgres_engine, tmp_path, monkeypatch):
    world = make_leaderboard_world(postgres_engine, tmp_path / "home", questions=8)
    add_board(world.engine)
    people = add_team(world.engine, "A", "anna", "bert")
    make_corrected_release(world, "v1.1")
    with unit_of_work(world.engine) as db:
        leaderboards.change_release(db, by=BY, leaderboard=BOARD, release="v1.1", now=NOW)
        with pytest.raises(NotNow), unit_of_work(world.engine, lock_timeout_ms=100) as other:
            leaderboards.add_team(other, by=BY, leaderboard=BOARD, name="late", now=NOW)
    lock_team = boards.lock_team

    def change_and_lock(db, *, team_id):
        """Another person removes bert before the team is locked."""
        with unit_of_work(world.engine) as other:
            boards.remove_member(other, leaderboard_id=1, person_id=people["bert"].id)
        lock_team(db, team_id=team_id)

    monkeypatch.setattr(boards, "lock_team", change_and_lock)
    with unit_of_work(world.engine) as db:
        team = leaderboards.change_members(
            db, by=BY, leaderboard=BOARD, team="A", members=["anna", "bert"], now=NOW
        )
    assert team.members == ("anna", "bert")
