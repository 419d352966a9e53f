"""The report of a study as flat records: what every form of it (page, HTML, CSV, JSON) is written from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd

from domain.errors import Refused
from domain.protocols import protocol_to_plain
from measures.clusters import members
from measures.coded import coded
from measures.proportions import wilson, wilson_by_cluster
from measures.ratings import REPEAT, TRAINING, checked
from measures.records.accuracy import by_category
from measures.records.settings import Settings
from measures.whole import measure
from reader_study.report import answers
from reader_study.report.material import Material
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


def report_of(material: Material, *, model: str | None = None) -> StudyReport:
    """Every figure of the report.

    Args:
        material: the study.
        model: the model that the others are compared with; None for the protocol's.

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
    found = measure(ratings, settings=settings)
    tables: dict[str, list[Record]] = {
        "raters": _raters(material, scored),
        "accuracy": found.accuracy,
        "by_category": found.by_category,
        "by_difficulty": _by_difficulty(ratings, settings),
        "overall": found.overall,
        "coverage": found.coverage,
        "groups": _groups(material, scored, protocol.confidence),
        "paired": found.paired,
        "unpaired": found.unpaired,
        "mrmc": found.mrmc,
        "agreement": found.agreement,
        "group_agreement": found.group,
        "repeats": found.repeats,
        "failed": _failed(material),
        "confusion": answers.confusion(ratings),
        "positions": answers.positions(material, ratings),
        "times": answers.times(ratings),
        "learning": answers.learning(ratings),
        "faulty": _faulty(material),
        "exclusions": _exclusions(material),
    }
    for record in tables["agreement"]:
        record["few"] = record["n"] < FEW or record["kappa"] is None
    _mark_best(tables)
    facts = _facts(material, ratings, model=_chosen(tables, protocol.model, model), settings=found.settings)
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


def _raters(material: Material, scored: pd.DataFrame) -> list[Record]:
    n = scored.groupby("rater").size()
    readers = [
        {
            "rater": each.name,
            "kind": "reader",
            "level": each.profile.level.value if each.profile.level else None,
            "years": each.profile.years,
            "subspecialty": each.profile.subspecialty or None,
            "set_reference": each.of_reference,
            "simulated": each.simulated,
            "n": int(n.get(each.name, 0)),
        }
        for each in material.readers
    ]
    models = [
        {
            "rater": each.name,
            "kind": "model",
            "level": None,
            "years": None,
            "subspecialty": None,
            "set_reference": False,
            "simulated": each.simulated,
            "n": int(n.get(each.name, 0)),
        }
        for each in material.models
    ]
    return readers + models


def _by_difficulty(ratings: pd.DataFrame, settings: Settings) -> list[Record]:
    table = ratings.assign(category=ratings["difficulty"])
    records = by_category(coded(checked(table), reference=settings.reference), settings)
    return [
        {("difficulty" if name == "category" else name): value for name, value in each.items()}
        for each in records
    ]


def _groups(material: Material, scored: pd.DataFrame, confidence: float) -> list[Record]:
    """Readers pooled by level; their answers on one exam go together, the readers are taken as fixed."""
    records: list[Record] = []
    level = {
        each.name: each.profile.level.value if each.profile.level else "not stated"
        for each in material.readers
    }
    rows = scored[scored["kind"] == "reader"]
    for name, own in rows.groupby(rows["rater"].map(level), sort=True):
        hits = (own["correct"] == "yes").to_numpy()
        exams = pd.factorize(own["exam"])[0]
        found = wilson_by_cluster(hits, exams, confidence=confidence)
        records.append(
            {
                "level": name,
                "readers": own["rater"].nunique(),
                "n": found.n,
                "exams": members(exams)[1],
                "correct": found.count,
                "estimate": found.estimate,
                "low": found.low,
                "high": found.high,
                "note": "these readers, not readers like them; clustered by exam",
            }
        )
    return records


def _failed(material: Material) -> list[Record]:
    records: list[Record] = []
    numbers = {case.shown.question_number for case in material.cases if case.scored}
    for model in material.models:
        some = [each for number, each in model.predictions.items() if number in numbers]
        found = wilson(sum(each.failed for each in some), len(some))
        records.append(
            {
                "model": model.name,
                "n": found.n,
                "failed": found.count,
                "share": found.estimate,
                "low": found.low,
                "high": found.high,
                "not_predicted": len(numbers) - len(some),
            }
        )
    return records


def _faulty(material: Material) -> list[Record]:
    cases = {case.shown.id: case for case in material.cases}
    names = {reader.id: reader.name for reader in material.readers}
    return [
        {
            "case": cases[each.key.case_id].shown.number,
            "question_id": cases[each.key.case_id].question.id,
            "reader": names[each.key.reader_id],
            "answered": not each.unanswered,
            "why": each.faulty,
        }
        for each in material.readings
        if each.faulty
    ]


def _exclusions(material: Material) -> list[Record]:
    cases = {case.shown.id: case for case in material.cases}
    names = {reader.id: reader.name for reader in material.readers}
    return [
        {
            "case": cases[each.case_id].shown.number if each.case_id else None,
            "question_id": cases[each.case_id].question.id if each.case_id else None,
            "reader": names[each.reader_id] if each.reader_id else None,
            "why": each.why,
            "excluded_at": each.excluded_at.isoformat(),
        }
        for each in material.exclusions
    ]


def _mark_best(tables: dict[str, list[Record]]) -> None:
    """``best`` in each task's accuracy: right more often than every other rater, by the paired interval."""
    ahead: dict[tuple[str, str], int] = {}
    for each in tables["paired"]:
        if each["low"] is not None and each["low"] > 0:
            ahead[each["task"], each["a"]] = ahead.get((each["task"], each["a"]), 0) + 1
        if each["high"] is not None and each["high"] < 0:
            ahead[each["task"], each["b"]] = ahead.get((each["task"], each["b"]), 0) + 1
    others = len({each["rater"] for each in tables["accuracy"]}) - 1
    for each in tables["accuracy"]:
        each["best"] = others > 0 and ahead.get((each["task"], each["rater"]), 0) == others
