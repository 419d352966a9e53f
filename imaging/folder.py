"""A folder of radiographs to a folder of PNG files, its structure kept, several files at a time."""

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

# Endings that stand for what a file is. Many DICOM files have none: the dots are those of a UID.
_ENDINGS = frozenset({".dcm", ".dicom", ".dic", ".ima", ".png", ".jpg", ".jpeg"})
_FIRST_BYTES = 140  # a DICOM file says what it is behind its preamble of 128
_AHEAD = 4  # files that are handed out before the first is done, a process


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderJob:
    """One file to render: where it lies, its name in messages, the PNG to write, a small one if asked."""

    source: Path
    name: str
    full: Path
    quarter: Path | None


def plan_folder(source: Path, out: Path, *, quarter: bool) -> tuple[list[RenderJob], int]:
    """What is to be rendered of a folder and all below it, sorted, and how many other files are left out.

    A file counts by its ending or its first bytes. Hidden files and what lies in ``out`` are not looked at.
    Of two files that would become one PNG the second keeps its ending: ``a.png.png`` beside ``a.png``.
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
    """One file: ``out`` is the PNG to write where it ends in .png, else the folder for it."""
    stem = source.stem if source.suffix.lower() in _ENDINGS else source.name
    is_name = out.suffix.lower() == ".png" and not out.is_dir()
    full, small = _targets(out.parent, out.stem) if is_name else _targets(out, stem)
    return RenderJob(source=source, name=source.name, full=full, quarter=small if quarter else None)


def render_all(
    jobs: Iterable[RenderJob], *, reader: GuardedReader, workers: int, bits: int, window: Window | None
) -> Iterator[UnreadableImage | None]:
    """Render each, and say of each in its order whether it was refused and why. All processes are at work.

    A PNG that is there already is replaced, whole or not at all.
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
                future.cancel()  # whoever asked has gone: what has not begun is not begun


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
    """Write the file with the folders above it, whole or not at all."""
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
    """The files of a folder and all below it, sorted, without hidden ones and those in ``leave_out``."""
    out = leave_out.resolve()
    for folder, folders, names in os.walk(source):
        here = Path(folder)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and (here / name).resolve() != out
        )
        yield from (here / name for name in sorted(names) if not name.startswith("."))


def is_image(path: Path) -> bool:
    """Whether a file counts as an image, by its ending or its first bytes."""
    if path.suffix.lower() in _ENDINGS:
        return True
    try:
        with path.open("rb") as file:
            beginning = file.read(_FIRST_BYTES)
    except OSError:  # it is refused with the reason when it is read
        return True
    return is_raster(beginning) or is_dicom(beginning)
