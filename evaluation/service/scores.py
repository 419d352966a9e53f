"""Services for the scores of all models on one split of a release. They are computed once and kept as files.

On a private split, pages record in the audit trail when a session first opens it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import numpy as np
from sqlalchemy import Engine
from sqlmodel import Session

from accounts.service.audit import record_action
from domain.count_texts import count_text
from domain.errors import InvalidValue, NotFound, Refused
from domain.evaluations import Condition, Evaluation, EvaluationRun, ScoreColumnVersion
from domain.jobs import JobProgress
from domain.language_models import RequestStatus
from domain.people import Action, Person, require
from evaluation.answer_reason import AR_SCORE, compute_answer_reason
from evaluation.answer_texts import TEXT_SIGNATURE, build_candidate, build_reference
from evaluation.cases import EvaluatedQuestion
from evaluation.results import number_clusters
from evaluation.score_columns import ExternalScores, TextPair, read_external_scores
from evaluation.score_table import (
    TABLE_VERSION,
    ModelScores,
    QuestionTable,
    ScoreColumn,
    build_question_table,
    decode_column,
    decode_question_table,
    decode_scores,
    encode_column,
    encode_question_table,
    encode_scores,
    score_model,
)
from evaluation.scoreboard import ScoredModel
from evaluation.service.answer_extraction import describe_extraction, iterate_read_predictions
from evaluation.service.answer_reason import describe_judge, name_judge_run
from evaluation.service.plans import load_evaluated_questions
from jobs.service import JobKind, JobRun
from language_models import service as models
from measures.text_overlap import describe_bleu
from release.splits import Split
from storage.evaluation import evaluations as evaluation_storage
from storage.evaluation import exams as exam_storage
from storage.evaluation import score_columns as score_column_storage
from storage.evaluation import score_files
from storage.intake.datasets import load_dataset, load_import_state
from storage.language_models import runs
from storage.language_models.requests import count_by_status
from storage.reader_study import predictions as prediction_storage
from storage.release import releases
from storage.unit_of_work import read_only_session
from storage.workspace import Workspace, current_workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFile:
    """A column of scores, in a file named by ``digest``. ``external`` is None for the AR-score."""

    digest: str
    is_computed: bool
    external: ScoreColumnVersion | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationScores:
    """An evaluation with its run in the condition "as given". ``digest`` names the file of its scores.

    ``extraction`` is the signature of the judge that extracted answers; "" if no judge has finished.
    ``columns`` are the external scores and, once a judge has finished, the AR-score.
    """

    evaluation: Evaluation
    run: EvaluationRun
    digest: str
    is_computed: bool
    extraction: str = ""
    columns: tuple[ColumnFile, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to be computed."""
        return self.is_computed and all(column.is_computed for column in self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedSplit:
    """The evaluations of one split of a release, in the order of their names.

    ``digest`` names the file of the questions. Evaluations without an answer are left out.
    """

    dataset: str
    release: str
    release_id: int
    split: str
    digest: str
    evaluations: tuple[EvaluationScores, ...]

    @property
    def title(self) -> str:
        """The split as shown on screen."""
        return f"{self.dataset} {self.release}, {self.split} split"

    @property
    def key(self) -> str:
        """The prefix of the keys of widgets and of the subject of the job."""
        return f"scores {self.release_id} {self.split}"

    @property
    def waiting(self) -> list[EvaluationScores]:
        """The evaluations whose scores are not computed yet."""
        return [scores for scores in self.evaluations if not scores.is_complete]

    @property
    def is_private(self) -> bool:
        """Whether the split is private: openings are recorded, and single questions are not exported."""
        return self.split == Split.PRIVATE


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitScores:
    """The computed scores of a split. Those of a private split must not leave the server."""

    evaluated_split: EvaluatedSplit
    questions: QuestionTable
    models: tuple[ScoredModel, ...]


def list_evaluated_splits(db: Session, *, by: Person) -> list[EvaluatedSplit]:
    """Return the splits whose unmodified questions ("as given") a model answered.

    The newest come first, private splits last.
    """
    require(by, Action.RUN_MODELS)
    workspace = current_workspace()
    groups: dict[tuple[int, str], list[tuple[Evaluation, EvaluationRun]]] = {}
    runs = evaluation_storage.load_runs_by_evaluation(db, condition=Condition.AS_GIVEN)
    for evaluation in evaluation_storage.list_evaluations(db):
        run = runs.get(evaluation.id)
        if run is not None and run.predictions:
            groups.setdefault((evaluation.release_id, evaluation.split), []).append((evaluation, run))
    evaluated_splits = [_build_evaluated_split(db, workspace, members) for members in groups.values()]
    return sorted(evaluated_splits, key=lambda evaluated_split: evaluated_split.is_private)


def open_scores(db: Session, *, by: Person, release_id: int, split: str, now: datetime) -> SplitScores:
    """Load the computed scores of a split, with an audit entry if it is private.

    Args:
        db: a session; one that can write if the split is private.
        by: the acting person.
        release_id: the id of the release in the database.
        split: the split.
        now: the current time.

    Raises:
        NotFound: no model has answers to the split, or no score is computed yet.
    """
    require(by, Action.RUN_MODELS)
    evaluated_split = find_evaluated_split(db, by=by, release_id=release_id, split=split)
    if evaluated_split.is_private:
        record_action(
            db,
            by=by,
            action="open results of private split",
            subject=f"release {release_id}",
            new={
                "evaluations": [
                    evaluation_scores.evaluation.name for evaluation_scores in evaluated_split.evaluations
                ]
            },
            now=now,
        )
    return load_split_scores(by=by, evaluated_split=evaluated_split)


def find_evaluated_split(db: Session, *, by: Person, release_id: int, split: str) -> EvaluatedSplit:
    """Return the evaluations of a split.

    Raises:
        NotFound: no model has answers to it.
    """
    for evaluated_split in list_evaluated_splits(db, by=by):
        if (evaluated_split.release_id, evaluated_split.split) == (release_id, split):
            return evaluated_split
    raise NotFound("No model has answered the questions of this split yet.")


def load_split_scores(*, by: Person, evaluated_split: EvaluatedSplit) -> SplitScores:
    """Load the computed scores of a split. Adds no audit entry: see :func:`open_scores`.

    Raises:
        NotFound: no score is computed yet.
    """
    require(by, Action.RUN_MODELS)
    workspace = current_workspace()
    computed = [
        evaluation_scores
        for evaluation_scores in evaluated_split.evaluations
        if evaluation_scores.is_computed
    ]
    if not computed or not score_files.has_scores(workspace, digest=evaluated_split.digest):
        raise NotFound("The scores are not computed yet. Compute them on the page Model scores.")
    return SplitScores(
        evaluated_split=evaluated_split,
        questions=_load_questions(workspace, evaluated_split.digest),
        models=tuple(
            ScoredModel(
                name=evaluation_scores.evaluation.name,
                model=evaluation_scores.evaluation.model,
                is_test_model=evaluation_scores.evaluation.is_test_model,
                scores=_load_model_scores(workspace, evaluation_scores.digest),
                columns=tuple(
                    _load_column(workspace, column.digest)
                    for column in evaluation_scores.columns
                    if column.is_computed
                ),
                extraction=evaluation_scores.extraction,
            )
            for evaluation_scores in computed
        ),
    )


def import_score_columns(
    db: Session,
    *,
    by: Person,
    release_id: int,
    split: str,
    content: bytes,
    file_name: str,
    now: datetime,
) -> list[str]:
    """Store the external scores of a CSV file, and return their names with versions.

    A column replaces the former one of the same name and evaluation.

    Args:
        db: a session that can write.
        by: the acting person.
        release_id: the id of the release in the database.
        split: the split.
        content: the file (:mod:`evaluation.score_columns`).
        file_name: its name, for messages and the audit trail.
        now: the current time.

    Raises:
        NotFound: no model has answers to the split.
        InvalidValue: the file is not valid, or another evaluation has the score in another version.
    """
    evaluated_split = find_evaluated_split(db, by=by, release_id=release_id, split=split)
    try:
        lines = content.decode("utf-8-sig").splitlines(keepends=True)
    except UnicodeDecodeError as error:
        raise InvalidValue(file_name, "is not UTF-8 text") from error
    evaluation_ids = {
        evaluation_scores.evaluation.name: evaluation_scores.evaluation.id
        for evaluation_scores in evaluated_split.evaluations
    }
    release_questions = exam_storage.load_release_questions(db, release_id=release_id, split=split)
    columns = read_external_scores(
        lines,
        file_name=file_name,
        evaluations=evaluation_ids,
        row_ids_by_key={key: question_row_id for key, (question_row_id, _) in release_questions.items()},
    )
    _check_versions(evaluated_split, columns)
    for column in columns:
        score_column_storage.add_column(
            db,
            evaluation_id=evaluation_ids[column.evaluation],
            name=column.name,
            version=column.version,
            scores=column.scores,
            by=by.id or None,
            now=now,
        )
    names = sorted({f"{column.name} ({column.version})" for column in columns})
    record_action(
        db,
        by=by,
        action="import scores from outside",
        subject=f"release {release_id}",
        new={
            "split": split,
            "scores": names,
            "evaluations": sorted({column.evaluation for column in columns}),
            "sha256": hashlib.sha256(content).hexdigest(),
        },
        now=now,
    )
    return names


def _check_versions(evaluated_split: EvaluatedSplit, columns: list[ExternalScores]) -> None:
    """Refuse columns if a score would then have two versions. Columns that they replace do not count."""
    replaced = {(column.evaluation, column.name) for column in columns}
    versions = {column.name: column.version for column in columns}
    for evaluation_scores in evaluated_split.evaluations:
        for column in evaluation_scores.columns:
            if (
                column.external is None
                or (evaluation_scores.evaluation.name, column.external.name) in replaced
            ):
                continue
            version = versions.get(column.external.name, column.external.version)
            if version != column.external.version:
                raise InvalidValue(
                    "version",
                    f"{column.external.name} of {evaluation_scores.evaluation.name} has version "
                    f"{column.external.version!r}, not {version!r}; import the scores of all evaluations of "
                    "the split in one file",
                )


def load_text_pairs(db: Session, *, by: Person, evaluated_split: EvaluatedSplit) -> list[TextPair]:
    """Load the texts of keys and models, for external scores.

    Raises:
        Refused: the split is private.
    """
    require(by, Action.RUN_MODELS)
    if evaluated_split.is_private:
        raise Refused("The split is private. Its keys and answers to single questions are not exported.")
    questions = load_evaluated_questions(db, evaluated_split.evaluations[0].evaluation)
    by_row_id = {item.number: item.question for item in questions}
    return [
        TextPair(
            question_id=by_row_id[prediction.question_row_id].id,
            evaluation=evaluation_scores.evaluation.name,
            reference=build_reference(by_row_id[prediction.question_row_id]),
            candidate=build_candidate(prediction, by_row_id[prediction.question_row_id]),
        )
        for evaluation_scores in evaluated_split.evaluations
        for prediction in prediction_storage.iterate_predictions(db, model_id=evaluation_scores.run.model_id)
    ]


def compute_scores(
    *,
    by: Person,
    release_id: int,
    split: str,
    report: Callable[[int, int], None] = lambda _done, _total: None,
    should_stop: Callable[[], bool] = lambda: False,
    engine: Engine | None = None,
) -> int:
    """Compute the scores of a split that are not computed yet, and return the number of models.

    A second process that does the same writes the same files. After a stop, the computed scores are kept.

    Args:
        by: the acting person.
        release_id: the id of the release in the database.
        split: the split.
        report: called with the numbers of scored answers and of all answers to be scored.
        should_stop: whether to stop after the current model.
        engine: the database; None for the one that the environment names.

    Raises:
        NotFound: no model has answers to the split, or the folder of the release is missing.
        InvalidValue: a file of the release was changed.
        Refused: the keys of the private split are missing.
    """
    require(by, Action.RUN_MODELS)
    workspace = current_workspace()
    with read_only_session(engine) as db:
        evaluated_split = find_evaluated_split(db, by=by, release_id=release_id, split=split)
        waiting = evaluated_split.waiting
        has_table = score_files.has_scores(workspace, digest=evaluated_split.digest)
        if not waiting and has_table:
            return 0
        questions = load_evaluated_questions(db, evaluated_split.evaluations[0].evaluation)
        if not has_table:
            exam_row_ids = {item.exam.number for item in questions}
            table = build_question_table(questions, exam_storage.load_demographics(db, numbers=exam_row_ids))
            content = encode_question_table(table)
            score_files.save_scores(workspace, digest=evaluated_split.digest, content=content)
    total = len(questions) * len(waiting)
    computed_count = 0
    for evaluation_scores in waiting:
        if should_stop():
            break

        def report_rows(rows: int, done: int = len(questions) * computed_count) -> None:
            report(done + rows, total)

        with read_only_session(engine) as db:
            if not evaluation_scores.is_computed:
                result = _score_evaluation(db, by, evaluation_scores, questions, report_rows)
                score_files.save_scores(
                    workspace, digest=evaluation_scores.digest, content=encode_scores(result)
                )
            for column in evaluation_scores.columns:
                if not column.is_computed:
                    content = encode_column(_build_column(db, by, evaluation_scores, column, questions))
                    score_files.save_scores(workspace, digest=column.digest, content=content)
        computed_count += 1
    return computed_count


def _score_evaluation(
    db: Session,
    by: Person,
    evaluation_scores: EvaluationScores,
    questions: list[EvaluatedQuestion],
    report: Callable[[int], None],
) -> ModelScores:
    return score_model(
        questions,
        evaluation_storage.load_cases(db, run_id=evaluation_scores.run.id),
        iterate_read_predictions(db, evaluation_scores.evaluation, evaluation_scores.run, by=by),
        report=report,
    )


def _build_column(
    db: Session,
    by: Person,
    evaluation_scores: EvaluationScores,
    column: ColumnFile,
    questions: list[EvaluatedQuestion],
) -> ScoreColumn:
    if column.external is not None:
        name, version = column.external.name, column.external.version
        values = score_column_storage.load_scores(db, column_id=column.external.id)
    else:
        run = models.load_run(db, by=by, name=name_judge_run(evaluation_scores.evaluation.name))
        replies = (
            (custom_id, reply) for custom_id, reply, _ in models.iterate_reply_texts(db, by=by, name=run.name)
        )
        name, version = AR_SCORE, describe_judge(run)
        values = dict(compute_answer_reason(replies, clusters=number_clusters(questions)).values)
    numbers = sorted(question.number for question in questions)
    return ScoreColumn(
        name=name, version=version, values=np.array([values.get(number, np.nan) for number in numbers])
    )


def _find_judge_digest(db: Session, *, evaluation: Evaluation, digest: str) -> str | None:
    """Return the name of the file of AR-scores; None if there is no judge or it has not finished."""
    run = runs.find_run(db, name=name_judge_run(evaluation.name))
    if run is None:
        return None
    counts = count_by_status(db, run_id=run.id)
    done, failed = counts.get(RequestStatus.DONE, 0), counts.get(RequestStatus.FAILED, 0)
    return (
        _hash(digest, run.name, run.requests_sha256, done, describe_judge(run))
        if done + failed == run.requests
        else None
    )


def _build_evaluated_split(
    db: Session, workspace: Workspace, members: list[tuple[Evaluation, EvaluationRun]]
) -> EvaluatedSplit:
    first_evaluation = members[0][0]
    release = releases.load_release(db, release_id=first_evaluation.release_id)
    # An import may change patient, age, sex and views of exams, which no file of the release contains.
    imports = load_import_state(db, dataset_id=load_dataset(db, name=first_evaluation.dataset).id)
    digest = _hash(TABLE_VERSION, release.manifest_sha256, first_evaluation.split, *imports)
    columns_by_evaluation = score_column_storage.list_columns(
        db, release_id=first_evaluation.release_id, split=first_evaluation.split
    )
    all_scores = []
    for evaluation, run in sorted(members, key=lambda member: member[0].name):
        extraction = describe_extraction(db, evaluation)
        model_digest = _hash(
            digest, TEXT_SIGNATURE, describe_bleu(), evaluation.id, evaluation.created_at, run.predictions,
            extraction,
        )  # fmt: skip
        digested_columns: list[tuple[str, ScoreColumnVersion | None]] = [
            (_hash(digest, "column from outside", column.id, column.name, column.version), column)
            for column in columns_by_evaluation.get(evaluation.id, [])
        ]
        judge_digest = _find_judge_digest(db, evaluation=evaluation, digest=model_digest)
        if judge_digest is not None:
            digested_columns.append((judge_digest, None))
        all_scores.append(
            EvaluationScores(
                evaluation=evaluation,
                run=run,
                digest=model_digest,
                is_computed=score_files.has_scores(workspace, digest=model_digest),
                extraction=extraction,
                columns=tuple(
                    ColumnFile(
                        digest=column_digest,
                        is_computed=score_files.has_scores(workspace, digest=column_digest),
                        external=column,
                    )
                    for column_digest, column in digested_columns
                ),
            )
        )
    return EvaluatedSplit(
        dataset=first_evaluation.dataset,
        release=first_evaluation.release,
        release_id=first_evaluation.release_id,
        split=first_evaluation.split,
        digest=digest,
        evaluations=tuple(all_scores),
    )


def _hash(*values: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, values)).encode()).hexdigest()


@lru_cache(maxsize=4)  # reading 41,007 questions takes a tenth of a second, and each slice needs them
def _load_questions(workspace: Workspace, digest: str) -> QuestionTable:
    return decode_question_table(_read_scores(workspace, digest))


@lru_cache(maxsize=64)  # as above; 2.5 MB per model of 41,007 questions
def _load_model_scores(workspace: Workspace, digest: str) -> ModelScores:
    return decode_scores(_read_scores(workspace, digest))


@lru_cache(maxsize=64)  # as above
def _load_column(workspace: Workspace, digest: str) -> ScoreColumn:
    return decode_column(_read_scores(workspace, digest))


def _read_scores(workspace: Workspace, digest: str) -> bytes:
    content = score_files.find_scores(workspace, digest=digest)
    if content is None:
        raise NotFound("A file of scores was deleted from the cache. Load the page again and compute it.")
    return content


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParameters:
    """The parameters of the job: the release and its split."""

    release_id: int
    split: str


def _run(job: JobRun[ScoreParameters]) -> None:
    def report(done: int, total: int) -> None:
        job.progress = JobProgress(done=done, total=total, unit="answers")

    computed = compute_scores(
        by=job.owner,
        release_id=job.parameters.release_id,
        split=job.parameters.split,
        report=report,
        should_stop=job.should_stop,
    )
    job.raise_if_cancelled()
    with job.transaction() as db:
        job.finish(db, f"Scores of {count_text(computed, 'model')} computed.")


MODEL_SCORES = JobKind(
    name="model scores",
    title="Scores of models",
    action=Action.RUN_MODELS,
    parameters=ScoreParameters,
    run=_run,
    failure_prefix="The scores were not computed.",
)
