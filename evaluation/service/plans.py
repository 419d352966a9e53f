"""Services that plan evaluations: they choose the cases, store them, and create the runs of requests."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.count_texts import count_text
from domain.errors import AlreadyThere, InvalidValue, NotFound, Refused
from domain.evaluations import (
    AnsweredBy,
    Condition,
    Evaluation,
    EvaluationRun,
    ImageSize,
)
from domain.language_models import TEST_MODEL_NOTE, Budget, is_test_model
from domain.people import Action, Person, require
from evaluation.cases import ConditionCases, EvaluatedQuestion, choose_cases
from evaluation.paraphrases import PARAPHRASE_PROMPT, build_paraphrase_request
from evaluation.requests import DEFAULT_PROMPT, build_request, check_prompt
from language_models import service as models
from language_models.prompts import Prompt, parse_prompt
from language_models.requests import ModelRequest
from reader_study.predictions_file import QuestionFormat
from reader_study.release_keys import load_keys, load_options
from release.folder import MANIFEST, hash_file
from release.splits import Split
from storage.evaluation import evaluations as evaluation_storage
from storage.evaluation import exams as exam_storage
from storage.intake.datasets import load_dataset
from storage.language_models.runs import find_run as find_model_run
from storage.privacy.patient_data import load_removed_images
from storage.reader_study import predictions as prediction_storage
from storage.release import releases
from storage.release.releases import ReleaseRecord

#: The purpose of the calls; part of the key of each call in the ledger.
STAGE = "evaluation"
#: The maximum length of a name, so that the names of its runs have at most 100 characters.
MAX_NAME_LENGTH = 80
#: Names of columns in tables that also have a column per evaluation.
RESERVED_NAMES = frozenset({"Category", "Group", "Questions"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """What a person chooses for a plan, except who answers.

    Attributes:
        name: the name of the evaluation.
        dataset: the dataset of the release.
        release: the name of the release.
        split: the split of the release.
        conditions: the conditions; order and repeats do not matter.
        image_size: the size of the radiographs.
        seed: determines the patients of the condition "other image" and the shuffled options, 0 to 2**31 - 1.
    """

    name: str
    dataset: str
    release: str
    split: Split
    conditions: tuple[Condition, ...]
    image_size: ImageSize = ImageSize.QUARTER
    seed: int = 1

    def __post_init__(self) -> None:
        name = self.name.strip()
        if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable() or name != self.name:
            raise InvalidValue(
                "name", f"must have 1 to {MAX_NAME_LENGTH} printable characters, without space at its ends"
            )
        if self.name in RESERVED_NAMES:
            raise InvalidValue("name", f"{name!r} is the heading of a column of tables; choose another name")
        if not self.conditions:
            raise InvalidValue("conditions", "choose at least one")
        if not 0 <= self.seed < 2**31:
            raise InvalidValue("seed", f"must be 0 to {2**31 - 1:,}, not {self.seed}")


def plan_with_endpoint(
    db: Session,
    *,
    by: Person,
    settings: PlanSettings,
    endpoint: str,
    prompt: str | None = None,
    paraphrases_by: str | None = None,
    budget: Budget | None = None,
    now: datetime,
) -> Evaluation:
    """Plan an evaluation whose questions are sent to an endpoint. Nothing is sent yet.

    A second plan with the same name and choices changes nothing.

    Args:
        db: a session that can write.
        by: the acting person.
        settings: the choices.
        endpoint: the name of the endpoint.
        prompt: a version such as "evaluation@2"; None for the prompt that comes with the software.
        paraphrases_by: the name of the endpoint that writes paraphrases, for the condition "paraphrased".
        budget: limits of each condition.
        now: the current time.

    Raises:
        AlreadyThere: an evaluation of that name with other choices exists, or a model of that name.
        NotFound: the release, the endpoint or the prompt does not exist.
        Refused: the dataset does not permit the endpoint, the endpoint does not accept images, or no question
            has a case.
        InvalidValue: the prompt, the release or the budget is not valid.
    """
    require(by, Action.RUN_MODELS)
    has_paraphrases = Condition.PARAPHRASED in settings.conditions
    if has_paraphrases and (not paraphrases_by or Condition.AS_GIVEN not in settings.conditions):
        raise InvalidValue(
            "conditions",
            "“paraphrased” needs an endpoint that writes the paraphrases, and the condition “as given”",
        )
    loaded_endpoint = models.load_endpoint(db, by=by, name=endpoint)
    if not loaded_endpoint.accepts_images and any(
        condition.shows_images for condition in settings.conditions
    ):
        raise Refused(
            f"Endpoint {endpoint} does not accept images. Choose only the condition "
            f"“{Condition.NO_IMAGE.value}”, "
            "or an endpoint that accepts images."
        )
    version = (
        models.load_prompt(db, by=by, label=prompt) if prompt else _save_default_prompt(db, by=by, now=now)
    )
    parsed_prompt = parse_prompt(version.content)
    check_prompt(parsed_prompt)
    model = loaded_endpoint.model_name
    existing = _find_same_plan(
        db, settings, answered_by=AnsweredBy.ENDPOINT, model=model, prompt=version.label
    )
    if existing is not None:
        return existing
    release, questions = _load_split(db, settings)
    cases_by_condition = _choose_all(db, settings, questions)
    evaluation_id = _add_evaluation(
        db,
        by=by,
        settings=settings,
        release=release,
        answered_by=AnsweredBy.ENDPOINT,
        model=model,
        is_test_model=loaded_endpoint.is_test_model,
        prompt_id=version.id,
        now=now,
    )
    for condition, cases in cases_by_condition.items():
        run, _ = models.create_run(
            db,
            by=by,
            name=name_model_run(settings.name, condition),
            stage=STAGE,
            endpoint=loaded_endpoint,
            dataset=settings.dataset,
            requests=build_requests(
                questions, cases, condition=condition, prompt=parsed_prompt, size=settings.image_size
            ),
            prompt=version,
            budget=budget,
            now=now,
        )
        add_run(db, settings, evaluation_id, condition, cases, by=by, model_run_id=run.id, now=now)
    if has_paraphrases and paraphrases_by:
        _create_paraphrase_run(
            db, by=by, settings=settings, endpoint=paraphrases_by, questions=questions, budget=budget, now=now
        )
    return evaluation_storage.load_evaluation(db, name=settings.name)


def plan_without_endpoint(
    db: Session, *, by: Person, settings: PlanSettings, answered_by: AnsweredBy, model: str, now: datetime
) -> Evaluation:
    """Plan an evaluation that a command answers, or whose answers come as files.

    A second plan with the same name and choices changes nothing.

    Args:
        db: a session that can write.
        by: the acting person.
        settings: the choices.
        answered_by: command or file.
        model: the name of the model, as tables show it.
        now: the current time.

    Raises:
        AlreadyThere: an evaluation of that name with other choices exists, or a model of that name.
        NotFound: the release does not exist.
        Refused: no question has a case.
        InvalidValue: the release or the name of the model is not valid.
    """
    require(by, Action.RUN_MODELS)
    if answered_by is AnsweredBy.ENDPOINT:
        raise ValueError("use plan_with_endpoint")
    if Condition.PARAPHRASED in settings.conditions:
        raise InvalidValue("conditions", "“paraphrased” is for evaluations with an endpoint")
    model = model.strip()
    if not model or len(model) > 200:
        raise InvalidValue("model", "must have 1 to 200 characters")
    existing = _find_same_plan(db, settings, answered_by=answered_by, model=model, prompt=None)
    if existing is not None:
        return existing
    release, questions = _load_split(db, settings)
    cases_by_condition = _choose_all(db, settings, questions)
    evaluation_id = _add_evaluation(
        db,
        by=by,
        settings=settings,
        release=release,
        answered_by=answered_by,
        model=model,
        is_test_model=is_test_model(model),
        prompt_id=None,
        now=now,
    )
    for condition, cases in cases_by_condition.items():
        add_run(db, settings, evaluation_id, condition, cases, by=by, model_run_id=None, now=now)
    return evaluation_storage.load_evaluation(db, name=settings.name)


def list_evaluations(db: Session, *, by: Person) -> list[Evaluation]:
    """Return all evaluations, the newest first."""
    require(by, Action.RUN_MODELS)
    return evaluation_storage.list_evaluations(db)


def load_evaluation(db: Session, *, by: Person, name: str) -> tuple[Evaluation, list[EvaluationRun]]:
    """Return an evaluation and its runs.

    Raises:
        NotFound: there is no such evaluation.
    """
    require(by, Action.RUN_MODELS)
    evaluation = evaluation_storage.load_evaluation(db, name=name)
    return evaluation, evaluation_storage.list_runs(db, evaluation_id=evaluation.id)


def load_evaluated_questions(
    db: Session, evaluation: Evaluation, *, only: Collection[int] | None = None
) -> list[EvaluatedQuestion]:
    """Return the questions of an evaluation's split with their keys and exams. Callers check permissions.

    Args:
        db: a session.
        evaluation: the evaluation.
        only: ids in the database of the questions to return; None for all.

    Raises:
        NotFound: the folder of the release is missing.
        Refused: the manifest was changed, or the keys are missing.
        InvalidValue: a file of the release was changed.
    """
    release = releases.load_release(db, release_id=evaluation.release_id)
    return load_split_questions(db, release, Split(evaluation.split), only=only)


def load_question_formats(db: Session, evaluation: Evaluation) -> dict[str, QuestionFormat]:
    """Return the format and options of each question, by its id in the file. Callers check permissions.

    They are needed to read answers. This takes a fifth of the time of :func:`load_evaluated_questions`.

    Raises:
        NotFound: the folder of the release is missing.
        Refused: the manifest was changed, or the keys are missing.
        InvalidValue: a file of the release was changed.
    """
    release = releases.load_release(db, release_id=evaluation.release_id)
    _check_manifest(release)
    row_ids_by_key = exam_storage.load_release_questions(db, release_id=release.id, split=evaluation.split)
    options = load_options(release.folder, split=Split(evaluation.split))
    return {
        key: QuestionFormat(number=question_row_id, format=options[key].format, options=options[key].options)
        for key, (question_row_id, _) in row_ids_by_key.items()
    }


def describe_model(evaluation: Evaluation) -> str:
    """Return the name of the model, with a warning if it is the test model."""
    return f"{evaluation.model} ({TEST_MODEL_NOTE})" if evaluation.is_test_model else evaluation.model


def name_model_run(evaluation: str, condition: Condition) -> str:
    """Return the name of the run of requests of a condition.

    >>> name_model_run("qwen", Condition.NO_IMAGE)
    'qwen/no-image'
    """
    return f"{evaluation}/{condition.value.replace(' ', '-')}"


def name_paraphrase_run(evaluation: str) -> str:
    """Return the name of the run that writes the paraphrases."""
    return f"{evaluation}/paraphrases"


def name_prediction_set(evaluation: str, condition: Condition, *, is_test: bool = False) -> str:
    """Return the name under which the answers of a condition are stored, and shown in reader studies.

    ``is_test`` is whether they are of the small model of the tests.

    >>> name_prediction_set("qwen", Condition.AS_GIVEN), name_prediction_set("qwen", Condition.NO_IMAGE)
    ('qwen', 'qwen (no image)')
    >>> name_prediction_set("small", Condition.NO_IMAGE, is_test=True)
    'small (no image, path tested, quality not measured)'
    """
    notes = [condition.value] if condition is not Condition.AS_GIVEN else []
    if is_test:
        notes.append(TEST_MODEL_NOTE)
    return f"{evaluation} ({', '.join(notes)})" if notes else evaluation


def _save_default_prompt(db: Session, *, by: Person, now: datetime) -> models.PromptVersion:
    """Store the prompt of the software as a version, unless that version is stored already."""
    content = DEFAULT_PROMPT.read_text(encoding="utf-8")
    return models.save_prompt(db, by=by, content=content, note="Comes with the software.", now=now)[0]


def _find_same_plan(
    db: Session, settings: PlanSettings, *, answered_by: AnsweredBy, model: str, prompt: str | None
) -> Evaluation | None:
    """Return the evaluation of that name if it has the same choices; None if the name is free.

    Raises:
        AlreadyThere: the name belongs to another evaluation or model.
    """
    existing = evaluation_storage.find_evaluation(db, name=settings.name)
    if existing is not None:
        conditions = {run.condition for run in evaluation_storage.list_runs(db, evaluation_id=existing.id)}
        if find_model_run(db, name=name_paraphrase_run(settings.name)) is not None:
            conditions.add(Condition.PARAPHRASED)
        if (
            (existing.dataset, existing.release, existing.split)
            == (settings.dataset, settings.release, settings.split)
            and (existing.answered_by, existing.model, existing.prompt) == (answered_by, model, prompt)
            and (existing.image_size, existing.seed) == (settings.image_size, settings.seed)
            and conditions == set(settings.conditions)
        ):
            return existing
        raise AlreadyThere(
            f"There is already an evaluation {settings.name!r} with other choices. Choose another name."
        )
    dataset_id = load_dataset(db, name=settings.dataset).id
    model_names = {
        stored_model.name for stored_model in prediction_storage.list_models(db, dataset_id=dataset_id)
    }
    for condition in settings.conditions:
        for is_test in (False, True):
            name = name_prediction_set(settings.name, condition, is_test=is_test)
            if name in model_names:
                raise AlreadyThere(
                    f"There is already a model {name!r} with predictions. Choose another name."
                )
    return None


def _load_split(db: Session, settings: PlanSettings) -> tuple[ReleaseRecord, list[EvaluatedQuestion]]:
    release = releases.load_release_by_name(db, dataset=settings.dataset, name=settings.release)
    questions = load_split_questions(db, release, settings.split)
    if not questions:
        raise Refused(f"Release {settings.release} has no questions on its {settings.split.value} split.")
    return release, questions


def load_split_questions(
    db: Session, release: ReleaseRecord, split: Split, *, only: Collection[int] | None = None
) -> list[EvaluatedQuestion]:
    """Return the questions of a split of a release with keys and exams. Checks no permission.

    Args:
        db: a session that reads.
        release: the release.
        split: the split.
        only: load only the questions with these ids; None for all.

    Raises:
        NotFound: the folder of the release is missing.
        Refused: the manifest was changed, or the keys are missing.
        InvalidValue: a file of the release was changed.
    """
    _check_manifest(release)
    row_ids_by_key = exam_storage.load_release_questions(db, release_id=release.id, split=split.value)
    if only is not None:
        row_ids_by_key = {key: row_ids for key, row_ids in row_ids_by_key.items() if row_ids[0] in only}
    keyed_questions = load_keys(release.folder, split=split)
    exams = exam_storage.load_evaluated_exams(
        db, numbers={exam_row_id for _, exam_row_id in row_ids_by_key.values()}
    )
    return [
        EvaluatedQuestion(
            number=question_row_id, question=keyed_questions[key].question, exam=exams[exam_row_id]
        )
        for key, (question_row_id, exam_row_id) in row_ids_by_key.items()
    ]


def _check_manifest(release: ReleaseRecord) -> None:
    manifest = release.folder / MANIFEST
    if not manifest.is_file():
        raise NotFound(
            f"The release {release.name!r} is no longer in {release.folder}. Move it back, or create it "
            "there again."
        )
    if hash_file(manifest)[0] != release.manifest_sha256:
        raise Refused(
            f"The manifest of the release {release.name!r} was changed after its creation. Restore it from a "
            "backup."
        )


def _choose_all(
    db: Session, settings: PlanSettings, questions: Sequence[EvaluatedQuestion]
) -> dict[Condition, ConditionCases]:
    removed_images = load_removed_images(db)
    cases_by_condition: dict[Condition, ConditionCases] = {
        condition: choose_cases(questions, condition, seed=settings.seed, removed_images=removed_images)
        for condition in Condition
        if condition in settings.conditions and condition is not Condition.PARAPHRASED
    }
    for condition, cases in cases_by_condition.items():
        if not cases.cases:
            reasons = ", ".join(
                f"{count_text(count, 'question')}: {reason}" for reason, count in cases.excluded.items()
            )
            raise Refused(f"No question can be asked in the condition “{condition.value}”: {reasons}.")
    return cases_by_condition


def build_requests(
    questions: Sequence[EvaluatedQuestion],
    cases: ConditionCases,
    *,
    condition: Condition,
    prompt: Prompt,
    size: ImageSize,
) -> Iterator[ModelRequest]:
    """Yield the requests of the cases of a condition."""
    exams = {item.exam.number: item.exam for item in questions}
    by_row_id = {item.number: item for item in questions}
    for case in cases.cases:
        yield build_request(
            by_row_id[case.question_row_id],
            case,
            condition=condition,
            prompt=prompt,
            image_size=size,
            exams=exams,
        )


def _create_paraphrase_run(
    db: Session,
    *,
    by: Person,
    settings: PlanSettings,
    endpoint: str,
    questions: Sequence[EvaluatedQuestion],
    budget: Budget | None,
    now: datetime,
) -> None:
    content = PARAPHRASE_PROMPT.read_text(encoding="utf-8")
    version, _ = models.save_prompt(db, by=by, content=content, note="Comes with the software.", now=now)
    prompt = parse_prompt(version.content)
    models.create_run(
        db,
        by=by,
        name=name_paraphrase_run(settings.name),
        stage="paraphrase",
        endpoint=models.load_endpoint(db, by=by, name=endpoint),
        dataset=settings.dataset,
        requests=(build_paraphrase_request(item, prompt) for item in questions),
        prompt=version,
        budget=budget,
        now=now,
    )


def _add_evaluation(
    db: Session,
    *,
    by: Person,
    settings: PlanSettings,
    release: ReleaseRecord,
    answered_by: AnsweredBy,
    model: str,
    is_test_model: bool,
    prompt_id: int | None,
    now: datetime,
) -> int:
    evaluation_id = evaluation_storage.add_evaluation(
        db,
        name=settings.name,
        release_id=release.id,
        split=settings.split.value,
        answered_by=answered_by,
        model=model,
        is_test_model=is_test_model,
        prompt_id=prompt_id,
        image_size=settings.image_size,
        seed=settings.seed,
        by=by.id or None,
        now=now,
    )
    record_action(
        db,
        by=by,
        action="plan evaluation",
        subject=f"evaluation {evaluation_id}",
        new={
            "name": settings.name,
            "release": release.name,
            "split": settings.split.value,
            "model": model,
            "conditions": [condition.value for condition in Condition if condition in settings.conditions],
        },
        now=now,
    )
    return evaluation_id


def add_run(
    db: Session,
    settings: PlanSettings,
    evaluation_id: int,
    condition: Condition,
    cases: ConditionCases,
    *,
    by: Person,
    model_run_id: int | None,
    now: datetime,
) -> None:
    """Store the cases of a condition, and add the set of predictions that gets its answers."""
    dataset_id = load_dataset(db, name=settings.dataset).id
    is_test = evaluation_storage.load_evaluation(db, name=settings.name).is_test_model
    name = name_prediction_set(settings.name, condition, is_test=is_test)
    model_id = prediction_storage.get_or_add_model(db, dataset_id=dataset_id, name=name, now=now)
    evaluation_storage.add_run(
        db,
        evaluation_id=evaluation_id,
        condition=condition,
        model_id=model_id,
        model_run_id=model_run_id,
        cases=cases.cases,
        excluded=cases.excluded,
    )
    record_action(
        db,
        by=by,
        action="plan condition of evaluation",
        subject=f"model {model_id}",
        new={"evaluation": settings.name, "condition": condition.value, "cases": len(cases.cases)},
        now=now,
    )
