"""Services for practice sets: create and assign them, require them for batches, and show results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service import load_person_by_name
from accounts.service.audit import record_action
from domain.batches import AssignmentState, Batch, BatchSettings
from domain.count_texts import count_text
from domain.draw_hash import compute_draw_hash
from domain.errors import AlreadyThere, InvalidValue, NotFound, Refused
from domain.mail import NoticeKind
from domain.people import Action, Person, require
from domain.practice import MAX_PRACTICE_QUESTIONS, KnownAnswer, PassMark, PracticeSet
from notifications.service import notify
from review.disputes import find_disputes
from review.practice import PracticeScore, PracticeState, compute_score, settle_known_answer
from review.service.adjudications import select_open_reports
from review.service.batches import batch_subject
from review.service.coordinator_lookups import load_reviewers
from review.service.locked_questions import LockedQuestion
from storage.accounts.people import list_people
from storage.intake.questions import load_questions
from storage.release.errata import load_reports_by_question
from storage.review import practice as practice_storage
from storage.review.adjudications import (
    load_latest_adjudications,
    load_latest_verdicts_by_question,
    load_rules,
)
from storage.review.assignments import (
    add_assignments,
    count_by_state,
    iterate_assignments,
    list_batch_members,
)
from storage.review.practice import Exemption, PracticeResult
from storage.sampling.batches import find_batch, load_batch
from storage.sampling.frames import load_dataset_row_id

_MAX_REASON_LENGTH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticePlan:
    """How a practice set is drawn: its name, the numbers of sound and faulty questions, and the pass mark.

    Raises:
        InvalidValue: the name is empty, there is no sound or no faulty question, or there are too many.
    """

    name: str
    sound: int
    faulty: int
    pass_mark: PassMark
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InvalidValue("name", "enter a name for the practice set")
        for field_name in ("sound", "faulty"):
            if getattr(self, field_name) < 1:
                raise InvalidValue(field_name, "must be 1 or more, so that both shares are defined")
        if self.sound + self.faulty > MAX_PRACTICE_QUESTIONS:
            raise InvalidValue("sound", f"a practice set has at most {MAX_PRACTICE_QUESTIONS} questions")


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeCandidates:
    """The numbers of questions from which a practice set can be drawn.

    ``used`` questions are already in a practice set, and ``unsettled`` questions have no agreed verdict;
    neither are drawn.
    """

    sound: int
    faulty: int
    used: int
    unsettled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerPractice:
    """A reviewer's result in a practice set; ``completed_at`` is None until all questions are judged."""

    person: Person
    score: PracticeScore
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeOverview:
    """A practice set with the names of the batches that require it, and the results of its reviewers."""

    practice: PracticeSet
    required_by: tuple[str, ...]
    reviewers: tuple[ReviewerPractice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequirement:
    """The practice sets of a batch, each of which qualifies a reviewer, and (person, exemption) pairs."""

    practices: tuple[PracticeSet, ...]
    exemptions: tuple[tuple[Person, Exemption], ...]


# ------------------------------------------------------------------------------------------- creation
def count_practice_candidates(db: Session, *, by: Person, batch: str) -> PracticeCandidates:
    """Count the questions of a batch from which a practice set can be drawn.

    Raises:
        NotFound: the batch does not exist.
    """
    require(by, Action.ASSIGN)
    known_answers, used, unsettled = _load_settled_answers(db, load_batch(db, name=batch))
    sound = sum(known_answer.is_sound for known_answer in known_answers.values())
    return PracticeCandidates(sound=sound, faulty=len(known_answers) - sound, used=used, unsettled=unsettled)


def create_practice_from_batch(
    db: Session, *, by: Person, batch: str, plan: PracticePlan, now: datetime
) -> PracticeSet:
    """Create a practice set from settled questions of a batch, with the settings of the batch.

    A question is settled if it is adjudicated, or if everybody to whom it is assigned has judged it and they
    agree on the decision and the corrections. It is not settled if a problem was reported in it since the
    last adjudication. Questions of other practice sets are not used again.

    Raises:
        NotFound: the batch does not exist.
        AlreadyThere: a batch or practice set has this name.
        Refused: too few questions are settled; the message has the numbers.
    """
    require(by, Action.ASSIGN)
    source_batch = load_batch(db, name=batch)
    known_answers, _, _ = _load_settled_answers(db, source_batch)
    return _create_practice_set(
        db, by=by, plan=plan, known_answers=known_answers, settings=source_batch.settings,
        source=f"settled questions of batch {batch}", now=now,
    )  # fmt: skip


def create_practice_from_answers(
    db: Session,
    *,
    by: Person,
    dataset: str,
    answers: Mapping[str, KnownAnswer],
    file_name: str,
    plan: PracticePlan,
    settings: BatchSettings,
    now: datetime,
) -> PracticeSet:
    """Create a practice set from questions of a dataset with known answers.

    Args:
        db: a session for writing.
        by: the acting person.
        dataset: the name of the dataset.
        answers: the known answers by the id of the question in its file.
        file_name: the name of the file of the answers, for messages.
        plan: name, numbers and pass mark.
        settings: the settings with which the practice set is reviewed.
        now: the current time.

    Raises:
        NotFound: the dataset or a question does not exist.
        AlreadyThere: a batch or practice set has this name.
        Refused: a problem was reported in a question and is not settled, or the file has too few questions;
            the message has the numbers.
    """
    require(by, Action.ASSIGN)
    numbers = practice_storage.load_question_row_ids(
        db, dataset_id=load_dataset_row_id(db, name=dataset), keys=list(answers)
    )
    missing = sorted(answers.keys() - numbers.keys())
    if missing:
        raise NotFound(
            f"{file_name}: the dataset {dataset!r} has no question {missing[0]!r}"
            + (f" ({len(missing):,} unknown questions in all)." if len(missing) > 1 else ".")
        )
    reported = _find_reported(db, list(numbers.values()))
    if reported:
        keys = sorted(key for key, number in numbers.items() if number in reported)
        raise Refused(
            f"{file_name}: a problem was reported in {keys[0]} after its release and is not settled, so its "
            f"answer is not known. Settle it on the page Adjudicate, or remove the question from the file"
            + (f" ({len(keys):,} questions in all)." if len(keys) > 1 else ".")
        )
    used = practice_storage.list_practice_sources(db)
    known_answers = {
        numbers[key]: known_answer for key, known_answer in answers.items() if numbers[key] not in used
    }
    return _create_practice_set(
        db, by=by, plan=plan, known_answers=known_answers, settings=settings,
        source=f"{file_name}, dataset {dataset}", now=now,
    )  # fmt: skip


def _create_practice_set(
    db: Session,
    *,
    by: Person,
    plan: PracticePlan,
    known_answers: Mapping[int, KnownAnswer],
    settings: BatchSettings,
    source: str,
    now: datetime,
) -> PracticeSet:
    name = plan.name.strip()
    if find_batch(db, name=name) is not None:
        raise AlreadyThere(f"A batch or practice set {name!r} exists. Choose another name.")
    chosen: list[int] = []
    for is_sound, count, label in ((True, plan.sound, "sound"), (False, plan.faulty, "faulty")):
        candidates = [
            number for number, known_answer in known_answers.items() if known_answer.is_sound is is_sound
        ]
        if len(candidates) < count:
            raise Refused(
                f"{count_text(len(candidates), f'{label} question')} with a known answer and not in another "
                f"practice set, but {count:,} requested ({source}). Request fewer, or use another source."
            )
        chosen += _sort_by_hash(candidates, seed=plan.seed)[:count]
    chosen = _sort_by_hash(chosen, seed=plan.seed + 1)
    practice = practice_storage.add_practice_set(
        db,
        name=name,
        source=source,
        pass_mark=plan.pass_mark,
        settings=settings,
        known_answers=[(number, known_answers[number]) for number in chosen],
        seed=plan.seed,
        by=by.id or None,
        now=now,
    )
    new = {
        "name": name, "source": source, "questions": chosen, "seed": plan.seed,
        "found": plan.pass_mark.found, "accepted": plan.pass_mark.accepted,
    }  # fmt: skip
    record_action(db, by=by, action="create practice set", subject=f"batch {practice.id}", new=new, now=now)
    return practice


def _sort_by_hash(numbers: Sequence[int], *, seed: int) -> list[int]:
    return sorted(numbers, key=lambda number: (compute_draw_hash(f"{seed}:practice:{number}"), number))


def _load_settled_answers(db: Session, batch: Batch) -> tuple[dict[int, KnownAnswer], int, int]:
    """Return the known answers of settled questions, and the counts of used and of unsettled questions."""
    numbers = [member.question_row_id for member in list_batch_members(db, batch_id=batch.id)]
    pending = {
        number
        for number, _, state in iterate_assignments(db, batch_id=batch.id)
        if state in (AssignmentState.OPEN, AssignmentState.SKIPPED)
    }
    verdicts = load_latest_verdicts_by_question(db, batch_id=batch.id, question_ids=numbers)
    adjudications = load_latest_adjudications(db, batch_ids=[batch.id])
    rules = load_rules(db, batch_id=batch.id).rules
    disputed = {
        number
        for number, question in load_questions(
            db,
            question_ids=[
                number for number, question_verdicts in verdicts.items() if len(question_verdicts) > 1
            ],
        )
        if find_disputes(question, verdicts[number], min_iou=rules.same_box_iou)
    }
    used_sources = practice_storage.list_practice_sources(db)
    reported = _find_reported(db, numbers)
    known_answers, n_used, n_unsettled = {}, 0, 0
    for number in numbers:
        adjudication = adjudications.get((batch.id, number))
        known_answer = None
        if number not in reported and (adjudication is not None or number not in pending | disputed):
            known_answer = settle_known_answer(verdicts.get(number, ()), adjudication)
        if known_answer is None:
            n_unsettled += 1
        elif number in used_sources:
            n_used += 1
        else:
            known_answers[number] = known_answer
    return known_answers, n_used, n_unsettled


def _find_reported(db: Session, numbers: Sequence[int]) -> set[int]:
    """Return the questions in which a problem was reported since their last adjudication."""
    reports = load_reports_by_question(db, question_row_ids=numbers)
    return {number for number, open_reports in select_open_reports(db, reports).items() if open_reports}


# --------------------------------------------------------------------------------- assignment, results
def assign_practice(
    db: Session, *, by: Person, practice: str, to: Sequence[str], now: datetime
) -> tuple[str, ...]:
    """Assign all questions of a practice set to each of these reviewers.

    Returns:
        The sign-in names of the reviewers who did not have the practice set yet.

    Raises:
        NotFound: the practice set or a person does not exist.
        Refused: a person is not a reviewer, is disabled, or reads questions of the set in an open study.
        InvalidValue: ``to`` is empty.
    """
    require(by, Action.ASSIGN)
    practice_set = practice_storage.load_practice_set(db, name=practice)
    load_batch(
        db, batch_id=practice_set.id, lock=True
    )  # two coordinators must not assign it at the same time
    people = load_reviewers(db, to, batch=None)
    holders = practice_storage.load_practice_verdicts(db, practice_id=practice_set.id)
    new_people = [person for person in people if person.id not in holders]
    if not new_people:
        return ()
    for person in new_people:
        study = practice_storage.find_open_study(db, practice_id=practice_set.id, person_id=person.id)
        if study is not None:
            raise Refused(
                f"{person.name} is a reader of the open study {study}, which has questions of this practice "
                "set. Practice would show their answers. Close the study first, or choose another set."
            )
    questions = practice_storage.list_practice_questions(db, practice_id=practice_set.id)
    for person in new_people:
        add_assignments(db, batch_id=practice_set.id, person_id=person.id, questions=questions, now=now)
    names = [person.name for person in new_people]
    record_action(
        db,
        by=by,
        action="assign practice set",
        subject=f"batch {practice_set.id}",
        new={"to": names},
        now=now,
    )
    notify(
        db,
        by_id=by.id,
        person_ids=[person.id for person in new_people],
        kind=NoticeKind.ASSIGNED,
        name=practice_set.name,
        path=f"review?batch={practice_set.id}",
        now=now,
    )
    return tuple(names)


def list_practice_overviews(db: Session, *, by: Person) -> list[PracticeOverview]:
    """Return all practice sets with the results of their reviewers, the oldest set first."""
    require(by, Action.SEE_PROGRESS)
    people = {person.id: person for person in list_people(db)}
    result_by_reviewer = {
        (result.practice_id, result.person_id): result for result in practice_storage.list_results(db)
    }
    batch_names: dict[int, list[str]] = {}
    for batch_id, practice_ids in practice_storage.load_requirements(db).items():
        for practice_id in practice_ids:
            batch_names.setdefault(practice_id, []).append(load_batch(db, batch_id=batch_id).name)
    overviews = []
    for practice in practice_storage.list_practice_sets(db):
        verdicts = practice_storage.load_practice_verdicts(db, practice_id=practice.id)
        reviewers = [
            ReviewerPractice(
                person=people[person_id],
                score=compute_score(own_verdicts, pass_mark=practice.pass_mark),
                completed_at=result.completed_at
                if (result := result_by_reviewer.get((practice.id, person_id)))
                else None,
            )
            for person_id, own_verdicts in verdicts.items()
        ]
        overviews.append(
            PracticeOverview(
                practice=practice,
                required_by=tuple(batch_names.get(practice.id, ())),
                reviewers=tuple(sorted(reviewers, key=lambda row: row.person.name)),
            )
        )
    return overviews


def load_own_practice(
    db: Session, *, person: Person, batch_id: int
) -> tuple[PracticeSet, PracticeScore] | None:
    """Return a practice set with the person's own result; None if the person has no such practice set."""
    require(person, Action.JUDGE)
    practice = practice_storage.find_practice_set(db, batch_id=batch_id)
    if practice is None:
        return None
    verdicts = practice_storage.load_practice_verdicts(db, practice_id=batch_id, person_id=person.id)
    if person.id not in verdicts:
        return None
    return practice, compute_score(verdicts[person.id], pass_mark=practice.pass_mark)


def complete_practice(
    db: Session, *, person: Person, locked: LockedQuestion, now: datetime
) -> PracticeScore | None:
    """Store a reviewer's result once the last question of a practice set is judged.

    Returns:
        The result; None while questions are left.
    """
    require(person, Action.JUDGE)
    practice_id = locked.batch.id
    # Two tabs may judge the last two questions at the same time.
    practice_storage.lock_practice_set(db, batch_id=practice_id)
    states, _ = count_by_state(db, person_id=person.id, batch_id=practice_id)
    if states.keys() != {AssignmentState.DONE}:
        return None
    own_practice = load_own_practice(db, person=person, batch_id=practice_id)
    if own_practice is None or own_practice[1].state is PracticeState.OPEN:
        return None
    score = own_practice[1]
    result = PracticeResult(
        practice_id=practice_id,
        person_id=person.id,
        faulty=score.found.n,
        found=score.found.count,
        sound=score.accepted.n,
        accepted=score.accepted.count,
        passed=score.state is PracticeState.PASSED,
        completed_at=now,
    )
    if practice_storage.add_result(db, result=result):
        new = {
            "person": person.name, "found": f"{result.found} of {result.faulty}",
            "accepted": f"{result.accepted} of {result.sound}", "passed": result.passed,
        }  # fmt: skip
        record_action(
            db,
            by=person,
            action="complete practice set",
            subject=batch_subject(locked.batch),
            new=new,
            now=now,
        )
    return score


# --------------------------------------------------------------------------- requirement and exemption
def load_requirement(db: Session, *, by: Person, batch: str) -> BatchRequirement:
    """Return the practice sets that qualify for a batch, and who is exempted.

    Raises:
        NotFound: the batch does not exist.
    """
    require(by, Action.SEE_PROGRESS)
    loaded_batch = load_batch(db, name=batch)
    required_ids = practice_storage.load_requirements(db).get(loaded_batch.id, [])
    people = {person.id: person for person in list_people(db)}
    return BatchRequirement(
        practices=tuple(
            practice for practice in practice_storage.list_practice_sets(db) if practice.id in required_ids
        ),
        exemptions=tuple(
            (people[exemption.person_id], exemption)
            for exemption in practice_storage.list_exemptions(db)
            if exemption.batch_id == loaded_batch.id
        ),
    )


def require_practice(
    db: Session, *, by: Person, batch: str, practices: Sequence[str], now: datetime
) -> BatchRequirement:
    """Require that reviewers of a batch have passed one of these practice sets.

    An empty list removes the requirement. A change applies at once, also to reviewers who already have
    questions of the batch. Locks the batch's row.

    Raises:
        NotFound: the batch or a practice set does not exist.
    """
    require(by, Action.ASSIGN)
    loaded_batch = load_batch(db, name=batch, lock=True)
    required_sets = [practice_storage.load_practice_set(db, name=name) for name in dict.fromkeys(practices)]
    before = load_requirement(db, by=by, batch=batch)
    if {practice.id for practice in required_sets} != {practice.id for practice in before.practices}:
        practice_storage.save_requirement(
            db,
            batch_id=loaded_batch.id,
            practice_ids=[practice.id for practice in required_sets],
            by=by.id or None,
            now=now,
        )
        record_action(
            db, by=by, action="require practice", subject=batch_subject(loaded_batch),
            old=[practice.name for practice in before.practices],
            new=[practice.name for practice in required_sets], now=now,
        )  # fmt: skip
    return load_requirement(db, by=by, batch=batch)


def exempt_reviewer(
    db: Session, *, by: Person, batch: str, reviewer: str, reason: str, now: datetime
) -> None:
    """Allow a reviewer to review a batch without having passed a practice set. Locks the batch's row.

    Raises:
        NotFound: the batch or the person does not exist.
        InvalidValue: the reason is empty or too long.
        Refused: the batch requires no practice set, or the person is not a reviewer or is qualified already.
    """
    require(by, Action.ASSIGN)
    loaded_batch = load_batch(db, name=batch, lock=True)
    reason = reason.strip()
    if not reason or len(reason) > _MAX_REASON_LENGTH:
        raise InvalidValue("reason", f"must have 1 to {_MAX_REASON_LENGTH} characters")
    [person] = load_reviewers(db, [load_person_by_name(db, name=reviewer).name], batch=None)
    if loaded_batch.id not in practice_storage.load_requirements(db):
        raise Refused(f"Batch {batch} requires no practice set.")
    if practice_storage.is_qualified(db, batch_id=loaded_batch.id, person_id=person.id):
        raise Refused(f"{person.name} may review batch {batch} already.")
    practice_storage.add_exemption(
        db,
        exemption=Exemption(
            batch_id=loaded_batch.id,
            person_id=person.id,
            reason=reason,
            granted_by=by.id or None,
            granted_at=now,
        ),
    )
    record_action(
        db, by=by, action="exempt from practice", subject=batch_subject(loaded_batch),
        new={"person": person.name}, reason=reason, now=now,
    )  # fmt: skip
