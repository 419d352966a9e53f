"""The report of a study as flat records: what every form of it (page, HTML, CSV, JSON) is written from."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from domain.errors import Refused
from domain.protocols import protocol_from_plain, protocol_to_plain
from measures.ratings import REPEAT, TRAINING
from measures.records.settings import EVERY_PAIR, Settings
from measures.whole import measure
from reader_study.report import answers, lists
from reader_study.report.family import adjusted, family_of
from reader_study.report.material import Material
from reader_study.report.overlaps import overlaps
from reader_study.report.printed import printed
from reader_study.report.ratings import KEY, ratings_of
from reader_study.report.sentences import sentences

Record = dict[str, Any]
VERSION = "overread.study-report/1"
#: Agreement on fewer cases is greyed.
FEW = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """``facts`` of the study, ``words`` to be printed, and ``tables`` of flat records by name."""

    facts: Record
    words: tuple[str, ...]
    tables: dict[str, list[Record]]

    def text(self) -> str:
        """As JSON; the same material gives the same bytes."""
        plain = {"version": VERSION, "facts": self.facts, "words": list(self.words), "tables": self.tables}
        return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    @classmethod
    def from_text(cls, text: str) -> StudyReport:
        """The inverse of :meth:`text`, to the last digit."""
        plain = json.loads(text)
        return cls(facts=plain["facts"], words=tuple(plain["words"]), tables=plain["tables"])

    def against(self, model: str | None) -> StudyReport:
        """The same figures, with another model that the others are compared with; None for the protocol's.

        Raises:
            Refused: there is no such model.
        """
        protocol = protocol_from_plain(self.facts["protocol"])
        facts = self.facts | {"model": _chosen(self.tables, protocol.model, model)}
        return replace(self, facts=facts, words=sentences(facts, self.tables, protocol))


def report_of(
    material: Material, *, model: str | None = None, progress: Callable[[float], None] | None = None
) -> StudyReport:
    """Every figure of the report.

    Args:
        material: the study.
        model: the model that the others are compared with; None for the protocol's.
        progress: is told the part that is done, 0 to 1.

    Raises:
        Refused: nobody has answered a case that counts, or there is no such model.
    """
    ratings = ratings_of(material)
    scored = answers.counted(ratings)
    if scored.empty or set(scored["kind"]) == {"reference"}:
        raise Refused(
            "No reader and no model has answered a case of this study yet: there is nothing to report."
        )
    protocol = material.versions[-1].protocol
    settings = Settings(
        reference=KEY,
        seed=abs(protocol.seed),
        bootstrap=max(100, protocol.bootstrap) if protocol.bootstrap else 0,
        confidence=protocol.confidence,
    )
    found = measure(ratings, settings=settings, progress=progress)
    family = family_of(protocol.family, {each["rater"]: each["kind"] for each in found.overall})
    tables: dict[str, list[Record]] = {
        "raters": lists.raters(material, scored),
        "accuracy": found.accuracy,
        "by_category": found.by_category,
        "by_difficulty": lists.by_column(ratings, settings, column="difficulty"),
        "by_format": lists.by_column(ratings, settings, column="format"),
        "overall": found.overall,
        "coverage": found.coverage,
        "groups": lists.groups(material, scored, protocol.confidence),
        "paired": adjusted(found.paired, family),
        "unpaired": found.unpaired,
        "mrmc": found.mrmc,
        "agreement": found.agreement,
        "group_agreement": found.group,
        "repeats": found.repeats,
        "boxes": overlaps(material, settings),
        "failed": lists.failed(material),
        "confusion": answers.confusion(ratings),
        "positions": answers.positions(material, ratings),
        "times": answers.times(ratings),
        "learning": answers.learning(ratings),
        "faulty": lists.faulty(material),
        "exclusions": lists.exclusions(material),
    }
    for record in tables["agreement"]:
        record["few"] = record["n"] < FEW or record["kappa"] is None
    lists.mark_best(tables)
    tables |= printed(tables)
    used = found.settings | {"family": list(protocol.family) or EVERY_PAIR}
    facts = _facts(material, ratings, model=_chosen(tables, protocol.model, model), settings=used)
    facts["family"] = family.words
    return StudyReport(facts=facts, words=sentences(facts, tables, protocol), tables=tables)


def _facts(material: Material, ratings: pd.DataFrame, *, model: str | None, settings: Record) -> Record:
    study = material.study
    last = material.versions[-1]
    arm = ratings["arm"]
    return {
        "study": study.name,
        "source": str(study.source),
        "simulated": study.simulated,
        "state": study.state.value,
        "cases": sum(case.scored for case in material.cases),
        "cases_analysed": int((ratings["kind"] == "reference").sum()),
        "training_answers": int((arm == TRAINING).sum()),
        "repeat_answers": int((arm == REPEAT).sum()),
        "readers": len(material.readers),
        "models": len(material.models),
        "model": model,
        "protocol_version": last.version,
        "protocol_sha256": last.sha256,
        "protocol": protocol_to_plain(last.protocol),
        "protocol_versions": [
            {
                "version": each.version,
                "sha256": each.sha256,
                "written_at": each.written_at.isoformat(),
                "answers_before": each.answers_before,
                "why": each.why,
            }
            for each in material.versions
        ],
        "settings": settings,
    }


def _chosen(tables: dict[str, list[Record]], of_protocol: str, asked: str | None) -> str | None:
    models = [each["rater"] for each in tables["overall"] if each["kind"] == "model"]
    if asked is not None:
        if asked not in models:
            raise Refused(f"{asked!r} is no model of this study; there are {', '.join(models) or 'none'}.")
        return asked
    return of_protocol if of_protocol in models else models[0] if len(models) == 1 else None
