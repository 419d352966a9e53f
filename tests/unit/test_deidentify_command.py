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
class CommandResult:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


def run_command(*arguments: object) -> CommandResult:
    """Run the command in this process: starting another process takes longer than the command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main([str(argument) for argument in arguments])
    return CommandResult(code=code, out=out.getvalue(), err=err.getvalue())


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
def deidentified(source, tmp_path_factory):
    """The key is for this run alone, so that the workspace of the person running the tests is not read."""
    out = tmp_path_factory.mktemp("out")
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    result = run_command(
        "deidentify", source, out / "clean", "--fresh-key", "--list", out / "list.csv", "--processes", 1
    )
    assert before == {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    return result, out


@pytest.mark.slow
def test_refused_files_are_reported_and_the_others_written(deidentified):
    result, _ = deidentified
    assert result.code == 1
    assert "ct.dcm: " in result.err
    assert "3 of 4 files de-identified" in result.out
    assert "1 other file skipped" in result.out


def test_no_path_or_content_contains_the_name(deidentified):
    _, out = deidentified
    files = [path for path in (out / "clean").rglob("*") if path.is_file()]
    assert sorted(path.suffix for path in files) == [".dcm", ".dcm", ".png"]
    assert "Planted" not in " ".join(map(str, files))
    assert not any(b"Secret" in path.read_bytes() for path in files)


def test_the_images_of_an_exam_stay_together(deidentified):
    _, out = deidentified
    datasets = [dcmread(BytesIO(path.read_bytes())) for path in (out / "clean").rglob("*.dcm")]
    assert (
        len({header.StudyInstanceUID for header in datasets})
        == len({header.PatientID for header in datasets})
        == 1
    )


def test_the_list_maps_old_to_new_files(deidentified):
    _, out = deidentified
    rows = (out / "list.csv").read_text().splitlines()
    assert rows[0] == "old,new"
    assert any(row.startswith("Planted John/pa.dcm,") for row in rows)


def test_the_new_files_state_that_they_are_deidentified(deidentified):
    _, out = deidentified
    for path in (out / "clean").rglob("*.dcm"):
        dataset = dcmread(path)
        assert dataset.PatientIdentityRemoved == "YES"
        assert dataset.DeidentificationMethod.startswith("DICOM PS3.15 Basic Profile")


def test_one_file_is_written_into_the_folder(source, tmp_path):
    file = source / "Planted John" / "pa.dcm"
    result = run_command("deidentify", file, tmp_path / "one", "--fresh-key", "--processes", 1)
    (written_file,) = [path for path in (tmp_path / "one").rglob("*") if path.is_file()]
    assert result.code == 0
    assert (dcmread(written_file).pixel_array == dcmread(file).pixel_array).all()


def test_the_source_folder_is_refused_as_output(source):
    assert run_command("deidentify", source, source).code == 2
