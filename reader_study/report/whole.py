"""Computes all tables of a study report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from domain.errors import Refused
from domain.protocols import protocol_to_plain
from measures.ratings import REPEAT, TRAINING
from measures.records.settings import EVERY_PAIR, Settings
from measures.results import UsedSettings, to_record
from measures.whole import measure
from reader_study.report import answers, lists, printed
from reader_study.report.facts import ProtocolVersionFacts, StudyFacts
from reader_study.report.family import adjusted, family_of
from reader_study.report.material import Material
from reader_study.report.overlaps import overlaps
from reader_study.report.ratings import KEY, ratings_of
from reader_study.report.sentences import sentences
from reader_study.report.study_report import FEW, StudyReport, chosen_model
from reader_study.report.tables import ReportTables, StudyAgreement


def report_of(
    material: Material, *, model: str | None = None, progress: Callable[[float], None] | None = None
) -> StudyReport:
    """Compute a report.

    Args:
        material: the data of the study.
        model: the model that raters are compared with; None for the protocol's.
        progress: called with the fraction done, 0 to 1.

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
    family = family_of(protocol.family, {each.rater: each.kind for each in found.overall})
    raters, failed = lists.raters(material, scored), lists.failed(material)
    agreement = tuple(
        StudyAgreement(**to_record(each), few=each.n < FEW or each.kappa is None) for each in found.agreement
    )
    paired = adjusted(found.paired, family)
    tables = ReportTables(
        raters=raters,
        accuracy=lists.mark_best(found.accuracy, paired),
        by_category=found.by_category,
        by_difficulty=lists.by_column(ratings, settings, column="difficulty"),
        by_format=lists.by_column(ratings, settings, column="format"),
        overall=found.overall,
        coverage=found.coverage,
        groups=lists.groups(material, scored, protocol.confidence),
        paired=paired,
        unpaired=found.unpaired,
        mrmc=found.mrmc,
        agreement=agreement,
        group_agreement=found.group,
        repeats=found.repeats,
        boxes=overlaps(material, settings),
        failed=failed,
        confusion=answers.confusion(ratings),
        positions=answers.positions(material, ratings),
        times=answers.times(ratings),
        learning=answers.learning(ratings),
        faulty=lists.faulty(material),
        exclusions=lists.exclusions(material),
        printed_by_task=printed.by_task(found.accuracy, found.overall, failed),
        printed_by_category=printed.by_category(found.by_category, found.overall),
        printed_kappa=printed.kappas(found.agreement, known=[each.rater for each in raters]),
    )
    facts = _facts(
        material,
        ratings,
        model=chosen_model(tables, protocol.model, model),
        settings=replace(found.settings, family=protocol.family or EVERY_PAIR),
        family=family.words,
    )
    return StudyReport(facts=facts, words=sentences(facts, tables, protocol), tables=tables)


def _facts(
    material: Material, ratings: pd.DataFrame, *, model: str | None, settings: UsedSettings, family: str
) -> StudyFacts:
    study = material.study
    last = material.versions[-1]
    arm = ratings["arm"]
    return StudyFacts(
        study=study.name,
        source=str(study.source),
        simulated=study.simulated,
        state=study.state.value,
        cases=sum(case.scored for case in material.cases),
        cases_analysed=int((ratings["kind"] == "reference").sum()),
        training_answers=int((arm == TRAINING).sum()),
        repeat_answers=int((arm == REPEAT).sum()),
        readers=len(material.readers),
        models=len(material.models),
        model=model,
        protocol_version=last.version,
        protocol_sha256=last.sha256,
        protocol=protocol_to_plain(last.protocol),
        protocol_versions=tuple(
            ProtocolVersionFacts(
                version=each.version,
                sha256=each.sha256,
                written_at=each.written_at.isoformat(),
                answers_before=each.answers_before,
                why=each.why,
            )
            for each in material.versions
        ),
        settings=settings,
        family=family,
    )
