"""Each format of a release is read by its target library or by our own import; its content is equal."""

from __future__ import annotations

import io
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydicom import dcmread

from domain.boxes import Box, box_from_grid, box_to_grid
from domain.questions import Question
from domain.vocabulary import AnswerFormat
from release.formats.gemex import GRID
from release.service import verify_release
from storage.engine import make_engine
from storage.schema import upgrade
from tests.golden.formats_world import BOX, FormatsWorld, import_release_files, make_formats_world
from tests.golden.release_readers import round_to_grid
from tests.unit.makers.dicom_files import ramp

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    engine = make_engine(f"sqlite:///{folder}/overread.sqlite")
    upgrade(engine)
    yield make_formats_world(engine, folder)
    engine.dispose()


@pytest.fixture(scope="module")
def folder(world: FormatsWorld, tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "v1"
    world.write(out, with_images=True, with_sr=True)
    return out


@pytest.fixture
def import_again(sqlite_template, world, tmp_path):
    """Import files of a release into an empty database, by default with the original images."""

    def import_files(
        *files: Path, images: Path | None = world.images, file_format: str = "auto"
    ) -> dict[str, Question]:
        return import_release_files(sqlite_template, tmp_path, *files, images=images, file_format=file_format)

    return import_files


def read_manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def is_close(question: Question, expected: Question) -> bool:
    """Equality except for the last digits of boxes, which were converted to another grid and back."""
    if [(box.radiograph, box.label) for box in question.boxes] != [
        (box.radiograph, box.label) for box in expected.boxes
    ]:
        return False
    for actual_box, expected_box in zip(question.boxes, expected.boxes, strict=True):
        if not np.allclose(actual_box.box.as_tuple(), expected_box.box.as_tuple(), atol=1e-9):
            return False
    return replace(question, boxes=()) == replace(expected, boxes=())


def round_on_grid(box: Box, rows: int, columns: int) -> Box:
    """The box in pixels of the image after rounding to whole pixels of GEMeX's grid."""
    on_grid = round_to_grid(box_to_grid(box, grid=GRID, rows=rows, columns=columns))
    return box_from_grid(on_grid, grid=GRID, rows=rows, columns=columns)


def test_the_release_is_valid(folder):
    report = verify_release(folder)
    assert (report.faults, report.questions) == ((), 7)


def test_the_native_format_is_reimported_to_equal_questions(folder, import_again, world):
    assert import_again(folder / "gold.jsonl", images=folder) == world.gold


def test_the_rexvqa_format_is_reimported_to_equal_questions(folder, import_again, world):
    expected = {
        key: replace(question, boxes=(), source=type(question.source)())
        for key, question in world.gold.items()
        if question.format is AnswerFormat.SINGLE and not question.also_right
    }
    assert import_again(folder / "rexvqa.json", images=folder, file_format="rexvqa") == expected
    assert read_manifest(folder)["lacks"]["rexvqa"] == {
        "left out: not single choice": 3,
        "left out: several answers are right by themselves": 1,
        "without its boxes, which the form does not have": 2,
    }


def test_the_gemex_test_format_is_reimported_to_equal_questions(world, tmp_path, import_again):
    world.write(tmp_path / "plain")  # original paths, which identify the exam
    files = sorted((tmp_path / "plain" / "gemex").glob("*.jsonl"))
    assert [path.stem for path in files] == [
        "closed_ended_questions", "multi_choice_questions", "open_ended_questions", "single_choice_questions",
    ]  # fmt: skip
    reimported = import_again(*files, file_format="gemex")
    assert len(reimported) == 5
    for key, question in reimported.items():
        gold = world.gold[key.rsplit("-", 1)[1]]
        radiographs = {box.radiograph for box in question.boxes}
        expected = replace(
            gold, id=key, task=None, category=None, difficulty=None, source=type(gold.source)(),
            content_type=gold.content_type,
        )  # fmt: skip
        assert radiographs <= {"pa", "side", "front"}
        assert is_close(question, expected)


@pytest.mark.parametrize("layout", ["conversations.json", "conversations_paper.json"])
def test_gemex_conversations_are_reimported_in_both_layouts(world, tmp_path, import_again, layout):
    world.write(tmp_path / "plain")
    reimported = list(import_again(tmp_path / "plain" / "gemex" / layout, file_format="gemex").values())
    released = [world.gold[key] for key in ("q1", "q2", "q3", "q4", "q5")]
    assert len(reimported) == len(released)
    for question, gold in zip(reimported, released, strict=True):
        exam_size = {"pa": (600, 500), "side": (500, 650)}
        unlabelled = tuple(
            replace(box, label="", box=round_on_grid(box.box, *exam_size[box.radiograph]))
            for box in gold.boxes
        )
        expected = replace(
            gold, id=question.id, exam_id=question.exam_id, task=None, category=None, difficulty=None,
            content_type=None, source=type(gold.source)(), boxes=unlabelled,
        )  # fmt: skip
        assert is_close(question, expected)


def test_questions_unsuitable_for_conversations_are_excluded(folder):
    assert read_manifest(folder)["lacks"]["gemex"] == {
        "left out: its text would be read as part of the form": 1,
        "left out: several answers are right by themselves": 1,
        "without the labels of its boxes, which the form does not have": 3,
    }


def test_the_datasets_library_loads_parquet_with_images(folder, world, tmp_path):
    from datasets import load_dataset

    rows = load_dataset(
        "parquet", data_files=str(folder / "gold.parquet"), split="train", cache_dir=str(tmp_path)
    )
    assert [row["id"] for row in rows] == list(world.gold)
    first_row = rows[0]
    assert (first_row["stem"], first_row["answer"], first_row["boxes"][0]["box"]) == ("Which?", [1], BOX)
    assert rows[6]["also_right"] == [[2]]
    picture = np.asarray(first_row["images"][0])
    assert picture.shape == (600, 500)  # the matrix of the DICOM file, so that the boxes fit
    stored = ramp(600, 500)
    assert picture[0, 0] == 0
    assert picture[-1, -1] == 255
    assert np.all(np.diff(picture.astype(int).ravel()) >= 0)
    assert stored[0, 0] < stored[-1, -1]
    assert [image.size for image in rows[3]["images"]] == [(640, 480), (650, 500)]


def test_parquet_without_images_has_their_paths(world, tmp_path):
    import pyarrow.parquet as pq

    world.write(tmp_path / "plain")
    images = pq.read_table(tmp_path / "plain" / "gold.parquet").column("images").to_pylist()
    assert images[0] == [{"bytes": None, "path": "p1/s1/pa.dcm"}]


def test_pycocotools_reads_the_boxes(folder, world):
    from pycocotools.coco import COCO

    coco = COCO(str(folder / "boxes.coco.json"))
    boxes_by_question: dict[str, Any] = {}
    for coco_annotation in coco.loadAnns(coco.getAnnIds()):
        x, y, width, height = coco_annotation["bbox"]
        label = coco.loadCats(coco_annotation["category_id"])[0]["name"]
        radiograph = coco.loadImgs(coco_annotation["image_id"])[0]["radiograph"]
        boxes_by_question.setdefault(coco_annotation["question_id"], []).append(
            (radiograph, label, (x, y, x + width, y + height))
        )
    assert boxes_by_question == {
        key: [(box.radiograph, box.label, box.box.as_tuple()) for box in question.boxes]
        for key, question in world.gold.items()
        if question.boxes
    }
    image = coco.loadImgs(coco.getImgIds(imgIds=[1]))[0]
    assert (image["width"], image["height"]) == (500, 600)


def test_mlcroissant_validates_and_reads_the_records(folder):
    import mlcroissant as mlc

    logging.getLogger("absl").setLevel(logging.ERROR)
    croissant_dataset = mlc.Dataset(jsonld=str(folder / "croissant.json"))
    assert croissant_dataset.metadata.ctx.issues.errors == set()
    stems = [record["questions/stem"] for record in croissant_dataset.records("questions")]
    assert stems[:2] == [b"Which?", b"Which two are right?"]


def test_pydicom_reads_the_structured_report(folder, world):
    """pydicom reads the file that highdicom wrote: the tree, the referenced image, the corners."""
    (path,) = (folder / "sr").iterdir()
    report = dcmread(path)
    assert report.StudyInstanceUID == "1.2.826.0.1.3680043.8.498.1"
    assert report.ContentTemplateSequence[0].TemplateIdentifier == "1500"
    scoord_items = []

    def collect_scoord_items(item):
        if item.ValueType == "SCOORD":
            corners = np.array(item.GraphicData).reshape(-1, 2)
            image_uid = item.ContentSequence[0].ReferencedSOPSequence[0].ReferencedSOPInstanceUID
            scoord_items.append((image_uid, [*corners.min(axis=0), *corners.max(axis=0)], item.GraphicType))
        for child in item.get("ContentSequence", []):
            collect_scoord_items(child)

    collect_scoord_items(report)
    original = dcmread(world.images / "p1" / "s1" / "pa.dcm")
    assert scoord_items == [
        (original.SOPInstanceUID, BOX, "POLYLINE"),
        (original.SOPInstanceUID, BOX, "POLYLINE"),
        (original.SOPInstanceUID, [10.0, 20.0, 30.5, 40.0], "POLYLINE"),
    ]
    coded_values = [
        [
            item.ConceptCodeSequence[0].CodeMeaning
            for content_item in group.ContentSequence
            if content_item.ValueType == "CODE"
            for item in (content_item, *content_item.get("ContentSequence", []))
        ]
        for group in report.ContentSequence[-1].ContentSequence
    ]
    nodule = ["Nodule", "Chest", "Left"]  # the label is "Nodule, left"
    assert coded_values == [nodule, nodule, ["Radiographic anatomy", "Heart"]]


def test_non_dicom_radiographs_have_no_structured_reports(folder):
    assert read_manifest(folder)["lacks"]["sr (radiographs)"] == {
        "left out: the image did not come as DICOM": 2
    }


def test_every_format_is_written_reproducibly(folder, world, tmp_path):
    world.write(tmp_path / "again", with_images=True, with_sr=True)
    first_files = {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    second_folder = tmp_path / "again"
    assert first_files == {
        path.relative_to(second_folder): path.read_bytes()
        for path in second_folder.rglob("*")
        if path.is_file()
    }


def test_the_pictures_in_the_parquet_file_are_valid(folder):
    import pyarrow.parquet as pq

    rows = pq.read_table(folder / "gold.parquet").column("images").to_pylist()
    pictures = [Image.open(io.BytesIO(image["bytes"])) for images in rows for image in images]
    for picture in pictures:
        picture.verify()
    assert {picture.format for picture in pictures} == {"PNG"}


@pytest.mark.parametrize(
    ("name", "human", "assistant"),
    [
        (
            "conversations.json",
            "<image>\nIs there air?",
            (
                "<answer> No. <reason> It's seen “there”: 5 > 3 & so on. "
                "<location> [[56, 76, 133, 149], [22, 7, 30, 15]]"
            ),
        ),
        (
            "conversations_paper.json",
            "<image>\n Is there air?",
            (
                "<answer>No. <reason>It's seen “there”: 5 > 3 & so on. "
                "<location>[[56, 76, 133, 149], [22, 7, 30, 15]]"
            ),
        ),
    ],
)
def test_a_conversation_is_written_as_in_gemex_files_and_as_in_the_paper(
    world, tmp_path, name, human, assistant
):
    """600 x 500 pixels: scale 224 / 600, padding (224 - 500 x 224 / 600) / 2 = 18.67 at the left.

    x: 101.25 -> 56.47, 305 -> 132.53; y: 203.5 -> 75.97, 399.125 -> 149.01.
    """
    world.write(tmp_path / "plain")
    records = json.loads((tmp_path / "plain" / "gemex" / name).read_text(encoding="utf-8"))
    turns = next(
        record["conversations"] for record in records if record["q_type"] == "closed_ended_questions"
    )
    assert [turn["value"] for turn in turns] == [human, assistant]


def test_the_published_prompt_is_in_a_field_of_its_own(sqlite_engine, tmp_path):
    make_formats_world(sqlite_engine, tmp_path).write(tmp_path / "v1")
    records = json.loads((tmp_path / "v1" / "gemex" / "conversations_paper.json").read_text(encoding="utf-8"))
    closed_conversation = next(
        conversation for conversation in records if conversation["q_type"] == "closed_ended_questions"
    )
    assert closed_conversation["type_prompt"] == (
        "Input a closed-ended question, and the assistant will output its answer (yes or no) with a detailed "
        "reason and corresponding visual location."
    )
    assert closed_conversation["conversations"][0]["value"] == "<image>\n Is there air?"
