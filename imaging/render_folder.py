"""Renders a folder of radiographs to PNG files in another folder with the same structure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from domain.file_errors import add_filename_to_errors
from imaging.dicom_file import is_dicom
from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from imaging.radiograph import Window
from imaging.raster import is_raster
from parallel.executors import map_in_order

# File suffixes of images. Many DICOM files have no suffix; a dot in their name is part of a UID.
_IMAGE_SUFFIXES = frozenset({".dcm", ".dicom", ".dic", ".ima", ".png", ".jpg", ".jpeg"})
_FIRST_BYTES = 140  # a DICOM file is recognised by the bytes after its preamble of 128


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderJob:
    """One file to render.

    ``name`` is used in messages. ``full`` and ``quarter`` are the PNG files to write; ``quarter`` is
    optional.
    """

    source: Path
    name: str
    full: Path
    quarter: Path | None


def plan_folder(source: Path, out: Path, *, quarter: bool) -> tuple[list[RenderJob], int]:
    """Plan the rendering of a folder with its subfolders.

    Images are recognised by their suffix or first bytes. If two files would become the same PNG, the second
    keeps its suffix: ``a.png.png`` beside ``a.png``.

    Args:
        source: the folder; hidden files are skipped.
        out: the folder for the PNG files; files that it already contains are skipped.
        quarter: whether to also render a PNG with a quarter of the side lengths.

    Returns:
        The jobs, sorted by path, and the number of files that are not images.
    """
    jobs: list[RenderJob] = []
    used_names: set[str] = set()
    non_image_count = 0
    for path in list_files(source, excluded_folder=out):
        relative = path.relative_to(source)
        if not is_image(path):
            non_image_count += 1
            continue
        stem = path.stem if path.suffix.lower() in _IMAGE_SUFFIXES else path.name
        full, quarter_path = _target_paths(out / relative.parent, stem)
        # a file system may treat A.png and a.png as the same file
        if {str(full).casefold(), str(quarter_path).casefold()} & used_names:
            full, quarter_path = _target_paths(out / relative.parent, path.name)
        used_names |= {str(full).casefold(), str(quarter_path).casefold()}
        jobs.append(
            RenderJob(source=path, name=str(relative), full=full, quarter=quarter_path if quarter else None)
        )
    return jobs, non_image_count


def plan_file(source: Path, out: Path, *, quarter: bool) -> RenderJob:
    """Plan the rendering of one file.

    Args:
        source: the file.
        out: the PNG to write if it ends in .png and is not a folder, else the folder for the PNG.
        quarter: whether to also render a PNG with a quarter of the side lengths.
    """
    stem = source.stem if source.suffix.lower() in _IMAGE_SUFFIXES else source.name
    is_file_name = out.suffix.lower() == ".png" and not out.is_dir()
    full, quarter_path = _target_paths(out.parent, out.stem) if is_file_name else _target_paths(out, stem)
    return RenderJob(source=source, name=source.name, full=full, quarter=quarter_path if quarter else None)


def render_all(
    jobs: Iterable[RenderJob],
    *,
    executor: Executor,
    decoder: GuardedDecoder | None,
    bits: int,
    window: Window | None,
) -> Iterator[UnreadableImage | None]:
    """Render all files of a plan in parallel. An existing PNG is replaced atomically.

    Args:
        jobs: the jobs that :func:`plan_folder` or :func:`plan_file` returned.
        executor: where to render. On other machines the files must have the same paths.
        decoder: reads the files, if the executor has threads of this process. None for other processes:
            each then has its own.
        bits: the bit depth of the PNG, 8 or 16.
        window: a window in values after the modality transform; None for the default of
            :func:`imaging.render.render_pngs`.

    Yields:
        One result per job, in the same order: None, or the error if the file was refused.

    Raises:
        OSError: a PNG could not be written.
    """
    yield from map_in_order(executor, partial(_render_one, decoder=decoder, bits=bits, window=window), jobs)


@cache
def _start_own_decoder() -> GuardedDecoder:
    return GuardedDecoder(workers=1)


def _render_one(
    job: RenderJob, *, decoder: GuardedDecoder | None, bits: int, window: Window | None
) -> UnreadableImage | None:
    decoder = decoder or _start_own_decoder()
    try:
        rendered = decoder.render_png(
            job.source, name=job.name, bits=bits, window=window, quarter=job.quarter is not None
        )
    except UnreadableImage as refusal:
        return refusal
    write_atomically(job.full, rendered.full)
    if job.quarter is not None and rendered.quarter is not None:
        write_atomically(job.quarter, rendered.quarter)
    return None


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file atomically. Creates its parent folders.

    Args:
        path: the path of the file; an existing file is replaced.
        content: all bytes of the file.

    Raises:
        OSError: the file can't be written; the error contains its path.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    incoming = path.with_name(f".{path.name}.incoming")
    try:
        with add_filename_to_errors(path):
            incoming.write_bytes(content)
            incoming.replace(path)
    finally:
        incoming.unlink(missing_ok=True)


def _target_paths(folder: Path, stem: str) -> tuple[Path, Path]:
    return folder / f"{stem}.png", folder / f"{stem}.quarter.png"


def list_files(source: Path, *, excluded_folder: Path) -> Iterator[Path]:
    """List the files of a folder and its subfolders, without hidden files and folders.

    Args:
        source: the folder.
        excluded_folder: a folder whose files are skipped.

    Yields:
        Paths, sorted by name within a folder; the files of a folder come before its subfolders.
    """
    excluded = excluded_folder.resolve()
    for folder, folders, names in os.walk(source):
        folder_path = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and (folder_path / name).resolve() != excluded
        )
        yield from (folder_path / name for name in sorted(names) if not name.startswith("."))


def is_image(path: Path) -> bool:
    """Whether a file looks like an image, judged by its suffix or its first bytes.

    Args:
        path: the path of the file. An unreadable file counts as an image: reading it later gives the error.
    """
    if path.suffix.lower() in _IMAGE_SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            first_bytes = file.read(_FIRST_BYTES)
    except OSError:
        return True
    return is_raster(first_bytes) or is_dicom(first_bytes)
