"""``cli.py import questions`` on a dataset in its published layout."""

from __future__ import annotations

import shutil

import pytest
from sqlalchemy import func, select

import cli
from storage.rows import ImageRow
from storage.unit_of_work import read_only_session
from tests.golden.question_files import HERE, WORLDS, write_image


@pytest.fixture
def published(tmp_path):
    """ReXVQA as published: metadata/ with the questions, deid_png/ with the images beside it."""
    shutil.copytree(HERE / "rexvqa" / "metadata", tmp_path / "metadata")
    for name, (rows, columns, mode) in WORLDS["rexvqa"][1].items():
        write_image(tmp_path / name, rows, columns, mode)
    return tmp_path


@pytest.mark.parametrize("named", ["metadata", "deid_png", "."])
def test_rexvqa_comes_in_whichever_of_its_folders_is_named(workspace_engine, published, named):
    file = published / "metadata" / "test_vqa_data.json"
    assert _imported(file, published / named) == 0
    with read_only_session(workspace_engine) as db:
        assert db.execute(select(func.count()).select_from(ImageRow)).scalar_one() == 3


def test_without_the_published_folder_metadata_is_a_folder_like_any(workspace_engine, published, capsys):
    (published / "deid_png").rename(published / "private")
    file = published / "metadata" / "test_vqa_data.json"
    file.write_text(file.read_text(encoding="utf-8").replace("deid_png", "private"), encoding="utf-8")
    assert _imported(file, published / "metadata") == 1
    assert "is outside the image folder" in capsys.readouterr().err


def _imported(file, images):
    return cli.main(["import", "questions", str(file), "--dataset", "rexvqa", "--images", str(images)])
