"""Untrusted files are read in a separate process, within limits, and a failure does not stop the app."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from domain.vocabulary import View
from imaging.display import render_display_jpeg
from imaging.errors import UnreadableImage
from imaging.guarded_reader import GuardedReader
from imaging.radiograph import Window
from imaging.reader import describe, read_radiograph
from imaging.reading_process import Limits
from tests.unit.makers.dicom_files import dicom, inflating_to, nested, ramp
from tests.unit.makers.raster_files import png

pytestmark = pytest.mark.slow

RICH = dicom(
    ramp(bits=12, signed=True),
    PhotometricInterpretation="MONOCHROME1",
    PixelPaddingValue=-2048,
    WindowCenter=["0", "100"],
    WindowWidth=["4000", "500"],
    PixelAspectRatio=["2", "1"],
)


@pytest.fixture(scope="module")
def reader():
    with GuardedReader(workers=1) as reader:
        yield reader


@pytest.fixture
def file(tmp_path):
    def write(content: bytes, name: str = "a.dcm"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def process_of(reader: GuardedReader):
    """The one reading process, which must be idle."""
    return reader._idle.queue[0][2]


def test_the_facts_come_back_as_they_are_read_here(reader, file):
    assert reader.describe(file(RICH)) == describe(RICH, name="a.dcm")
    assert reader.describe(file(RICH)).view is View.PA


def test_the_pixels_come_back_as_they_are_read_here(reader, file):
    there, here = reader.decode(file(RICH)), read_radiograph(RICH, name="a.dcm")
    assert np.array_equal(there.pixels, here.pixels)
    assert np.array_equal(there.modality, here.modality)
    for field in ("facts", "lowest", "inverted", "padding", "aspect", "windows"):
        assert getattr(there, field) == getattr(here, field)


def test_the_picture_is_drawn_there(reader, file):
    window = Window(center=100, width=500)
    there = reader.render_jpeg(file(RICH), window=window, longest_side=20)
    assert there == render_display_jpeg(read_radiograph(RICH, name="a.dcm"), window=window, longest_side=20)


def test_a_refusal_carries_the_name_it_was_given_and_the_attribute(reader, file):
    with pytest.raises(UnreadableImage) as caught:
        reader.describe(file(dicom(HighBit=15), "internal-path.dcm"), name="chest.dcm")
    assert str(caught.value).startswith("chest.dcm: HighBit (0028,0102): is 15")
    assert caught.value.attribute == "HighBit (0028,0102)"


def test_a_file_that_is_not_there_is_refused(reader, tmp_path):
    with pytest.raises(UnreadableImage, match=r"none\.dcm: is not there"):
        reader.describe(tmp_path / "none.dcm")


def test_one_process_serves_many_files(reader, file):
    path = file(png(ramp(bits=8)), "a.png")
    reader.describe(path)
    before = process_of(reader)
    for _ in range(20):
        reader.describe(path)
    assert process_of(reader) is before


def test_the_process_knows_nothing_of_the_database(reader, file, monkeypatch):
    reader.describe(file(RICH))
    pid = process_of(reader)._process.pid
    with open(f"/proc/{pid}/environ", "rb") as environment:  # noqa: PTH123 - proc is not a folder of ours
        names = {entry.split(b"=")[0] for entry in environment.read().split(b"\0") if entry}
    assert names <= {b"PATH", b"LANG", b"OMP_NUM_THREADS", b"OPENBLAS_NUM_THREADS", b"LC_CTYPE"}


# ------------------------------------------------------------------------------------------ limits
def test_a_file_that_takes_too_long_is_refused_and_the_next_one_is_read(file, tmp_path):
    waiting = tmp_path / "waiting.dcm"
    os.mkfifo(waiting)  # opening it blocks until a writer opens it, which never happens
    with GuardedReader(workers=1, limits=Limits(seconds=1)) as reader:
        began = time.monotonic()
        with pytest.raises(UnreadableImage, match=r"waiting.dcm: takes longer than 1 seconds"):
            reader.describe(waiting)
        assert time.monotonic() - began < 30
        assert reader.describe(file(RICH)).rows == 24


def test_a_file_that_takes_too_much_memory_is_refused_and_the_next_one_is_read(file):
    large = file(dicom(np.zeros((6000, 6000), np.uint16)))  # 72 MB, and each step of decoding a copy
    with GuardedReader(workers=1, limits=Limits(memory=350 << 20)) as reader:
        with pytest.raises(UnreadableImage, match=r"takes more than 350 MB|asks for too much memory"):
            reader.decode(large)
        assert reader.describe(file(RICH, "good.dcm")).rows == 24


def test_a_process_that_dies_refuses_its_file_and_the_next_one_is_read(reader, file):
    path = file(RICH)
    reader.describe(path)
    process_of(reader)._process.kill()
    with pytest.raises(UnreadableImage, match="broke off its reader"):
        reader.describe(path)
    assert reader.describe(path).rows == 24


@pytest.mark.parametrize("content", [inflating_to(1 << 28), nested(300), nested(5000), b"", b"\xff\xd8\xff"])
def test_hostile_files_are_refused_and_the_process_lives_on(reader, file, content):
    path = file(RICH, "good.dcm")
    reader.describe(path)
    before = process_of(reader)
    with pytest.raises(UnreadableImage):
        reader.describe(file(content))
    assert reader.describe(path).rows == 24
    assert process_of(reader) is before


# -------------------------------------------------------------------------------------- concurrency
def test_threads_share_the_processes(file):
    path = file(RICH)
    with GuardedReader(workers=2) as reader, ThreadPoolExecutor(12) as threads:
        found = list(threads.map(lambda _: reader.describe(path).rows, range(12)))
    assert found == [24] * 12


def test_leaving_the_block_ends_the_processes(file):
    with GuardedReader(workers=1) as reader:
        reader.describe(file(RICH))
        process = process_of(reader)._process
    assert process.poll() is not None


def test_processes_that_were_started_ahead_read_like_others(tmp_path):
    path = tmp_path / "a.dcm"
    path.write_bytes(dicom(ramp()))
    with GuardedReader(workers=2) as reader:
        reader.start()
        assert (reader.describe(path).rows, reader.describe(path).rows) == (24, 24)


# -------------------------------------------------------------------------------------- replacements
def test_a_process_that_read_its_share_reads_on_until_the_next_one_is_ready(file, monkeypatch):
    monkeypatch.setattr("imaging.guarded_reader._FILES_PER_PROCESS", 3)
    path = file(RICH)
    with GuardedReader(workers=1) as reader:
        reader.describe(path)
        first = process_of(reader)
        reader.describe(path)
        reader.describe(path)
        while process_of(reader) is first:
            reader.describe(path)
        assert process_of(reader).is_ready
        assert first.request_count > 3
        assert first._process.poll() is not None
        assert reader.describe(path).rows == 24


def test_leaving_the_block_ends_the_one_that_is_starting_too(file, monkeypatch):
    monkeypatch.setattr("imaging.guarded_reader._FILES_PER_PROCESS", 1)
    with GuardedReader(workers=1) as reader:
        reader.describe(file(RICH))
        successor = reader._successors[process_of(reader)]
    assert successor._process.poll() is not None


def test_a_process_that_is_ready_is_asked_before_one_that_is_starting(file):
    path = file(RICH)
    with GuardedReader(workers=2) as reader:
        reader.describe(path)
        ready = process_of(reader)
        reader.start()
        assert process_of(reader) is ready
        reader.describe(path)
        assert ready.request_count == 2


def test_the_start_of_a_process_is_no_time_of_its_file(file, monkeypatch):
    slow = (
        "import time; time.sleep(2.5); import runpy; runpy.run_module('imaging.worker', run_name='__main__')"
    )
    started = subprocess.Popen

    def slowly(command, **rest):
        return started([command[0], "-c", slow, *command[3:]], **rest)

    monkeypatch.setattr("imaging.reading_process.subprocess.Popen", slowly)
    with GuardedReader(workers=1, limits=Limits(seconds=2)) as reader:
        assert reader.describe(file(RICH)).rows == 24


def test_a_reader_that_does_not_start_is_not_the_files_fault(file, monkeypatch):
    monkeypatch.setattr("imaging.reading_process._START_SECONDS", 0.0)
    with GuardedReader(workers=1) as reader, pytest.raises(UnreadableImage, match="its reader did not start"):
        reader.describe(file(RICH))
