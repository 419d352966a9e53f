"""``cli.py deidentify``: a de-identified folder, file names included; the input is unchanged."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO

import pytest
from pydicom import dcmread

import cli
from tests.unit.makers.dicom_files import CT, dicom, ramp
from tests.unit.makers.raster_files import png


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


def run(*arguments: object) -> Ran:
    """Run the command in this process: starting another process takes longer than the command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main([str(each) for each in arguments])
    return Ran(code=code, out=out.getvalue(), err=err.getvalue())


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
    """The key is for this run alone, so that the workspace of the person running the tests is not read."""
    out = tmp_path_factory.mktemp("out")
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    ran = run(
        "deidentify", source, out / "clean", "--fresh-key", "--list", out / "list.csv", "--processes", 1
    )
    assert before == {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    return ran, out


def test_what_is_refused_is_listed_with_its_reason_and_the_rest_is_written(done):
    ran, _ = done
    assert ran.code == 1
    assert "ct.dcm: " in ran.err
    assert "3 of 4 files written" in ran.out
    assert "1 other files were left out" in ran.out


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


def test_what_the_new_files_are_is_written_in_them(done):
    _, out = done
    for path in (out / "clean").rglob("*.dcm"):
        made = dcmread(path)
        assert made.PatientIdentityRemoved == "YES"
        assert made.DeidentificationMethod.startswith("DICOM PS3.15 Basic Profile")


def test_one_file_is_written_into_the_folder(source, tmp_path):
    file = source / "Planted John" / "pa.dcm"
    ran = run("deidentify", file, tmp_path / "one", "--fresh-key", "--processes", 1)
    (made,) = [path for path in (tmp_path / "one").rglob("*") if path.is_file()]
    assert ran.code == 0
    assert (dcmread(made).pixel_array == dcmread(file).pixel_array).all()


def test_the_folder_itself_is_no_place_to_write_to(source):
    assert run("deidentify", source, source).code == 2
