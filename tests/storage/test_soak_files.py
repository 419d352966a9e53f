"""A short form of `benchmarks/soak_files.py`: hostile files cause no crash and no partial import."""

from __future__ import annotations

import pytest

from benchmarks.soak_files import soak_image_bombs, soak_images, soak_question_bombs, soak_questions

pytestmark = pytest.mark.full


def test_damaged_images_are_read_or_refused():
    assert soak_images(40, first_number=100_000).faults == []


def test_known_image_bombs_are_refused_and_good_images_read():
    assert soak_image_bombs().faults == []


def test_generated_question_files_are_imported_completely_or_not_at_all(tmp_path):
    assert soak_questions(40, home=tmp_path, first_number=100_000).faults == []


def test_known_question_file_bombs_are_refused(tmp_path):
    assert soak_question_bombs(tmp_path).faults == []
