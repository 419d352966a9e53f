"""Region checks: the draw, blinded marks with undo, permissions, boxes, and the report."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

import cli
from domain.errors import (
    AlreadyThere,
    DomainError,
    InvalidValue,
    NotAllowed,
    NotFound,
    Refused,
    StaleRevision,
)
from domain.people import Role
from domain.region_checks import CheckedReport, CheckedSentence, SentenceId, SentenceMark
from generation import service as generation
from generation.recipes.gemex import GEMEX
from generation.region_checks import (
    MarkRow,
    RegionSheet,
    RegionTask,
    build_region_report,
    format_marks_csv,
    format_region_report_csv,
)
from language_models import service as models
from language_models.prompts import parse_prompt
from measures.proportions import wilson
from storage.rows.audit import AuditRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.model_server import running_model_server
from tests.storage.recipe_replies import write_pairs
from tests.storage.test_model_runs import BY, add_endpoint, work
from tests.storage.worlds import NOW, make_world

RUN = "gemex made gemex-regions"
#: Two of the three sentences get a region from the scripted model; "Follow up" gets none.
REPORT = "1. The heart is enlarged.\n2. Follow up is advised.\n3. There is a left effusion, case {number}."


def answer(body):
    """Return stage I's reply to a report: each sentence except that on follow-up has a region."""
    lines = [line.split(". ", 1) for line in body["messages"][-1]["content"].strip().splitlines()]
    return json.dumps(write_pairs([(int(number), line) for number, line in lines if "Follow" not in line]))


@pytest.fixture(scope="module")
def server():
    with running_model_server(answer=answer) as running:
        yield running


def make_run(engine, server, *, exams=4):
    """A finished run of stage I on the exams E1, E2 and so on of the dataset demo."""
    add_endpoint(engine, server.url)
    stage = GEMEX.stages[0]
    content = stage.read_shipped_prompt()
    with unit_of_work(engine) as db:
        prompt, _ = models.save_prompt(db, by=BY, content=content, note="Shipped", now=NOW)
        models.create_run(
            db,
            by=BY,
            name=RUN,
            stage=stage.name,
            endpoint=models.load_endpoint(db, by=BY, name="local"),
            dataset=None,
            requests=[
                parse_prompt(content).build_request(
                    custom_id=f"E{number}", values={"report": REPORT.format(number=number)}
                )
                for number in range(1, exams + 1)
            ],
            prompt=prompt,
            now=NOW,
        )
    work(engine, RUN)


def create_check(engine, *, name="May", reports=3, seed=7, run=RUN, dataset="demo"):
    with unit_of_work(engine) as db:
        return generation.create_region_check(
            db, by=BY, name=name, run=run, reports=reports, seed=seed, dataset=dataset, now=NOW
        )


def make_check(engine, server, *, reports=3, experts=("ruth", "remo")):
    """A check of a run on four exams."""
    world = make_world(engine, questions=8)
    make_run(engine, server)
    check = create_check(engine, reports=reports)
    with unit_of_work(engine) as db:
        generation.assign_region_experts(db, by=BY, check="May", to=experts, now=NOW)
    return world, check


def open_sentence(engine, person, check, sentence=None):
    with read_only_session(engine) as db:
        return generation.open_sentence(db, person=person, check_id=check.id, sentence=sentence)


def mark(engine, person, check, sentence, value, *, revision=1, now=NOW):
    with unit_of_work(engine) as db:
        return generation.mark_sentence(
            db, person=person, check_id=check.id, sentence=sentence, revision=revision, mark=value, now=now
        )


def mark_all(engine, person, check, choose):
    """Mark every sentence in the expert's order; return the ids."""
    ids = []
    while isinstance(sheet := open_sentence(engine, person, check), RegionSheet):
        ids.append(sheet.id)
        mark(engine, person, check, sheet.id, choose(sheet), now=NOW + timedelta(seconds=len(ids)))
    return ids


@pytest.mark.slow
def test_an_expert_gets_every_sentence_of_the_drawn_reports_one_report_after_another(engine, server):
    world, check = make_check(engine, server)
    sheet = open_sentence(engine, world.people["ruth"], check)
    assert [(checked.text[:17], checked.region, checked.sentences) for checked in sheet.report.checked] == [
        ("The heart is enla", "cardiac silhouette", (1,)),
        ("There is a left e", "left lower lung zone", (3,)),
        ("Follow up is advi", None, (2,)),
    ]
    assert sheet.sentence.marks == (
        SentenceMark.RIGHT,
        SentenceMark.WRONG_REGION,
        SentenceMark.WRONG_SENTENCE,
    )
    orders = [
        mark_all(engine, world.people[name], check, lambda _: SentenceMark.RIGHT) for name in ("ruth", "remo")
    ]
    assert [id_.sentence for id_ in orders[0]] == [1, 2, 3] * 3
    assert len(set(orders[0])) == 9
    assert set(orders[0]) == set(orders[1])
    assert isinstance(open_sentence(engine, world.people["ruth"], check), RegionTask)


@pytest.mark.slow
def test_the_seed_determines_the_draw(sqlite_engine, server):
    make_world(sqlite_engine, questions=8)
    make_run(sqlite_engine, server)

    def list_exams(name, seed):
        check = create_check(sqlite_engine, name=name, seed=seed, reports=2)
        with unit_of_work(sqlite_engine) as db:
            rows = db.execute(
                text("SELECT exam FROM region_check_report WHERE check_id = :id ORDER BY position"),
                {"id": check.id},
            )
            return list(rows.scalars())

    draws = {seed: list_exams(f"seed {seed}", seed) for seed in range(5)}
    assert list_exams("again", 3) == draws[3]
    assert len({tuple(draw) for draw in draws.values()}) > 1
    assert all(len(set(draw)) == 2 for draw in draws.values())


def test_a_mark_is_undone_and_corrected_and_every_revision_is_kept(engine, server):
    world, check = make_check(engine, server)
    ruth = world.people["ruth"]
    first = open_sentence(engine, ruth, check).id
    mark(engine, ruth, check, first, SentenceMark.WRONG_REGION)
    assert open_sentence(engine, ruth, check).task.last == first
    mark(engine, ruth, check, first, None, revision=2)
    again = open_sentence(engine, ruth, check)
    assert (again.id, again.marks, again.revision, again.task.done) == (first, {}, 2, 0)
    mark(engine, ruth, check, first, SentenceMark.RIGHT, revision=3)
    mark(engine, ruth, check, first, SentenceMark.RIGHT, revision=3)  # repeated, as after a lost reply
    with pytest.raises(StaleRevision, match="in another tab"):
        mark(engine, ruth, check, first, SentenceMark.WRONG_REGION, revision=3)
    with read_only_session(engine) as db:
        rows = db.execute(text("SELECT revision, mark FROM region_check_mark ORDER BY revision")).all()
        entries = db.execute(
            text("SELECT count(*) FROM audit_entry WHERE what = 'mark sentence'")
        ).scalar_one()
    assert [tuple(row) for row in rows] == [(1, "wrong_region"), (2, None), (3, "right")]
    assert entries == 3
    for change in ("UPDATE region_check_mark SET mark = 'right'", "DELETE FROM region_check_mark"):
        with pytest.raises((DBAPIError, DomainError)), unit_of_work(engine) as db:
            db.execute(text(change))


def test_only_experts_mark_and_see_radiographs_and_nobody_sees_the_marks_of_others(engine, server):
    world, check = make_check(engine, server)
    ruth, remo = world.people["ruth"], world.people["remo"]
    non_expert = replace(world.people["rolf"], disabled_at=None)
    mark_all(engine, ruth, check, lambda _: SentenceMark.RIGHT)
    sheet = open_sentence(engine, remo, check)
    assert (sheet.marks, sheet.task.done) == ({}, 0)
    with pytest.raises(NotFound, match="is not an expert of region check"):
        open_sentence(engine, non_expert, check)
    with pytest.raises(NotFound, match="is not an expert of region check"):
        mark(engine, non_expert, check, sheet.id, SentenceMark.RIGHT)
    with pytest.raises(InvalidValue, match="mark: must be right or wrong region or wrong sentence"):
        mark(engine, remo, check, sheet.id, SentenceMark.MISSED)
    with pytest.raises(NotFound, match="no such sentence"):
        mark(engine, remo, check, SentenceId(report=1, sentence=9), SentenceMark.RIGHT)
    image = {"exam_row_id": sheet.report.exam_row_id, "radiograph_key": "pa"}
    with read_only_session(engine) as db:
        assert models.find_bench_image(db, person=remo, **image) is not None
        with pytest.raises(NotAllowed):
            models.find_bench_image(db, person=non_expert, **image)
    with_both_roles = replace(remo, roles=remo.roles | {Role.COORDINATOR})
    for service in (generation.load_region_report, generation.list_region_marks):
        with pytest.raises(Refused, match="opens when you have marked all"), read_only_session(engine) as db:
            service(db, by=with_both_roles, name="May")
    with pytest.raises(Refused, match="ruth has marked sentences of May already"), unit_of_work(engine) as db:
        generation.assign_region_experts(db, by=BY, check="May", to=["remo"], now=NOW)


def test_the_boxes_of_a_region_come_from_the_questions_of_the_exam(sqlite_engine, server):
    world, check = make_check(sqlite_engine, server, reports=1)
    ruth = world.people["ruth"]
    assert open_sentence(sqlite_engine, ruth, check).boxes == ()
    with unit_of_work(sqlite_engine) as db:  # the name of the region in the paper
        db.execute(text("UPDATE question SET boxes = replace(boxes, 'SECRET-label', 'cardiac region')"))
    sheet = open_sentence(sqlite_engine, ruth, check)
    assert sheet.sentence.region == "cardiac silhouette"
    assert [box.box.as_tuple() for box in sheet.boxes] == [(100, 200, 300, 400)]
    assert open_sentence(sqlite_engine, ruth, check, sheet.next).boxes == ()


def make_reports(count):
    """Reports with one grounded sentence on the heart, one on the left lung, and one without a region."""
    return [
        CheckedReport(
            position=position,
            exam=f"E{position}",
            exam_row_id=None,
            sentences=("a", "b", "c"),
            checked=(
                CheckedSentence(text="a", sentences=(1,), region="cardiac silhouette"),
                CheckedSentence(text="b", sentences=(2,), region="left lung"),
                CheckedSentence(text="c", sentences=(3,)),
            ),
        )
        for position in range(1, count + 1)
    ]


def make_marks(wrong, *, reports):
    """Return the marks by sentence: ``wrong`` by (report, sentence), and right for all others."""
    return {
        SentenceId(report=report, sentence=sentence): wrong.get((report, sentence), SentenceMark.RIGHT)
        for report in range(1, reports + 1)
        for sentence in (1, 2, 3)
    }


def test_the_share_of_right_sentences_is_clustered_by_report():
    # Reports 1 and 2 have two wrong sentences each, so the design effect is above 1.
    wrong = dict.fromkeys(((1, 1), (1, 2), (2, 1), (2, 2)), SentenceMark.WRONG_REGION)
    report = build_region_report(make_reports(10), {"ruth": make_marks(wrong, reports=10)})
    share = report.shares[0]
    assert (share.expert, share.group, share.reports) == ("ruth", "all sentences", 10)
    assert (share.right.count, share.right.n, share.wrong[SentenceMark.WRONG_REGION]) == (26, 30, 4)
    # p = 26/30. The sum of (hit - p) is 3 - 3p = 0.4 in 8 reports and 1 - 3p = -1.6 in 2; the squares sum to
    # 8 x 0.16 + 2 x 2.56 = 6.4. Cluster variance 10/9 x 6.4 / 900 = 0.0079012; independent
    # p (1 - p) / 29 = 0.0039847; effect 1.98292, so n = 15.129 and the count 13.112.
    p, n, z2 = 26 / 30, 30 / 1.982922, 1.959964**2
    centre, half = (
        (p + z2 / 2 / n) / (1 + z2 / n),
        (z2 * (p * (1 - p) / n + z2 / 4 / n**2)) ** 0.5 / (1 + z2 / n),
    )
    assert (share.right.low, share.right.high) == pytest.approx((centre - half, centre + half), abs=1e-5)
    assert [(row.group, row.right.count, row.right.n) for row in report.shares[1:]] == [
        ("with a region", 16, 20),
        ("without a region", 10, 10),
    ]


def test_a_check_with_361_of_367_right_sentences_has_the_share_of_the_gemex_paper():
    reports = make_reports(123)
    reports[-1] = replace(reports[-1], checked=reports[-1].checked[:1])
    wrong = {(report, 1): SentenceMark.WRONG_REGION for report in range(1, 7)}
    marks = {
        id_: value
        for id_, value in make_marks(wrong, reports=123).items()
        if id_ not in {SentenceId(report=123, sentence=2), SentenceId(report=123, sentence=3)}
    }
    share = build_region_report(reports, {"ruth": marks}).shares[0]
    assert (share.right.count, share.right.n) == (361, 367)
    assert round(100 * share.right.estimate, 1) == 98.4  # the paper: "approximately 98.4 %"
    # With at most one wrong sentence per report, the variance is about that of independent sentences.
    assert (share.right.low, share.right.high) == pytest.approx(
        (wilson(361, 367).low, wilson(361, 367).high), abs=0.002
    )


def test_two_experts_are_counted_together_and_compared():
    marks = {
        "remo": make_marks({(1, 3): SentenceMark.MISSED}, reports=2),
        "ruth": make_marks({(1, 1): SentenceMark.WRONG_SENTENCE, (1, 3): SentenceMark.MISSED}, reports=2),
    }
    report = build_region_report(make_reports(2), marks)
    assert [(share.expert, share.right.count, share.right.n) for share in report.shares[::3]] == [
        ("", 9, 12),
        ("remo", 5, 6),
        ("ruth", 4, 6),
    ]
    [pair] = report.pairs
    assert (pair.first, pair.second, pair.same.count, pair.same.n) == ("remo", "ruth", 5, 6)
    assert [(row.region, row.share.count, row.share.n) for row in report.regions] == [
        ("cardiac silhouette", 2, 4),
        ("left lung", 2, 4),
    ]
    lines = format_region_report_csv(report).splitlines()
    assert {line.count(",") for line in lines} == {12}
    assert lines[1].startswith("right,all experts,all sentences,12,2,9,0.75,")


def test_a_check_without_marks_has_regions_but_no_share():
    report = build_region_report(make_reports(2), {})
    assert (report.shares, report.pairs) == ((), ())
    assert len(report.regions) == 2


@pytest.mark.full
def test_a_check_with_invalid_settings_is_refused_with_the_reason(sqlite_engine, server):
    make_check(sqlite_engine, server)
    with unit_of_work(sqlite_engine) as db:
        prompt, _ = models.save_prompt(
            db, by=BY, content='name = "other"\nuser = "${report}"\n', note="x", now=NOW
        )
        models.create_run(
            db, by=BY, name="other", stage="other", dataset=None, prompt=prompt, now=NOW,
            endpoint=models.load_endpoint(db, by=BY, name="local"),
            requests=[parse_prompt(prompt.content).build_request(custom_id="1", values={"report": "x"})],
        )  # fmt: skip
    for values, error, reason in (
        ({"name": "May"}, AlreadyThere, "already a region check May"),
        ({"name": " "}, InvalidValue, "name: must have 1 to 60 characters"),
        ({"name": "x", "run": "other"}, InvalidValue, "run: other is of stage other"),
        ({"name": "x", "run": "none"}, NotFound, "none"),
        ({"name": "x", "dataset": "none"}, NotFound, "none"),
        ({"name": "x", "reports": 0}, InvalidValue, "reports: must be 1 to 500"),
        ({"name": "x", "reports": 501}, InvalidValue, "reports: must be 1 to 500"),
    ):
        with pytest.raises(error, match=reason):
            create_check(sqlite_engine, **values)


@pytest.mark.full
def test_a_check_takes_all_reports_if_fewer_exist_and_its_record_names_the_dataset(sqlite_engine, server):
    make_check(sqlite_engine, server)
    assert create_check(sqlite_engine, name="x", reports=100).reports == 4
    with read_only_session(sqlite_engine) as db:
        record = db.scalars(select(AuditRow.new).where(AuditRow.what == "create region check")).all()[-1]
    assert '"dataset"' in str(record).replace("'", '"')


def test_texts_of_reports_are_no_formulas_in_a_spreadsheet():
    row = MarkRow(
        exam="e", report=1, sentence=1, text="=1+1", region=None, expert="@ruth", mark=SentenceMark.RIGHT,
        marked_at=NOW,
    )  # fmt: skip
    assert format_marks_csv([row]).splitlines()[1].startswith("e,1,1,'=1+1,,'@ruth,right,")


@pytest.mark.full
def test_commands_create_assign_and_report_a_check(workspace_engine, server, capsys):
    world = make_world(workspace_engine, questions=8)
    make_run(workspace_engine, server)
    assert cli.main(["region-check", "create", "May", "--run", RUN, "--reports", "2", "--seed", "3"]) == 0
    assert "Created May with 2 reports of gemex-regions@1." in capsys.readouterr().out
    assert cli.main(["region-check", "experts", "May", "--to", "ruth"]) == 0
    with read_only_session(workspace_engine) as db:
        [check] = generation.list_region_checks(db, by=BY)
    mark_all(workspace_engine, world.people["ruth"], check, lambda sheet: sheet.sentence.marks[0])
    capsys.readouterr()
    for verb, expected in (
        ("list", "May\tgemex made gemex-regions\t2 reports"),
        ("show", "ruth\t6 of 6 sentences"),
        ("report", "right,ruth,all sentences,6,2,6,1.0,"),
        ("marks", "cardiac silhouette,ruth,right,"),
    ):
        assert cli.main(["region-check", verb, *(["May"] if verb != "list" else [])]) == 0
        assert expected in capsys.readouterr().out
    with read_only_session(workspace_engine) as db:
        assert len(format_marks_csv(generation.list_region_marks(db, by=BY, name="May")).splitlines()) == 7
