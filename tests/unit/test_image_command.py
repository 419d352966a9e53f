"""``cli.py image render``: files and folders to PNG, by the command itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import cli
from imaging.render_folder import plan_folder
from tests.unit.makers.dicom_files import dicom, ramp


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def render(capsys: pytest.CaptureFixture[str]) -> Callable[..., CommandResult]:
    """``render("a.dcm", "out")``: the command as ``cli.py`` runs it."""

    def run_render(*arguments: object) -> CommandResult:
        try:
            code = cli.main(["image", "render", *map(str, arguments)])
        except SystemExit as exit_error:  # how argparse refuses
            code = int(exit_error.code or 0)
        output = capsys.readouterr()
        return CommandResult(returncode=code, stdout=output.out, stderr=output.err)

    return run_render


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two exams, a damaged file, a file that is no image, and a hidden file."""
    source = tmp_path / "in"
    (source / "exam 1" / "deep").mkdir(parents=True)
    (source / "exam 2").mkdir()
    (source / "exam 1" / "pa.dcm").write_bytes(dicom(ramp(40, 60)))
    (source / "exam 1" / "deep" / "1.2.840.10008").write_bytes(dicom(ramp(40, 60)))
    (source / "exam 2" / "lateral.dcm").write_bytes(dicom(HighBit=15))
    (source / "readme.txt").write_text("no image")
    (source / ".DS_Store").write_bytes(b"x")
    return source


def list_files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_folder_keeps_its_structure_and_refused_files_are_listed(render, folder, tmp_path):
    result = render(folder, tmp_path / "out", "--quarter")
    assert result.returncode == 1
    assert list_files(tmp_path / "out") == {
        "exam 1/pa.png", "exam 1/pa.quarter.png",
        "exam 1/deep/1.2.840.10008.png", "exam 1/deep/1.2.840.10008.quarter.png",
    }  # fmt: skip
    assert "exam 2/lateral.dcm: HighBit (0028,0102)" in result.stderr
    assert "3 of 3" in result.stderr  # the progress
    assert "2 of 3 radiographs written" in result.stdout
    assert "1 other file skipped" in result.stdout


@pytest.mark.slow
def test_one_named_file_is_rendered_at_16_bits(render, tmp_path):
    (tmp_path / "a.dcm").write_bytes(dicom(ramp(40, 60)))
    result = render(tmp_path / "a.dcm", tmp_path / "new" / "b.png", "--bits", 16, "--quarter")
    assert result.returncode == 0, result.stderr
    with (
        Image.open(tmp_path / "new" / "b.png") as full_image,
        Image.open(tmp_path / "new" / "b.quarter.png") as quarter_image,
    ):
        assert (full_image.mode, full_image.size, quarter_image.size) == ("I;16", (60, 40), (15, 10))


@pytest.mark.slow
def test_a_window_is_applied(render, tmp_path):
    (tmp_path / "a.dcm").write_bytes(dicom(ramp(40, 60)))
    assert render(tmp_path / "a.dcm", tmp_path, "--window", 100, 10).returncode == 0
    assert (np.asarray(Image.open(tmp_path / "a.png")) == 255).mean() > 0.9


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nothing.dcm", "out"], "does not exist"),
        (["a.dcm", "out", "--window", "1", "0"], "--window"),
        (["a.dcm", "out", "--processes", "0"], "--processes"),
        (["a.dcm", "out", "--bits", "12"], "--bits"),
        ([".", "."], "would be overwritten"),
        (["a.png", "."], "would be overwritten"),
        ([".", "a.dcm"], "is a file"),
    ],
)
def test_invalid_arguments_are_refused(render, tmp_path, arguments, reason):
    (tmp_path / "a.dcm").write_bytes(dicom())
    (tmp_path / "a.png").write_bytes(b"an original")
    resolved = [tmp_path / part if not part.lstrip("-")[:1].isdigit() and part[:2] != "--" else part
              for part in arguments]  # fmt: skip
    result = render(*resolved)
    assert result.returncode == 2
    assert reason in result.stderr
    assert (tmp_path / "a.png").read_bytes() == b"an original"


@pytest.mark.slow
def test_an_unwritable_folder_is_reported(render, tmp_path):
    (tmp_path / "a.dcm").write_bytes(dicom())
    (tmp_path / "file").write_bytes(b"")
    result = render(tmp_path / "a.dcm", tmp_path / "file" / "below")
    assert result.returncode == 1
    assert "could not be read or written" in result.stderr
    assert "Traceback" not in result.stderr


# ---------------------------------------------------------------------------------------------- plans
def list_planned_names(source: Path, out: Path) -> list[str]:
    jobs, _ = plan_folder(source, out, quarter=True)
    return [job.full.name for job in jobs]


def test_output_names_never_collide(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    for name in ("a.dcm", "a.png", "A.jpg", "b.dcm", "b.quarter.dcm"):
        (source / name).write_bytes(b"")
    jobs, _ = plan_folder(source, tmp_path / "out", quarter=True)
    output_paths = [str(path).casefold() for job in jobs for path in (job.full, job.quarter)]
    assert len(set(output_paths)) == 10


def test_files_are_sorted_by_name(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    for name in ("c.dcm", "a.dcm", "b.dcm"):
        (source / name).write_bytes(b"")
    assert list_planned_names(source, tmp_path / "out") == ["a.png", "b.png", "c.png"]


def test_existing_output_is_not_read_as_input(tmp_path):
    (tmp_path / "a.dcm").write_bytes(dicom())
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.png").write_bytes(b"")
    assert list_planned_names(tmp_path, out) == ["a.png"]
