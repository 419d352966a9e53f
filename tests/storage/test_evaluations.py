"""Evaluations with an endpoint: what arrives at the model, what is stored, and the results."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, select, text, update

from accounts.service.audit_checkpoints import record_checkpoint, verify_and_write_digests
from accounts.service.audit_trail import verify_audit
from domain.errors import AlreadyThere, InvalidValue, NotFound, Refused
from domain.evaluations import AnsweredBy, Condition, ImageSize
from domain.language_models import Budget, DataUse, Endpoint
from evaluation import service as evaluations
from evaluation.service.answers import load_condition
from language_models import service as models
from release.splits import Split
from storage.engine import make_engine
from storage.evaluation.evaluations import load_cases
from storage.reader_study import predictions as prediction_storage
from storage.rows.audit import AuditRow
from storage.rows.datasets import ExamRow
from storage.rows.evaluations import EvaluationRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace
from tests.storage.evaluation_worlds import (
    BY,
    add_vision_endpoint,
    copy_evaluation_world,
    key_of_exam,
    load_results,
    make_evaluation_world,
    make_settings,
    plan,
)
from tests.storage.local_model import LOCAL_MODEL, running_local_model
from tests.storage.vision_server import ReceivedRequests, running_vision_server
from tests.storage.worlds import NOW, SECRETS

pytestmark = pytest.mark.full


def clock() -> datetime:
    return datetime.now(UTC)


@pytest.fixture(scope="module")
def template(sqlite_template, tmp_path_factory):
    """A released dataset, which tests copy."""
    folder = tmp_path_factory.mktemp("template")
    shutil.copyfile(sqlite_template, folder / "overread.sqlite")
    engine = make_engine(f"sqlite:///{folder / 'overread.sqlite'}")
    yield make_evaluation_world(engine, folder / "home")
    engine.dispose()


@pytest.fixture(scope="module")
def private_template(sqlite_template, tmp_path_factory):
    """A released dataset with a private split."""
    folder = tmp_path_factory.mktemp("private")
    shutil.copyfile(sqlite_template, folder / "overread.sqlite")
    engine = make_engine(f"sqlite:///{folder / 'overread.sqlite'}")
    yield make_evaluation_world(engine, folder / "home", private=0.5)
    engine.dispose()


@pytest.fixture(scope="module")
def finished(template, tmp_path_factory):
    """An evaluation in four conditions that is finished, and what the server got."""
    world = copy_evaluation_world(template, tmp_path_factory.mktemp("finished") / "home")
    with running_vision_server() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OVERREAD_HOME", str(world.home))
        add_vision_endpoint(world.engine, server.url)
        plan(world.engine)
        progress = work(world.engine)
    yield FinishedEvaluation(engine=world.engine, server=server, progress=progress)
    world.engine.dispose()


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedEvaluation:
    engine: Engine
    server: ReceivedRequests
    progress: evaluations.EvaluationProgress


@pytest.fixture(scope="module")
def shared_server():
    with running_vision_server() as running:
        yield running


@pytest.fixture
def server(shared_server):
    for received in (shared_server.raw, shared_server.images, shared_server.texts):
        received.clear()
    return shared_server


def open_copy(template, tmp_path, monkeypatch, server):
    world = copy_evaluation_world(template, tmp_path / "home")
    monkeypatch.setenv("OVERREAD_HOME", str(world.home))
    add_vision_endpoint(world.engine, server.url)
    return world


@pytest.fixture
def world(template, tmp_path, monkeypatch, server):
    world = open_copy(template, tmp_path, monkeypatch, server)
    yield world
    world.engine.dispose()


@pytest.fixture
def private_world(private_template, tmp_path, monkeypatch, server):
    world = open_copy(private_template, tmp_path, monkeypatch, server)
    yield world
    world.engine.dispose()


def work(engine, name="qwen", **values):
    return evaluations.work_on_evaluation(by=BY, name=name, worker="w", clock=clock, engine=engine, **values)


def load_condition_cases(engine, condition):
    with read_only_session(engine) as db:
        _, run = load_condition(db, name="qwen", condition=condition)
        return load_cases(db, run_id=run.id)


def get_exam(question: int) -> int:
    return (question - 1) // 2 + 1


def test_an_endpoint_gets_the_images_in_order_and_their_views(finished):
    progress, image_lists = finished.progress, finished.server.images
    assert (progress.cases, progress.answers, progress.is_finished) == (48, 48, True)
    with_images = [images for images in image_lists if images]
    assert (len(image_lists), len(with_images)) == (48, 36)
    for images in with_images:
        assert [image.view for image in images] == ["PA", "LATERAL"]
        assert [image.announced for image in images] == ["PA", "LATERAL"]
        assert [image.place for image in images] == [(1, 2), (2, 2)]
        assert {image.exam for image in images} == {images[0].exam}
        assert {image.size for image in images} == {(64, 24)}


def test_results_are_those_of_a_model_that_only_looks_at_the_images(finished):
    results = load_results(finished.engine)
    accuracy_by_condition = {accuracy.condition: accuracy for accuracy in results.accuracies}
    other_cases = load_condition_cases(finished.engine, Condition.OTHER_IMAGE)
    same_key_count = sum(
        key_of_exam(case.other_exam) == key_of_exam(get_exam(n)) for n, case in other_cases.items()
    )
    key_a_count = sum(key_of_exam(get_exam(number)) == 0 for number in range(1, 13))
    assert {condition: accuracy.correct for condition, accuracy in accuracy_by_condition.items()} == {
        Condition.AS_GIVEN: 12,
        Condition.NO_IMAGE: key_a_count,
        Condition.OTHER_IMAGE: same_key_count,
        Condition.SHUFFLED: 12,
    }
    assert {
        (accuracy.n, accuracy.failed, accuracy.missing) for accuracy in accuracy_by_condition.values()
    } == {(12, 0, 0)}
    assert {accuracy.text_only for accuracy in accuracy_by_condition.values()} == {key_a_count / 12}
    assert accuracy_by_condition[Condition.AS_GIVEN].chance == pytest.approx(1 / 3)
    reliance = results.contrasts[0]
    assert (reliance.name, reliance.difference) == ("image reliance", pytest.approx(1 - key_a_count / 12))
    assert (results.consistencies[0].same, results.consistencies[0].n) == (12, 12)
    assert results.clusters == 6


def test_images_of_other_patients_are_sent_only_in_the_other_image_condition(finished):
    cases = load_condition_cases(finished.engine, Condition.OTHER_IMAGE)
    assert all(case.other_exam != get_exam(number) for number, case in cases.items())
    own_exams = [get_exam(number) for number in range(1, 13)]
    expected_exams = [*own_exams, *own_exams, *(case.other_exam for case in cases.values())]
    assert Counter(images[0].exam for images in finished.server.images if images) == Counter(expected_exams)


def test_the_report_the_key_and_the_patient_never_reach_the_model(finished):
    sent_bytes = b"\n".join(finished.server.raw)
    for secret in [*SECRETS.values(), "Cough for two weeks", "061Y", 'P1"', 'E1"', 'Q1"']:
        assert secret.encode() not in sent_bytes, secret


def test_full_size_sends_every_pixel(world, server):
    plan(world.engine, conditions=(Condition.AS_GIVEN,), image_size=ImageSize.FULL)
    work(world.engine)
    assert {image.size for images in server.images for image in images} == {(256, 96)}


def test_a_shuffled_order_is_recorded_and_undone(finished):
    cases = load_condition_cases(finished.engine, Condition.SHUFFLED)
    assert all(case.permutation not in (None, (0, 1, 2)) for case in cases.values())
    first_options = Counter(text.split("A. ")[1].split("\n")[0] for text in finished.server.texts)
    first_shuffled = Counter(
        ("Nodule", "Effusion", "Pneumothorax")[case.permutation[0]] for case in cases.values()
    )
    assert first_options == first_shuffled + Counter({"Nodule": 36})
    [as_given, shuffled] = load_results(finished.engine).biases
    assert [position.keys for position in as_given.positions] == [4, 4, 4]
    assert sum(position.chosen for position in shuffled.positions) == 12
    assert (as_given.recall_sd, shuffled.recall_sd) == (0, 0)


def test_a_stopped_evaluation_continues_without_repeating_a_call(world, server):
    plan(world.engine, conditions=(Condition.AS_GIVEN, Condition.NO_IMAGE))
    first = work(world.engine, should_stop=lambda: len(server.raw) >= 4)
    assert 4 <= len(server.raw) < 24
    assert not first.is_finished
    second = work(world.engine)
    assert (second.is_finished, second.answers, len(server.raw)) == (True, 24, 24)
    assert work(world.engine).answers == 24  # a third time changes nothing
    assert len(server.raw) == 24


def test_paraphrases_are_asked_if_they_keep_the_meaning(world, server):
    settings = make_settings(conditions=(Condition.AS_GIVEN, Condition.PARAPHRASED))
    with unit_of_work(world.engine) as db:
        evaluations.plan_with_endpoint(
            db, by=BY, settings=settings, endpoint="vision", paraphrases_by="vision", now=NOW
        )
    stopped = work(world.engine, should_stop=lambda: len(server.raw) >= 3)
    assert not stopped.is_finished
    progress = work(world.engine)
    assert (progress.is_finished, progress.answers, len(server.raw)) == (True, 16, 12 + 12 + 4)
    run = progress.conditions[-1].run
    assert (run.condition, run.cases) == (Condition.PARAPHRASED, 4)
    assert run.excluded == {"the paraphrase differs in laterality": 4, "the paraphrase has the same words": 4}
    asked_stems = {text.splitlines()[0] for text in server.texts if text.startswith("Which finding is shown")}
    assert asked_stems == {f"Which finding is shown on radiograph {number}?" for number in (1, 4, 7, 10)}
    requested = zip(server.images, server.texts, strict=True)
    assert not any(images for images, text in requested if text.startswith("Write this"))
    results = load_results(world.engine)
    assert [(accuracy.n, accuracy.correct) for accuracy in results.accuracies] == [(12, 12), (4, 4)]
    assert [(contrast.n, contrast.difference) for contrast in results.contrasts] == [(4, 0.0)]
    assert work(world.engine).answers == 16
    assert len(server.raw) == 28
    with unit_of_work(world.engine) as db:  # the same plan again changes nothing
        evaluations.plan_with_endpoint(
            db, by=BY, settings=settings, endpoint="vision", paraphrases_by="vision", now=NOW
        )


def test_paraphrased_condition_needs_an_endpoint(world):
    for conditions in ((Condition.AS_GIVEN, Condition.PARAPHRASED), (Condition.PARAPHRASED,)):
        with pytest.raises(InvalidValue, match="needs an endpoint that writes the paraphrases"):
            plan(world.engine, conditions=conditions)


def test_a_reached_budget_pauses_the_run_and_keeps_its_answers(world):
    with unit_of_work(world.engine) as db:
        evaluations.plan_with_endpoint(
            db, by=BY, settings=make_settings(conditions=(Condition.AS_GIVEN,)), endpoint="vision",
            budget=Budget(max_calls=10), now=NOW,
        )  # fmt: skip
    progress = work(world.engine)
    assert (progress.answers, progress.is_finished) == (10, False)
    assert "The budget is reached: 10 calls." in evaluations.describe_progress(progress)
    [accuracy] = load_results(world.engine).accuracies
    assert (accuracy.n, accuracy.correct, accuracy.missing) == (12, 10, 2)


def test_the_audit_trail_accounts_for_plans_and_answers(world):
    workspace = current_workspace()
    with read_only_session(world.engine) as db:
        measured = verify_and_write_digests(db, by=BY, workspace=workspace, deposits=None)
    with unit_of_work(world.engine) as db:
        record_checkpoint(db, by=BY, measured=measured, workspace=workspace, accept_because="", now=clock())
    plan(world.engine, conditions=(Condition.NO_IMAGE,))
    assert work(world.engine).is_finished
    with read_only_session(world.engine) as db:
        assert verify_audit(db, by=BY, workspace=workspace).faults == ()


def test_a_paused_evaluation_can_be_resumed(world):
    plan(world.engine, conditions=(Condition.NO_IMAGE,))
    with unit_of_work(world.engine) as db:
        evaluations.pause_evaluation(db, by=BY, name="qwen", now=NOW)
    with pytest.raises(Refused, match="is paused"):
        work(world.engine)
    with unit_of_work(world.engine) as db:
        evaluations.open_evaluation(db, by=BY, name="qwen", now=NOW)
    assert work(world.engine).is_finished


def test_the_same_seed_gives_the_same_cases(world):
    plan(world.engine)
    plan(world.engine, name="again")
    plan(world.engine, name="other seed", seed=4)

    def load(name):
        with read_only_session(world.engine) as db:
            _, runs = evaluations.load_evaluation(db, by=BY, name=name)
            return [load_cases(db, run_id=run.id) for run in runs]

    assert load("qwen") == load("again")
    assert load("qwen") != load("other seed")


def test_a_dataset_of_one_patient_cannot_use_the_other_image_condition(world):
    with unit_of_work(world.engine) as db:
        db.execute(update(ExamRow).values(patient="P1"))
    with pytest.raises(Refused, match="12 questions: no other patient with the same views"):
        plan(world.engine)


def test_an_image_that_is_missing_excludes_its_questions(world):
    with unit_of_work(world.engine) as db:
        db.execute(text("UPDATE radiograph SET image_sha256 = NULL WHERE exam_id = 1 AND key = 'lateral'"))
    plan(world.engine)
    with read_only_session(world.engine) as db:
        _, runs = evaluations.load_evaluation(db, by=BY, name="qwen")
    assert {run.condition: (run.cases, run.excluded) for run in runs} == {
        Condition.AS_GIVEN: (10, {"a radiograph is not in the workspace": 2}),
        Condition.NO_IMAGE: (12, {}),
        Condition.OTHER_IMAGE: (10, {"a radiograph is not in the workspace": 2}),
        Condition.SHUFFLED: (10, {"a radiograph is not in the workspace": 2}),
    }


def test_opening_results_of_the_private_split_is_recorded(private_world):
    engine = private_world.engine
    plan(engine, split=Split.PRIVATE, conditions=(Condition.NO_IMAGE,))
    work(engine)
    for _ in range(2):
        with unit_of_work(engine) as db:
            _, results = evaluations.open_results(db, by=BY, name="qwen", now=NOW)
    assert 0 < results.questions < 12
    with read_only_session(engine) as db:
        entries = db.execute(select(AuditRow.what)).scalars().all()
    assert entries.count("open results of private split") == 2


def test_other_patients_are_drawn_from_the_same_split(private_world):
    plan(private_world.engine, conditions=(Condition.OTHER_IMAGE,))
    cases = load_condition_cases(private_world.engine, Condition.OTHER_IMAGE)
    public_exams = {get_exam(number) for number in cases}
    assert {case.other_exam for case in cases.values()} <= public_exams
    assert len(public_exams) < 6


REFUSED: dict[str, tuple[dict, type[Exception], str]] = {
    "another plan of that name": (
        {"seed": 9},
        AlreadyThere,
        "already an evaluation 'qwen' with other choices",
    ),
    "no such release": ({"name": "x", "release": "v9"}, NotFound, "no release 'v9'"),
    "an empty split": ({"name": "x", "split": Split.PRIVATE}, Refused, "no questions on its private split"),
}


def test_planning_twice_returns_the_same_evaluation(world):
    assert plan(world.engine) == plan(world.engine)


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_is_refused_with_its_reason(world, name):
    changes, error, match = REFUSED[name]
    plan(world.engine)
    with pytest.raises(error, match=match):
        plan(world.engine, **changes)


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"name": " x"}, "name"), ({"conditions": ()}, "conditions"), ({"seed": -1}, "seed")],
)
def test_the_error_names_the_invalid_setting(changes, field):
    with pytest.raises(InvalidValue) as caught:
        make_settings(**changes)
    assert caught.value.field == field


def test_a_text_only_endpoint_accepts_only_the_no_image_condition(world, server):
    add_vision_endpoint(world.engine, server.url, accepts_images=False)
    with pytest.raises(Refused, match=r"does not accept images\. Choose only the condition “no image”"):
        plan(world.engine)
    plan(world.engine, conditions=(Condition.NO_IMAGE,))
    assert work(world.engine).is_finished


def test_an_evaluation_is_refused_if_the_dataset_does_not_permit_the_endpoint(world, server):
    with unit_of_work(world.engine) as db:
        endpoint = models.load_endpoint(db, by=BY, name="vision")
        models.save_endpoint(
            db, by=BY, endpoint=replace(endpoint, url="https://a.org/v1", data_use=DataUse.REMOTE), now=NOW
        )
    with pytest.raises(Refused, match="permits local endpoints only"):
        plan(world.engine)
    with read_only_session(world.engine) as db:
        assert evaluations.list_evaluations(db, by=BY) == []


def test_a_release_that_was_changed_is_refused(world):
    plan(world.engine)
    with (world.home / "releases" / "v1" / "gold.jsonl").open("ab") as file:
        file.write(b"\n")
    with pytest.raises(InvalidValue, match="does not match its SHA-256"):
        load_results(world.engine)


def test_a_prompt_without_the_options_is_refused(world):
    content = 'name = "bare"\nuser = "${question}"\n'
    with unit_of_work(world.engine) as db:
        models.save_prompt(db, by=BY, content=content, note="bare", now=NOW)
        with pytest.raises(InvalidValue, match="does not use the variable options"):
            evaluations.plan_with_endpoint(
                db, by=BY, settings=make_settings(), endpoint="vision", prompt="bare", now=NOW
            )


def test_results_of_the_test_model_are_labelled_as_such(world, server):
    add_vision_endpoint(world.engine, server.url, model=LOCAL_MODEL)
    evaluation = plan(world.engine)
    assert evaluations.describe_model(evaluation) == f"{LOCAL_MODEL} (path tested, quality not measured)"


def test_imported_answers_of_the_test_model_are_labelled(world):
    settings = make_settings(conditions=(Condition.NO_IMAGE,))
    with unit_of_work(world.engine) as db:
        evaluation = evaluations.plan_without_endpoint(
            db, by=BY, settings=settings, answered_by=AnsweredBy.FILE, model=LOCAL_MODEL, now=NOW
        )
    assert evaluation.is_test_model
    with read_only_session(world.engine) as db:  # the name by which reader studies show its answers
        [model] = prediction_storage.list_models(db)
    assert model.name == f"{settings.name} (no image, path tested, quality not measured)"


def test_the_test_model_of_an_older_plan_is_labelled_when_loaded(world, monkeypatch):
    monkeypatch.setattr("evaluation.service.plans.is_test_model", lambda _: False)  # as in older versions
    settings = make_settings(conditions=(Condition.NO_IMAGE,))
    with unit_of_work(world.engine) as db:
        evaluation = evaluations.plan_without_endpoint(
            db, by=BY, settings=settings, answered_by=AnsweredBy.FILE, model=LOCAL_MODEL, now=NOW
        )
        assert db.execute(select(EvaluationRow.is_test_model)).scalar_one() is False
    assert evaluations.describe_model(evaluation) == f"{LOCAL_MODEL} (path tested, quality not measured)"


def test_answers_are_stored_on_postgresql(postgres_engine, tmp_path, monkeypatch, server):
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    make_evaluation_world(postgres_engine, tmp_path / "home", questions=4)
    add_vision_endpoint(postgres_engine, server.url)
    plan(postgres_engine, conditions=(Condition.NO_IMAGE, Condition.SHUFFLED))
    assert work(postgres_engine).answers == 8
    assert [accuracy.n for accuracy in load_results(postgres_engine).accuracies] == [4, 4]


def test_a_real_model_answers_the_questions_without_image(world, tmp_path):
    """Path tested, quality not measured."""
    content = 'name = "short"\nuser = "${question} ${options} ${instruction}"\n[parameters]\nmax_tokens = 8\n'
    settings = make_settings(conditions=(Condition.NO_IMAGE,))
    with running_local_model(tmp_path) as url:
        endpoint = Endpoint(
            name="small", url=url, model=LOCAL_MODEL, data_use=DataUse.LOCAL, timeout_seconds=120
        )
        with unit_of_work(world.engine) as db:
            models.save_endpoint(db, by=BY, endpoint=endpoint, now=NOW)
            models.save_prompt(db, by=BY, content=content, note="Short replies.", now=NOW)
            evaluation = evaluations.plan_with_endpoint(
                db, by=BY, settings=settings, endpoint="small", prompt="short", now=NOW
            )
        progress = work(world.engine)
    [accuracy] = load_results(world.engine).accuracies
    assert (progress.is_finished, accuracy.n) == (True, 12)
    assert accuracy.answered + accuracy.failed == 12 - sum(progress.conditions[0].requests.failures.values())
    assert evaluations.describe_model(evaluation).endswith("(path tested, quality not measured)")
