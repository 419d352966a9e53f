"""Reads, checks, optionally de-identifies and stores the image files that records name."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from sqlmodel import Session

from domain.errors import InvalidValue
from domain.vocabulary import View
from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from imaging.identity import IdentityValue
from imaging.radiograph import ImageFacts
from intake.image_folder import ImageFolder
from intake.service.deidentify import DeidentificationSettings
from intake.zipped_images import ZippedImages
from storage.images.files import get_image_store
from storage.intake.bulk import insert_rows, load_known_images
from storage.workspace import Workspace

_IMAGE_COLUMNS = ("sha256", "media_type", "bytes", "rows", "columns", "bits", "photometric")
#: The largest image file that is read into memory; a radiograph has 10 to 30 MB.
_MAX_BYTES = 256 << 20
_FIELD = "exam.radiographs.file"
_WORKERS = 2
_MAX_PENDING = 8  # the maximum number of files that are in memory at once


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedImage:
    """An image file in the workspace. ``identity`` has identifying values of a header that is not stored."""

    sha256: str
    size: int
    facts: ImageFacts
    identity: tuple[IdentityValue, ...] = field(default=(), repr=False)


class ImageImporter:
    """The image files of an import, by the paths in the records.

    Files are checked and stored without the database, and their rows are written later. If files are
    de-identified, the original is only in memory and never written to disk. ``new_count`` counts the rows
    written.
    """

    def __init__(
        self,
        workspace: Workspace,
        folder: ImageFolder | ZippedImages,
        decoder: GuardedDecoder,
        *,
        deidentification: DeidentificationSettings,
    ) -> None:
        """``decoder`` is closed by the caller."""
        self._store, self._folder, self._decoder, self._deidentification = (
            get_image_store(workspace),
            folder,
            decoder,
            deidentification,
        )
        self._by_path: dict[str, ImportedImage | InvalidValue] = {}
        self._written_hashes: set[str] = set()
        self._imported_hashes: set[str] = set()
        self.new_count = 0

    @property
    def imported_count(self) -> int:
        """The number of different image files stored."""
        return len(self._imported_hashes)

    def import_files(self, paths: Iterable[str]) -> Iterator[float]:
        """Find, check and store the files that were not read yet.

        Args:
            paths: paths as in the records.

        Yields:
            At the start and after each file, the share of these files that is done, 0 to 1.

        Raises:
            OSError: a file could not be written, e.g. because the disk is full.
        """
        new_paths = [path for path in dict.fromkeys(paths) if path not in self._by_path]
        results = zip(new_paths, self._import_in_order(new_paths), strict=True)
        yield 0.0 if new_paths else 1.0
        for number, (path, result) in enumerate(results, start=1):
            self._by_path[path] = result
            if isinstance(result, ImportedImage):
                self._imported_hashes.add(result.sha256)
            yield number / len(new_paths)

    def write(self, db: Session, paths: Iterable[str]) -> None:
        """Write the rows of the files with these paths."""
        images = (self._by_path.get(path) for path in paths)
        images_by_hash = {image.sha256: image for image in images if isinstance(image, ImportedImage)}
        images_by_hash = {
            sha256: image for sha256, image in images_by_hash.items() if sha256 not in self._written_hashes
        }
        known_hashes = load_known_images(db, sha256=images_by_hash)
        rows = [
            (
                sha256,
                image.facts.media_type,
                image.size,
                image.facts.rows,
                image.facts.columns,
                image.facts.bits,
                image.facts.photometric,
            )
            for sha256, image in images_by_hash.items()
            if sha256 not in known_hashes
        ]
        insert_rows(db, table="image", columns=_IMAGE_COLUMNS, rows=rows)
        self._written_hashes |= images_by_hash.keys()
        self.new_count += len(rows)

    def __getitem__(self, path: str) -> ImportedImage:
        """Return the file with a path, which :meth:`import_files` has read.

        Raises:
            InvalidValue: the file is missing or can't be used, with the reason.
        """
        result = self._by_path.get(path) or InvalidValue("file", "changed while it was read; import it again")
        if isinstance(result, InvalidValue):
            raise result
        return result

    def _import_in_order(self, paths: list[str]) -> Iterator[ImportedImage | InvalidValue]:
        with ThreadPoolExecutor(_WORKERS) as threads:
            pending: deque[Future[ImportedImage | InvalidValue]] = deque()
            try:
                for path in paths:
                    pending.append(threads.submit(self._import_file, path))
                    if len(pending) >= _MAX_PENDING:
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()

    def _import_file(self, path: str) -> ImportedImage | InvalidValue:
        try:
            content = self._folder.read(path, max_bytes=_MAX_BYTES)
            if self._deidentification.deidentify:
                description = self._decoder.deidentify_file(
                    content, name=path, key=self._deidentification.key, identity=True
                )
                content = description.content or b""
            else:
                description = self._decoder.describe_with_identity(
                    content, name=path, key=self._deidentification.key
                )
        except InvalidValue as error:
            return error
        except UnreadableImage as error:
            return InvalidValue(_FIELD, f"{path!r} {_describe_refusal(error)}")
        sha256 = hashlib.sha256(content).hexdigest()
        if not self._store.contains(sha256):
            self._store.write(sha256, content)
        return ImportedImage(
            sha256=sha256, size=len(content), facts=description.facts, identity=description.identity
        )


def _describe_refusal(refusal: UnreadableImage) -> str:
    return f"{refusal.attribute}: {refusal.reason}" if refusal.attribute else refusal.reason


def resolve_view(record_view: str, facts: ImageFacts) -> str:
    """Return the view from the record, or else from the image file."""
    return facts.view.value if record_view == View.UNKNOWN else record_view
