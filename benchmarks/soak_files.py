"""Strangers' files, tens of thousands of them: no crash, no half import, at most 1 GB and 10 s a file.

    python -m benchmarks.soak_files [--images 20000] [--rasters 2000] [--questions 20000]

Damaged images (DICOM, then PNG and JPEG) are described, decoded and de-identified, each by a reading process
of the app; the time is that of the file in the process, and how long it was waited for stands beside it.
Faults are reported immediately. Question files,
made by hypothesis and by damage, go through the import service into a real database. Each is undone again, so
that the next one finds it empty; before, the stored rows are counted and compared with the report. To start a
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

from benchmarks.soak_importer import SoakImporter
from benchmarks.soak_inputs import (
    json_values,
    make_damaged_dicom,
    make_damaged_raster,
    make_image_bombs,
    make_question_bombs,
    make_question_file,
)
from benchmarks.soak_results import SoakResults
from imaging import guarded_reader
from imaging.errors import UnreadableImage
from imaging.guarded_reader import GuardedReader
from imaging.pseudonyms import PseudonymKey
from imaging.reading_process import ReadingProcess
from imaging.wire import WorkerResponse

MEMORY = 1 << 30
_KEY = PseudonymKey(secret=b"k" * 32)
_OWN_PROCESS_INTERVAL = 100  # one in so many question files is parsed by a process of its own


# -------------------------------------------------------------------------------------------------- images
def soak_images(
    count: int,
    *,
    first_number: int = 0,
    workers: int = 2,
    make_image: Callable[[int], bytes] = make_damaged_dicom,
) -> SoakResults:
    """Send that many damaged images through the reading processes."""
    results = SoakResults()

    def process_one(number: int) -> int:
        _process_in_all_ways(reader, make_image(number), f"image {number}", results)
        return number

    with (
        _record_durations(results),
        GuardedReader(workers=workers) as reader,
        ThreadPoolExecutor(workers) as threads,
    ):
        reader.start()
        for number in threads.map(process_one, range(first_number, first_number + count)):
            if number and number % 1_000 == 0:
                print(f"    {number:,} images", file=sys.stderr, flush=True)
    return results


def soak_image_bombs() -> SoakResults:
    """Process the known bombs one by one, and check the outcome of each."""
    results = SoakResults()
    with _record_durations(results), GuardedReader(workers=1) as reader:
        reader.start()
        for name, (make_image, is_refused) in make_image_bombs().items():
            outcomes = _process_in_all_ways(reader, make_image(), name, results)
            if (set(outcomes) == {"read"}) == is_refused:
                results.record_fault(f"{name}: {', '.join(outcomes)}")
    return results


@contextmanager
def _record_durations(results: SoakResults) -> Iterator[None]:
    """Time each answer of a reading process from when the process, already started, gets the file."""

    class TimedReadingProcess(ReadingProcess):
        def send_request(self, request: dict[str, Any], content: bytes = b"", *, name: str) -> WorkerResponse:
            self.wait_until_ready()
            start = time.monotonic()
            try:
                return super().send_request(request, content, name=name)
            finally:
                results.record_duration(f"{name}, {request['do']}", time.monotonic() - start)

    with mock.patch.object(guarded_reader, "ReadingProcess", TimedReadingProcess):
        yield


def _process_in_all_ways(reader: GuardedReader, content: bytes, name: str, results: SoakResults) -> list[str]:
    outcomes, longest_wait = [], 0.0
    for process_image in (
        lambda: reader.describe_with_identity(content, name=name, key=_KEY, identity=True),
        lambda: reader.deidentify_file(content, name=name, key=_KEY),
        lambda: reader.render_jpeg(content, name=name, longest_side=300),
    ):
        start = time.monotonic()
        try:
            process_image()
            outcomes.append("read")
        except UnreadableImage as refusal:
            crashed = "the reading process crashed" in refusal.reason
            outcomes.append("reading process crashed" if crashed else "refused")
        except Exception as error:  # noqa: BLE001 - whatever else comes out is what this looks for
            results.record_fault(f"{name}: {type(error).__name__}: {error}")
        longest_wait = max(longest_wait, time.monotonic() - start)
    worst_outcome = (
        "reading process crashed"
        if "reading process crashed" in outcomes
        else "refused"
        if "refused" in outcomes
        else "read"
    )
    results.record_outcome(worst_outcome, wait_seconds=longest_wait)
    return outcomes


# ----------------------------------------------------------------------------------------------- questions
def soak_questions(count: int, *, home: Path, first_number: int = 0) -> SoakResults:
    """Import that many question files, none of which may be imported in part."""
    results, importer = SoakResults(), SoakImporter(home)
    numbers = iter(range(first_number, first_number + count))

    @settings(
        max_examples=max(1, count), deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(json_values)
    def import_one(junk: str) -> None:
        number = next(numbers, None)
        if number is None:
            return
        importer.import_file(
            make_question_file(number, junk),
            f"question file {number}",
            results,
            in_own_process=number % _OWN_PROCESS_INTERVAL == 0,
        )
        if number and number % 1_000 == 0:
            print(f"    {number:,} question files", file=sys.stderr, flush=True)

    import_one()
    for number in numbers:  # hypothesis stops early when it has exhausted its examples
        importer.import_file(
            make_question_file(number, "null"), f"question file {number}", results, in_own_process=False
        )
    return results


def soak_question_bombs(home: Path) -> SoakResults:
    """Parse each known bomb in a process of its own, as in the app, and also in the preview."""
    results, importer = SoakResults(), SoakImporter(home)
    for name, (content, is_refused) in make_question_bombs().items():
        was_imported = importer.import_file(content, name, results, in_own_process=True)
        if was_imported is is_refused:
            results.record_fault(f"{name}: {'was imported' if was_imported else 'was refused'}")
        importer.preview_file(name, results)
    return results


def main() -> int:
    """Run all parts; return 0 if there was no fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--rasters", type=int, default=2_000, help="PNG and JPEG files")
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first file, to go on elsewhere")
    args = parser.parse_args()
    all_results = []
    with tempfile.TemporaryDirectory() as folder:
        image_bomb_results = soak_image_bombs()
        image_bomb_results.print_summary("image bombs", len(make_image_bombs()))
        question_bomb_results = soak_question_bombs(Path(folder) / "bombs")
        question_bomb_results.print_summary("question bombs", len(make_question_bombs()))
        dicom_results = soak_images(args.images, first_number=args.first)
        dicom_results.print_summary("damaged DICOMs", args.images)
        raster_results = soak_images(args.rasters, first_number=args.first, make_image=make_damaged_raster)
        raster_results.print_summary("damaged PNG and JPEG", args.rasters)
        question_results = soak_questions(args.questions, home=Path(folder) / "soak", first_number=args.first)
        question_results.print_summary("question files", args.questions)
        all_results += [
            image_bomb_results,
            question_bomb_results,
            dicom_results,
            raster_results,
            question_results,
        ]
    child_memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    own_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"most memory at once: {child_memory:,.0f} MB in a reading or parsing process, {own_memory:,.0f} MB"
        " here"
    )
    faults = sum(len(part_results.faults) for part_results in all_results) + (
        child_memory * (1 << 20) > MEMORY
    )
    print(f"faults: {faults}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
