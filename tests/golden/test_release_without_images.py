"""A release without images, such as GEMeX without MIMIC-CXR: boxes stay on the grid in all formats."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from domain.boxes import BoxFit, BoxGrid
from domain.questions import Question
from release.formats.gemex import TYPES
from release.service import verify_release
from storage.engine import make_engine
from storage.schema import upgrade
from tests.golden.formats_world import FormatsWorld, import_release_files, make_released_world
from tests.golden.release_readers import (
    expect_croissant,
    expect_datasets,
    read_coco,
    read_croissant,
    read_datasets,
)

pytestmark = pytest.mark.full

GRID = BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)
FILE = "p10/p10000032/s50414267/02aa804e.jpg"


def make_record(key, **fields):
    exam = {"id": "s50414267", "patient": "p10000032", "radiographs": [{"id": "02aa804e", "file": FILE}]}
    box = {"radiograph": "02aa804e", "label": "right lower lung zone", "box": [129, 65, 186, 89]}
    return {
        "id": key, "exam": exam, "format": "closed", "stem": "Is there an effusion?", "answer": "yes",
        "explanation": "The angle is blunted – by fluid.", "boxes": [box], "box_grid": [224, 224],
        "box_fit": "letterbox", **fields,
    }  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    engine = make_engine(f"sqlite:///{folder}/overread.sqlite")
    upgrade(engine)
    options = {"options": ["Left", "Right", "Both", "None"], "format": "single", "answer": [1]}
    edge = {"radiograph": "02aa804e", "label": "", "box": [0, 0, 224, 224.5]}
    records = [
        make_record("1"), make_record("2", stem="Where?", **options), make_record("3", boxes=[edge]),
    ]  # fmt: skip
    yield make_released_world(engine, folder, records, with_images=False)
    engine.dispose()


@pytest.fixture(scope="module")
def folder(world: FormatsWorld, tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "v1"
    world.write(out)
    return out


def list_boxes(
    question: Question, *, labels: bool = True
) -> list[tuple[str, tuple[float, ...], BoxGrid | None]]:
    return [(box.label if labels else "", box.box.as_tuple(), box.grid) for box in question.boxes]


def test_the_release_is_valid_and_its_questions_are_on_the_grid(folder, world):
    report = verify_release(folder)
    assert (report.faults, report.questions) == ((), 3)
    assert {box.grid for question in world.gold.values() for box in question.boxes} == {GRID}


def test_questions_reimported_from_the_native_file_are_equal(folder, world, sqlite_template, tmp_path):
    assert import_release_files(sqlite_template, tmp_path, folder / "gold.jsonl", images=None) == world.gold


def test_gemex_test_questions_have_the_same_boxes(folder, world, sqlite_template, tmp_path):
    files = sorted((folder / "gemex").glob("*_questions.jsonl"))
    reimported = import_release_files(sqlite_template, tmp_path, *files, images=None, file_format="gemex")
    assert {
        key: (question.stem, question.answer, list_boxes(question)) for key, question in reimported.items()
    } == {
        f"{TYPES[question.format]}-{key}": (question.stem, question.answer, list_boxes(question))
        for key, question in world.gold.items()
    }


def test_conversations_have_the_boxes_as_whole_numbers(folder, world, sqlite_template, tmp_path):
    file = folder / "gemex" / "conversations.json"
    reimported = import_release_files(
        sqlite_template, tmp_path, file, images=None, file_format="gemex-train"
    ).values()
    rounded = [
        [
            ("", tuple(min(round(value), 224) for value in corners), grid)
            for _, corners, grid in list_boxes(gold)
        ]
        for gold in world.gold.values()
    ]
    assert [list_boxes(question, labels=False) for question in reimported] == rounded


def test_rows_of_the_datasets_library_state_the_grid(folder, world, tmp_path):
    rows = read_datasets(folder, tmp_path)
    assert all((row["box_grid"], row["box_fit"]) == ([224, 224], "letterbox") for row in rows.values())
    without_boxes = {key: replace(question, boxes=()) for key, question in world.gold.items()}
    expected = expect_datasets(without_boxes)
    for key, question in world.gold.items():
        corners = [list(box.box.as_tuple()) for box in question.boxes]
        assert [box["box"] for box in rows[key]["boxes"]] == corners
        assert {name: rows[key][name] for name in expected[key] if name != "boxes"} == {
            name: value for name, value in expected[key].items() if name != "boxes"
        }


def test_records_read_by_mlcroissant_equal_the_questions(folder, world):
    assert read_croissant(folder) == expect_croissant(world.gold)


def test_coco_omits_boxes_without_an_image_and_the_manifest_counts_them(folder):
    assert read_coco(folder) == {}
    lacks = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["lacks"]
    assert sum(lacks["coco"].values()) == 3
