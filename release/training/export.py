"""Exports the training split of a release as a folder that a training library reads without conversion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from domain.errors import InvalidValue, Refused
from domain.questions import Question
from domain.vocabulary import View
from imaging.errors import UnreadableImage
from imaging.guarded_decoder import GuardedDecoder
from records.decoding import make_decoder
from records.questions import QuestionRecord, question_from_record
from release.folder import MANIFEST, HashedFile, hash_file, move_into_place, staging_folder
from release.formats.format_writer import FormatLimitation
from release.formats.gemex import is_ambiguous
from release.splits import SPLIT_TABLE, Split
from release.training.box_formats import BoxFormat, ImageSize, box_in_pixels, resize_for
from release.training.conversations import (
    IMAGE,
    TrainingExample,
    TrainingImage,
    TrainingLibrary,
    encode_example,
)
from release.training.image_files import write_training_image
from release.training.recipes import recipe_files
from release.verify import read_manifest, verify_release

FORMAT = "overread.training/1"
TRAIN_FILE = "train.jsonl"
DESCRIPTION_FILE = "training.json"
NO_IMAGE = "left out: an image of its exam is not in the release"
UNREADABLE = "left out: an image of its exam cannot be read"
NO_SUCH_SIZE = "left out: an image or box that the box format does not allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingExport:
    """What was exported. ``left_out`` counts questions of the split by reason."""

    folder: Path
    questions: int
    images: int
    left_out: dict[str, int]


def export_training_data(
    release: Path,
    out: Path,
    *,
    library: TrainingLibrary,
    form: BoxFormat,
    split: Split = Split.TRAIN,
    progress: Callable[[int], None] = lambda _: None,
) -> TrainingExport:
    """Write the questions of a split with their images, and the settings of a full fine-tune.

    Args:
        release: the folder of a release with images.
        out: the folder to write, which must not exist or be empty.
        library: the library that reads the files.
        form: the form of the boxes; ms-swift converts them itself.
        split: the split train; public for a release that is not divided into train, valid and test.
        progress: a function that is called with the number of questions read.

    Raises:
        Refused: the release was changed, the split may not be trained on, nothing can be exported, or the
            target is not empty.
    """
    question_ids = _select_questions(release, split)
    with staging_folder(out) as staging, GuardedDecoder(workers=1) as decoder:
        exporter = _Exporter(release, staging, library=library, form=form, decoder=decoder)
        with HashedFile(staging / TRAIN_FILE) as file:
            for n_read, record in enumerate(_read_questions(release), start=1):
                if question_ids is None or record.id in question_ids:
                    example = exporter.build_example(record)
                    if example is not None:
                        file.write_json_line(example)
                progress(n_read)
        if not exporter.written:
            raise Refused(f"No question can be exported: {exporter.describe_left_out()}.")
        for name, content in recipe_files(library, form).items():
            (staging / name).write_text(content, encoding="utf-8")
        description = {
            "format": FORMAT,
            "release": read_manifest(release)["name"],
            "release_manifest_sha256": hash_file(release / MANIFEST)[0],
            "split": split.value,
            "library": library.value,
            "boxes": "pixels" if library is TrainingLibrary.MS_SWIFT else form.value,
            "questions": exporter.written,
            "images": len(exporter.images),
            "left_out": dict(exporter.left_out),
            "train_sha256": file.sha256,
        }
        (staging / DESCRIPTION_FILE).write_bytes(
            msgspec.json.format(msgspec.json.encode(description), indent=2) + b"\n"
        )
        if not move_into_place(staging, out):
            raise Refused(f"{out} is not empty. Name another folder with --out.")
    return TrainingExport(
        folder=out,
        questions=exporter.written,
        images=len(exporter.images),
        left_out=dict(exporter.left_out),
    )


class _Exporter:
    """Builds the examples of one export and writes each image once."""

    def __init__(
        self, release: Path, out: Path, *, library: TrainingLibrary, form: BoxFormat, decoder: GuardedDecoder
    ) -> None:
        self._release, self._out, self._library, self._decoder = release, out, library, decoder
        # ms-swift scales images and boxes by itself.
        self._form = BoxFormat.PIXELS if library is TrainingLibrary.MS_SWIFT else form
        self._sizes = _read_image_sizes(release)
        self.written = 0
        self.images: dict[str, str] = {}
        self.left_out: Counter[str] = Counter()
        (out / "images").mkdir()

    def build_example(self, record: QuestionRecord) -> dict[str, Any] | None:
        """Return the record of a question; None if it is left out, which is counted."""
        question = question_from_record(record)
        try:
            reason = self._find_obstacle(record, question)
            if reason is None:
                example = encode_example(self._load_example(record, question), self._library, self._form)
                self.written += 1
                return example
        except UnreadableImage:
            reason = UNREADABLE
        except InvalidValue:
            reason = NO_SUCH_SIZE
        self.left_out[reason] += 1
        return None

    def describe_left_out(self) -> str:
        """Return the reasons with their counts."""
        return (
            "; ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())
            or "the split is empty"
        )

    def _find_obstacle(self, record: QuestionRecord, question: Question) -> str | None:
        if question.also_right:
            return FormatLimitation.SEVERAL_CORRECT
        texts = (question.stem, question.explanation, *question.options)
        if is_ambiguous(question) or any(IMAGE in text for text in texts):
            return FormatLimitation.NOT_WRITABLE
        for radiograph in record.exam.radiographs:
            if (record.exam.id, radiograph.id) not in self._sizes:
                return NO_IMAGE
            if not (self._release / radiograph.file).is_file():
                return NO_IMAGE
        return None

    def _load_example(self, record: QuestionRecord, question: Question) -> TrainingExample:
        radiographs = record.exam.radiographs
        sizes = [self._sizes[record.exam.id, radiograph.id] for radiograph in radiographs]
        index_by_id = {radiograph.id: image_index for image_index, radiograph in enumerate(radiographs)}
        boxes = []
        for labelled_box in question.boxes:
            image_index = index_by_id[labelled_box.radiograph]
            boxes.append((labelled_box.label, box_in_pixels(labelled_box, sizes[image_index]), image_index))
        return TrainingExample(
            question=question,
            images=tuple(
                TrainingImage(
                    path=self._write_image(radiograph.file, size),
                    view=View(radiograph.view or View.UNKNOWN),
                    size=size,
                )
                for radiograph, size in zip(radiographs, sizes, strict=True)
            ),
            boxes=tuple(boxes),
        )

    def _write_image(self, source: str, size: ImageSize) -> str:
        if source not in self.images:
            self.images[source] = write_training_image(
                self._release / source, self._out, size=resize_for(self._form, size), decoder=self._decoder
            )
        return self.images[source]


def _select_questions(release: Path, split: Split) -> set[str] | None:
    """Return the ids of the questions of a split; None for all questions of ``gold.jsonl``."""
    report = verify_release(release)
    if not report.ok:
        raise Refused(
            f"{release} was changed after its creation ({report.faults[0]}). Export from an unchanged copy."
        )
    if split is Split.PRIVATE:
        raise Refused("The private split is for the comparison of models, and no model may be trained on it.")
    if split in (Split.VALID, Split.TEST):
        raise Refused(f"The split {split} is for the comparison of models. Export the split train.")
    table = release / SPLIT_TABLE
    if not table.is_file():
        if split is Split.TRAIN:
            raise Refused(
                f"{release} has no split train. Create a release with shares for valid and test, or export "
                "all its public questions with --split public; they are then no test set any more."
            )
        return None
    if split is Split.PUBLIC:
        raise Refused(f"{release} has the splits train, valid and test. Export the split train.")
    with table.open("rb") as file:
        records = (msgspec.json.decode(line) for line in file)
        return {record["question_id"] for record in records if record["split"] == split.value}


def _read_questions(release: Path) -> Iterator[QuestionRecord]:
    with (release / "gold.jsonl").open("rb") as file:
        decoder = make_decoder(QuestionRecord)
        for line in file:
            yield decoder.decode(line)


def _read_image_sizes(release: Path) -> dict[tuple[str, str], ImageSize]:
    """Return the size of each radiograph by exam and radiograph, without those whose size is not known."""
    with (release / "images.jsonl").open("rb") as file:
        records = [msgspec.json.decode(line) for line in file]
    return {
        (record["exam_id"], record["radiograph"]): ImageSize(rows=record["rows"], columns=record["columns"])
        for record in records
        if record["rows"] is not None
    }
