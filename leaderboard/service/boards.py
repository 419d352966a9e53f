"""Services that create leaderboards, their teams and their reference rows."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

import numpy as np
from sqlmodel import Session

from accounts.service import load_person_by_name
from accounts.service.audit import record_action
from domain.count_texts import count_text
from domain.errors import AlreadyThere, InvalidValue, NotFound, Refused
from domain.evaluations import Condition
from domain.leaderboards import (
    RESERVED_TEAM_NAME,
    Leaderboard,
    Quotas,
    Reference,
    ReferenceKind,
    Team,
    check_name,
)
from domain.people import Action, Person, Role, require
from domain.questions import has_same_text
from domain.studies import is_excluded
from evaluation import service as evaluations
from evaluation.results import compute_chance
from evaluation.service.plans import load_split_questions
from leaderboard.scoring import compute_accuracy, is_scored, score_answers
from leaderboard.service.scorer import load_private_keys
from measures.means import mean_by_cluster
from release.splits import Split
from release.verify import read_manifest
from storage.leaderboard import boards
from storage.leaderboard.boards import PrivateQuestions
from storage.reader_study.cases import list_cases
from storage.reader_study.readings import iterate_readings
from storage.reader_study.studies import list_exclusions, load_study
from storage.release import releases


def create_leaderboard(
    db: Session,
    *,
    by: Person,
    name: str,
    dataset: str,
    release: str,
    quotas: Quotas,
    uses_ladder: bool,
    seed: int = 1,
    now: datetime,
) -> Leaderboard:
    """Create a leaderboard over the private split of a release, with the reference row of chance.

    Open questions of the split are not scored.

    Args:
        db: a session that can write.
        by: the acting person.
        name: a new name.
        dataset: the dataset of the release.
        release: the name of the release, which must have a private split.
        quotas: the submissions that each team may make.
        uses_ladder: whether the score of a team changes only on a significant gain.
        seed: determines the resamples of the ranking.
        now: the current time.

    Raises:
        AlreadyThere: a leaderboard of that name exists.
        InvalidValue: the name or the seed is not valid, or a file of the release was changed.
        NotFound: the dataset, the release or its folder does not exist.
        Refused: the release has no private split or only open questions in it, or its keys are missing.
    """
    require(by, Action.MANAGE_LEADERBOARDS)
    check_name(name, field="name")
    if not 0 <= seed < 2**31:
        raise InvalidValue("seed", f"must be 0 to {2**31 - 1:,}, not {seed}")
    if boards.find_leaderboard(db, name=name) is not None:
        raise AlreadyThere(f"There is a leaderboard {name!r} already. Choose another name.")
    scored_release = releases.load_release_by_name(db, dataset=dataset, name=release)
    leaderboard_id = boards.add_leaderboard(
        db, name=name, quotas=quotas, uses_ladder=uses_ladder, seed=seed, by=by.id or None, now=now
    )
    add_version(db, leaderboard_id=leaderboard_id, version=1, release_id=scored_release.id, now=now)
    leaderboard = boards.load_leaderboard(db, name=name)
    record_action(
        db,
        by=by,
        action="create leaderboard",
        subject=f"leaderboard {leaderboard.id}",
        new={
            "name": name, "release": scored_release.id, "questions": leaderboard.questions, "quotas": quotas,
            "ladder": uses_ladder, "seed": seed, "keys_sha256": leaderboard.keys_sha256,
        },
        now=now,
    )  # fmt: skip
    return leaderboard


def add_version(db: Session, *, leaderboard_id: int, version: int, release_id: int, now: datetime) -> None:
    """Store a version of a leaderboard with the reference row of chance. Checks no permission.

    Raises:
        NotFound: the folder of the release is missing.
        InvalidValue: a file of the release was changed.
        Refused: the release has no private split or only open questions in it, or its keys are missing.
    """
    release = releases.load_release(db, release_id=release_id)
    private_items = sorted(
        load_split_questions(db, release, Split.PRIVATE), key=lambda item: item.question.id
    )
    if not private_items:
        raise Refused(
            f"Release {release.name} has no private split. Create one with a share for private questions."
        )
    scored_items = [item for item in private_items if is_scored(item.question)]
    if not scored_items:
        raise Refused(
            f"The private split of release {release.name} has only open questions. A leaderboard does not "
            "score free text, because another wording of a correct answer would count as wrong. Choose or "
            "create a release with closed questions in its private split."
        )
    chances = [compute_chance(item.question) for item in scored_items]
    cluster_numbers: dict[str, int] = {}
    private_split = read_manifest(release.folder)["splits"]["private"]
    boards.add_version(
        db,
        leaderboard_id=leaderboard_id,
        version=version,
        release_id=release_id,
        questions=PrivateQuestions(
            question_ids=tuple(item.question.id for item in scored_items),
            clusters=tuple(
                cluster_numbers.setdefault(item.exam.cluster, len(cluster_numbers)) for item in scored_items
            ),
        ),
        keys_sha256=private_split["keys_sha256"],
        now=now,
    )
    boards.add_references(
        db,
        leaderboard_id=leaderboard_id,
        version=version,
        references=[
            Reference(
                kind=ReferenceKind.CHANCE,
                name="Guessing",
                n=len(scored_items),
                estimate=sum(chance or 0.0 for chance in chances) / len(scored_items),
            )
        ],
        now=now,
    )


def list_leaderboards(db: Session, *, by: Person) -> list[Leaderboard]:
    """Return all leaderboards: first those with a team of the person, then the others; each newest first."""
    require(by, Action.SEE_LEADERBOARDS)
    own_ids = boards.list_leaderboards_of_person(db, person_id=by.id)
    return sorted(boards.list_leaderboards(db), key=lambda board: board.id not in own_ids)


def list_releases_with_private_split(db: Session, *, by: Person) -> list[tuple[str, str]]:
    """Return (dataset, release) of the existing releases with a private split, the newest first."""
    require(by, Action.MANAGE_LEADERBOARDS)
    return [
        (release.dataset, release.name)
        for release in releases.list_releases(db)
        if (release.folder / "private").is_dir()
    ]


def list_teams(db: Session, *, by: Person, leaderboard: str) -> list[Team]:
    """Return the teams of a leaderboard with their members, sorted by name."""
    require(by, Action.MANAGE_LEADERBOARDS)
    return boards.list_teams(db, leaderboard_id=boards.load_leaderboard(db, name=leaderboard).id)


def add_team(db: Session, *, by: Person, leaderboard: str, name: str, now: datetime) -> Team:
    """Add a team without members.

    Raises:
        NotFound: there is no such leaderboard.
        InvalidValue: the name is not valid.
        AlreadyThere: the leaderboard has a team of that name.
    """
    require(by, Action.MANAGE_LEADERBOARDS)
    check_name(name, field="team")
    if name == RESERVED_TEAM_NAME:
        raise InvalidValue("team", f"{name!r} is the heading of a column; choose another name")
    board = boards.load_leaderboard(db, name=leaderboard)
    if any(
        team.name.casefold() == name.casefold() for team in boards.list_teams(db, leaderboard_id=board.id)
    ):
        raise AlreadyThere(f"The leaderboard {board.name} has a team {name!r} already. Choose another name.")
    team_id = boards.add_team(db, leaderboard_id=board.id, name=name, now=now)
    record_action(
        db, by=by, action="add team", subject=f"leaderboard {board.id} team {team_id}", new={"name": name},
        now=now,
    )  # fmt: skip
    return Team(id=team_id, leaderboard_id=board.id, name=name, members=())


def change_members(
    db: Session, *, by: Person, leaderboard: str, team: str, members: list[str], now: datetime
) -> Team:
    """Replace the members of a team.

    Raises:
        NotFound: the leaderboard, the team or a person does not exist.
        Refused: a person does not have the role submitter, or is a member of another team.
    """
    require(by, Action.MANAGE_LEADERBOARDS)
    board = boards.load_leaderboard(db, name=leaderboard)
    boards.lock_team(db, team_id=find_team(db, board=board, name=team).id)
    locked_team = find_team(db, board=board, name=team)  # with the members after the lock
    people = {person.name: person for person in (load_person_by_name(db, name=name) for name in members)}
    for person in people.values():
        if Role.SUBMITTER not in person.roles:
            raise Refused(
                f"{person.display_name} does not have the role submitter. Ask an admin to assign it first."
            )
        current_team_id = boards.find_team_id_of_person(db, leaderboard_id=board.id, person_id=person.id)
        if current_team_id not in (None, locked_team.id):
            raise Refused(
                f"{person.display_name} is a member of another team of {board.name}. Remove the person there "
                "first."
            )
    for name in locked_team.members:
        if name not in people:
            boards.remove_member(db, leaderboard_id=board.id, person_id=load_person_by_name(db, name=name).id)
    for name, person in people.items():
        if name not in locked_team.members:
            boards.add_member(db, leaderboard_id=board.id, team_id=locked_team.id, person_id=person.id)
    record_action(
        db,
        by=by,
        action="change members of team",
        subject=f"leaderboard {board.id} team {locked_team.id}",
        old=locked_team.members,
        new=sorted(people),
        now=now,
    )
    return find_team(db, board=board, name=team)


def find_team(db: Session, *, board: Leaderboard, name: str) -> Team:
    """Return the team of that name. Checks no permission.

    Raises:
        NotFound: the leaderboard has no such team.
    """
    for team in boards.list_teams(db, leaderboard_id=board.id):
        if team.name.casefold() == name.strip().casefold():
            return team
    raise NotFound(f"The leaderboard {board.name} has no team {name!r}.")


def set_text_only_reference(
    db: Session, *, by: Person, leaderboard: str, evaluation: str, now: datetime
) -> Reference:
    """Set the reference row of text only: an evaluation's answers to the private split, given without images.

    Raises:
        NotFound: the leaderboard or the evaluation does not exist.
        Refused: the evaluation is of another release or split, or its condition "no image" is not complete.
    """
    require(by, Action.MANAGE_LEADERBOARDS)
    board = boards.load_leaderboard(db, name=leaderboard)
    given_answers = evaluations.load_answers(db, by=by, name=evaluation, now=now)
    plan = given_answers.evaluation
    if plan.release_id != board.release_id or plan.split != Split.PRIVATE:
        raise Refused(
            f"Evaluation {evaluation} is of {plan.dataset} {plan.release}, {plan.split} split. Choose one "
            f"of the private split of {board.dataset} {board.release}."
        )
    answers = next((c.answers for c in given_answers.conditions if c.condition is Condition.NO_IMAGE), {})
    questions_by_id = {question.question.id: question for question in given_answers.questions}
    private = boards.load_private_questions(db, leaderboard_id=board.id, version=board.version)
    missing = [key for key in private.question_ids if questions_by_id[key].number not in answers]
    if missing:
        raise Refused(
            f"Evaluation {evaluation} has no answer without image to "
            f"{count_text(len(missing), 'question')} of {board.questions:,}. Run its condition “no image” "
            "to the end."
        )
    outcomes = score_answers(
        [questions_by_id[key].question for key in private.question_ids],
        [answers[questions_by_id[key].number] for key in private.question_ids],
    )
    share = compute_accuracy(outcomes, private.clusters)
    note = evaluations.describe_model(plan)
    return _store_reference(
        db,
        by=by,
        board=board,
        reference=Reference(
            kind=ReferenceKind.TEXT_ONLY,
            name=f"{plan.model} without image",
            n=board.questions,
            estimate=share.estimate or 0.0,
            low=share.low,
            high=share.high,
            note="" if note == plan.model else note,
        ),
        source={"evaluation": plan.id},
        now=now,
    )


def set_readers_reference(
    db: Session, *, by: Person, leaderboard: str, study: str, now: datetime
) -> Reference:
    """Set the reference row of readers: the mean accuracy of a study's readers on private questions.

    Each question counts with the share of its readers who answered it correctly; "cannot determine" is wrong.
    The interval is clustered by patient and applies to these readers. The questions are those of the study
    that are private on the leaderboard with the same text, so they may be fewer than those of the
    leaderboard. Exclusions from the analysis of the study apply.

    Raises:
        NotFound: the leaderboard or the study does not exist.
        Refused: the study is of another dataset or has several arms, or it has no reading of a private
            question of the leaderboard.
    """
    require(by, Action.MANAGE_LEADERBOARDS)
    board = boards.load_leaderboard(db, name=leaderboard)
    loaded_study = load_study(db, name=study)
    if loaded_study.source.dataset != board.dataset:
        raise Refused(
            f"Study {study} is of dataset {loaded_study.source.dataset}. Choose one of {board.dataset}."
        )
    if len(loaded_study.design.arms) > 1:
        raise Refused(f"Study {study} has {len(loaded_study.design.arms):,} arms. Choose one with one arm.")
    keys = load_private_keys(db, leaderboard=board)
    questions = {
        case.blind_case.id: keys[case.question.id].question
        for case in list_cases(db, study_id=loaded_study.id)
        if case.scored
        and case.question.id in keys
        and is_scored(keys[case.question.id].question)
        and has_same_text(case.question, keys[case.question.id].question)
    }
    exclusions = list_exclusions(db, study_id=loaded_study.id)
    correctness_by_id: dict[str, list[bool]] = defaultdict(list)
    readers: set[int] = set()
    for reading in iterate_readings(db, study_id=loaded_study.id):
        question = questions.get(reading.key.case_id)
        if (
            question is not None
            and reading.key.repeat == 0
            and not reading.unanswered
            and not is_excluded(exclusions, case_id=reading.key.case_id, reader_id=reading.key.reader_id)
        ):
            correctness_by_id[question.id].append(question.is_correct(reading.answer))
            readers.add(reading.key.reader_id)
    if not correctness_by_id:
        raise Refused(
            f"Study {study} has no reading of a private question of {board.dataset} {board.release}."
        )
    private = boards.load_private_questions(db, leaderboard_id=board.id, version=board.version)
    cluster_by_id = dict(zip(private.question_ids, private.clusters, strict=True))
    mean = mean_by_cluster(
        [float(np.mean(values)) for values in correctness_by_id.values()],
        [cluster_by_id[key] for key in correctness_by_id],
        minimum=0.0,
        maximum=1.0,
    )
    return _store_reference(
        db,
        by=by,
        board=board,
        reference=Reference(
            kind=ReferenceKind.READERS,
            name=f"Mean of {count_text(len(readers), 'reader')}",
            n=mean.n,
            estimate=mean.estimate or 0.0,
            low=mean.low,
            high=mean.high,
            note=f"{mean.n:,} of {count_text(board.questions, 'question')}; {mean.note or 'these readers'}",
        ),
        source={"study": loaded_study.id},
        now=now,
    )


def _store_reference(
    db: Session,
    *,
    by: Person,
    board: Leaderboard,
    reference: Reference,
    source: dict[str, int],
    now: datetime,
) -> Reference:
    boards.add_references(db, leaderboard_id=board.id, version=board.version, references=[reference], now=now)
    record_action(
        db, by=by, action="set permanent row", subject=f"leaderboard {board.id}",
        new={"kind": reference.kind.value} | source, now=now,
    )  # fmt: skip
    return reference
