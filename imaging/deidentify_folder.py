"""De-identifies a file or a folder of images into another folder, several files at a time."""

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

_AHEAD = 4  # files per process that are submitted before the first is done
_ENDINGS = {PNG: ".png", JPEG: ".jpg"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningJob:
    """One file to de-identify.

    ``source`` is read and ``target`` written; with ``stem`` the target has no ending yet, because it depends
    on the content. ``name`` is used in messages. Parts of the path may be names of patients, so they become
    pseudonyms unless names are kept.
    """

    source: Path
    name: str
    target: Path
    stem: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """The result for one file: its new path ``target``, or the ``refusal``; ``notes`` are for the user."""

    job: CleaningJob
    target: Path | None = None
    refusal: UnreadableImage | None = None
    notes: tuple[str, ...] = ()


def plan(source: Path, out: Path, *, key: PseudonymKey, keep_names: bool) -> tuple[list[CleaningJob], int]:
    """Plan the de-identification of a file, or of a folder with everything below it.

    Args:
        source: a file or folder; hidden files are left out.
        out: the folder for the results; files in it are left out.
        key: makes the pseudonyms of file and folder names.
        keep_names: keep file and folder names.

    Returns:
        The jobs, sorted by path, and the number of files that are no images.
    """
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
    """De-identify all files of a plan, with all processes at work.

    An existing target is replaced atomically, but a source is never overwritten by its own result.

    Args:
        jobs: as :func:`plan` returns them.
        reader: of the files.
        workers: threads; as many as the reader has processes.
        key: makes the pseudonyms.

    Yields:
        One result per job, in the same order.

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
