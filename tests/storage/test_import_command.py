"""``cli.py import questions`` on a dataset in its published layout."""

from __future__ import annotations

import shutil

import pytest
from sqlalchemy import func, select

import cli
from storage.rows.datasets import ImageRow
from storage.unit_of_work import read_only_session
from tests.golden.question_files import GOLDEN_FOLDER, SAMPLE_FOLDERS, write_image


@pytest.fixture
def rexvqa_folder(tmp_path):
    """ReXVQA as published: metadata/ with the questions, deid_png/ with the images beside it."""
    shutil.copytree(GOLDEN_FOLDER / "rexvqa" / "metadata", tmp_path / "metadata")
    for name, (rows, columns, mode) in SAMPLE_FOLDERS["rexvqa"][1].items():
        write_image(tmp_path / name, rows, columns, mode)
    return tmp_path


@pytest.mark.parametrize("image_folder", ["metadata", "deid_png", "."])
@pytest.mark.slow
def test_rexvqa_imports_from_any_of_its_folders(workspace_engine, rexvqa_folder, image_folder):
    file = rexvqa_folder / "metadata" / "test_vqa_data.json"
    assert _import_rexvqa(file, rexvqa_folder / image_folder) == 0
    with read_only_session(workspace_engine) as db:
        assert db.execute(select(func.count()).select_from(ImageRow)).scalar_one() == 3


def test_images_beside_the_metadata_folder_are_refused_unless_in_deid_png(
    workspace_engine, rexvqa_folder, capsys
):
    (rexvqa_folder / "deid_png").rename(rexvqa_folder / "private")
    file = rexvqa_folder / "metadata" / "test_vqa_data.json"
    file.write_text(file.read_text(encoding="utf-8").replace("deid_png", "private"), encoding="utf-8")
    assert _import_rexvqa(file, rexvqa_folder / "metadata") == 1
    assert "is outside the image folder" in capsys.readouterr().err


def _import_rexvqa(file, images):
    return cli.main(["import", "questions", str(file), "--dataset", "rexvqa", "--images", str(images)])
