"""The structural checks flag only what is wrong by the format's own expectations, on real VQA-RAD files."""

import json

import pytest

from tests.collections.folder import COLLECTIONS
from tests.storage.import_worlds import Importer

VQA_RAD = COLLECTIONS / "vqa-rad"


@pytest.mark.parametrize("name", ["vqarad_chest_trainset.json", "vqarad_chest_testset.json"])
def test_no_question_of_vqa_rad_is_flagged(sqlite_engine, tmp_path, name):
    importer = Importer(sqlite_engine, tmp_path)
    report = importer((VQA_RAD / name).read_bytes(), name=name)
    assert report.questions == len(json.loads((VQA_RAD / name).read_bytes()))
    assert report.problems
    assert not any(report.problems.values())
