"""Services for problems that people report in released questions.

A report is settled by the next adjudication of the question (:mod:`review.service.adjudications`); nothing
else is stored about its outcome.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.corrections import Change
from domain.errata import ErratumReport, ErratumStatus, Settlement, check_report_text, settle_report
from domain.errors import AlreadyThere, InvalidValue, NotFound, Refused
from domain.people import Action, Person, Role, require
from domain.questions import Question
from domain.verdicts import ErrorKind
from release.released_question import find_released_question
from release.splits import Split
from storage.intake.questions import load_questions
from storage.release import errata, releases
from storage.release.errata import ReleasedQuestion
from storage.release.releases import ReleaseRecord

REPORT_PROBLEM = "report problem"
#: The largest number of questions that a search returns.
MAX_MATCHES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportableQuestion:
    """A question in which the person may report a problem, as the release ``release_id`` has it.

    ``question`` has its key. ``shows_key`` states whether the person may see the key and the explanation.
    """

    release_id: int
    question: Question
    shows_key: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ErratumEntry:
    """A report in a list, as the person may see it.

    Attributes:
        report: the report.
        status: None if the person may only know that the report was settled.
        reason: the adjudicator's reason; "" if it is open or the person may not see it.
        changes: from the released question to the adjudicated one; empty in the same cases as ``reason``.
        settled_at: the time of the adjudication; None while it is open.
    """

    report: ErratumReport
    status: ErratumStatus | None
    reason: str = ""
    changes: tuple[Change, ...] = ()
    settled_at: datetime | None = None


def list_reportable_releases(db: Session, *, by: Person) -> list[ReleaseRecord]:
    """Return the releases with a question in which the person may report a problem, the latest first."""
    require(by, Action.REPORT_PROBLEMS)
    return [
        release
        for release in releases.list_releases(db)
        if _list_questions(db, by=by, release_id=release.id, text="", limit=1)
    ]


def find_release(db: Session, *, by: Person, dataset: str, name: str) -> ReleaseRecord:
    """Return a release by its name and the name of its dataset.

    Raises:
        NotFound: there is no such dataset or release.
    """
    require(by, Action.MAKE_RELEASE)
    return releases.load_release_by_name(db, dataset=dataset, name=name)


def search_reportable_questions(
    db: Session, *, by: Person, release_id: int, text: str
) -> list[ReleasedQuestion]:
    """Return at most 20 questions of a release in which the person may report a problem.

    ``text`` is a part of the id or of the imported stem; "" for the first questions.
    """
    require(by, Action.REPORT_PROBLEMS)
    return _list_questions(db, by=by, release_id=release_id, text=text.strip(), limit=MAX_MATCHES)


def open_reportable_question(
    db: Session, *, by: Person, release_id: int, question_id: str
) -> ReportableQuestion:
    """Return a question as the release has it.

    Raises:
        NotFound: the release has no such question, the person has no access to it, or the folder of the
            release is missing; also if a file was changed, for a person who may not see all questions.
        InvalidValue: a file of the release was changed.
        Refused: the manifest of the release was changed.
    """
    require(by, Action.REPORT_PROBLEMS)
    match = _find_question(db, by=by, release_id=release_id, question_id=question_id)
    return ReportableQuestion(
        release_id=release_id,
        question=_load_released(db, by=by, release_id=release_id, match=match),
        shows_key=_sees_all(by) or (match.is_judged and Role.REVIEWER in by.roles),
    )


def report_problem(
    db: Session,
    *,
    by: Person,
    reported: ReportableQuestion,
    kind: ErrorKind,
    text: str,
    now: datetime,
) -> int:
    """Store the report of a problem in a released question, and return its id.

    The question is opened beforehand in a read-only session, because its file is compared with its hash and
    can have a gigabyte.

    Args:
        db: a session that can write.
        by: the acting person.
        reported: the question from :func:`open_reportable_question`.
        kind: the kind of error.
        text: the description, which a corrected release publishes with the outcome.
        now: the current time.

    Returns:
        The id of the report. A repeated request returns the id of the first report.

    Raises:
        NotFound: the person no longer has access to the question.
        AlreadyThere: the person has reported this kind of problem of the question with another text.
        InvalidValue: the text is not valid.
    """
    require(by, Action.REPORT_PROBLEMS)
    text = check_report_text(text)
    release_id, question_id = reported.release_id, reported.question.id
    match = _find_question(db, by=by, release_id=release_id, question_id=question_id)
    for report in errata.list_reports(db, question_row_ids=[match.question_row_id]):
        if (report.release_id, report.kind, report.reporter_id) == (release_id, kind, by.id or None):
            if report.text == text:
                return report.id
            if report.reporter_id is not None:
                raise AlreadyThere(
                    f"You reported “{kind.label}” of question {question_id} on "
                    f"{report.reported_at:%Y-%m-%d}: {report.text} Reports are not changed. Choose another "
                    "problem."
                )
    last = errata.load_last_adjudications(db, question_row_ids=[match.question_row_id]).get(
        match.question_row_id
    )
    if last is not None and last.given_at >= now:  # that adjudication did not see this report
        now = last.given_at + timedelta(microseconds=1)
    report_id = errata.add_report(
        db,
        release_id=release_id,
        question=reported.question,
        question_row_id=match.question_row_id,
        side=match.side,
        kind=kind,
        text=text,
        by=by.id or None,
        now=now,
    )
    record_action(
        db,
        by=by,
        action=REPORT_PROBLEM,
        subject=f"release {release_id} question {match.question_row_id}",
        new={"kind": kind.value, "text": text},
        now=now,
    )
    return report_id


def list_errata(db: Session, *, by: Person) -> list[ErratumEntry]:
    """Return the reports with their outcomes, the latest first: all for a coordinator, own ones for others.

    Outcomes reveal the key, so they are shown to coordinators, and to reviewers of questions that they judged
    and do not read in an open study. Others see only whether a report was settled.
    """
    require(by, Action.REPORT_PROBLEMS)
    reports = errata.list_reports(db, reporter_id=None if _sees_all(by) else by.id)
    settlements = _settle(db, reports)
    return [
        _build_entry(
            report,
            settlements.get(report.id),
            shows_outcome=report.id in settlements and _sees_outcome(db, report, by=by),
        )
        for report in reversed(reports)
    ]


def load_reports_by_question_id(db: Session, dataset_id: int) -> dict[str, list[ErratumReport]]:
    """Return the reports in questions of a dataset by the id of the question. Checks no permission."""
    reports = defaultdict(list)
    for report in errata.list_reports(db, dataset_id=dataset_id):
        reports[report.question_id].append(report)
    return dict(reports)


def _sees_outcome(db: Session, report: ErratumReport, *, by: Person) -> bool:
    if _sees_all(by):
        return True
    if Role.REVIEWER not in by.roles:
        return False
    matches = errata.list_reportable_questions(
        db, release_id=report.release_id, person_id=by.id, sees_all=False, question_id=report.question_id,
        limit=1,
    )  # fmt: skip
    return any(match.is_judged for match in matches)


def _build_entry(
    report: ErratumReport, settlement: Settlement | None, *, shows_outcome: bool
) -> ErratumEntry:
    if settlement is None:
        return ErratumEntry(report=report, status=ErratumStatus.OPEN)
    settled_at = settlement.adjudication.given_at
    if not shows_outcome:
        return ErratumEntry(report=report, status=None, settled_at=settled_at)
    return ErratumEntry(
        report=report,
        status=settlement.status,
        reason=settlement.adjudication.reason,
        changes=settlement.changes,
        settled_at=settled_at,
    )


def _settle(db: Session, reports: Sequence[ErratumReport]) -> dict[int, Settlement]:
    """Return the settlement of each report that is not open, by the id of the report."""
    adjudications = errata.load_last_adjudications(
        db, question_row_ids=sorted({report.question_row_id for report in reports})
    )
    imported = dict(load_questions(db, question_ids=sorted(adjudications)))
    settlements = {}
    for report in reports:
        number = report.question_row_id
        if number not in adjudications:
            continue
        settlement = settle_report(report, imported=imported[number], adjudication=adjudications[number])
        if settlement is not None:
            settlements[report.id] = settlement
    return settlements


def _sees_all(person: Person) -> bool:
    return person.may(Action.MAKE_RELEASE)


def _list_questions(
    db: Session, *, by: Person, release_id: int, text: str, limit: int
) -> list[ReleasedQuestion]:
    return errata.list_reportable_questions(
        db, release_id=release_id, person_id=by.id, sees_all=_sees_all(by), text=text, limit=limit
    )


def _find_question(db: Session, *, by: Person, release_id: int, question_id: str) -> ReleasedQuestion:
    matches = errata.list_reportable_questions(
        db, release_id=release_id, person_id=by.id, sees_all=_sees_all(by), question_id=question_id.strip(),
        limit=1,
    )  # fmt: skip
    if not matches:
        raise NotFound(
            f"The release has no question {question_id!r} in which you can report a problem. Reviewers can "
            "report "
            "questions that they judged, readers those that they read in a closed study."
        )
    return matches[0]


def _load_released(db: Session, *, by: Person, release_id: int, match: ReleasedQuestion) -> Question:
    release = releases.load_release(db, release_id=release_id)
    try:
        return find_released_question(
            release.folder,
            manifest_sha256=release.manifest_sha256,
            question_id=match.question_id,
            split=Split(match.side),
        )
    except (NotFound, InvalidValue, Refused) as error:
        if _sees_all(by):
            raise
        # The messages have paths of the server.
        raise NotFound("The release is not available. Ask a coordinator.") from error
