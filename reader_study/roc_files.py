"""Files of a study for other ROC programs: iMRMC, RJafroc, and the ratings for ``cli.py measure``.

A yes/no question is a case; its key is the truth. The score of an answer is 6 plus its confidence (1 to 5)
for yes, 6 minus its confidence for no, and 6 for "cannot determine". Without recorded confidences, yes is 7
and no is 5. Only the order of scores affects an ROC curve. The programs need whole numbers as ids, and
``ids.csv`` has the names.

Sources: RJafroc's function DfReadDataFile and its formats "iMRMC" and "JAFROC".
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from domain.count_texts import count_text
from domain.errors import Refused
from domain.vocabulary import AnswerFormat
from reader_study.report.files import records_to_csv
from reader_study.report.ratings import POSITIVE, build_ratings, score_reading
from reader_study.report.report_data import ReportData


@dataclass(frozen=True, slots=True, kw_only=True)
class RocRating:
    """One reader's score of one case; the numbers are indices into the lists of :class:`RocStudy`, from 0."""

    reader: int
    case: int
    arm: int
    score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RocStudy:
    """The ratings of a study that ROC programs can read.

    ``cases`` are ids of questions; ``truth`` is True where the key is "yes". ``arms`` has the single entry ""
    if the study has one arm. ``notes`` state what was left out.
    """

    readers: tuple[str, ...]
    cases: tuple[str, ...]
    truth: tuple[bool, ...]
    arms: tuple[str, ...]
    ratings: tuple[RocRating, ...]
    notes: tuple[str, ...]


def select_roc_ratings(data: ReportData) -> RocStudy:
    """Select the first readings of the yes/no questions of a study.

    Raises:
        Refused: there is no rating of a yes/no question, or all keys are the same.
    """
    scored = [
        case
        for case in data.cases
        if case.scored and not data.is_excluded(case_id=case.blind_case.id, reader_id=None)
    ]
    closed = [case for case in scored if case.question.format is AnswerFormat.CLOSED]
    truth = tuple(case.question.answer == POSITIVE for case in closed)
    if len(set(truth)) < 2:
        raise Refused(
            f"{data.study.name}: ROC files need yes/no questions with both keys. The study has "
            f"{sum(truth)} with the key yes and {len(truth) - sum(truth)} with the key no."
        )
    case_numbers = {case.blind_case.id: index for index, case in enumerate(closed)}
    reader_numbers = {reader.id: index for index, reader in enumerate(data.readers)}
    arms = tuple(arm.name for arm in data.study.design.arms) if len(data.study.design.arms) > 1 else ("",)
    readings = [
        reading
        for reading in data.readings
        if reading.key.case_id in case_numbers
        and not reading.key.repeat
        and not data.is_excluded(case_id=reading.key.case_id, reader_id=reading.key.reader_id)
        and (reading.answer is not None or reading.cannot_determine)
    ]
    has_confidences = any(reading.confidence is not None for reading in readings)
    ratings = []
    for reading in readings:
        if reading.cannot_determine or reading.confidence is not None or not has_confidences:
            arm = arms.index(reading.key.arm) if len(arms) > 1 else 0
            ratings.append(
                RocRating(
                    reader=reader_numbers[reading.key.reader_id],
                    case=case_numbers[reading.key.case_id],
                    arm=arm,
                    score=score_reading(reading),
                )
            )
    if not ratings:
        raise Refused(f"{data.study.name}: no reader has answered a yes/no question yet.")
    ratings.sort(key=lambda rating: (rating.reader, rating.arm, rating.case))
    rated_readers = {rating.reader for rating in ratings}
    n_expected = len(rated_readers) * len(closed) * len(arms)
    return RocStudy(
        readers=tuple(reader.name for reader in data.readers),
        cases=tuple(case.question.id for case in closed),
        truth=truth,
        arms=arms,
        ratings=tuple(ratings),
        notes=(
            *_write_note(len(scored) - len(closed), "question", "left out: not yes/no"),
            *_write_note(len(readings) - len(ratings), "answer", "left out: without a confidence"),
            *_write_note(len(data.models), "model", "only in ratings.csv: the other files have readers"),
            *_write_note(
                n_expected - len(ratings), "rating", "missing: RJafroc needs every rating, iMRMC does not"
            ),
        ),
    )


def _write_note(count: int, noun: str, reason: str) -> tuple[str, ...]:
    return (f"{count_text(count, noun)} {reason}.",) if count else ()


def render_all(data: ReportData, study: RocStudy) -> dict[str, bytes]:
    """Return all files of a study by name."""
    return {
        "study.imrmc": render_imrmc(study, title=f"Overread study {data.study.name}").encode(),
        "study.xlsx": render_rjafroc(study),
        "ids.csv": render_ids(study).encode(),
        "ratings.csv": render_ratings(data, study).encode(),
    }


def render_imrmc(study: RocStudy, *, title: str) -> str:
    """Return the content of an iMRMC input file.

    Lines of the truth have the reader -1 and the modality 0; readers, cases and modalities count from 1.
    """
    rated_readers = {rating.reader for rating in study.ratings}
    header_lines = [
        " ".join(title.split()),
        "",
        f"NR: {len(rated_readers)}",
        f"N0: {len(study.truth) - sum(study.truth)}",
        f"N1: {sum(study.truth)}",
        f"NM: {len(study.arms)}",
        "",
        "BEGIN DATA:",
    ]
    truth_lines = [f"-1,{case + 1},0,{int(positive)}" for case, positive in enumerate(study.truth)]
    score_lines = [
        f"{rating.reader + 1},{rating.case + 1},{rating.arm + 1},{rating.score}" for rating in study.ratings
    ]
    return "\n".join([*header_lines, *truth_lines, *score_lines, ""])


def render_rjafroc(study: RocStudy) -> bytes:
    """Return a workbook in RJafroc's JAFROC format, as ROC data: one rating per reader, modality and case."""
    from openpyxl import Workbook  # noqa: PLC0415 - only this file needs it

    workbook = Workbook(write_only=True)
    truth = workbook.create_sheet("Truth")
    truth.append(["CaseID", "LesionID", "Weight"])
    for case, positive in enumerate(study.truth):
        truth.append([case + 1, int(positive), int(positive)])
    positives, negatives = workbook.create_sheet("TP"), workbook.create_sheet("FP")
    positives.append(["ReaderID", "ModalityID", "CaseID", "LesionID", "TP_Rating"])
    negatives.append(["ReaderID", "ModalityID", "CaseID", "FP_Rating"])
    for rating in study.ratings:
        ids = [rating.reader + 1, rating.arm + 1, rating.case + 1]
        if study.truth[rating.case]:
            positives.append([*ids, 1, rating.score])
        else:
            negatives.append([*ids, rating.score])
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


def render_ids(study: RocStudy) -> str:
    """Return a CSV table of the names that belong to the numbers in the other files."""
    names_by_kind: tuple[tuple[str, Sequence[str]], ...] = (
        ("reader", study.readers),
        ("modality", [arm or "all readings" for arm in study.arms]),
        ("case", study.cases),
    )
    return records_to_csv(
        [
            {"kind": kind, "number": number, "name": name}
            for kind, names in names_by_kind
            for number, name in enumerate(names, start=1)
        ]
    )


def render_ratings(data: ReportData, study: RocStudy) -> str:
    """Return all ratings of the study for ``cli.py measure``, with the scores of the ROC files."""
    scores = {
        (study.readers[rating.reader], study.cases[rating.case], study.arms[rating.arm]): rating.score
        for rating in study.ratings
    }
    table = build_ratings(data)
    keys = zip(table["rater"], table["question_id"], table["arm"], strict=True)
    is_model = table["kind"] == "model"
    model_scores = table["score"].where(is_model, "") if "score" in table else [""] * len(table)
    table["score"] = [str(scores.get(key, score)) for key, score in zip(keys, model_scores, strict=True)]
    buffer = io.StringIO()
    table.to_csv(buffer, index=False, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    return buffer.getvalue()
