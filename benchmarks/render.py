"""DICOM to full + quarter PNG, 2500 x 3000 pixels of 12 bits, against pydicom + Pillow.

Target: at least 8 times as fast for uncompressed, JPEG lossless, JPEG-LS and RLE, twice for JPEG 2000. Both
sides run alternately in this process, from the file's bytes to the bytes of two PNG files, and their pixels
are compared. The plain side uses the libraries' own functions: ``pixel_array``, ``apply_voi_lut``, Pillow's
``reduce`` and ``save``, each with its defaults; pydicom chooses its decoders itself. Then the stored values
for the browser are measured: target at most 1.5 times the decoding + 25 ms. ``python -m benchmarks.render
[REPEATS] [ROWS COLUMNS]``.
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

from imaging.matrix import encode_matrix, wire_bits
from imaging.reading import read_radiograph
from imaging.render import Rendered, render
from tests.unit.makers.dicom_files import dicom
from tests.unit.makers.sent_pixels import decode_matrix

REPEATS = 5
SHAPE = (3000, 2500)
MARKS = {
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
    """Print every figure; return 1 if a target is missed or the pixels differ."""
    pixels = plate(rows, columns)
    files = {
        syntax: dicom(
            pixels, syntax=syntax, WindowCenter=CENTER, WindowWidth=WIDTH,
            PhotometricInterpretation="MONOCHROME1",
        )
        for syntax in MARKS
    }  # fmt: skip
    print(f"{columns} x {rows}, 12 bits, MONOCHROME1 with a window; medians of {repeats}")
    return max(against_plain(files, repeats), to_the_browser(files, pixels, repeats))


def against_plain(files: dict[UID, bytes], repeats: int) -> int:
    missed = 0
    for bits in (8, 16):
        print(f"\nfull + quarter PNG of {bits} bits      pydicom + Pillow      ours     ratio     mark   MB")
        for syntax, content in files.items():
            if bits == 16 and syntax != ExplicitVRLittleEndian:
                continue  # decoding is the same; one run suffices to measure the writing
            plain, ours = in_turns(
                partial(plain_way, content, bits=bits),
                partial(our_way, content, bits=bits),
                repeats,
            )
            same = differ_at_most(plain.result, ours.result, levels=1)
            ratio = plain.median / ours.median
            sizes = f"{len(plain.result.full) / 1e6:.1f} / {len(ours.result.full) / 1e6:.1f}"
            verdict = "" if ratio >= MARKS[syntax] and same else "  MISSED"
            verdict += "" if same else ": the pixels differ"
            missed |= bool(verdict)
            print(
                f"{syntax.name[:36]:36} {plain.median * 1000:12,.0f} ms {ours.median * 1000:9,.0f} ms"
                f" {ratio:8.1f} x {MARKS[syntax]:5} x   {sizes}{verdict}"
            )
    return int(missed)


def to_the_browser(files: dict[UID, bytes], pixels: NDArray[np.uint16], repeats: int) -> int:
    print("\nstored values for the browser           decode    encode      mark   MB")
    missed = 0
    for syntax, content in files.items():
        shown = read_radiograph(content, name="plate")
        decoded, encoded = in_turns(
            partial(read_radiograph, content, name="plate"),
            partial(encode_matrix, shown),
            repeats,
        )
        shape = {"rows": pixels.shape[0], "columns": pixels.shape[1], "bits": wire_bits(decoded.result)}
        same = np.array_equal(decode_matrix(encoded.result, **shape), pixels)
        most = 1.5 * decoded.median + 0.025
        verdict = "" if encoded.median <= most and same else "  MISSED"
        missed |= bool(verdict)
        print(
            f"{syntax.name[:36]:36} {decoded.median * 1000:6.0f} ms {encoded.median * 1000:6.0f} ms"
            f"  <= {most * 1000:3.0f} ms   {len(encoded.result) / 1e6:.1f}{verdict}"
        )
    return int(missed)


def our_way(content: bytes, *, bits: int) -> Rendered:
    decoded = read_radiograph(content, name="plate")
    return render(decoded, bits=bits, window=decoded.windows[0], quarter=True)


def plain_way(content: bytes, *, bits: int) -> Rendered:
    dataset = dcmread(io.BytesIO(content))
    values = apply_voi_lut(dataset.pixel_array, dataset)  # 0 to 4095
    if dataset.PhotometricInterpretation == "MONOCHROME1":
        values = 4095 - values
    levels = np.rint(values * (((1 << bits) - 1) / 4095)).astype(f"u{bits // 8}")
    if bits == 8:
        small = Image.fromarray(levels).reduce(4)
    else:  # Pillow cannot reduce 16-bit images, but 32-bit ones
        small = Image.fromarray(np.asarray(Image.fromarray(levels.astype(np.int32)).reduce(4), np.uint16))
    files = []
    for image in (Image.fromarray(levels), small):
        out = io.BytesIO()
        image.save(out, "PNG")
        files.append(out.getvalue())
    return Rendered(full=files[0], quarter=files[1])


class Timed(Generic[T]):
    """The result of one side, and how long it took."""

    result: T  # of the last run

    def __init__(self) -> None:
        self.seconds: list[float] = []

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def run(self, work: Callable[[], T]) -> None:
        before = time.perf_counter()
        self.result = work()
        self.seconds.append(time.perf_counter() - before)


def in_turns(one: Callable[[], T], other: Callable[[], U], repeats: int) -> tuple[Timed[T], Timed[U]]:
    """Run both sides alternately, so that load affects both; the first run of each is not counted."""
    first, second = Timed[T](), Timed[U]()
    for turn in range(repeats + 1):
        first.run(one)
        second.run(other)
        if turn == 0:
            first.seconds.clear()
            second.seconds.clear()
    return first, second


def differ_at_most(one: Rendered, other: Rendered, *, levels: int) -> bool:
    """Whether the pixels decoded from both PNGs differ by rounding only."""
    pairs = [(one.full, other.full), (one.quarter or b"", other.quarter or b"")]
    arrays = [[np.asarray(Image.open(io.BytesIO(png))).astype(np.int32) for png in pair] for pair in pairs]
    return all(a.shape == b.shape and int(np.abs(a - b).max()) <= levels for a, b in arrays)


def plate(rows: int, columns: int) -> NDArray[np.uint16]:
    """An image as smooth and as noisy as a chest radiograph, 12 bits."""
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    smooth = 2000 + 1200 * np.sin(x / columns * 6) * np.cos(y / rows * 6)
    noise = np.random.default_rng(1).normal(0, 12, (rows, columns))
    values: NDArray[np.floating[Any]] = np.clip(smooth + noise, 0, 4095)
    return values.astype(np.uint16)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(numbers[0] if numbers else REPEATS, *(numbers[1:] or SHAPE)))
