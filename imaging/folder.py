"""Renders a folder of radiographs to PNG files in another folder of the same structure."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from domain.file_errors import naming
from imaging.dicom_file import is_dicom
from imaging.errors import UnreadableImage
from imaging.guarded import GuardedReader
from imaging.radiograph import Window
from imaging.raster import is_raster

# File endings of images. Many DICOM files have no ending; a dot in their name is part of a UID.
_ENDINGS = frozenset({".dcm", ".dicom", ".dic", ".ima", ".png", ".jpg", ".jpeg"})
_FIRST_BYTES = 140  # a DICOM file is recognised by the bytes after its preamble of 128
_AHEAD = 4  # files per process that are submitted before the first is done


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderJob:
    """One file to render: ``name`` is used in messages; ``quarter`` is the small PNG to write, if any."""

    source: Path
    name: str
    full: Path
    quarter: Path | None


def plan_folder(source: Path, out: Path, *, quarter: bool) -> tuple[list[RenderJob], int]:
    """Plan the rendering of a folder with everything below it.

    A file is an image by its ending or its first bytes. If two files would become the same PNG, the second
    keeps its ending: ``a.png.png`` beside ``a.png``.

    Args:
        source: the folder; hidden files are left out.
        out: the folder for the PNG files; files in it are left out.
        quarter: also write a PNG of a quarter of each side.

    Returns:
        The jobs, sorted by path, and the number of files that are no images.
    """
    jobs: list[RenderJob] = []
    taken: set[str] = set()
    others = 0
    for path in files_below(source, leave_out=out):
        relative = path.relative_to(source)
        if not is_image(path):
            others += 1
            continue
        stem = path.stem if path.suffix.lower() in _ENDINGS else path.name
        full, small = _targets(out / relative.parent, stem)
        # a file system may take A.png and a.png for the same
        if {str(full).casefold(), str(small).casefold()} & taken:
            full, small = _targets(out / relative.parent, path.name)
        taken |= {str(full).casefold(), str(small).casefold()}
        jobs.append(RenderJob(source=path, name=str(relative), full=full, quarter=small if quarter else None))
    return jobs, others


def plan_file(source: Path, out: Path, *, quarter: bool) -> RenderJob:
    """Plan the rendering of one file.

    Args:
        source: the file.
        out: the PNG to write if it ends in .png and is no folder, else the folder for it.
        quarter: also write a PNG of a quarter of each side.
    """
    stem = source.stem if source.suffix.lower() in _ENDINGS else source.name
    is_name = out.suffix.lower() == ".png" and not out.is_dir()
    full, small = _targets(out.parent, out.stem) if is_name else _targets(out, stem)
    return RenderJob(source=source, name=source.name, full=full, quarter=small if quarter else None)


def render_all(
    jobs: Iterable[RenderJob], *, reader: GuardedReader, workers: int, bits: int, window: Window | None
) -> Iterator[UnreadableImage | None]:
    """Render all files of a plan, with all processes at work; an existing PNG is replaced atomically.

    Args:
        jobs: as :func:`plan_folder` or :func:`plan_file` returns them.
        reader: of the files.
        workers: threads; as many as the reader has processes.
        bits: of the PNG, 8 or 16.
        window: values after the modality transform; None for the default of :func:`imaging.render.render`.

    Yields:
        For each job in its order: None, or why the file was refused.

    Raises:
        OSError: a PNG could not be written.
    """
    with ThreadPoolExecutor(workers) as threads:
        waiting: deque[Future[UnreadableImage | None]] = deque()
        try:
            for job in jobs:
                waiting.append(threads.submit(_rendered, job, reader=reader, bits=bits, window=window))
                if len(waiting) >= _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()  # the caller stopped early: pending files are not started


def _rendered(
    job: RenderJob, *, reader: GuardedReader, bits: int, window: Window | None
) -> UnreadableImage | None:
    try:
        made = reader.render(
            job.source, name=job.name, bits=bits, window=window, quarter=job.quarter is not None
        )
    except UnreadableImage as refusal:
        return refusal
    write_whole(job.full, made.full)
    if job.quarter is not None and made.quarter is not None:
        write_whole(job.quarter, made.quarter)
    return None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, and create the folders above it.

    Args:
        path: of the file; an existing one is replaced.
        content: all its bytes.

    Raises:
        OSError: the file can't be written; names it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    incoming = path.with_name(f".{path.name}.incoming")
    try:
        with naming(path):
            incoming.write_bytes(content)
            incoming.replace(path)
    finally:
        incoming.unlink(missing_ok=True)


def _targets(folder: Path, stem: str) -> tuple[Path, Path]:
    return folder / f"{stem}.png", folder / f"{stem}.quarter.png"


def files_below(source: Path, *, leave_out: Path) -> Iterator[Path]:
    """The files of a folder and everything below it, without hidden files and folders.

    Args:
        source: the folder.
        leave_out: a folder whose files are left out.

    Yields:
        Paths, sorted by name within a folder; the files of a folder come before its subfolders.
    """
    out = leave_out.resolve()
    for folder, folders, names in os.walk(source):
        here = Path(folder)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and (here / name).resolve() != out
        )
        yield from (here / name for name in sorted(names) if not name.startswith("."))


def is_image(path: Path) -> bool:
    """Whether a file is taken for an image, by its ending or its first bytes.

    Args:
        path: of the file; one that can't be read counts, so that it is refused with the reason later.
    """
    if path.suffix.lower() in _ENDINGS:
        return True
    try:
        with path.open("rb") as file:
            beginning = file.read(_FIRST_BYTES)
    except OSError:  # it is refused with the reason when it is read
        return True
    return is_raster(beginning) or is_dicom(beginning)
