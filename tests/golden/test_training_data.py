"""Training data from releases: the libraries can read them, and data that may not be used are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from domain.errors import Refused
from imaging.display import choose_first_window
from imaging.reader import read_radiograph
from imaging.render import compute_grey_levels
from release.splits import Split, SplitPlan
from release.training.box_formats import BoxFormat, ImageSize, resize_for
from release.training.conversations import TrainingLibrary
from release.training.export import export_training_data
from storage.engine import make_engine
from storage.schema import upgrade
from tests.golden.formats_world import FormatsWorld, make_released_world
from tests.golden.question_files import write_image
from tests.unit.makers.dicom_files import dicom, ramp

pytestmark = pytest.mark.full

ROWS, COLUMNS = 300, 250
BOX = [25, 60, 125, 150]


def make_records(images: Path) -> list[dict[str, Any]]:
    """Twelve exams of two views, of which the first is DICOM, with questions of three formats."""
    records: list[dict[str, Any]] = []
    for number in range(12):
        (images / f"{number}.dcm").write_bytes(
            dicom(ramp(ROWS, COLUMNS) + number, SOPInstanceUID=f"2.25.{number + 1}", PatientID=f"P{number}")
        )
        write_image(images / f"{number}.png", ROWS + number, COLUMNS, "L")
        exam = {
            "id": f"exam {number}",
            "patient": f"p{number}",
            "radiographs": [
                {"id": "front", "file": f"{number}.dcm", "view": "PA"},
                {"id": "side", "file": f"{number}.png", "view": "LATERAL"},
            ],
        }
        fields: dict[str, Any] = {"exam": exam, "explanation": "It is dense."}
        box = {"radiograph": "front", "label": "left lung", "box": BOX}
        records += [
            {
                "id": f"c{number}",
                "format": "closed",
                "stem": "Is it dense?",
                "answer": "yes",
                "boxes": [box],
                **fields,
            },
            {
                "id": f"m{number}",
                "format": "multiple",
                "stem": "What is seen?",
                "options": ["Air", "Fluid", "Bone"],
                "answer": [0, 2],
                **fields,
            },
            {
                "id": f"o{number}",
                "format": "open",
                "stem": "What does <image> show?",
                "answer": "Air",
                **fields,
            },
        ]
    return records


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Any:
    folder = tmp_path_factory.mktemp("training")
    (folder / "images").mkdir()
    records = make_records(folder / "images")
    engine = make_engine(f"sqlite:///{folder}/overread.sqlite")
    upgrade(engine)
    yield make_released_world(engine, folder, records)
    engine.dispose()


@pytest.fixture(scope="module")
def release(world: FormatsWorld, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("release") / "v1"
    plan = SplitPlan(test_share=0.3, private_share=0.2, seed=3)
    world.write(out, with_images=True, split=plan)
    return out


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def find_training_ids(release: Path) -> set[str]:
    return {row["question_id"] for row in read_lines(release / "splits.jsonl") if row["split"] == "train"}


def test_only_questions_of_the_training_split_are_exported(release, tmp_path):
    export = export_training_data(
        release, tmp_path / "out", library=TrainingLibrary.TRL, form=BoxFormat.GEMEX
    )
    training_ids = find_training_ids(release)
    open_ids = {key for key in training_ids if key.startswith("o")}
    assert 0 < len(training_ids) < 36
    rows = read_lines(tmp_path / "out" / "train.jsonl")
    assert {row["id"] for row in rows} == training_ids - open_ids
    assert export.questions == len(rows)
    # A question whose own text contains the placeholder <image> would get an image there.
    assert export.left_out == {"left out: its text would be read as part of the form": len(open_ids)}
    description = json.loads((tmp_path / "out" / "training.json").read_text("utf-8"))
    assert description["split"] == "train"
    assert description["questions"] == len(rows)


def test_trl_files_load_with_datasets_and_have_one_image_per_placeholder(release, tmp_path, monkeypatch):
    from datasets import Features, Image, List, Value, load_dataset

    out = tmp_path / "out"
    export_training_data(release, out, library=TrainingLibrary.TRL, form=BoxFormat.QWEN3_VL)
    part_feature = {"type": Value("string"), "text": Value("string")}
    features = Features(
        {
            "id": Value("string"),
            "messages": List({"role": Value("string"), "content": List(part_feature)}),
            "images": List(Image()),
        }
    )
    monkeypatch.chdir(out)
    train = load_dataset(
        "json", data_files="train.jsonl", split="train", features=features, cache_dir=str(tmp_path / "cache")
    )
    for row in train:
        parts = [part for message in row["messages"] for part in message["content"]]
        assert sum(part["type"] == "image" for part in parts) == len(row["images"]) == 2
        number = int(row["id"][1:])
        assert [image.size for image in row["images"]] == [(COLUMNS, ROWS), (COLUMNS, ROWS + number)]
    closed_row = next(row for row in train if row["id"].startswith("c"))
    answer = closed_row["messages"][2]["content"][0]["text"]
    assert answer == (
        "<answer> Yes. <reason> It is dense. <location> "
        '[{"bbox_2d":[100,200,500,500],"label":"left lung","image":1}]'
    )
    texts = [part["text"] for part in closed_row["messages"][1]["content"]]
    assert texts == ["Image 1 (PA): ", None, "\nImage 2 (LATERAL): ", None, "\nIs it dense?"]


def test_llama_factory_files_have_placeholders_in_their_texts(release, tmp_path):
    out = tmp_path / "out"
    export_training_data(release, out, library=TrainingLibrary.LLAMA_FACTORY, form=BoxFormat.QWEN25_VL)
    entry = json.loads((out / "dataset_info.json").read_text("utf-8"))["overread_train"]
    rows = read_lines(out / entry["file_name"])
    for row in rows:
        messages = row[entry["columns"]["messages"]]
        assert [message[entry["tags"]["role_tag"]] for message in messages] == ["system", "user", "assistant"]
        assert sum(message["content"].count("<image>") for message in messages) == len(row["images"])
        for path in row["images"]:
            with Image.open(out / path) as image:
                size = ImageSize(rows=image.height, columns=image.width)
                assert resize_for(BoxFormat.QWEN25_VL, size) == size  # the model does not resize it further
    closed_row = next(row for row in rows if row["id"].startswith("c"))
    # 250 x 300 becomes 252 x 308 pixels.
    assert '"bbox_2d":[25,62,126,154]' in closed_row["messages"][2]["content"]
    multiple_row = next(row for row in rows if row["id"].startswith("m"))
    assert multiple_row["messages"][1]["content"].endswith(
        "What is seen? <choices>: [A: Air, B: Fluid, C: Bone]"
    )
    assert multiple_row["messages"][2]["content"] == "<answer> ['A', 'C'] <reason> It is dense."


def test_ms_swift_gets_boxes_in_pixels_with_their_images(release, tmp_path):
    out = tmp_path / "out"
    export_training_data(release, out, library=TrainingLibrary.MS_SWIFT, form=BoxFormat.QWEN2_VL)
    rows = read_lines(out / "train.jsonl")
    for row in rows:
        placeholder_count = sum(message["content"].count("<image>") for message in row["messages"])
        assert placeholder_count == len(row["images"]) == 2
    closed_row = next(row for row in rows if row["id"].startswith("c"))
    assert closed_row["objects"] == {"ref": ["left lung"], "bbox": [BOX], "image_id": [0]}
    assert closed_row["messages"][2]["content"].endswith("<location> <ref-object><bbox>")
    assert "objects" not in next(row for row in rows if row["id"].startswith("m"))
    assert json.loads((out / "training.json").read_text("utf-8"))["boxes"] == "pixels"
    assert "--model Qwen/Qwen2-VL-7B-Instruct" in (out / "train.sh").read_text("utf-8")


def test_dicom_images_have_the_grey_levels_of_the_viewer(release, tmp_path):
    out = tmp_path / "out"
    export_training_data(release, out, library=TrainingLibrary.TRL, form=BoxFormat.GEMEX)
    row = read_lines(out / "train.jsonl")[0]
    written = out / row["images"][0]
    source = next((release / "images").glob(f"{written.stem}.*"))
    decoded = read_radiograph(source.read_bytes(), name=source.name)
    expected = compute_grey_levels(decoded, window=choose_first_window(decoded), bits=8)
    with Image.open(written) as image:
        assert np.array_equal(np.asarray(image), expected)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (Split.PRIVATE, "no model may be trained on it"),
        (Split.TEST, "Export the split train"),
        (Split.PUBLIC, "has the splits train, valid and test"),
    ],
)
def test_other_splits_are_refused(release, tmp_path, split, message):
    with pytest.raises(Refused, match=message):
        export_training_data(
            release, tmp_path / "out", library=TrainingLibrary.TRL, form=BoxFormat.GEMEX, split=split
        )
    assert list(tmp_path.iterdir()) == []


def test_a_changed_release_is_refused_and_nothing_is_written(release, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    (copy / "gold.jsonl").write_bytes((copy / "gold.jsonl").read_bytes().replace(b"dense", b"dark!"))
    with pytest.raises(Refused, match=r"changed after its creation \(gold.jsonl"):
        export_training_data(copy, tmp_path / "out", library=TrainingLibrary.TRL, form=BoxFormat.GEMEX)
    assert not (tmp_path / "out").exists()


def test_a_release_without_images_or_split_says_what_to_do(world, tmp_path):
    world.write(tmp_path / "v2")
    with pytest.raises(Refused, match="shares for valid and test"):
        export_training_data(
            tmp_path / "v2", tmp_path / "out", library=TrainingLibrary.TRL, form=BoxFormat.GEMEX
        )
    with pytest.raises(Refused, match="an image of its exam is not in the release"):
        export_training_data(
            tmp_path / "v2",
            tmp_path / "out",
            library=TrainingLibrary.TRL,
            form=BoxFormat.GEMEX,
            split=Split.PUBLIC,
        )
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_empty_is_kept(release, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("kept")
    with pytest.raises(Refused, match="is not empty"):
        export_training_data(release, tmp_path / "out", library=TrainingLibrary.TRL, form=BoxFormat.GEMEX)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
