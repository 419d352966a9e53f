"""The leak check finds patients, images, equal pixels and equal reports that two datasets share."""

from __future__ import annotations

import json
import shutil
import zlib

import pytest

from accounts.service import command_line_person
from cli import main
from domain.errors import NotFound, Refused
from release.leak_report import build_rows, iterate_records
from release.leaks import LeakKind
from release.service import find_dataset_leaks
from storage.engine import make_engine
from storage.unit_of_work import read_only_session
from tests.golden.question_files import write_image
from tests.storage.import_worlds import Importer, make_record, to_json_lines


def import_datasets(engine, folder):
    """Import the datasets train and test, which share data of each kind, and other, which shares nothing."""
    importer = Importer(engine, folder)
    for name, rows in (("train.png", 90), ("test.png", 91), ("a.png", 92)):
        write_image(importer.images / name, rows, 80, "L")
    image = (importer.images / "a.png").read_bytes()
    (importer.images / "b.png").write_bytes(image[:-12] + make_png_comment() + image[-12:])
    training_exams = (
        ("1", "P1 ", "train.png", "Normal heart."), ("2", "P2", "a.png", "Effusion."),
        ("3", "", "pa.png", ""),
    )  # fmt: skip
    test_exams = (
        ("1", "p1", "test.png", "normal  HEART."), ("2", "P3", "b.png", "Clear."), ("3", "", "pa.png", ""),
        ("4", "", "pa.png", ""),
    )  # fmt: skip
    for dataset, exams in (("train", training_exams), ("test", test_exams)):
        importer(to_json_lines(*make_records(exams)), dataset=dataset, images=importer.images)
    other_exam = {"id": "other", "radiographs": [{"id": "pa", "file": "none.png"}]}
    importer(to_json_lines(make_record(9, exam=other_exam)), dataset="other")
    return importer


def make_png_comment():
    """Return a text chunk, which changes the file but not its pixels."""
    content = b"tEXta\0b"
    return (len(content) - 4).to_bytes(4, "big") + content + zlib.crc32(content).to_bytes(4, "big")


@pytest.fixture(scope="module")
def importer(sqlite_template, tmp_path_factory):
    folder = tmp_path_factory.mktemp("leaks")
    (folder / "workspace").mkdir()
    shutil.copyfile(sqlite_template, folder / "workspace" / "overread.sqlite")
    engine = make_engine(f"sqlite:///{folder}/workspace/overread.sqlite")
    yield import_datasets(engine, folder)
    engine.dispose()


def make_records(exams):
    for key, patient, image, report in exams:
        exam = {"id": f"e-{key}", "radiographs": [{"id": "pa", "file": image, "view": "PA"}]}
        exam |= {"patient": patient} if patient else {}
        yield make_record(int(key), exam=exam, report=report or ...)


def check(importer, *datasets, pixels=False, questions=False):
    with read_only_session(importer.engine) as db:
        return find_dataset_leaks(
            db, by=command_line_person(), datasets=datasets or ("train", "test"),
            workspace=importer.workspace if pixels else None, with_questions=questions,
        )  # fmt: skip


@pytest.mark.slow
def test_shared_patients_files_and_reports_are_counted_with_their_exams_and_questions(importer):
    report = check(importer)
    assert {kind: report.count(kind) for kind in LeakKind} == {
        LeakKind.PATIENT: 1,
        LeakKind.IMAGE: 1,
        LeakKind.REPORT: 1,
    }
    assert report.affected[LeakKind.IMAGE, "train"] == (1, 1)
    assert report.affected[LeakKind.IMAGE, "test"] == (2, 2)
    [patient, image, text] = report.leaks
    assert (patient.value, patient.exams) == ("p1", {"train": ("e-1",), "test": ("e-1",)})
    assert image.exams == {"train": ("e-3",), "test": ("e-3", "e-4")}
    assert text.exams == {"train": ("e-1",), "test": ("e-1",)}


@pytest.mark.slow
def test_equal_pixels_in_two_files_are_found_only_if_pixels_are_compared(importer):
    assert check(importer, pixels=True).count(LeakKind.IMAGE) == 2
    assert check(importer).count(LeakKind.IMAGE) == 1


def test_datasets_that_share_nothing_have_no_leak(importer):
    report = check(importer, "train", "other")
    assert (report.leaks, report.has_leaks, report.datasets[1].with_images) == ((), False, 0)


def test_equal_and_near_duplicate_questions_are_counted_by_wording(sqlite_engine, tmp_path):
    importer = Importer(sqlite_engine, tmp_path)
    stems = {
        "train": ("Is there a pleural effusion?", "Is a pneumothorax present?", "Is the heart enlarged?"),
        "test": ("Is there a pleural effusion?", "Is there a pneumothorax present?", "Is there a fracture?"),
    }
    for dataset, texts in stems.items():
        importer(
            to_json_lines(
                *(make_record(number, format="closed", stem=text, options=..., answer="no")
                  for number, text in enumerate(texts))
            ),
            dataset=dataset,
        )  # fmt: skip
    report = check(importer, questions=True)
    assert [(wording.stems, wording.questions) for wording in report.shared_questions.wordings] == [
        (("Is there a pleural effusion?",), {"train": 1, "test": 1}),
        (("Is a pneumothorax present?", "Is there a pneumothorax present?"), {"train": 1, "test": 1}),
    ]
    assert report.shared_questions.questions == {"train": 2, "test": 2}
    assert build_rows(report)[-1] == {
        "In more than one dataset": "Questions",
        "Number": "2",
        "train": "2 questions",
        "test": "2 questions",
    }
    records = [record for record in iterate_records(report) if record["kind"] == "question"]
    assert (len(records), records[0]["similarity"]) == (2, 1)
    assert check(importer).shared_questions is None


@pytest.mark.full
def test_the_counts_are_the_same_on_postgresql(importer, postgres_engine, tmp_path):
    assert check(import_datasets(postgres_engine, tmp_path)) == check(importer)


def test_a_single_dataset_and_an_unknown_dataset_are_refused(importer):
    with pytest.raises(Refused, match="at least two"):
        check(importer, "train", "train")
    with pytest.raises(NotFound):
        check(importer, "train", "nothing")


def test_the_command_prints_the_counts_writes_the_leaks_and_exits_with_1(
    importer, monkeypatch, capsys, tmp_path
):
    monkeypatch.setenv("OVERREAD_HOME", str(importer.workspace.home))
    monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
    out = tmp_path / "leaks.jsonl"
    assert main(["leaks", "train", "test", "--out", str(out)]) == 1
    output = capsys.readouterr()
    assert "Images                1  train: 1 exam, 1 question  test: 2 exams, 2 questions" in output.out
    assert "test: 4 exams; 2 with a patient, 4 with an image file, 2 with a report." in output.out
    assert output.err.strip().endswith("Patients or images are in more than one of the datasets.")
    assert [json.loads(line)["kind"] for line in out.read_text().splitlines()] == [
        "patient",
        "image",
        "report",
    ]
