"""Untrusted files are read in a separate process, within limits, and a failure does not stop the app."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from domain.vocabulary import View
from imaging.decoder_process import Limits
from imaging.display import render_display_jpeg
from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from imaging.radiograph import Window
from imaging.reader import describe, read_radiograph
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
def decoder():
    with GuardedDecoder(workers=1) as decoder:
        yield decoder


@pytest.fixture
def write_file(tmp_path):
    def write(content: bytes, name: str = "a.dcm"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def get_idle_process(decoder: GuardedDecoder):
    """The one decoder process, which must be idle."""
    return decoder._idle.queue[0][2]


def test_facts_equal_those_read_in_this_process(decoder, write_file):
    assert decoder.describe(write_file(FULL_HEADER_DICOM)) == describe(FULL_HEADER_DICOM, name="a.dcm")
    assert decoder.describe(write_file(FULL_HEADER_DICOM)).view is View.PA


def test_pixels_equal_those_read_in_this_process(decoder, write_file):
    from_worker, from_here = (
        decoder.decode(write_file(FULL_HEADER_DICOM)),
        read_radiograph(FULL_HEADER_DICOM, name="a.dcm"),
    )
    assert np.array_equal(from_worker.pixels, from_here.pixels)
    assert np.array_equal(from_worker.modality_lut, from_here.modality_lut)
    for field in ("facts", "lowest", "inverted", "padding", "aspect", "windows"):
        assert getattr(from_worker, field) == getattr(from_here, field)


def test_the_worker_renders_the_same_picture(decoder, write_file):
    window = Window(center=100, width=500)
    picture = decoder.render_jpeg(write_file(FULL_HEADER_DICOM), window=window, longest_side=20)
    assert picture == render_display_jpeg(
        read_radiograph(FULL_HEADER_DICOM, name="a.dcm"), window=window, longest_side=20
    )


def test_a_refusal_states_the_given_name_and_the_attribute(decoder, write_file):
    with pytest.raises(UnreadableImage) as caught:
        decoder.describe(write_file(dicom(HighBit=15), "internal-path.dcm"), name="chest.dcm")
    assert str(caught.value).startswith("chest.dcm: HighBit (0028,0102): is 15")
    assert caught.value.attribute == "HighBit (0028,0102)"


def test_a_missing_file_is_refused(decoder, tmp_path):
    with pytest.raises(UnreadableImage, match=r"none\.dcm: does not exist"):
        decoder.describe(tmp_path / "none.dcm")


def test_one_process_serves_many_files(decoder, write_file):
    path = write_file(png(ramp(bits=8)), "a.png")
    decoder.describe(path)
    first_process = get_idle_process(decoder)
    for _ in range(20):
        decoder.describe(path)
    assert get_idle_process(decoder) is first_process


def test_the_worker_environment_has_no_database_settings(decoder, write_file, monkeypatch):
    decoder.describe(write_file(FULL_HEADER_DICOM))
    pid = get_idle_process(decoder)._process.pid
    with open(f"/proc/{pid}/environ", "rb") as environment:  # noqa: PTH123 - /proc is not part of the workspace
        names = {entry.split(b"=")[0] for entry in environment.read().split(b"\0") if entry}
    assert names <= {b"PATH", b"LANG", b"OMP_NUM_THREADS", b"OPENBLAS_NUM_THREADS", b"LC_CTYPE"}


# ------------------------------------------------------------------------------------------ limits
def test_after_a_slow_file_is_refused_the_next_is_read(write_file, tmp_path):
    blocked_file = tmp_path / "waiting.dcm"
    os.mkfifo(blocked_file)  # opening it blocks until a writer opens it, which never happens
    with GuardedDecoder(workers=1, limits=Limits(seconds=1)) as decoder:
        started_at = time.monotonic()
        with pytest.raises(UnreadableImage, match=r"waiting.dcm: .* longer than 1 seconds"):
            decoder.describe(blocked_file)
        assert time.monotonic() - started_at < 30
        assert decoder.describe(write_file(FULL_HEADER_DICOM)).rows == 24


def test_after_a_file_exceeds_memory_the_next_is_read(write_file):
    large = write_file(dicom(np.zeros((6000, 6000), np.uint16)))  # 72 MB; each step of decoding makes a copy
    with GuardedDecoder(workers=1, limits=Limits(memory=280 << 20)) as decoder:
        with pytest.raises(UnreadableImage, match=r"needs more than 280 MB|needs too much memory"):
            decoder.decode(large)
        assert decoder.describe(write_file(FULL_HEADER_DICOM, "good.dcm")).rows == 24


def test_after_a_worker_dies_the_next_file_is_read(decoder, write_file):
    path = write_file(FULL_HEADER_DICOM)
    decoder.describe(path)
    get_idle_process(decoder)._process.kill()
    with pytest.raises(UnreadableImage, match="the decoder process crashed"):
        decoder.describe(path)
    assert decoder.describe(path).rows == 24


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
def test_hostile_files_do_not_end_the_worker(decoder, write_file, content):
    path = write_file(FULL_HEADER_DICOM, "good.dcm")
    decoder.describe(path)
    first_process = get_idle_process(decoder)
    with pytest.raises(UnreadableImage):
        decoder.describe(write_file(content))
    assert decoder.describe(path).rows == 24
    assert get_idle_process(decoder) is first_process


# -------------------------------------------------------------------------------------- concurrency
def test_threads_share_the_workers(write_file):
    path = write_file(FULL_HEADER_DICOM)
    with GuardedDecoder(workers=2) as decoder, ThreadPoolExecutor(12) as threads:
        row_counts = list(threads.map(lambda _: decoder.describe(path).rows, range(12)))
    assert row_counts == [24] * 12


def test_leaving_the_with_block_ends_the_workers(write_file):
    with GuardedDecoder(workers=1) as decoder:
        decoder.describe(write_file(FULL_HEADER_DICOM))
        process = get_idle_process(decoder)._process
    assert process.poll() is not None


def test_workers_started_in_advance_read_files(tmp_path):
    path = tmp_path / "a.dcm"
    path.write_bytes(dicom(ramp()))
    with GuardedDecoder(workers=2) as decoder:
        decoder.start()
        assert (decoder.describe(path).rows, decoder.describe(path).rows) == (24, 24)


# -------------------------------------------------------------------------------------- replacements
def test_a_worker_keeps_reading_until_its_successor_is_ready(write_file, monkeypatch):
    monkeypatch.setattr("imaging.guarded_decoder._FILES_PER_PROCESS", 3)
    path = write_file(FULL_HEADER_DICOM)
    with GuardedDecoder(workers=1) as decoder:
        decoder.describe(path)
        first_worker = get_idle_process(decoder)
        decoder.describe(path)
        decoder.describe(path)
        while get_idle_process(decoder) is first_worker:
            decoder.describe(path)
        assert get_idle_process(decoder).is_ready
        assert first_worker.request_count > 3
        assert first_worker._process.poll() is not None
        assert decoder.describe(path).rows == 24


def test_leaving_the_with_block_ends_a_starting_worker(write_file, monkeypatch):
    monkeypatch.setattr("imaging.guarded_decoder._FILES_PER_PROCESS", 1)
    with GuardedDecoder(workers=1) as decoder:
        decoder.describe(write_file(FULL_HEADER_DICOM))
        successor = decoder._successors[get_idle_process(decoder)]
    assert successor._process.poll() is not None


def test_a_ready_worker_is_preferred_to_a_starting_one(write_file):
    path = write_file(FULL_HEADER_DICOM)
    with GuardedDecoder(workers=2) as decoder:
        decoder.describe(path)
        ready = get_idle_process(decoder)
        decoder.start()
        assert get_idle_process(decoder) is ready
        decoder.describe(path)
        assert ready.request_count == 2


def test_the_start_of_a_worker_does_not_count_as_reading_time(write_file, monkeypatch):
    slow_worker_code = (
        "import time; time.sleep(2.5); import runpy; runpy.run_module('imaging.worker', run_name='__main__')"
    )
    original_popen = subprocess.Popen

    def popen_slowly(command, **options):
        return original_popen([command[0], "-c", slow_worker_code, *command[3:]], **options)

    monkeypatch.setattr("imaging.decoder_process.subprocess.Popen", popen_slowly)
    with GuardedDecoder(workers=1, limits=Limits(seconds=2)) as decoder:
        assert decoder.describe(write_file(FULL_HEADER_DICOM)).rows == 24


def test_a_worker_that_does_not_start_is_reported(write_file, monkeypatch):
    monkeypatch.setattr("imaging.decoder_process._START_SECONDS", 0.0)
    with (
        GuardedDecoder(workers=1) as decoder,
        pytest.raises(UnreadableImage, match="decoder process did not start"),
    ):
        decoder.describe(write_file(FULL_HEADER_DICOM))
