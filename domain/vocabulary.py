"""The closed lists of words that questions, verdicts and pages share."""

from __future__ import annotations

from enum import StrEnum


class AnswerFormat(StrEnum):
    """The four formats of GEMeX: yes or no; one option; several options; free text."""

    CLOSED = "closed"
    SINGLE = "single"
    MULTIPLE = "multiple"
    OPEN = "open"


class Task(StrEnum):
    """The five reasoning skills of ReXVQA (its Table 1)."""

    PRESENCE = "presence"
    LOCATION = "location"
    NEGATION = "negation"
    DIFFERENTIAL = "differential"
    GEOMETRIC = "geometric"


class Difficulty(StrEnum):
    """The three tiers of ReXVQA; a question without one has ``None``, a tier of its own when sampled."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class View(StrEnum):
    """The projection of a radiograph. AP and PA are frontal, LATERAL is from the side."""

    PA = "PA"
    AP = "AP"
    LATERAL = "LATERAL"
    OTHER = "OTHER"
    UNKNOWN = "UNKNOWN"


class Sex(StrEnum):
    """Patient's sex as DICOM has it (0010,0040)."""

    FEMALE = "F"
    MALE = "M"
    OTHER = "O"


YES_NO = ("yes", "no")
