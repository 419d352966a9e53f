"""Services for region checks: drawing reports of a run, blinded marking by experts, and the report.

An expert sees only their own marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from sqlmodel import Session

from accounts.service.audit import record_action
from domain.boxes import LabelledBox
from domain.errors import AlreadyThere, InvalidValue, NotFound, Refused, StaleRevision
from domain.mail import NoticeKind
from domain.people import Action, Person, require
from domain.prompt_bench import BenchExpert
from domain.region_checks import (
    CheckedReport,
    RegionCheck,
    SentenceId,
    SentenceMark,
    SentenceRevision,
)
from generation.recipes.gemex import GEMEX, find_statements
from generation.region_checks import (
    MarkRow,
    RegionCheckOverview,
    RegionReport,
    RegionSheet,
    RegionTask,
    build_region_report,
    list_checked_sentences,
    order_sentences,
)
from language_models import service as models
from language_models.prompts import parse_prompt
from notifications.service import notify
from storage.intake.datasets import load_dataset
from storage.intake.exams import load_exam
from storage.language_models import region_checks as region_check_storage
from storage.language_models.exams import find_exam
from terminology.regions import resolve_region

#: The stage whose replies are checked.
CHECKED_STAGE = GEMEX.stages[0].name
_LINE = re.compile(r"^\d+\. ", re.MULTILINE)


def create_region_check(
    db: Session,
    *,
    by: Person,
    name: str,
    run: str,
    reports: int,
    seed: int,
    dataset: str | None = None,
    now: datetime,
) -> RegionCheck:
    """Draw reports at random from the usable replies of a run of gemex-regions.

    Args:
        db: a session that can write.
        by: the acting person.
        name: the name of the check.
        run: the name of the run.
        reports: the number of reports.
        seed: determines the reports and the orders of the experts.
        dataset: the dataset with the images of the exams, and with the boxes of their questions.
        now: the current time.

    Raises:
        AlreadyThere: a check of that name exists.
        InvalidValue: the name or the number is not allowed, or the run has another stage.
        NotFound: there is no such run or dataset.
    """
    require(by, Action.RUN_MODELS)
    if not name.strip() or len(name) > 60:
        raise InvalidValue("name", "must have 1 to 60 characters")
    if region_check_storage.list_checks(db, name=name):
        raise AlreadyThere(f"There is already a region check {name}. Choose another name.")
    model_run = models.load_run(db, by=by, name=run)
    if model_run.stage != CHECKED_STAGE or model_run.prompt is None:
        raise InvalidValue("run", f"{run} is of stage {model_run.stage}; choose a run of {CHECKED_STAGE}")
    dataset_id = None if dataset is None else load_dataset(db, name=dataset).id
    drawn = _draw_reports(db, by, run, model_run.prompt, count=reports, seed=seed, dataset_id=dataset_id)
    check_id = region_check_storage.add_check(
        db,
        name=name,
        run_id=model_run.id,
        dataset_id=dataset_id,
        seed=seed,
        reports=drawn,
        person_id=by.id or None,
        now=now,
    )
    record_action(
        db,
        by=by,
        action="create region check",
        subject=f"region check {check_id}",
        new={"name": name, "run": run, "dataset": dataset, "reports": len(drawn), "seed": seed},
        now=now,
    )
    return _load_check(db, check_id=check_id)


def list_region_checks(db: Session, *, by: Person) -> list[RegionCheck]:
    """List all region checks, the newest first."""
    require(by, Action.RUN_MODELS)
    return region_check_storage.list_checks(db)


def load_region_check(db: Session, *, by: Person, name: str) -> RegionCheckOverview:
    """Load a check with the progress of its experts.

    Raises:
        NotFound: there is no such check.
    """
    require(by, Action.RUN_MODELS)
    check = _load_check(db, name=name)
    done: dict[int, int] = {}
    for revision in region_check_storage.list_latest_marks(db, check_id=check.id):
        if revision.mark is not None:
            done[revision.person_id] = done.get(revision.person_id, 0) + 1
    return RegionCheckOverview(
        check=check,
        experts=tuple(region_check_storage.list_experts(db, check_id=check.id)),
        total=sum(len(report.checked) for report in region_check_storage.list_reports(db, check_id=check.id)),
        done=done,
    )


def assign_region_experts(
    db: Session, *, by: Person, check: str, to: Sequence[str], now: datetime
) -> tuple[BenchExpert, ...]:
    """Set who marks the sentences of a check.

    Args:
        db: a session that can write.
        by: the acting person.
        check: the name of the check.
        to: the sign-in names of all experts.
        now: the current time.

    Raises:
        NotFound: the check or a person does not exist.
        Refused: a person may not score outputs, or a person who is not in ``to`` has marked already.
    """
    require(by, Action.RUN_MODELS)
    loaded_check = _load_check(db, name=check)
    people = models.load_scorers(db, names=to)
    before = region_check_storage.list_experts(db, check_id=loaded_check.id)
    marked = {
        revision.person_id
        for revision in region_check_storage.list_latest_marks(db, check_id=loaded_check.id)
    }
    for expert in before:
        if expert.person_id in marked - {person.id for person in people}:
            raise Refused(f"{expert.name} has marked sentences of {check} already and cannot be removed.")
    if {expert.person_id for expert in before} == {person.id for person in people}:
        return tuple(before)
    region_check_storage.set_experts(
        db, check_id=loaded_check.id, person_ids=[person.id for person in people], now=now
    )
    after = region_check_storage.list_experts(db, check_id=loaded_check.id)
    record_action(
        db,
        by=by,
        action="assign region experts",
        subject=f"region check {loaded_check.id}",
        old={"experts": [expert.name for expert in before]},
        new={"experts": [expert.name for expert in after]},
        now=now,
    )
    new_ids = {expert.person_id for expert in after} - {expert.person_id for expert in before}
    notify(
        db, by_id=by.id, person_ids=sorted(new_ids), kind=NoticeKind.SCORING, name=check,
        path=f"score_outputs?check={loaded_check.id}", now=now,
    )  # fmt: skip
    return tuple(after)


def list_region_tasks(db: Session, *, person: Person) -> tuple[RegionTask, ...]:
    """Return the checks of which the person is an expert, the newest first."""
    require(person, Action.SCORE_OUTPUTS)
    return tuple(
        _build_task(check, sum(len(report.checked) for report in reports), _load_own_marks(db, check, person))
        for check in region_check_storage.list_checks(db, person_id=person.id)
        for reports in [region_check_storage.list_reports(db, check_id=check.id)]
    )


def open_sentence(
    db: Session, *, person: Person, check_id: int, sentence: SentenceId | None = None
) -> RegionSheet | RegionTask:
    """Load a report with the sentence to mark, for an expert.

    Args:
        db: a read-only session.
        person: the expert.
        check_id: the id of the check.
        sentence: the sentence to open. If it is None or does not exist, the first one without a mark is
            opened.

    Returns:
        The sheet of the sentence. If every sentence is marked and none was requested, the expert's task.

    Raises:
        NotFound: the person is not an expert of the check.
    """
    require(person, Action.SCORE_OUTPUTS)
    check = _find_own_check(db, person, check_id)
    reports = region_check_storage.list_reports(db, check_id=check.id)
    order = order_sentences(seed=check.seed, person_id=person.id, reports=reports)
    latest = _load_own_marks(db, check, person)
    given_marks = {id_: revision.mark for id_, revision in latest.items() if revision.mark is not None}
    task = _build_task(check, len(order), latest)
    index = next((index for index, id_ in enumerate(order) if id_ == sentence), None)
    if index is None:
        index = next((index for index, id_ in enumerate(order) if id_ not in given_marks), None)
    if index is None:
        return task
    shown_sentence = order[index]
    report = reports[shown_sentence.report - 1]
    following = (*order[index + 1 :], *order[:index])
    exam = None if report.exam_row_id is None else load_exam(db, exam_id=report.exam_row_id)
    return RegionSheet(
        task=task,
        report_position=list(dict.fromkeys(id_.report for id_ in order)).index(shown_sentence.report) + 1,
        reports=len({id_.report for id_ in order}),
        report=report,
        exam=exam,
        boxes=_find_boxes(db, report, report.checked[shown_sentence.sentence - 1].region),
        id=shown_sentence,
        marks={id_: mark for id_, mark in given_marks.items() if id_.report == shown_sentence.report},
        revision=latest[shown_sentence].revision if shown_sentence in latest else 0,
        previous=order[index - 1] if index else None,
        next=order[index + 1] if index + 1 < len(order) else None,
        next_unmarked=next((id_ for id_ in following if id_ not in given_marks), None),
    )


def mark_sentence(
    db: Session,
    *,
    person: Person,
    check_id: int,
    sentence: SentenceId,
    revision: int,
    mark: SentenceMark | None,
    now: datetime,
) -> SentenceRevision:
    """Store a mark, or undo the current one.

    Args:
        db: a session that can write.
        person: the expert.
        check_id: the id of the check.
        sentence: what is marked.
        revision: 1 for the first mark of the sentence, otherwise the next number.
        mark: the mark; None to undo the current one.
        now: the current time.

    Returns:
        The stored mark. A repeated request with the same revision and mark returns the first one.

    Raises:
        NotFound: the person is not an expert of the check, or the check has no such sentence.
        InvalidValue: the mark is not one of this sentence.
        StaleRevision: the sentence was marked meanwhile in another tab.
    """
    require(person, Action.SCORE_OUTPUTS)
    check = _find_own_check(db, person, check_id)
    reports = region_check_storage.list_reports(db, check_id=check.id)
    if sentence not in order_sentences(seed=check.seed, person_id=person.id, reports=reports):
        raise NotFound(f"{check.name} has no such sentence. Reload the page to continue.")
    allowed = reports[sentence.report - 1].checked[sentence.sentence - 1].marks
    if mark is not None and mark not in allowed:
        raise InvalidValue("mark", f"must be {' or '.join(choice.label for choice in allowed)}")
    latest = _load_own_marks(db, check, person).get(sentence)
    if latest is not None and latest.revision == revision and latest.mark is mark:
        return latest
    message = "Not saved: this was marked meanwhile, in another tab. Check the mark that is shown now."
    if revision != (latest.revision if latest else 0) + 1:
        raise StaleRevision(message)
    new_revision = SentenceRevision(
        sentence=sentence, person_id=person.id, revision=revision, mark=mark, marked_at=now
    )
    try:
        region_check_storage.add_mark(db, check_id=check.id, revision=new_revision)
    except AlreadyThere as error:
        raise StaleRevision(message) from error
    record_action(
        db,
        by=person,
        action="mark sentence",
        subject=f"region check {check.id}",
        new={
            "report": sentence.report,
            "sentence": sentence.sentence,
            "revision": revision,
            "mark": None if mark is None else mark.value,
        },
        now=now,
    )
    return new_revision


def load_region_report(db: Session, *, by: Person, name: str) -> RegionReport:
    """Compute the report of a check from the marks so far.

    Raises:
        NotFound: there is no such check.
        Refused: the person is an expert of the check and has not marked every sentence.
    """
    require(by, Action.RUN_MODELS)
    check = _load_check(db, name=name)
    reports = region_check_storage.list_reports(db, check_id=check.id)
    names = _list_expert_names(db, by, check, reports)
    marks: dict[str, dict[SentenceId, SentenceMark]] = {}
    for revision in region_check_storage.list_latest_marks(db, check_id=check.id):
        if revision.mark is not None:
            marks.setdefault(names[revision.person_id], {})[revision.sentence] = revision.mark
    return build_region_report(reports, dict(sorted(marks.items())))


def list_region_marks(db: Session, *, by: Person, name: str) -> list[MarkRow]:
    """List all marks that count, by time.

    Raises:
        NotFound: there is no such check.
        Refused: the person is an expert of the check and has not marked every sentence.
    """
    require(by, Action.RUN_MODELS)
    check = _load_check(db, name=name)
    reports = region_check_storage.list_reports(db, check_id=check.id)
    names = _list_expert_names(db, by, check, reports)
    rows = []
    for revision in region_check_storage.list_latest_marks(db, check_id=check.id):
        if revision.mark is not None:
            report = reports[revision.sentence.report - 1]
            checked_sentence = report.checked[revision.sentence.sentence - 1]
            rows.append(
                MarkRow(
                    exam=report.exam,
                    report=report.position,
                    sentence=revision.sentence.sentence,
                    text=checked_sentence.text,
                    region=checked_sentence.region,
                    expert=names[revision.person_id],
                    mark=revision.mark,
                    marked_at=revision.marked_at,
                )
            )
    return rows


def _draw_reports(
    db: Session,
    by: Person,
    run: str,
    prompt: str,
    *,
    count: int,
    seed: int,
    dataset_id: int | None,
) -> list[CheckedReport]:
    """Draw reports with a usable reply, or take all if there are fewer.

    A reply that cannot be read is replaced by the next one.
    """
    exam_ids = models.list_answered_requests(db, by=by, name=run)
    if not 1 <= count <= models.MAX_REPORTS:
        raise InvalidValue("reports", f"must be 1 to {models.MAX_REPORTS}, not {count}")
    template = parse_prompt(models.load_prompt(db, by=by, label=prompt).content).user
    drawn: list[CheckedReport] = []
    for index in np.random.default_rng(seed).permutation(len(exam_ids)):
        if len(drawn) == count:
            break
        exam_id = exam_ids[index]
        variables, reply = models.load_exchange(db, by=by, name=run, custom_id=exam_id, template=template)
        sentences = tuple(_LINE.split(variables.get("report", ""))[1:])
        sentences = tuple(sentence.strip() for sentence in sentences)
        statements = find_statements(sentences, reply)
        if statements is None or not sentences:
            continue
        drawn.append(
            CheckedReport(
                position=len(drawn) + 1,
                exam=exam_id,
                exam_row_id=None if dataset_id is None else find_exam(db, dataset_id=dataset_id, key=exam_id),
                sentences=sentences,
                checked=list_checked_sentences(sentences, statements),
            )
        )
    if not drawn:
        raise InvalidValue("reports", f"cannot be drawn: run {run} has no usable reply")
    return drawn


def _find_boxes(db: Session, report: CheckedReport, region: str | None) -> tuple[LabelledBox, ...]:
    """Return the boxes of a region on the radiographs of an exam, as its questions have them."""
    if report.exam_row_id is None or region is None:
        return ()
    unique_boxes: dict[LabelledBox, None] = {}
    for label, boxes in region_check_storage.find_region_boxes(db, exam_id=report.exam_row_id).items():
        try:
            if resolve_region(label) == region:
                unique_boxes |= dict.fromkeys(boxes)
        except InvalidValue:  # the label of another kind of box
            continue
    return tuple(unique_boxes)


def _load_check(db: Session, *, check_id: int | None = None, name: str | None = None) -> RegionCheck:
    checks = region_check_storage.list_checks(db, check_id=check_id, name=name)
    if not checks:
        raise NotFound(f"There is no region check {check_id if name is None else name!r}.")
    return checks[0]


def _find_own_check(db: Session, person: Person, check_id: int) -> RegionCheck:
    checks = region_check_storage.list_checks(db, check_id=check_id, person_id=person.id)
    if not checks:
        raise NotFound(f"{person.display_name} is not an expert of region check {check_id}.")
    return checks[0]


def _load_own_marks(db: Session, check: RegionCheck, person: Person) -> dict[SentenceId, SentenceRevision]:
    marks = region_check_storage.list_latest_marks(db, check_id=check.id, person_id=person.id)
    return {revision.sentence: revision for revision in marks}


def _build_task(check: RegionCheck, total: int, latest: dict[SentenceId, SentenceRevision]) -> RegionTask:
    given = [revision for revision in latest.values() if revision.mark is not None]
    last = max(given, key=lambda revision: revision.marked_at, default=None)
    return RegionTask(
        check_id=check.id,
        name=check.name,
        total=total,
        done=len(given),
        last=last.sentence if last else None,
        last_revision=last.revision if last else 0,
    )


def _list_expert_names(
    db: Session, by: Person, check: RegionCheck, reports: Sequence[CheckedReport]
) -> dict[int, str]:
    """Return the names of the experts by id.

    Raises:
        Refused: the person is one of them and has not marked every sentence.
    """
    names = {
        expert.person_id: expert.name for expert in region_check_storage.list_experts(db, check_id=check.id)
    }
    if by.id in names:
        given = [revision for revision in _load_own_marks(db, check, by).values() if revision.mark]
        if len(given) < sum(len(report.checked) for report in reports):
            raise Refused(
                f"You mark sentences of {check.name} yourself, so its report opens when you have marked all "
                "of them."
            )
    return names
