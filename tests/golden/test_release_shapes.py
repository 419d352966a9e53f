"""Releases of data in the variants that occur in collections: every format is read back by its library."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian

from domain.boxes import box_to_grid
from domain.questions import Question
from domain.vocabulary import AnswerFormat
from release.formats.gemex import GRID, TYPES
from release.service import verify_release
from storage.engine import make_engine
from storage.schema import upgrade
from tests.golden.formats_world import FormatsWorld, import_release_files, make_released_world
from tests.golden.question_files import write_image
from tests.golden.release_readers import (
    describe_boxes,
    expect_croissant,
    expect_datasets,
    is_single,
    read_coco,
    read_croissant,
    read_datasets,
    read_parquet_images,
    read_reports,
    round_to_grid,
)
from tests.unit.makers.dicom_files import dicom, ramp

pytestmark = pytest.mark.full

ROWS, COLUMNS = 300, 250
OPTIONS = ["Effusion", "Pneumothorax", "Consolidation", "None of these"]


def make_record(key: str, file: str, **fields: Any) -> dict[str, Any]:
    """A native record with the required fields only."""
    exam = {"id": f"exam of {file}", "radiographs": [{"id": "only", "file": file}]}
    return {"id": key, "exam": exam, "format": "closed", "stem": "Is it?", "answer": "yes", **fields}


def make_sparse_records(images: Path) -> list[dict[str, Any]]:
    """No optional field; ids and options that look like numbers or missing values."""
    write_image(images / "a.png", ROWS, COLUMNS, "L")
    single = {"format": "single", "answer": [1]}
    return [
        make_record("007", "a.png"),
        make_record("1e3", "a.png", format="open", answer="12"),
        make_record("nan", "a.png", options=["1", "2.50"], **single),
        make_record("2020-01-01", "a.png", options=["None", "null", "true"], **single),
        make_record("None", "a.png", format="multiple", options=OPTIONS, answer=[0, 2]),
    ]


def make_one_record(images: Path) -> list[dict[str, Any]]:
    """One question."""
    write_image(images / "a.png", ROWS, COLUMNS, "L")
    return [make_record("q", "a.png")]


def make_old_dicom_records(images: Path) -> list[dict[str, Any]]:
    """DICOM files without a preamble, with headers as old archives write them; the last lacks UIDs."""
    uids: dict[str, Any] = {"StudyInstanceUID": "2.25.10", "SeriesInstanceUID": "2.25.11"}
    pixels = ramp(ROWS, COLUMNS)
    files = {
        "explicit.dcm": dicom(pixels, preamble=False, syntax=ExplicitVRLittleEndian, **uids),
        "implicit.dcm": dicom(pixels, preamble=False, syntax=ImplicitVRLittleEndian,
                              SOPInstanceUID="2.25.2", **uids),
        "named": dicom(pixels, SpecificCharacterSet="ISO_IR 100", PatientName="Müller^Jörg",
                       SOPInstanceUID="2.25.3", PatientSex="U", StudyDate="20040101",
                       **uids).replace(b"20040101", b"2004/1/1"),
        "bare.dcm": dicom(pixels, preamble=False, SOPInstanceUID="2.25.4"),
    }  # fmt: skip
    for name, content in files.items():
        (images / name).write_bytes(content)
    box = {"radiograph": "only", "label": "Herzgröße", "box": [10, 20, 30.5, 40]}
    return [make_record(f"q {name}", name, boxes=[box]) for name in files]


def make_records_with_boxes(images: Path) -> list[dict[str, Any]]:
    """Boxes on the whole image, half a pixel beyond it, below a pixel of GEMeX's grid, and unlabelled."""
    write_image(images / "a.png", ROWS, COLUMNS, "L")
    (images / "b.dcm").write_bytes(
        dicom(ramp(ROWS, COLUMNS), StudyInstanceUID="2.25.10", SeriesInstanceUID="2.25.11")
    )
    corners = [
        [0, 0, COLUMNS, ROWS],
        [-0.5, 0, COLUMNS + 0.5, ROWS + 1],
        [10.1, 20.2, 10.4, 20.5],
        [COLUMNS - 0.25, ROWS - 0.25, COLUMNS, ROWS],
    ]
    labels = ["", "右肺", "L" * 70, "heart"]
    boxes = [
        {"radiograph": "only", "label": label, "box": box} for label, box in zip(labels, corners, strict=True)
    ]
    return [make_record(name, name, boxes=boxes, explanation="Seen.") for name in ("a.png", "b.dcm")]


def make_records_with_texts(images: Path) -> list[dict[str, Any]]:
    """Texts outside ASCII in every field; line breaks, quotation marks and formulas."""
    write_image(images / "bilder" / "größe ß.png", ROWS, COLUMNS, "L")
    write_image(images / "图像" / "胸片.png", ROWS, COLUMNS, "L")
    first = make_record(
        "frage-ä", "bilder/größe ß.png", stem='Wo liegt die "Verschattung"?\nRechts\\links?', format="single",
        options=["=SUM(A1)", "Größer als 1 cm", "أيمن", "🫁 beide"], answer=[2], category="肺",
        task="location", subcategory="Überlappung", difficulty="hard",
        explanation="Zeile 1\n\nZeile 2\t— µm, ½ ≥ 3", content_type="Größe",
    )  # fmt: skip
    first["exam"] |= {"patient": "pät 1", "indication": "Husten — Fieber?", "age": "058Y", "sex": "F"}
    second = make_record(
        "问题",
        "图像/胸片.png",
        stem="肺部是否正常？",
        format="open",
        answer="是的，正常。",
        report="两肺清晰。",
    )
    return [first, second]


SHAPES: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
    "sparse": make_sparse_records,
    "one": make_one_record,
    "old DICOM": make_old_dicom_records,
    "boxes": make_records_with_boxes,
    "texts": make_records_with_texts,
}


@pytest.fixture(scope="module", params=SHAPES)
def world(request, tmp_path_factory) -> Any:
    folder = tmp_path_factory.mktemp("shape")
    (folder / "images").mkdir()
    records = SHAPES[request.param](folder / "images")
    engine = make_engine(f"sqlite:///{folder}/overread.sqlite")
    upgrade(engine)
    yield make_released_world(engine, folder, records)
    engine.dispose()


@pytest.fixture(scope="module")
def folder(world: FormatsWorld, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("release") / "v1"
    world.write(out, with_images=True, with_sr=True, with_reports=True)
    return out


@pytest.fixture(scope="module")
def release_of_world(world: FormatsWorld, tmp_path_factory) -> tuple[FormatsWorld, Path]:
    """The world and its release with the files' original paths, from which GEMeX's readers make exam ids."""
    out = tmp_path_factory.mktemp("plain") / "v1"
    world.write(out)
    return world, out


def read_limitations(folder: Path) -> dict[str, dict[str, int]]:
    limitations: dict[str, dict[str, int]] = json.loads((folder / "manifest.json").read_text("utf-8"))[
        "lacks"
    ]
    return limitations


def is_near(question: Question, expected: Question) -> bool:
    """Equality, with boxes to within 1e-9 pixels."""
    if [box.label for box in question.boxes] != [box.label for box in expected.boxes]:
        return False
    are_boxes_near = all(
        np.allclose(actual_box.box.as_tuple(), expected_box.box.as_tuple(), atol=1e-9, rtol=0)
        for actual_box, expected_box in zip(question.boxes, expected.boxes, strict=True)
    )
    return are_boxes_near and replace(question, boxes=()) == replace(expected, boxes=())


def test_the_release_is_valid_and_complete(folder, world):
    report = verify_release(folder)
    assert (report.faults, report.questions) == ((), len(world.gold))


def test_questions_reimported_from_the_native_file_are_equal(folder, world, sqlite_template, tmp_path):
    assert import_release_files(sqlite_template, tmp_path, folder / "gold.jsonl", images=folder) == world.gold


def test_questions_reimported_from_the_rexvqa_file_are_equal(folder, world, sqlite_template, tmp_path):
    file = folder / "rexvqa.json"
    expected = {
        key: replace(question, boxes=()) for key, question in world.gold.items() if is_single(question)
    }
    assert json.loads(file.read_text("utf-8")).keys() == expected.keys()
    if expected:
        assert (
            import_release_files(sqlite_template, tmp_path, file, images=folder, file_format="rexvqa")
            == expected
        )


def test_questions_reimported_from_gemex_test_files_are_equal(release_of_world, sqlite_template, tmp_path):
    world, folder = release_of_world
    files = sorted((folder / "gemex").glob("*_questions.jsonl"))
    reimported = import_release_files(
        sqlite_template, tmp_path, *files, images=world.images, file_format="gemex"
    )
    by_key = {}
    for key, question in reimported.items():
        by_key[key.removeprefix(f"{TYPES[question.format]}-")] = question
    assert by_key.keys() == world.gold.keys()
    for key, question in by_key.items():
        expected = replace(
            world.gold[key], id=question.id, exam_id=question.exam_id, task=None, category=None,
            subcategory=None, difficulty=None, boxes=replace_radiograph_ids(world.gold[key], question),
        )  # fmt: skip
        assert is_near(question, expected)


def replace_radiograph_ids(gold: Question, question: Question) -> Any:
    """The boxes of ``gold`` with the radiograph ids of a GEMeX file, which are file names."""
    return tuple(
        replace(box, radiograph=file_box.radiograph)
        for box, file_box in zip(gold.boxes, question.boxes, strict=True)
    )


@pytest.mark.parametrize(
    ("name", "beginning"), [("conversations.json", "<image>\n"), ("conversations_paper.json", "<image>\n ")]
)
def test_questions_reimported_from_conversations_are_equal(
    release_of_world, sqlite_template, tmp_path, name, beginning
):
    world, folder = release_of_world
    file = folder / "gemex" / name
    for record in json.loads(file.read_text("utf-8")):
        human = record["conversations"][0]["value"]
        assert human.startswith(beginning)
        assert human.removeprefix(beginning).strip() == human.removeprefix(beginning)
    reimported = import_release_files(sqlite_template, tmp_path, file, images=None, file_format="gemex-train")
    assert len(reimported) == len(world.gold)
    for question, gold in zip(reimported.values(), world.gold.values(), strict=True):
        expected_boxes = [
            round_to_grid(box_to_grid(box.box, grid=GRID, rows=ROWS, columns=COLUMNS)) for box in gold.boxes
        ]
        assert [box.box for box in question.boxes] == expected_boxes
        assert replace(question, boxes=()) == replace(
            gold, id=question.id, exam_id=question.exam_id, boxes=(), task=None, category=None,
            subcategory=None, difficulty=None, content_type=None,
        )  # fmt: skip


def test_rows_read_by_the_datasets_library_equal_the_questions(folder, world, tmp_path):
    rows = read_datasets(folder, tmp_path)
    expected = expect_datasets(world.gold)
    assert {key: {name: row[name] for name in expected[key]} for key, row in rows.items()} == expected


def test_parquet_has_every_image_as_a_picture(folder):
    import io

    from PIL import Image

    for image in read_parquet_images(folder):
        assert image["bytes"]
        assert Image.open(io.BytesIO(image["bytes"])).size == (COLUMNS, ROWS)


def test_boxes_read_by_pycocotools_equal_those_of_the_questions(folder, world):
    boxes = {key: describe_boxes(question.boxes) for key, question in world.gold.items() if question.boxes}
    coco_boxes = read_coco(folder)
    assert coco_boxes.keys() == boxes.keys()
    for key, expected in boxes.items():
        assert [box[:2] for box in coco_boxes[key]] == [box[:2] for box in expected]
        assert np.allclose(
            [box[2] for box in coco_boxes[key]], [box[2] for box in expected], atol=1e-9, rtol=0
        )


def test_records_read_by_mlcroissant_equal_the_questions(folder, world):
    assert read_croissant(folder) == expect_croissant(world.gold)


def test_croissant_without_the_parquet_file_lists_the_files_only(world, tmp_path):
    import mlcroissant

    world.write(tmp_path / "v1", formats=())
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "v1" / "croissant.json"))
    assert dataset.metadata.ctx.issues.errors == set()
    assert [record_set.id for record_set in dataset.metadata.record_sets] == []
    assert "gold.jsonl" in {file.id for file in dataset.metadata.distribution}


def test_regions_of_the_structured_reports_equal_the_boxes(folder, world):
    regions = [region for regions in read_reports(folder).values() for region in regions]
    left_out = read_limitations(folder).get("sr (radiographs)", {})
    expected = [
        (f"question {key}", box.box.as_tuple())
        for key, question in world.gold.items()
        for box in question.boxes
        if key.endswith((".dcm", "named")) and "bare" not in key
    ]
    assert sorted(key for key, _ in regions) == sorted(key for key, _ in expected)
    corners = sorted(corners for _, corners in regions)
    # the standard stores coordinates in single precision (FL)
    assert np.allclose(corners, sorted(corners for _, corners in expected), rtol=1e-6)
    assert set(left_out) <= {
        "left out: the image did not come as DICOM",
        "left out: the DICOM file lacks a UID that a report must name",
    }


def test_manifest_counts_what_rexvqa_excludes_and_gemex_has_a_file_per_answer_format(folder, world):
    formats = {question.format for question in world.gold.values()}
    limitations = read_limitations(folder)
    unsuitable_count = len(world.gold) - sum(
        question.format is AnswerFormat.SINGLE for question in world.gold.values()
    )
    assert limitations.get("rexvqa", {}).get("left out: not single choice", 0) == unsuitable_count
    assert {path.stem for path in (folder / "gemex").glob("*_questions.jsonl")} == {
        TYPES[answer_format] for answer_format in formats
    }
