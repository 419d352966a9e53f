"""Strangers' files, tens of thousands of them: no crash, no half import, at most 1 GB and 10 s a file.

    python -m benchmarks.soak_files [--images 20000] [--rasters 2000] [--questions 20000]

Damaged images (DICOM, then PNG and JPEG) are described, decoded and de-identified, each by a reading process
of the app; the time is that of the file in the process, and how long it was waited for stands beside it.
Faults are told as they come. Question files,
made by hypothesis and by damage, go through the import service into a real database. Each is undone again, so
that the next one finds it empty; before, what is there is counted against what the report says. To start a
process for each would be most of the time, so all but every 100th are parsed in this one, with the same time.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, Phase, given, settings

from benchmarks.soak_figures import Figures
from benchmarks.soak_importing import World
from benchmarks.soak_shapes import (
    damaged_dicom,
    damaged_raster,
    image_bombs,
    json_values,
    question_bombs,
    question_file,
)
from imaging import guarded
from imaging.errors import UnreadableImage
from imaging.guarded import GuardedReader
from imaging.pseudonyms import PseudonymKey
from imaging.reading_process import ReadingProcess
from imaging.wire import Answer

MEMORY = 1 << 30
_KEY = PseudonymKey(secret=b"k" * 32)
_WHOLE_WAY = 100  # one in so many question files is parsed by a process of its own


# -------------------------------------------------------------------------------------------------- images
def soak_images(
    count: int, *, first: int = 0, workers: int = 2, make: Callable[[int], bytes] = damaged_dicom
) -> Figures:
    """Send that many damaged images through the reading processes."""
    figures = Figures()

    def one(number: int) -> int:
        _ask_all(reader, make(number), f"image {number}", figures)
        return number

    with _timed(figures), GuardedReader(workers=workers) as reader, ThreadPoolExecutor(workers) as threads:
        reader.start()
        for number in threads.map(one, range(first, first + count)):
            if number and number % 1_000 == 0:
                print(f"    {number:,} images", file=sys.stderr, flush=True)
    return figures


def soak_image_bombs() -> Figures:
    """Process the known bombs one by one, and check the outcome of each."""
    figures = Figures()
    with _timed(figures), GuardedReader(workers=1) as reader:
        reader.start()
        for name, (make, is_refused) in image_bombs().items():
            outcomes = _ask_all(reader, make(), name, figures)
            if (set(outcomes) == {"read"}) == is_refused:
                figures.fault(f"{name}: {', '.join(outcomes)}")
    return figures


@contextmanager
def _timed(figures: Figures) -> Iterator[None]:
    """Time each answer of a reading process from when the process, already started, gets the file."""

    class Timed(ReadingProcess):
        def ask(self, request: dict[str, Any], sent: bytes = b"", *, name: str) -> Answer:
            self.wait_until_ready()
            began = time.monotonic()
            try:
                return super().ask(request, sent, name=name)
            finally:
                figures.took(f"{name}, {request['do']}", time.monotonic() - began)

    with mock.patch.object(guarded, "ReadingProcess", Timed):
        yield


def _ask_all(reader: GuardedReader, content: bytes, name: str, figures: Figures) -> list[str]:
    outcomes, waited = [], 0.0
    for ask in (
        lambda: reader.known_of(content, name=name, key=_KEY, identity=True),
        lambda: reader.deidentified(content, name=name, key=_KEY),
        lambda: reader.picture(content, name=name, longest=300),
    ):
        began = time.monotonic()
        try:
            ask()
            outcomes.append("read")
        except UnreadableImage as refusal:
            outcomes.append("refused" if "broke off" not in refusal.reason else "reader broken off")
        except Exception as error:  # noqa: BLE001 - whatever else comes out is what this looks for
            figures.fault(f"{name}: {type(error).__name__}: {error}")
        waited = max(waited, time.monotonic() - began)
    worst = (
        "reader broken off"
        if "reader broken off" in outcomes
        else "refused"
        if "refused" in outcomes
        else "read"
    )
    figures.became(worst, waited=waited)
    return outcomes


# ----------------------------------------------------------------------------------------------- questions
def soak_questions(count: int, *, home: Path, first: int = 0) -> Figures:
    """Import that many question files, none of which may be imported in part."""
    figures, world = Figures(), World(home)
    numbers = iter(range(first, first + count))

    @settings(
        max_examples=max(1, count), deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(json_values)
    def one(junk: str) -> None:
        number = next(numbers, None)
        if number is None:
            return
        world.bring_in(
            question_file(number, junk),
            f"question file {number}",
            figures,
            whole_way=number % _WHOLE_WAY == 0,
        )
        if number and number % 1_000 == 0:
            print(f"    {number:,} question files", file=sys.stderr, flush=True)

    one()
    for number in numbers:  # hypothesis stops early when it has exhausted its examples
        world.bring_in(question_file(number, "null"), f"question file {number}", figures, whole_way=False)
    return figures


def soak_question_bombs(home: Path) -> Figures:
    """Parse each known bomb in a process of its own, as in the app, and also in the preview."""
    figures, world = Figures(), World(home)
    for name, (content, is_refused) in question_bombs().items():
        landed = world.bring_in(content, name, figures, whole_way=True)
        if landed is is_refused:
            figures.fault(f"{name}: {'came in' if landed else 'was refused'}")
        world.look(name, figures)
    return figures


def main() -> int:
    """Run all parts; return 0 if there was no fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--rasters", type=int, default=2_000, help="PNG and JPEG files")
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first file, to go on elsewhere")
    args = parser.parse_args()
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        bombs = soak_image_bombs()
        bombs.told("image bombs", len(image_bombs()))
        shapes = soak_question_bombs(Path(folder) / "bombs")
        shapes.told("question bombs", len(question_bombs()))
        images = soak_images(args.images, first=args.first)
        images.told("damaged DICOMs", args.images)
        rasters = soak_images(args.rasters, first=args.first, make=damaged_raster)
        rasters.told("damaged PNG and JPEG", args.rasters)
        questions = soak_questions(args.questions, home=Path(folder) / "soak", first=args.first)
        questions.told("question files", args.questions)
        parts += [bombs, shapes, images, rasters, questions]
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    here = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"most memory at once: {children:,.0f} MB in a reading or parsing process, {here:,.0f} MB here")
    faults = sum(len(each.faults) for each in parts) + (children * (1 << 20) > MEMORY)
    print(f"faults: {faults}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
