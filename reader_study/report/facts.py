"""Facts about a study in its report: counts, protocol, settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from measures.results import UsedSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolVersionFacts:
    """One version of the protocol. ``written_at`` is a time in ISO 8601."""

    version: int
    sha256: str
    written_at: str
    answers_before: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignFacts:
    """The design of a study and its scored cases.

    ``crossing`` is the design's name. ``arms`` is empty if the study has a single arm.
    ``arms_with_information`` has the arms that show indication, age, sex and view; it may contain a single
    arm. ``patients`` is None if the patient of any case is not known. ``strata`` are the fields by which the
    draw was stratified. The readings of ``external_readers`` were imported from files. ``first_reading`` and
    ``last_reading`` are dates in ISO 8601; None if there is no reading.
    """

    crossing: str
    arms: tuple[str, ...]
    arms_with_information: tuple[str, ...]
    readers_per_case: int | None
    washout_days: int
    training: int
    repeats: int
    repeat_gap: int
    seed: int
    strata: tuple[str, ...]
    one_per_exam: bool
    exams: int
    patients: int | None
    formats: tuple[str, ...]
    excluded_cases: int
    external_readers: int
    first_reading: str | None
    last_reading: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFacts:
    """The study at the time of the report.

    ``software`` is the version of Overread. ``models_without_answers`` has the chosen models that have
    answered no case. ``every_model`` is True if the protocol does not list models; every model with
    predictions then takes part. A comparison on fewer than ``needed_cases`` cases is not reported. ``model``
    is the model with which raters are compared; None if there is none. ``protocol`` is the latest version as
    JSON values. ``family`` describes the family of comparisons within which p values are adjusted.
    ``audit_head`` has the number and hash of the last audit entry about the data.
    """

    study: str
    software: str
    source: str
    simulated: bool
    state: str
    design: DesignFacts
    cases: int
    cases_analysed: int
    training_answers: int
    repeat_answers: int
    readers: int
    models: int
    models_without_answers: tuple[str, ...]
    every_model: bool
    needed_cases: int
    model: str | None
    protocol_version: int
    protocol_sha256: str
    protocol: dict[str, Any]
    protocol_versions: tuple[ProtocolVersionFacts, ...]
    settings: UsedSettings
    family: str
    audit_head: str | None = None


#: The fields of a design that are lists in JSON.
_DESIGN_TUPLES = ("arms", "arms_with_information", "strata", "formats")


def facts_from_plain(plain: dict[str, Any]) -> StudyFacts:
    """Build the facts from JSON values.

    Raises:
        KeyError: a key is missing.
        TypeError: a field is unknown or missing.
    """
    settings, design = plain["settings"], plain["design"]
    family = settings["family"]
    return StudyFacts(
        **plain
        | {
            "protocol_versions": tuple(
                ProtocolVersionFacts(**version) for version in plain["protocol_versions"]
            ),
            "design": DesignFacts(**design | {name: tuple(design[name]) for name in _DESIGN_TUPLES}),
            "models_without_answers": tuple(plain["models_without_answers"]),
            "settings": UsedSettings(
                **settings | {"family": family if isinstance(family, str) else tuple(family)}
            ),
        }
    )
