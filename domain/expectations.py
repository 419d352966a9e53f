"""The fields that the questions of a file should have.

Checks report a missing field only if the file's format promises it.
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.errors import InvalidValue

#: The fields that a format may promise. The completeness check reports those that are empty.
EXPECTABLE_FIELDS = ("explanation", "difficulty", "category", "task", "boxes.label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What the structural checks expect of each question of a file.

    ``fields`` is a subset of ``EXPECTABLE_FIELDS``. ``option_count`` is the number of options of a choice
    question; None if the format allows any number.

    Raises:
        InvalidValue: a field is unknown, or ``option_count`` is below 2.
    """

    fields: frozenset[str]
    option_count: int | None = None

    def __post_init__(self) -> None:
        unknown_fields = sorted(self.fields.difference(EXPECTABLE_FIELDS))
        if unknown_fields:
            raise InvalidValue(
                "expects.fields", f"{unknown_fields[0]!r} must be one of {', '.join(EXPECTABLE_FIELDS)}"
            )
        if self.option_count is not None and self.option_count < 2:
            raise InvalidValue("expects.options", f"must be 2 or more, not {self.option_count}")


#: The expectations of published ReXVQA files and of native files: all fields, and four options.
COMPLETE = Expectations(fields=frozenset(EXPECTABLE_FIELDS), option_count=4)
