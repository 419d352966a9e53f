"""De-identifies a file or a folder of images into another folder, several files in parallel."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from imaging.pseudonyms import PseudonymKey
from imaging.radiograph import JPEG, PNG
from imaging.render_folder import is_image, list_files, write_atomically

_SUBMITTED_PER_PROCESS = 4  # files per process that are submitted ahead
_SUFFIXES = {PNG: ".png", JPEG: ".jpg"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeidentificationJob:
    """One file to de-identify.

    ``source`` is the file to read, ``target`` the file to write. With ``needs_suffix`` the target has no
    suffix yet, because the suffix depends on the content. ``name`` is used in messages. File and folder names
    may contain names of patients, so they become pseudonyms unless they are kept on request.
    """

    source: Path
    name: str
    target: Path
    needs_suffix: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeidentificationResult:
    """The result for one file: the written ``target`` or the ``refusal``; ``notes`` are for the user."""

    job: DeidentificationJob
    target: Path | None = None
    refusal: UnreadableImage | None = None
    notes: tuple[str, ...] = ()


def plan_deidentification(
    source: Path, out: Path, *, key: PseudonymKey, keep_names: bool
) -> tuple[list[DeidentificationJob], int]:
    """Plan the de-identification of a file, or of a folder with its subfolders.

    Args:
        source: a file or folder; hidden files are skipped.
        out: the folder for the results; files that it already contains are skipped.
        key: the key for the pseudonyms of file and folder names.
        keep_names: whether file and folder names are kept.

    Returns:
        The jobs, sorted by path, and the number of files that are not images.
    """
    if not source.is_dir():
        target = out / (source.name if keep_names else key.pseudonymize_name(source.name))
        return [
            DeidentificationJob(source=source, name=source.name, target=target, needs_suffix=not keep_names)
        ], 0
    jobs, non_image_count = [], 0
    for path in list_files(source, excluded_folder=out):
        relative = path.relative_to(source)
        if not is_image(path):
            non_image_count += 1
            continue
        parts = (
            relative.parts if keep_names else tuple(key.pseudonymize_name(part) for part in relative.parts)
        )
        jobs.append(
            DeidentificationJob(
                source=path, name=str(relative), target=out.joinpath(*parts), needs_suffix=not keep_names
            )
        )
    return jobs, non_image_count


def deidentify_all(
    jobs: Iterable[DeidentificationJob], *, decoder: GuardedDecoder, workers: int, key: PseudonymKey
) -> Iterator[DeidentificationResult]:
    """De-identify all files of a plan in parallel.

    An existing target is replaced atomically, but a source is never overwritten by its own result.

    Args:
        jobs: the jobs that :func:`plan_deidentification` returned.
        decoder: reads the files.
        workers: the number of threads, equal to the number of processes of the decoder.
        key: the key for the pseudonyms.

    Yields:
        One result per job, in the same order.

    Raises:
        OSError: a file could not be written.
    """
    with ThreadPoolExecutor(workers) as threads:
        pending: deque[Future[DeidentificationResult]] = deque()
        try:
            for job in jobs:
                pending.append(threads.submit(_deidentify_one, job, decoder, key))
                if len(pending) >= _SUBMITTED_PER_PROCESS * workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _deidentify_one(
    job: DeidentificationJob, decoder: GuardedDecoder, key: PseudonymKey
) -> DeidentificationResult:
    try:
        image = decoder.deidentify_file(job.source, name=job.name, key=key)
    except UnreadableImage as refusal:
        return DeidentificationResult(job=job, refusal=refusal)
    suffix = _SUFFIXES.get(image.facts.media_type, ".dcm")
    target = job.target.with_name(job.target.name + suffix) if job.needs_suffix else job.target
    if target.exists() and target.samefile(job.source):
        reason = "would be overwritten by its own result; choose another folder."
        return DeidentificationResult(job=job, refusal=UnreadableImage(job.name, reason))
    write_atomically(target, image.content or b"")
    return DeidentificationResult(job=job, target=target, notes=image.notes)
