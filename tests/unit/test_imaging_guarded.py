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
from tests.unit.makers.dicom_files import deflate_bomb, dicom, dicom_with_nested_sequences, ramp
from tests.unit.makers.raster_files import png

pytestmark = pytest.mark.slow

FULL_HEADER_DICOM = dicom(
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
def write_file(tmp_path):
    def write(content: bytes, name: str = "a.dcm"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def get_idle_process(reader: GuardedReader):
    """The one reading process, which must be idle."""
    return reader._idle.queue[0][2]


def test_facts_equal_those_read_in_this_process(reader, write_file):
    assert reader.describe(write_file(FULL_HEADER_DICOM)) == describe(FULL_HEADER_DICOM, name="a.dcm")
    assert reader.describe(write_file(FULL_HEADER_DICOM)).view is View.PA


def test_pixels_equal_those_read_in_this_process(reader, write_file):
    from_worker, from_here = (
        reader.decode(write_file(FULL_HEADER_DICOM)),
        read_radiograph(FULL_HEADER_DICOM, name="a.dcm"),
    )
    assert np.array_equal(from_worker.pixels, from_here.pixels)
    assert np.array_equal(from_worker.modality_lut, from_here.modality_lut)
    for field in ("facts", "lowest", "inverted", "padding", "aspect", "windows"):
        assert getattr(from_worker, field) == getattr(from_here, field)


def test_the_worker_renders_the_same_picture(reader, write_file):
    window = Window(center=100, width=500)
    picture = reader.render_jpeg(write_file(FULL_HEADER_DICOM), window=window, longest_side=20)
    assert picture == render_display_jpeg(
        read_radiograph(FULL_HEADER_DICOM, name="a.dcm"), window=window, longest_side=20
    )


def test_a_refusal_states_the_given_name_and_the_attribute(reader, write_file):
    with pytest.raises(UnreadableImage) as caught:
        reader.describe(write_file(dicom(HighBit=15), "internal-path.dcm"), name="chest.dcm")
    assert str(caught.value).startswith("chest.dcm: HighBit (0028,0102): is 15")
    assert caught.value.attribute == "HighBit (0028,0102)"


def test_a_missing_file_is_refused(reader, tmp_path):
    with pytest.raises(UnreadableImage, match=r"none\.dcm: does not exist"):
        reader.describe(tmp_path / "none.dcm")


def test_one_process_serves_many_files(reader, write_file):
    path = write_file(png(ramp(bits=8)), "a.png")
    reader.describe(path)
    before = get_idle_process(reader)
    for _ in range(20):
        reader.describe(path)
    assert get_idle_process(reader) is before


def test_the_worker_environment_has_no_database_settings(reader, write_file, monkeypatch):
    reader.describe(write_file(FULL_HEADER_DICOM))
    pid = get_idle_process(reader)._process.pid
    with open(f"/proc/{pid}/environ", "rb") as environment:  # noqa: PTH123 - proc is not a folder of ours
        names = {entry.split(b"=")[0] for entry in environment.read().split(b"\0") if entry}
    assert names <= {b"PATH", b"LANG", b"OMP_NUM_THREADS", b"OPENBLAS_NUM_THREADS", b"LC_CTYPE"}


# ------------------------------------------------------------------------------------------ limits
def test_after_a_slow_file_is_refused_the_next_is_read(write_file, tmp_path):
    blocked_file = tmp_path / "waiting.dcm"
    os.mkfifo(blocked_file)  # opening it blocks until a writer opens it, which never happens
    with GuardedReader(workers=1, limits=Limits(seconds=1)) as reader:
        started_at = time.monotonic()
        with pytest.raises(UnreadableImage, match=r"waiting.dcm: .* longer than 1 seconds"):
            reader.describe(blocked_file)
        assert time.monotonic() - started_at < 30
        assert reader.describe(write_file(FULL_HEADER_DICOM)).rows == 24


def test_after_a_file_exceeds_memory_the_next_is_read(write_file):
    large = write_file(dicom(np.zeros((6000, 6000), np.uint16)))  # 72 MB, and each step of decoding a copy
    with GuardedReader(workers=1, limits=Limits(memory=350 << 20)) as reader:
        with pytest.raises(UnreadableImage, match=r"needs more than 350 MB|needs too much memory"):
            reader.decode(large)
        assert reader.describe(write_file(FULL_HEADER_DICOM, "good.dcm")).rows == 24


def test_after_a_worker_dies_the_next_file_is_read(reader, write_file):
    path = write_file(FULL_HEADER_DICOM)
    reader.describe(path)
    get_idle_process(reader)._process.kill()
    with pytest.raises(UnreadableImage, match="the reading process crashed"):
        reader.describe(path)
    assert reader.describe(path).rows == 24


@pytest.mark.parametrize(
    "content",
    [
        deflate_bomb(1 << 28),
        dicom_with_nested_sequences(300),
        dicom_with_nested_sequences(5000),
        b"",
        b"\xff\xd8\xff",
    ],
)
def test_hostile_files_do_not_end_the_worker(reader, write_file, content):
    path = write_file(FULL_HEADER_DICOM, "good.dcm")
    reader.describe(path)
    before = get_idle_process(reader)
    with pytest.raises(UnreadableImage):
        reader.describe(write_file(content))
    assert reader.describe(path).rows == 24
    assert get_idle_process(reader) is before


# -------------------------------------------------------------------------------------- concurrency
def test_threads_share_the_workers(write_file):
    path = write_file(FULL_HEADER_DICOM)
    with GuardedReader(workers=2) as reader, ThreadPoolExecutor(12) as threads:
        row_counts = list(threads.map(lambda _: reader.describe(path).rows, range(12)))
    assert row_counts == [24] * 12


def test_leaving_the_block_ends_the_workers(write_file):
    with GuardedReader(workers=1) as reader:
        reader.describe(write_file(FULL_HEADER_DICOM))
        process = get_idle_process(reader)._process
    assert process.poll() is not None


def test_workers_that_were_started_ahead_read_files(tmp_path):
    path = tmp_path / "a.dcm"
    path.write_bytes(dicom(ramp()))
    with GuardedReader(workers=2) as reader:
        reader.start()
        assert (reader.describe(path).rows, reader.describe(path).rows) == (24, 24)


# -------------------------------------------------------------------------------------- replacements
def test_a_worker_reads_on_until_its_successor_is_ready(write_file, monkeypatch):
    monkeypatch.setattr("imaging.guarded_reader._FILES_PER_PROCESS", 3)
    path = write_file(FULL_HEADER_DICOM)
    with GuardedReader(workers=1) as reader:
        reader.describe(path)
        first_worker = get_idle_process(reader)
        reader.describe(path)
        reader.describe(path)
        while get_idle_process(reader) is first_worker:
            reader.describe(path)
        assert get_idle_process(reader).is_ready
        assert first_worker.request_count > 3
        assert first_worker._process.poll() is not None
        assert reader.describe(path).rows == 24


def test_leaving_the_block_ends_a_starting_worker(write_file, monkeypatch):
    monkeypatch.setattr("imaging.guarded_reader._FILES_PER_PROCESS", 1)
    with GuardedReader(workers=1) as reader:
        reader.describe(write_file(FULL_HEADER_DICOM))
        successor = reader._successors[get_idle_process(reader)]
    assert successor._process.poll() is not None


def test_a_ready_worker_is_preferred_to_a_starting_one(write_file):
    path = write_file(FULL_HEADER_DICOM)
    with GuardedReader(workers=2) as reader:
        reader.describe(path)
        ready = get_idle_process(reader)
        reader.start()
        assert get_idle_process(reader) is ready
        reader.describe(path)
        assert ready.request_count == 2


def test_the_start_of_a_worker_does_not_count_as_reading_time(write_file, monkeypatch):
    slow_worker_code = (
        "import time; time.sleep(2.5); import runpy; runpy.run_module('imaging.worker', run_name='__main__')"
    )
    original_popen = subprocess.Popen

    def popen_slowly(command, **rest):
        return original_popen([command[0], "-c", slow_worker_code, *command[3:]], **rest)

    monkeypatch.setattr("imaging.reading_process.subprocess.Popen", popen_slowly)
    with GuardedReader(workers=1, limits=Limits(seconds=2)) as reader:
        assert reader.describe(write_file(FULL_HEADER_DICOM)).rows == 24


def test_a_worker_that_does_not_start_is_reported_as_such(write_file, monkeypatch):
    monkeypatch.setattr("imaging.reading_process._START_SECONDS", 0.0)
    with (
        GuardedReader(workers=1) as reader,
        pytest.raises(UnreadableImage, match="reading process did not start"),
    ):
        reader.describe(write_file(FULL_HEADER_DICOM))
