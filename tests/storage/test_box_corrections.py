"""Boxes of COCO and Label Studio files replace the boxes of existing questions; every change is recorded."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from sqlalchemy import text

import cli
from accounts.service import command_line_person
from browsing.search import Search
from browsing.service import describe_event, load_history, queue_matching
from domain.batches import SamplingPlan
from domain.errors import InvalidValue, NotAllowed, Refused
from domain.people import Person, Role
from domain.protocols import Protocol
from domain.studies import CaseSource, SourceKind, StudyDesign
from domain.vocabulary import AnswerFormat
from intake.box_corrections import BoxExclusion
from intake.service.box_corrections import (
    BoxLabels,
    BoxMatch,
    correct_boxes,
    plan_box_corrections,
)
from reader_study.service import create_study
from sampling.service import draw_batch
from storage.audit.checkpoints import AccountedChanges
from storage.audit.entries import AuditFilter, iterate_entries
from storage.audit.table_digests import RowDifference, find_row_differences, write_digests
from storage.browsing.search import WITH_BOXES, find_matching_questions, index_next_questions
from storage.intake.questions import load_question
from storage.unit_of_work import read_only_session, unit_of_work
from tests.golden.question_files import write_image
from tests.storage.import_worlds import Importer, make_record, to_json_lines
from tests.storage.statements import count_statements
from tests.storage.worlds import NOW

pytestmark = pytest.mark.slow

BY = command_line_person()


def make_exam(exam, *files):
    return {
        "id": exam,
        "radiographs": [{"id": f"r{number}", "file": file} for number, file in enumerate(files, start=1)],
    }


def make_question(number, stem, exam, **changes):
    return make_record(
        number, exam=exam, stem=stem, format="closed", options=..., answer="yes", category=..., **changes
    )


@pytest.fixture
def importer(engine, tmp_path):
    """Two exams: the image of the first has 100 x 80 pixels, the images of the second are missing."""
    importer = Importer(engine, tmp_path)
    write_image(importer.images / "a.png", 80, 100, "L")
    first, second = make_exam("e1", "a.png"), make_exam("e2", "x/b.png", "x/c.png")
    importer(
        to_json_lines(
            make_question(1, "Is there a pleural effusion?", first),
            make_question(2, "Is there a nodule?", first),
        ),
        images=importer.images,
    )
    importer(
        to_json_lines(
            make_question(3, "Is there a pleural effusion?", second),
            make_question(
                4, "Is there a nodule?", second,
                boxes=[{"radiograph": "r2", "label": "Nodule", "box": [1, 1, 5, 5]}],
                box_grid=[100, 80], box_fit="stretch",
            ),
        )
    )  # fmt: skip
    return importer


def make_coco(*boxes, width=100, height=80):
    """Boxes as (file name, label, x, y, width, height[, question id])."""
    files = list(dict.fromkeys(box[0] for box in boxes))
    labels = list(dict.fromkeys(box[1] for box in boxes))
    return json.dumps(
        {
            "images": [
                {"id": number, "file_name": name, "width": width, "height": height}
                for number, name in enumerate(files)
            ],
            "categories": [{"id": number, "name": name} for number, name in enumerate(labels)],
            "annotations": [
                {
                    "id": number, "image_id": files.index(box[0]), "category_id": labels.index(box[1]),
                    "bbox": list(box[2:6]), **({"question_id": box[6]} if len(box) > 6 else {}),
                }
                for number, box in enumerate(boxes)
            ],
        }
    ).encode()  # fmt: skip


def make_task(image, label, value, **data):
    rectangle = {
        "rectanglelabels": [label],
        "rotation": 0,
        **dict(zip(("x", "y", "width", "height"), value, strict=True)),
    }
    return {
        "id": 7,
        "data": {"image": image, **data},
        "annotations": [{"result": [{"to_name": "image", "value": rectangle}]}],
    }


def plan(importer, content, **options):
    with read_only_session(importer.engine) as db:
        return plan_box_corrections(db, by=BY, dataset="d", content=content, **options)


def correct(importer, content, *, expected=None, reason="second reading", **options):
    """Correct the boxes as in the preview with the hash ``expected``, by default one made now."""
    expected = expected or plan(importer, content, **options).hash_changes()
    with unit_of_work(importer.engine) as db:
        return correct_boxes(
            db, by=BY, dataset="d", content=content, file="boxes.json", reason=reason, expected=expected,
            now=NOW,
            **options,
        )  # fmt: skip


def describe(boxes):
    return [(box.radiograph, box.label, box.box.as_tuple(), box.grid and box.grid.width) for box in boxes]


def load_boxes(importer, number):
    with read_only_session(importer.engine) as db:
        return describe(load_question(db, question_id=number).boxes)


def test_boxes_of_an_image_go_to_the_questions_that_mention_their_label(importer):
    content = make_coco(("a.png", "Pleural_Effusion", 10, 20, 30, 40), ("a.png", "Fracture", 1, 1, 2, 2))
    planned = plan(importer, content)
    assert [(change.key, change.before) for change in planned.changes] == [("q-1", ())]
    assert (planned.boxes, planned.without_question, planned.refusals) == (2, 1, ())
    correct(importer, content)
    assert load_boxes(importer, 1) == [("r1", "Pleural_Effusion", (10, 20, 40, 60), None)]
    assert load_boxes(importer, 2) == []
    assert len(plan(importer, content, labels=BoxLabels.ALL).changes) == 2


def test_a_byte_order_mark_is_accepted(importer):
    content = b"\xef\xbb\xbf" + make_coco(("a.png", "Nodule", 10, 20, 30, 40))
    assert [change.key for change in plan(importer, content).changes] == ["q-2"]


def test_boxes_with_a_question_id_go_to_that_question_with_any_label(importer):
    content = make_coco(("a.png", "Mass", 10, 20, 30, 40, "q-2"))
    correct(importer, content)
    assert load_boxes(importer, 2) == [("r1", "Mass", (10, 20, 40, 60), None)]
    assert plan(importer, content, match=BoxMatch.IMAGE).changes == ()


def test_boxes_of_label_studio_are_converted_from_percent_of_the_image(importer):
    tasks = [make_task("/data/upload/3/0a1b2c3d-a.png", "Nodule", (10, 25, 50, 50))]
    correct(importer, json.dumps(tasks).encode())
    assert load_boxes(importer, 2) == [("r1", "Nodule", (10, 20, 60, 60), None)]


def test_boxes_of_a_smaller_copy_are_scaled_and_those_of_another_shape_refused(importer):
    correct(importer, make_coco(("a.png", "Nodule", 5, 10, 10, 10), width=50, height=40))
    assert load_boxes(importer, 2) == [("r1", "Nodule", (10, 20, 30, 40), None)]
    (refusal,) = plan(importer, make_coco(("a.png", "Nodule", 5, 10, 10, 10), width=80, height=80)).refusals
    assert (refusal.record, refusal.field) == ("annotation 0", "image")
    assert "is 80 x 80 pixels in the file, but the radiograph is 100 x 80" in refusal.reason


def test_boxes_stay_on_the_grid_of_the_file_without_an_image(importer):
    correct(importer, make_coco(("b.png", "Pleural effusion", 5, 10, 10, 10), width=50, height=40))
    assert load_boxes(importer, 3) == [("r1", "Pleural effusion", (5, 10, 15, 20), 50)]


def test_a_box_that_puts_a_question_on_two_grids_is_refused(importer):
    """Pixels of an image that is missing and the grid of the file cannot be in one record."""
    letterbox = {"box_grid": [224, 224], "box_fit": "letterbox"}
    boxes = [{"radiograph": "r2", "label": "Nodule", "box": [1, 1, 5, 5]}]
    for number, grid in ((5, letterbox), (6, {})):
        exam = make_exam("e2", "x/b.png", "x/c.png")
        importer(to_json_lines(make_question(number, "Is there a mass?", exam, boxes=boxes, **grid)))
    planned = plan(importer, make_coco(("b.png", "Mass", 2, 2, 6, 6)))
    assert planned.changes == ()
    assert [(refusal.record, refusal.field) for refusal in planned.refusals] == [
        ("question q-5", "boxes"),
        ("question q-6", "boxes"),
    ]
    assert "224 x 224 letterbox, 100 x 80 stretch" in planned.refusals[0].reason
    assert "pixels of the image, 100 x 80 stretch" in planned.refusals[1].reason


def test_existing_boxes_are_replaced_only_on_request_and_only_on_annotated_radiographs(importer):
    content = make_coco(("c.png", "Nodule", 2, 2, 6, 6))
    planned = plan(importer, content)
    assert (planned.changes, planned.excluded) == ((), {BoxExclusion.HAS_BOXES: ("q-4",)})
    with pytest.raises(Refused, match="changes no question"):
        correct(importer, content)
    # A box on the other radiograph replaces nothing.
    content_of_other_radiograph = make_coco(("b.png", "Nodule", 2, 2, 6, 6))
    correct(importer, content_of_other_radiograph)
    assert load_boxes(importer, 4) == [
        ("r2", "Nodule", (1, 1, 5, 5), 100),
        ("r1", "Nodule", (2, 2, 8, 8), 100),
    ]
    correct(importer, content, replace=True)
    assert load_boxes(importer, 4) == [
        ("r1", "Nodule", (2, 2, 8, 8), 100),
        ("r2", "Nodule", (2, 2, 8, 8), 100),
    ]
    assert plan(importer, content, replace=True).excluded == {BoxExclusion.UNCHANGED: ("q-4",)}


def test_the_history_states_when_and_why_boxes_changed_and_their_old_values(importer):
    correct(importer, make_coco(("c.png", "Nodule", 2, 2, 6, 6)), replace=True)
    with read_only_session(importer.engine) as db:
        history = load_history(db, by=BY, question_row_id=4)
    event = next(event for event in history.events if event.kind == "boxes corrected")
    assert (event.occurred_at, event.container) == (NOW, "boxes.json")
    title, details = describe_event(event, history.question)
    assert title == "boxes changed from boxes.json"
    assert details == [
        "boxes: Nodule 4 × 4 px at 1, 1 on r2 → Nodule 6 × 6 px at 2, 2 on r2",
        "second reading",
    ]


def test_the_search_finds_questions_by_their_new_boxes(importer):
    with unit_of_work(importer.engine) as db:
        index_next_questions(db, after=0, limit=100)
    correct(importer, make_coco(("a.png", "Nodule", 10, 20, 30, 40)))
    with read_only_session(importer.engine) as db:
        row_ids = find_matching_questions(db, query="nodule", facets=[WITH_BOXES], dataset_id=1, limit=10)
    assert row_ids == [2, 4]


def test_the_error_for_a_box_that_does_not_fit_names_the_question(importer, subtests):
    # one database for all cases: they change nothing, and an import with images takes seconds
    for box, field, reason in [
        (("z.png", "Nodule", 1, 1, 2, 2), "image", "the dataset has no radiograph 'z.png'"),
        (("a.png", "Nodule", 1, 1, 2, 2, "q-9"), "question_id", "the dataset has no question 'q-9'"),
        (("b.png", "Nodule", 1, 1, 2, 2, "q-4"), None, None),
        (("a.png", "Nodule", 1, 1, 2, 2, "q-4"), "image", "the dataset has no radiograph 'a.png' of this"),
        (("a.png", "Nodule", 1, 1, 0, 2), "bbox", "annotation 0: has no area or reversed corners"),
        (("a.png", "Nodule", 90, 1, 20, 2), "boxes", "extends 10 pixels beyond"),
    ]:
        with subtests.test(box=box):
            refusals = plan(importer, make_coco(box)).refusals
            assert [refusal.field for refusal in refusals] == ([field] if field else [])
            assert all(reason in refusal.reason for refusal in refusals)


def test_a_name_that_fits_several_radiographs_is_refused_with_the_exams(importer):
    importer(to_json_lines(make_question(5, "Is there a nodule?", make_exam("e3", "y/b.png"))))
    (refusal,) = plan(importer, make_coco(("b.png", "Nodule", 1, 1, 2, 2))).refusals
    assert refusal.reason == "'b.png' fits several radiographs, of exam e2, e3. Give its path"
    assert plan(importer, make_coco(("y/b.png", "Nodule", 1, 1, 2, 2))).refusals == ()


def test_questions_in_a_batch_keep_their_boxes(importer):
    with unit_of_work(importer.engine) as db:
        plan_of_all = SamplingPlan(seed=7, per_1000=None, n=4)
        draw_batch(db, by=BY, dataset="d", plan=plan_of_all, batch_name="b", now=NOW)
    planned = plan(importer, make_coco(("a.png", "Nodule", 10, 20, 30, 40)))
    assert (planned.changes, planned.excluded) == ((), {BoxExclusion.IN_USE: ("q-2",)})


def test_a_file_of_another_format_is_refused(importer, subtests):
    for content, message in [
        (b"", "is not valid JSON: Expecting value, character 1; the file may be truncated"),
        (b"\xff", "byte 0xff at position 1 of the record is not UTF-8; save the file as UTF-8"),
        ("{}".encode("utf-16"), "is UTF-16 or UTF-32, not UTF-8; save the file as UTF-8"),
        (b"PK\x03\x04", "is compressed; unpack it first"),
        (b'{"images": [], "images": []}', "occurs twice in one object"),
        (b"3", "neither a COCO file nor Label Studio"),
        (b'{"images": []}', "is not a COCO file: annotations is missing"),
        (
            b'{"images": [{"id": 1, "file_name": {}}], "annotations": [], "categories": []}',
            r"is not a COCO file: images\[0\].file_name must be text, not an object",
        ),
        (b'[{"image": "a.png"}]', "is not Label Studio's JSON export"),
        (b"[" * 100_000, "is nested too deep"),
    ]:
        with subtests.test(message), pytest.raises(InvalidValue, match=message):
            plan(importer, content)


def test_a_change_needs_a_reason_and_must_equal_its_preview(importer):
    content = make_coco(("a.png", "Nodule", 10, 20, 30, 40))
    seen_hash = plan(importer, content).hash_changes()
    with pytest.raises(InvalidValue, match="reason: state the reason"):
        correct(importer, content, reason=" ")
    other_content = make_coco(("a.png", "Nodule", 10, 20, 30, 41))  # as many changes, but another box
    with pytest.raises(Refused, match="differ from the preview: 1 question would change now"):
        correct(importer, other_content, expected=seen_hash)
    correct(importer, content, expected=seen_hash)
    with pytest.raises(Refused, match="differ from the preview: 0 questions would change now"):
        correct(importer, content, expected=seen_hash)  # the second click


def test_a_person_without_the_right_is_refused_before_tables_are_locked(importer):
    reader = Person(id=9, name="r", display_name="R", roles=frozenset({Role.READER}))
    with count_statements() as counts, unit_of_work(importer.engine) as db, pytest.raises(NotAllowed):
        correct_boxes(db, by=reader, dataset="d", content=b"", file="", reason="", expected="", now=NOW)
    assert not [statement for statement in counts.statements if "LOCK" in statement]


def draw(db):
    plan_of_all = SamplingPlan(seed=7, per_1000=None, n=4)
    draw_batch(db, by=BY, dataset="d", plan=plan_of_all, batch_name="b", now=NOW)


def create(db):
    source = CaseSource(kind=SourceKind.DATASET, dataset="d")
    design = StudyDesign(plan=SamplingPlan(seed=7, per_1000=None, n=4))
    create_study(db, by=BY, name="s", source=source, design=design, protocol=Protocol(), now=NOW)


def queue(db):
    search = Search(dataset="d", format=AnswerFormat.CLOSED)
    queue_matching(db, by=BY, search=search, batch_name="b", reason="All.", expected=4, now=NOW)


@pytest.mark.parametrize("use_questions", [draw, create, queue])
def test_a_use_of_questions_waits_until_their_boxes_are_changed(importer, use_questions):
    with unit_of_work(importer.engine) as db:
        index_next_questions(db, after=0, limit=100)
    content = make_coco(("a.png", "Nodule", 10, 20, 30, 40))
    seen_hash = plan(importer, content).hash_changes()

    def use_in_transaction():
        with unit_of_work(importer.engine) as db:
            use_questions(db)

    with ThreadPoolExecutor() as pool:
        with unit_of_work(importer.engine) as db:
            correct_boxes(
                db, by=BY, dataset="d", content=content, file="f", reason="w", expected=seen_hash, now=NOW
            )
            use_result = pool.submit(use_in_transaction)
            assert not wait([use_result], timeout=0.5).done
        use_result.result()
    assert plan(importer, content).excluded == {BoxExclusion.UNCHANGED: ("q-2",)}


def test_a_checkpoint_accepts_recorded_changes_of_boxes_and_no_other_changes(importer):
    with read_only_session(importer.engine) as db:
        digests = write_digests(db.connection(), importer.workspace).sha256
    changes = AccountedChanges()
    correct(importer, make_coco(("a.png", "Nodule", 10, 20, 30, 40)))
    with unit_of_work(importer.engine) as db:
        for entry in iterate_entries(db, criteria=AuditFilter(action="correct boxes")):
            changes.add(entry)
    with importer.engine.begin() as connection:
        connection.execute(text("UPDATE question SET boxes = '[]' WHERE id = 4"))  # not recorded
        connection.execute(text("UPDATE question SET stem = 'Is there a mass?' WHERE id = 2"))
    with read_only_session(importer.engine) as db:
        differences = list(find_row_differences(db.connection(), importer.workspace, sha256=digests))
    questions = [difference for difference in differences if difference.table == "question"]
    assert {(row.key, row.columns): changes.account_for(row) for row in questions} == {
        ((2,), ("stem", "boxes")): False,
        ((4,), ("boxes",)): False,
    }
    recorded_difference = RowDifference(table="question", key=(2,), values={"id": 2}, columns=("boxes",))
    assert changes.account_for(recorded_difference)


def test_the_command_shows_a_preview_and_changes_on_request(workspace_engine, tmp_path, capsys):
    importer = Importer(workspace_engine, tmp_path)
    importer(to_json_lines(make_question(1, "Is there a nodule?", make_exam("e1", "a.png"))))
    file = tmp_path / "boxes.json"
    file.write_bytes(make_coco(("a.png", "Nodule", 10, 20, 30, 40)))
    arguments = ["import", "boxes", str(file), "--dataset", "d"]
    assert cli.main(arguments) == 0
    output = capsys.readouterr()
    assert "1 box in boxes.json; 1 question would change." in output.out
    assert "q-1: no boxes → Nodule 30 × 40 px at 10, 20 on r1" in output.out
    assert "nothing was changed" in output.err
    assert cli.main([*arguments, "--yes"]) == 1
    assert "reason: state the reason" in capsys.readouterr().err
    assert cli.main([*arguments, "--yes", "--why", "second reading"]) == 0
    assert "Changed the boxes of 1 question." in capsys.readouterr().out
    assert load_boxes(importer, 1) == [("r1", "Nodule", (10, 20, 40, 60), 100)]
    assert cli.main(["history", "d", "q-1"]) == 0
    assert "boxes changed from boxes.json" in capsys.readouterr().out.lower()
