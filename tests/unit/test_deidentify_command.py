"""``cli.py deidentify``: a folder without its patients, names of files included, and the input untouched."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from pydicom import dcmread

from tests.unit.makers.dicom_files import CT, dicom, ramp
from tests.unit.makers.raster_files import png

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    (folder / "Planted John").mkdir()
    (folder / "Planted John" / "pa.dcm").write_bytes(dicom(StudyInstanceUID="1.2.3"))
    (folder / "Planted John" / "lateral.dcm").write_bytes(dicom(StudyInstanceUID="1.2.3", ViewPosition="LL"))
    (folder / "a.png").write_bytes(png(ramp(bits=8)))
    (folder / "ct.dcm").write_bytes(dicom(SOPClassUID=CT, Modality="CT"))
    (folder / "readme.txt").write_text("John Planted")
    return folder


@pytest.fixture(scope="module")
def done(source, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    command = [sys.executable, "cli.py", "deidentify", str(source), str(out / "clean")]
    command += ["--list", str(out / "list.csv")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert before == {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    return ran, out


def test_what_is_refused_is_listed_with_its_reason_and_the_rest_is_written(done):
    ran, _ = done
    assert ran.returncode == 1
    assert "ct.dcm: " in ran.stderr
    assert "3 of 4 files written" in ran.stdout
    assert "1 other files were left out" in ran.stdout


def test_no_path_and_no_byte_carries_the_name(done):
    _, out = done
    files = [path for path in (out / "clean").rglob("*") if path.is_file()]
    assert sorted(path.suffix for path in files) == [".dcm", ".dcm", ".png"]
    assert "Planted" not in " ".join(map(str, files))
    assert not any(b"Secret" in path.read_bytes() for path in files)


def test_the_images_of_an_exam_stay_together(done):
    _, out = done
    made = [dcmread(BytesIO(path.read_bytes())) for path in (out / "clean").rglob("*.dcm")]
    assert len({each.StudyInstanceUID for each in made}) == len({each.PatientID for each in made}) == 1


def test_the_list_says_which_became_which(done):
    _, out = done
    rows = (out / "list.csv").read_text().splitlines()
    assert rows[0] == "old,new"
    assert any(row.startswith("Planted John/pa.dcm,") for row in rows)


def test_the_folder_itself_is_no_place_to_write_to(source):
    command = [sys.executable, "cli.py", "deidentify", str(source), str(source)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 2
