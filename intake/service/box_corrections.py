"""Services that give existing questions the boxes of a COCO file or of Label Studio's export.

A plan shows what would change. The change is one transaction, with an entry in the audit trail for each
question: who, when, why, and the boxes before and after. Questions in a batch, a study or a release are not
changed, because people have judged or seen their boxes.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.checks import CHECKS_READING_BOXES
from domain.count_texts import count_text
from domain.errors import InvalidValue, Refused
from domain.people import Action, Person, require
from intake.annotation_files import read_annotated_boxes
from intake.box_corrections import (
    BoxLabels,
    BoxMatch,
    BoxPlan,
    RadiographIndex,
    TargetQuestion,
    TargetRadiograph,
    plan_boxes,
)
from intake.containers import refuse_encoding
from intake.strict_json import decode_strictly
from records.values import boxes_from_json, boxes_to_plain, from_json, to_json
from storage.intake import box_corrections as correction_storage
from storage.intake.bulk import lock_for_import
from storage.quality.check_states import restart_checks
from storage.sampling.frames import load_dataset_row_id, lock_dataset

#: The largest annotation file.
MAX_BYTES = 64_000_000
CORRECT_BOXES = "correct boxes"

__all__ = [
    "CORRECT_BOXES",
    "MAX_BYTES",
    "BoxLabels",
    "BoxMatch",
    "BoxPlan",
    "correct_boxes",
    "plan_box_corrections",
]


def plan_box_corrections(
    db: Session,
    *,
    by: Person,
    dataset: str,
    content: bytes,
    match: BoxMatch = BoxMatch.AUTO,
    labels: BoxLabels = BoxLabels.MENTIONED,
    replace: bool = False,
) -> BoxPlan:
    """Return what a file would change. Nothing is written.

    Args:
        db: a session.
        by: the acting person.
        dataset: the name of the dataset.
        content: a COCO file, or Label Studio's JSON export.
        match: how the question of a box is found.
        labels: which boxes of an image a question gets; boxes matched by question always go to it.
        replace: whether existing boxes on the annotated radiographs are replaced.

    Raises:
        NotFound: there is no such dataset.
        InvalidValue: the file is neither COCO nor Label Studio, or is too large.
    """
    require(by, Action.IMPORT_QUESTIONS)
    dataset_id = load_dataset_row_id(db, name=dataset)
    if len(content) > MAX_BYTES:
        raise InvalidValue("file", f"has more than {MAX_BYTES // 1_000_000} MB; split it")
    try:
        refuse_encoding(content)
        parsed = decode_strictly(content.removeprefix(codecs.BOM_UTF8))
    except InvalidValue as error:
        raise InvalidValue("file", error.reason) from error
    annotations = list(read_annotated_boxes(parsed))
    radiographs = [
        TargetRadiograph(**facts._asdict())
        for facts in correction_storage.iterate_radiographs(db, dataset_id=dataset_id)
    ]
    index = RadiographIndex(radiographs)
    boxes = [annotation for annotation in annotations if not isinstance(annotation, InvalidValue)]
    keys = {box.question_id for box in boxes if box.question_id is not None}
    exam_ids = set()
    for image in {box.image for box in boxes}:
        try:
            exam_ids.add(index.find(image).exam_id)
        except InvalidValue:
            continue  # the plan refuses the boxes with the reason
    questions_with_key = correction_storage.load_questions_by_key(db, dataset_id=dataset_id, keys=keys)
    exam_questions = correction_storage.load_questions_of_exams(db, exam_ids=exam_ids)
    used_numbers = correction_storage.find_used_questions(
        db, numbers={facts.number for facts in (*questions_with_key, *exam_questions)}
    )
    questions_by_exam: dict[int, list[TargetQuestion]] = {}
    for facts in exam_questions:
        questions_by_exam.setdefault(facts.exam_id, []).append(_to_target(facts, used_numbers))
    return plan_boxes(
        annotations,
        radiographs=index,
        questions_by_key={facts.key: _to_target(facts, used_numbers) for facts in questions_with_key},
        questions_by_exam=questions_by_exam,
        match=match,
        labels=labels,
        replace=replace,
    )


def correct_boxes(
    db: Session,
    *,
    by: Person,
    dataset: str,
    content: bytes,
    file: str,
    reason: str,
    match: BoxMatch = BoxMatch.AUTO,
    labels: BoxLabels = BoxLabels.MENTIONED,
    replace: bool = False,
    expected: str,
    now: datetime,
) -> BoxPlan:
    """Change the boxes of the questions in the plan, and return the plan.

    Args:
        db: a session for writing.
        by: the acting person.
        dataset: the name of the dataset.
        content: as in :func:`plan_box_corrections`.
        file: the name of the file, for the audit trail.
        reason: the reason, which is required.
        match: as in :func:`plan_box_corrections`.
        labels: as in :func:`plan_box_corrections`.
        replace: as in :func:`plan_box_corrections`.
        expected: the hash of the changes and refused boxes that the person has seen.
        now: the current time.

    Raises:
        InvalidValue: there is no reason, or the file is not valid.
        Refused: the plan has changed since the person saw it, or it changes no question.
    """
    require(by, Action.IMPORT_QUESTIONS)
    if not reason.strip():
        raise InvalidValue("reason", "state the reason for the change")
    lock_for_import(db)
    dataset_id = load_dataset_row_id(db, name=dataset)
    lock_dataset(db, dataset_id=dataset_id)  # no draw and no new study meanwhile
    plan = plan_box_corrections(
        db, by=by, dataset=dataset, content=content, match=match, labels=labels, replace=replace
    )
    if plan.hash_changes() != expected:
        raise Refused(
            f"The changes differ from the preview: {count_text(len(plan.changes), 'question')} would change "
            "now. Check the preview again."
        )
    if not plan.changes:
        raise Refused("The file changes no question.")
    correction_storage.write_boxes(
        db, boxes={change.number: to_json(boxes_to_plain(change.after)) for change in plan.changes}
    )
    restart_checks(db, dataset_id=dataset_id, checks=CHECKS_READING_BOXES)
    for change in plan.changes:
        record_action(
            db,
            by=by,
            action=CORRECT_BOXES,
            subject=f"question {change.number}",
            old=boxes_to_plain(change.before),
            new=_describe_new(file, boxes_to_plain(change.after)),
            reason=reason.strip(),
            now=now,
        )
    return plan


def _describe_new(file: str, boxes: list[dict[str, object]]) -> Mapping[str, object]:
    return {"file": file, "boxes": boxes}


def _to_target(facts: correction_storage.QuestionFacts, used_numbers: set[int]) -> TargetQuestion:
    texts = [facts.stem, *from_json(facts.options), facts.category or ""]
    return TargetQuestion(
        number=facts.number,
        key=facts.key,
        exam_id=facts.exam_id,
        text="\n".join(texts),
        boxes=boxes_from_json(facts.boxes),
        is_used=facts.number in used_numbers,
    )
