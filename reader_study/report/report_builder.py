"""Computes all tables of a study report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from domain.errors import Refused
from domain.protocols import FailedReplyRule, HelperRule, protocol_to_plain
from domain.version import VERSION
from domain.vocabulary import AnswerFormat
from intake.garbage_collector import pause_garbage_collector
from measures.all_measures import compute_encoded_measures, encode_table
from measures.families import EVERY_PAIR, adjust_arms, adjust_mrmc, adjust_paired, list_compared_pairs
from measures.rating_values import REPEAT, TRAINING
from measures.records.settings import Settings
from measures.results import ACCURACY, UsedSettings, to_record
from reader_study.open_answers import OpenAnswerScore
from reader_study.report import answer_tables, marking_tables, paper_tables, supplementary_tables
from reader_study.report.case_differences import rank_case_differences
from reader_study.report.exam_characteristics import count_exam_characteristics
from reader_study.report.facts import DesignFacts, ProtocolVersionFacts, StudyFacts
from reader_study.report.family import resolve_family
from reader_study.report.minimum_cases import withhold_small_comparisons
from reader_study.report.missing_data import compute_missing_answer_scenarios
from reader_study.report.overlaps import compute_box_overlaps
from reader_study.report.participation import count_participation
from reader_study.report.ratings import FAILED_ANSWER, KEY_RATER, POSITIVE, build_ratings
from reader_study.report.report_data import ReportData
from reader_study.report.sentences import write_sentences
from reader_study.report.study_report import StudyReport, choose_model
from reader_study.report.tables import ReportTables, StudyAgreement
from terminology.taxonomy import derive_feature


@pause_garbage_collector()  # collections with hundreds of thousands of results take a fifth of the time
def build_report(
    data: ReportData, *, model: str | None = None, progress: Callable[[float], None] | None = None
) -> StudyReport:
    """Compute a report.

    Args:
        data: the data of the study.
        model: the model with which raters are compared; None for the protocol's model.
        progress: a function that is called with the completed fraction, 0 to 1.

    Raises:
        Refused: there is no answer to a scored case, no answer is marked, or the model does not exist.
    """
    ratings = build_ratings(data)
    scored = answer_tables.select_counted_answers(ratings, "rater", "kind", "correct", "patient", "exam")
    if scored.empty or set(scored["kind"]) == {"reference"}:
        if (ratings["open_score"] == OpenAnswerScore.NOT_MARKED).any():
            raise Refused(
                "No open answer is marked yet, so there is nothing to report. Assign a marker in “Readers "
                "and protocol”."
            )
        raise Refused(
            "No reader or model has answered a case of this study yet, so there is nothing to report."
        )
    protocol = data.versions[-1].protocol
    settings = Settings(
        reference=KEY_RATER,
        seed=abs(protocol.seed),
        bootstrap=max(100, protocol.bootstrap) if protocol.bootstrap else 0,
        confidence=protocol.confidence,
        adjustment=protocol.used_adjustment,
        missing_answers=protocol.used_missing_answers,
        positive=_find_positive(ratings),
        agreement_basis=protocol.used_agreement_basis,
        leave_one_out=protocol.used_helpers is HelperRule.LEAVE_ONE_OUT,
        missing_in_agreement=FAILED_ANSWER
        if protocol.used_failed_replies is FailedReplyRule.MISSING
        else None,
    )
    needed = protocol.needed_cases
    encoded = encode_table(ratings, settings)
    measures = withhold_small_comparisons(
        compute_encoded_measures(encoded, settings, progress=progress), needed=needed
    )
    kinds = {row.rater: row.kind for row in measures.overall}
    family = resolve_family(
        protocol.family,
        kinds,
        compared=list_compared_pairs(measures.paired),
        adjustment=settings.adjustment,
    )
    raters, failed = (
        supplementary_tables.list_raters(data, scored),
        supplementary_tables.count_failed_replies(data),
    )
    agreement = tuple(
        StudyAgreement(**to_record(row), few=row.n < needed or row.kappa is None)
        for row in measures.agreement
    )
    paired = adjust_paired(measures.paired, family.pairs, settings.adjustment)
    categories = ratings["category"].unique()
    derived = {
        feature: ratings["category"].map(
            {category: derive_feature(feature, category, mapping=data.mapping) for category in categories}
        )
        for feature in ("controlled_category", "domain")
    }
    by_difficulty, by_format, by_controlled_category, by_domain = (
        supplementary_tables.compute_accuracy_by_columns(
            ratings, encoded.matrix, settings, columns=("difficulty", "format", *derived), further=derived
        )
    )
    tables = ReportTables(
        raters=raters,
        participation=count_participation(data),
        exams=count_exam_characteristics(data),
        accuracy=supplementary_tables.mark_best(measures.accuracy, paired),
        by_category=measures.by_category,
        by_controlled_category=by_controlled_category,
        by_domain=by_domain,
        by_difficulty=by_difficulty,
        by_format=by_format,
        overall=measures.overall,
        coverage=measures.coverage,
        groups=supplementary_tables.compute_level_accuracy(data, scored, protocol.confidence),
        paired=paired,
        unpaired=measures.unpaired,
        mrmc=adjust_mrmc(
            [
                row for row in measures.mrmc if row.readers or row.measure == ACCURACY
            ],  # a model may lack scores
            family.pairs,
            kinds=kinds,
            adjustment=settings.adjustment,
        ),
        reader_means=measures.reader_means,
        leave_one_out=measures.leave_one_out,
        leave_one_out_paired=adjust_paired(measures.leave_one_out_paired, family.pairs, settings.adjustment),
        missing_answers=compute_missing_answer_scenarios(
            data, encoded.matrix, replace(settings, positive=None)
        ),
        arms=adjust_arms(measures.arms, settings.adjustment),
        diagnostic=tuple(row for row in measures.diagnostic if row.n),
        calibration=measures.calibration,
        calibration_bins=measures.reliability,
        agreement=agreement,
        group_agreement=measures.group,
        kappa_contrasts=measures.kappa_contrasts,
        repeats=measures.repeats,
        boxes=compute_box_overlaps(data, settings),
        failed=failed,
        extraction=supplementary_tables.compute_extraction_errors(data),
        open_answers=marking_tables.count_open_answers(data, ratings, settings),
        marker_agreement=marking_tables.compute_marker_agreement(data, settings),
        open_answer_marks=marking_tables.list_open_answer_marks(data),
        confusion=answer_tables.compute_confusion(ratings),
        positions=answer_tables.compute_option_positions(data, ratings),
        times=answer_tables.compute_reading_times(ratings),
        learning=answer_tables.compute_learning(ratings),
        confidence=answer_tables.compute_confidence_levels(ratings, protocol.confidence),
        case_differences=rank_case_differences(encoded.matrix, data.cases),
        faulty=supplementary_tables.list_faulty_cases(data),
        exclusions=supplementary_tables.list_exclusions(data),
        printed_by_task=paper_tables.build_task_table(measures.accuracy, measures.overall, failed),
        printed_by_category=paper_tables.build_category_table(measures.by_category, measures.overall),
        printed_kappa=paper_tables.build_kappa_tables(
            measures.agreement, known=[profile.rater for profile in raters]
        ),
    )
    facts = _build_facts(
        data,
        ratings,
        model=choose_model(tables, protocol.model, model),
        settings=replace(measures.settings, family=protocol.family or EVERY_PAIR),
        family=family.description,
    )
    return StudyReport(facts=facts, words=write_sentences(facts, tables, protocol), tables=tables)


def _find_positive(ratings: pd.DataFrame) -> str | None:
    """Return the positive answer of the yes/no questions; None unless both yes and no are keys."""
    is_key = (ratings["kind"] == "reference") & (ratings["format"] == AnswerFormat.CLOSED.value)
    return POSITIVE if {"yes", "no"} <= set(ratings.loc[is_key, "answer"]) else None


def _build_facts(
    data: ReportData, ratings: pd.DataFrame, *, model: str | None, settings: UsedSettings, family: str
) -> StudyFacts:
    study = data.study
    current_version = data.versions[-1]
    arm = ratings["arm"]
    return StudyFacts(
        study=study.name,
        software=VERSION,
        source=f"{study.source}{_describe_keys(data)}",
        simulated=study.simulated,
        state=study.state.value,
        design=_describe_design(data),
        cases=sum(case.scored for case in data.cases),
        cases_analysed=int((ratings["kind"] == "reference").sum()),
        training_answers=int((arm == TRAINING).sum()),
        repeat_answers=int((arm == REPEAT).sum()),
        readers=len(data.readers),
        models=len(data.models),
        models_without_answers=data.models_without_answers,
        every_model=current_version.protocol.models is None,
        needed_cases=current_version.protocol.needed_cases,
        model=model,
        protocol_version=current_version.version,
        protocol_sha256=current_version.sha256,
        protocol=protocol_to_plain(current_version.protocol),
        protocol_versions=tuple(
            ProtocolVersionFacts(
                version=version.version,
                sha256=version.sha256,
                written_at=version.written_at.isoformat(),
                answers_before=version.answers_before,
                why=version.reason,
            )
            for version in data.versions
        ),
        settings=settings,
        family=family,
        audit_head=None if data.audit_head is None else str(data.audit_head),
    )


def _describe_design(data: ReportData) -> DesignFacts:
    design, scored = data.study.design, [case for case in data.cases if case.scored]
    patients = {case.patient for case in scored}
    dates = sorted(reading.read_at.date().isoformat() for reading in data.readings)
    return DesignFacts(
        crossing=design.crossing.label,
        arms=tuple(arm.name for arm in design.arms) if len(design.arms) > 1 else (),
        arms_with_information=tuple(arm.name for arm in design.arms if arm.clinical_info_shown),
        readers_per_case=design.readers_per_case,
        washout_days=design.washout_days,
        training=len(data.cases) - len(scored),
        repeats=design.repeats,
        repeat_gap=design.repeat_gap,
        seed=design.plan.seed,
        strata=("difficulty", *design.plan.strata) if len({case.stratum for case in scored}) > 1 else (),
        one_per_exam=design.one_per_exam,
        exams=len({case.question.exam_id for case in scored}),
        patients=None if None in patients else len(patients),
        formats=tuple(sorted({case.question.format.value for case in scored})),
        excluded_cases=sum(data.is_excluded(case_id=case.blind_case.id, reader_id=None) for case in scored),
        external_readers=sum(reader.is_external for reader in data.readers),
        first_reading=dates[0] if dates else None,
        last_reading=dates[-1] if dates else None,
    )


def _describe_keys(data: ReportData) -> str:
    return f" with the answer keys of release {data.keys_of_release}" if data.keys_of_release else ""
