"""A file or a folder of images to another without their patients, several files at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from imaging.errors import UnreadableImage
from imaging.folder import files_below, is_image, write_whole
from imaging.guarded import GuardedReader
from imaging.pseudonyms import PseudonymKey
from imaging.radiograph import JPEG, PNG

_AHEAD = 4  # files that are handed out before the first is done, a process
_ENDINGS = {PNG: ".png", JPEG: ".jpg"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningJob:
    """One file: where it lies, its name in messages, and where it goes, its ending still to come if ``stem``.

    Paths may carry names of patients, so each part becomes a pseudonym unless names are kept.
    """

    source: Path
    name: str
    target: Path
    stem: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What became of one file: its new path, or why it was refused; notes that a person should read."""

    job: CleaningJob
    target: Path | None = None
    refusal: UnreadableImage | None = None
    notes: tuple[str, ...] = ()


def plan(source: Path, out: Path, *, key: PseudonymKey, keep_names: bool) -> tuple[list[CleaningJob], int]:
    """What is to be done of a file or folder, and how many other files are left out."""
    if not source.is_dir():
        target = out / (source.name if keep_names else key.name(source.name))
        return [CleaningJob(source=source, name=source.name, target=target, stem=not keep_names)], 0
    jobs, others = [], 0
    for path in files_below(source, leave_out=out):
        relative = path.relative_to(source)
        if not is_image(path):
            others += 1
            continue
        parts = relative.parts if keep_names else tuple(key.name(part) for part in relative.parts)
        jobs.append(
            CleaningJob(source=path, name=str(relative), target=out.joinpath(*parts), stem=not keep_names)
        )
    return jobs, others


def clean_all(
    jobs: Iterable[CleaningJob], *, reader: GuardedReader, workers: int, key: PseudonymKey
) -> Iterator[Cleaned]:
    """Clean each, in their order, all processes at work. A file that is there already is replaced, whole or
    not at all, but never one that is being read from.

    Raises:
        OSError: a file could not be written.
    """
    with ThreadPoolExecutor(workers) as threads:
        waiting: deque[Future[Cleaned]] = deque()
        try:
            for job in jobs:
                waiting.append(threads.submit(_cleaned, job, reader, key))
                if len(waiting) >= _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _cleaned(job: CleaningJob, reader: GuardedReader, key: PseudonymKey) -> Cleaned:
    try:
        made = reader.deidentified(job.source, name=job.name, key=key)
    except UnreadableImage as refusal:
        return Cleaned(job=job, refusal=refusal)
    ending = _ENDINGS.get(made.facts.media_type, ".dcm")
    target = job.target.with_name(job.target.name + ending) if job.stem else job.target
    if target.exists() and target.samefile(job.source):
        reason = "would be overwritten by itself; name another folder."
        return Cleaned(job=job, refusal=UnreadableImage(job.name, reason))
    write_whole(target, made.content or b"")
    return Cleaned(job=job, target=target, notes=made.notes)
