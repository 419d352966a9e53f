"""Searches the texts of one question for patient data, by patterns and by the values of image headers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from domain.patient_data import TextHit
from privacy.header_values import HeaderValues
from privacy.patterns import find_hits_by_pattern


def find_hits_in_texts(
    texts: Iterable[tuple[str, str]], exam: int, header_values: HeaderValues
) -> Iterator[TextHit]:
    """Search the texts of a question.

    Args:
        texts: pairs of field and text. Fields that begin with "file" are paths, which contain many numbers,
            so they are only searched for header values.
        exam: the id of the question's exam.
        header_values: the values of the headers of all exams' images.

    Yields:
        The hits in the order of the texts.
    """
    for field, text in texts:
        if not field.startswith("file"):
            yield from find_hits_by_pattern(text, field=field)
        if header_values:
            yield from header_values.find_hits(text, field=field, exam=exam)
