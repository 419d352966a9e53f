"""Compares rendering DICOM (2500 x 3000 pixels, 12 bits) as full and quarter PNG with pydicom and Pillow.

Target: at least 8 times as fast for uncompressed, JPEG lossless, JPEG-LS and RLE, and twice as fast for JPEG
2000. Both sides run alternately in this process, from the file's bytes to the bytes of two PNG files, and
their pixels are compared. The plain side uses the libraries' own functions with their defaults:
``pixel_array``, ``apply_voi_lut``, Pillow's ``reduce`` and ``save``. Then the encoding of stored values for
the browser is measured; decoding and encoding may take at most 1.5 times the decoding + 25 ms. Run ``python
-m benchmarks.render [REPEATS] [ROWS COLUMNS]``.
"""

from __future__ import annotations

import io
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydicom import dcmread
from pydicom.pixels.processing import apply_voi_lut
from pydicom.uid import (
    UID,
    ExplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGLosslessSV1,
    JPEGLSLossless,
    RLELossless,
)

from imaging.matrix import encode_matrix, encoded_bits
from imaging.reader import read_radiograph
from imaging.render import RenderedPngs, render_pngs
from tests.unit.makers.dicom_files import dicom
from tests.unit.makers.matrix_decoder import decode_matrix

REPEATS = 5
SHAPE = (3000, 2500)
TARGETS = {
    ExplicitVRLittleEndian: 8,
    JPEGLosslessSV1: 8,
    JPEGLSLossless: 8,
    RLELossless: 8,
    JPEG2000Lossless: 2,
}
CENTER, WIDTH = 2000, 3200

T = TypeVar("T")
U = TypeVar("U")


def main(repeats: int, rows: int, columns: int) -> int:
    """Print all results; return 1 if a target is missed or the pixels differ."""
    pixels = make_test_image(rows, columns)
    files = {
        syntax: dicom(
            pixels, syntax=syntax, WindowCenter=CENTER, WindowWidth=WIDTH,
            PhotometricInterpretation="MONOCHROME1",
        )
        for syntax in TARGETS
    }  # fmt: skip
    print(f"{columns} x {rows}, 12 bits, MONOCHROME1 with a window; medians of {repeats}")
    return max(compare_to_plain(files, repeats), measure_encoding(files, pixels, repeats))


def compare_to_plain(files: dict[UID, bytes], repeats: int) -> int:
    missed = 0
    for bits in (8, 16):
        print(f"\nfull + quarter PNG of {bits} bits      pydicom + Pillow      ours     ratio   target   MB")
        for syntax, content in files.items():
            if bits == 16 and syntax != ExplicitVRLittleEndian:
                continue  # decoding is the same as for 8 bits; one syntax suffices to measure the writing
            plain_run, our_run = run_alternately(
                partial(render_plain, content, bits=bits),
                partial(render_ours, content, bits=bits),
                repeats,
            )
            is_same = pixels_match(plain_run.result, our_run.result, levels=1)
            ratio = plain_run.median / our_run.median
            sizes = f"{len(plain_run.result.full) / 1e6:.1f} / {len(our_run.result.full) / 1e6:.1f}"
            result_note = "" if ratio >= TARGETS[syntax] and is_same else "  MISSED"
            result_note += "" if is_same else ": the pixels differ"
            missed |= bool(result_note)
            print(
                f"{syntax.name[:36]:36} {plain_run.median * 1000:12,.0f} ms {our_run.median * 1000:9,.0f} ms"
                f" {ratio:8.1f} x {TARGETS[syntax]:5} x   {sizes}{result_note}"
            )
    return int(missed)


def measure_encoding(files: dict[UID, bytes], pixels: NDArray[np.uint16], repeats: int) -> int:
    print("\nstored values for the browser           decode    encode    target   MB")
    missed = 0
    for syntax, content in files.items():
        radiograph = read_radiograph(content, name="plate")
        decoded, encoded = run_alternately(
            partial(read_radiograph, content, name="plate"),
            partial(encode_matrix, radiograph),
            repeats,
        )
        shape = {"rows": pixels.shape[0], "columns": pixels.shape[1], "bits": encoded_bits(decoded.result)}
        is_same = np.array_equal(decode_matrix(encoded.result, **shape), pixels)
        target_seconds = 1.5 * decoded.median + 0.025
        result_note = "" if encoded.median <= target_seconds and is_same else "  MISSED"
        missed |= bool(result_note)
        print(
            f"{syntax.name[:36]:36} {decoded.median * 1000:6.0f} ms {encoded.median * 1000:6.0f} ms"
            f"  <= {target_seconds * 1000:3.0f} ms   {len(encoded.result) / 1e6:.1f}{result_note}"
        )
    return int(missed)


def render_ours(content: bytes, *, bits: int) -> RenderedPngs:
    decoded = read_radiograph(content, name="plate")
    return render_pngs(decoded, bits=bits, window=decoded.windows[0], quarter=True)


def render_plain(content: bytes, *, bits: int) -> RenderedPngs:
    dataset = dcmread(io.BytesIO(content))
    values = apply_voi_lut(dataset.pixel_array, dataset)  # 0 to 4095
    if dataset.PhotometricInterpretation == "MONOCHROME1":
        values = 4095 - values
    levels = np.rint(values * (((1 << bits) - 1) / 4095)).astype(f"u{bits // 8}")
    if bits == 8:
        quarter = Image.fromarray(levels).reduce(4)
    else:  # Pillow can reduce 32-bit images, but not 16-bit ones
        quarter = Image.fromarray(np.asarray(Image.fromarray(levels.astype(np.int32)).reduce(4), np.uint16))
    files = []
    for image in (Image.fromarray(levels), quarter):
        out = io.BytesIO()
        image.save(out, "PNG")
        files.append(out.getvalue())
    return RenderedPngs(full=files[0], quarter=files[1])


class TimedRun(Generic[T]):
    """The last result of a function, and the durations of its runs."""

    result: T  # of the last run

    def __init__(self) -> None:
        self.seconds: list[float] = []

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def run(self, work: Callable[[], T]) -> None:
        start = time.perf_counter()
        self.result = work()
        self.seconds.append(time.perf_counter() - start)


def run_alternately(
    first_work: Callable[[], T], second_work: Callable[[], U], repeats: int
) -> tuple[TimedRun[T], TimedRun[U]]:
    """Run both sides alternately, so that load affects both. The first run of each side is not counted."""
    first, second = TimedRun[T](), TimedRun[U]()
    for round_number in range(repeats + 1):
        first.run(first_work)
        second.run(second_work)
        if round_number == 0:
            first.seconds.clear()
            second.seconds.clear()
    return first, second


def pixels_match(first: RenderedPngs, second: RenderedPngs, *, levels: int) -> bool:
    """Whether the pixels of both PNG files are equal except for rounding."""
    pairs = [(first.full, second.full), (first.quarter or b"", second.quarter or b"")]
    arrays = [[np.asarray(Image.open(io.BytesIO(png))).astype(np.int32) for png in pair] for pair in pairs]
    return all(a.shape == b.shape and int(np.abs(a - b).max()) <= levels for a, b in arrays)


def make_test_image(rows: int, columns: int) -> NDArray[np.uint16]:
    """Make a 12-bit image that is as smooth and as noisy as a chest radiograph."""
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    smooth = 2000 + 1200 * np.sin(x / columns * 6) * np.cos(y / rows * 6)
    noise = np.random.default_rng(1).normal(0, 12, (rows, columns))
    values: NDArray[np.floating[Any]] = np.clip(smooth + noise, 0, 4095)
    return values.astype(np.uint16)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(numbers[0] if numbers else REPEATS, *(numbers[1:] or SHAPE)))
