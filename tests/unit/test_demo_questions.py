"""The demo's questions are correct where intended, and wrong exactly where an error was planted."""

import itertools
import random
from collections import Counter

import pytest

from demo.cases import CASES
from demo.facts import ExamFacts, collect_facts, with_report_from
from demo.phantom import DEVICES, FindingKind
from demo.phantom.render import render_exam
from demo.planted import QUESTIONS_PER_ERROR, QUESTIONS_PER_FAULT, plant_errors
from demo.questions import PER_EXAM, write_questions
from demo.simulated_reviewers import simulate_verdict
from demo.source_exams import FINDINGS, make_source_exam
from domain.checks import Check
from domain.corrections import apply_correction
from domain.expectations import COMPLETE
from domain.verdicts import Decision, ErrorKind, check_decision
from domain.vocabulary import AnswerFormat, Difficulty, Task
from generation.source_exams import SourceExam
from quality.question_checks import CheckedQuestion, apply_check
from quality.structural_checks import check_question
from terminology.findings import load_findings
from terminology.mentions import Polarity, read_mentions

pytestmark = pytest.mark.full

# Normal, nodule, heart and fluid, free air, devices, and each way in which report and image differ.
CASE_NUMBERS = (1, 3, 4, 5, 7, 10, 11, 12, 15, 24, 27, 32, 36)


@pytest.fixture(scope="module")
def exams() -> list[tuple[ExamFacts, SourceExam]]:
    cases = [case for case in CASES if case.number in CASE_NUMBERS]
    facts = {
        case.number: collect_facts(
            case,
            render_exam(case.seed, findings=case.findings, sex=case.sex, age=case.age, rows=200, columns=164),
        )
        for case in cases
    }
    exams_with_reports = [
        with_report_from(exam, facts[exam.case.report_from_exam]) if exam.case.report_from_exam else exam
        for exam in facts.values()
    ]
    return [
        (exam, make_source_exam(exam, dict.fromkeys(_list_radiographs(exam), "x.dcm"), seed=1))
        for exam in exams_with_reports
    ]


def _list_radiographs(exam):
    return (exam.frontal, "lateral") if exam.lateral else (exam.frontal,)


@pytest.fixture(scope="module")
def written_questions(exams):
    return write_questions(exams, seed=1)


@pytest.fixture(scope="module")
def planted(written_questions):
    return plant_errors(written_questions, seed=1)


def test_every_format_task_and_tier_occurs(written_questions):
    questions = [written_question.question for written_question in written_questions]
    assert {question.format for question in questions} == set(AnswerFormat)
    assert {question.task for question in questions} == set(Task)
    assert {question.difficulty for question in questions} == set(Difficulty)


def test_the_tiers_have_different_sizes(written_questions):
    sizes = sorted(
        Counter(written_question.question.difficulty for written_question in written_questions).values()
    )
    assert sizes[0] < 0.8 * sizes[-1]


def test_no_stem_is_repeated_within_an_exam(written_questions):
    stems = Counter(
        (written_question.question.exam_id, written_question.question.stem)
        for written_question in written_questions
    )
    assert stems.most_common(1)[0][1] == 1


def test_no_option_is_repeated_within_a_question(written_questions):
    assert all(
        len(set(written_question.question.options)) == len(written_question.question.options)
        for written_question in written_questions
    )


def test_choice_questions_have_four_options(written_questions):
    assert {len(written_question.question.options) for written_question in written_questions} == {0, 4}


def test_sound_questions_pass_the_structural_checks(written_questions):
    problems = [
        check_question(written_question.question, expected=COMPLETE, minimum_explanation=20)
        for written_question in written_questions
    ]
    assert not any(problems)


def test_boxes_lie_on_the_exams_own_radiographs(written_questions):
    for written_question in written_questions:
        names = set(_list_radiographs(written_question.facts))
        assert {box.radiograph for box in written_question.question.boxes} <= names


def test_an_exam_has_at_most_the_declared_number_of_questions_of_each_format(written_questions):
    counts = Counter(
        (written_question.question.exam_id, written_question.question.format)
        for written_question in written_questions
    )
    assert all(count <= PER_EXAM[format_] for (_, format_), count in counts.items())
    assert counts["demo-001", AnswerFormat.CLOSED] == PER_EXAM[AnswerFormat.CLOSED]


def test_the_known_findings_of_an_exam_are_its_visible_findings(exams, written_questions):
    known_by_exam = {
        written_question.facts.exam_id: written_question.known for written_question in written_questions
    }
    for facts, _ in exams:
        visible = {FINDINGS[finding.kind][0] for finding in facts.visible}
        assert known_by_exam[facts.exam_id].present.keys() == visible
        shown = {FINDINGS[finding.kind][0] for finding in (*facts.visible, *facts.unreported)}
        assert not known_by_exam[facts.exam_id].absent.keys() & shown


def test_closed_questions_on_presence_are_answered_by_the_rendered_findings(written_questions):
    question_count = 0
    for written_question in written_questions:
        for kind, (name, _) in FINDINGS.items():
            if written_question.question.stem == load_findings()[name].ask:
                question_count += 1
                assert (written_question.question.answer == "yes") == bool(
                    written_question.facts.visible_of_kind(kind)
                )
    assert question_count >= 15


def test_the_boxes_of_a_question_belong_to_rendered_findings(written_questions):
    for written_question in written_questions:
        rendered = {box for finding in written_question.facts.visible for box in finding.to_labelled_boxes()}
        assert set(written_question.question.boxes) <= rendered


def test_an_exam_with_the_report_of_another_exam_has_only_questions_with_boxes(written_questions):
    questions = [
        written_question.question
        for written_question in written_questions
        if written_question.facts.case.report_from_exam
    ]
    assert questions
    assert all(question.boxes for question in questions)


def test_every_question_has_its_origin(written_questions):
    for written_question in written_questions:
        assert written_question.provenance.source == "phantoms"
        assert written_question.provenance.evidence


def test_no_question_is_about_a_finding_missing_from_the_report(written_questions):
    with_unreported_finding = [
        written_question for written_question in written_questions if written_question.facts.unreported
    ]
    assert with_unreported_finding
    for written_question in with_unreported_finding:
        term = load_findings()[FINDINGS[written_question.facts.unreported[0].kind][0]]
        texts = (written_question.question.stem, *written_question.question.options)
        assert not any(term.noun in text.lower() for text in texts)


def test_the_same_seed_writes_the_same_questions(exams, written_questions):
    assert write_questions(exams, seed=1) == written_questions


def test_reports_name_all_findings_except_unreported_ones(exams):
    for facts, exam in exams:
        mentions = read_mentions(f"{exam.report.findings}\n{exam.report.impression}")
        stated = {mention.finding for mention in mentions if mention.polarity is Polarity.STATED}
        assert {FINDINGS[finding.kind][0] for finding in facts.visible} <= stated
        assert not {FINDINGS[finding.kind][0] for finding in facts.unreported} & stated


def test_indications_do_not_reveal_findings():
    revealing_words = {
        "nodule",
        "effusion",
        "pneumothorax",
        "consolidation",
        "pneumonia",
        "tube",
        "pacemaker",
        "enlarged",
    }
    for case in CASES:
        assert not revealing_words & set(case.indication.lower().replace(".", "").replace(",", "").split())


def test_at_least_eight_exams_are_normal():
    assert sum(not case.findings for case in CASES) >= 8


def test_exams_of_one_patient_agree_in_sex_and_age_order():
    by_patient = itertools.groupby(
        sorted(CASES, key=lambda case: (case.patient, case.number)), lambda c: c.patient
    )
    cases_by_patient = [list(cases) for _, cases in by_patient]
    repeat_patients = [cases for cases in cases_by_patient if len(cases) > 1]
    assert repeat_patients
    for patient_cases in repeat_patients:
        assert len({case.sex for case in patient_cases}) == 1
        assert [case.age for case in patient_cases] == sorted(case.age for case in patient_cases)


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_each_kind_of_error_is_planted(planted, kind):
    assert sum(error.kind is kind for error in planted.planted.values()) >= min(QUESTIONS_PER_ERROR, 3)


def test_each_fault_for_the_checks_is_planted(planted):
    assert set(Counter(planted.faults.values()).values()) == {QUESTIONS_PER_FAULT}


def test_the_checks_find_all_planted_faults_and_nothing_else(planted):
    reported_ids = {
        question.id
        for question in planted.questions
        if check_question(question, expected=COMPLETE, minimum_explanation=20)
    }
    assert reported_ids == set(planted.faults)


def test_every_planted_error_changes_its_question_or_report(written_questions, planted):
    sound_questions = {
        written_question.question.id: written_question.question for written_question in written_questions
    }
    for question_id, error in planted.planted.items():
        assert (error.question == sound_questions[question_id]) == (error.kind is ErrorKind.EXAM_MISMATCH)


def test_a_corrected_question_equals_the_original_question(written_questions, planted):
    sound_questions = {
        written_question.question.id: written_question.question for written_question in written_questions
    }
    for question_id, error in planted.planted.items():
        assert error.corrected is None or error.corrected == sound_questions[question_id]


def test_no_stem_is_repeated_within_an_exam_after_planting(planted):
    stems = Counter((question.exam_id, question.stem) for question in planted.questions)
    assert stems.most_common(1)[0][1] == 1


def test_the_hidden_key_names_every_error_and_fault(planted):
    assert set(planted.build_answer_key()) == set(planted.planted) | set(planted.faults)


def test_simulated_verdicts_are_valid_and_their_corrections_remove_planted_errors(planted):
    rng = random.Random(5)  # noqa: S311 - seeded on purpose
    for question in planted.questions:
        error = planted.planted.get(question.id)
        verdict = simulate_verdict(question, error, rng=rng, all_fields=True)
        check_decision(verdict.decision, verdict.opinion)
        if verdict.decision is Decision.REVISE and verdict.opinion.errors:
            assert apply_correction(question, verdict.opinion.correction) == error.corrected


def test_a_simulated_image_alignment_verdict_has_no_other_rating(planted):
    rng = random.Random(5)  # noqa: S311 - seeded on purpose
    for question in planted.questions[:60]:
        opinion = simulate_verdict(
            question, planted.planted.get(question.id), rng=rng, all_fields=False
        ).opinion
        assert opinion.ratings.image_alignment is not None
        assert opinion.ratings.clinical_quality is None
        assert opinion.correction.is_empty()


def test_tube_tips_are_at_plausible_distances(exams):
    tips = [exam.tip_mm for exam, _ in exams if exam.visible_of_kind(FindingKind.ENDOTRACHEAL_TUBE)]
    assert tips
    assert all(20 < tip < 70 for tip in tips)
    assert DEVICES


#: The screen that is meant for each kind of planted error.
SCREENED = {
    ErrorKind.COMPARISON: Check.COMPARISON,
    ErrorKind.WRONG_LOCATION: Check.SIDE_OR_LEVEL,
    ErrorKind.NOT_IN_REPORT: Check.NOT_IN_REPORT,
    ErrorKind.SEVERAL_CORRECT: Check.SEVERAL_CORRECT,
    ErrorKind.ANSWER_REVEALED: Check.ANSWER_REVEALED,
}


def screen_planted(planted, exams):
    """Count the questions that each screen reports, by kind of planted error (None: a correct question)."""
    reports = {exam.id: exam.report.format_text() for _, exam in exams}
    reported: dict[Check, Counter[ErrorKind | None]] = {check: Counter() for check in SCREENED.values()}
    for question in planted.questions:
        error = planted.planted.get(question.id)
        checked = CheckedQuestion(question=question, expected=COMPLETE, report=reports[question.exam_id])
        for check, counts in reported.items():
            if apply_check(check, checked, {}).problem is not None:
                counts[error.kind if error else None] += 1
    return reported


def test_the_screens_report_planted_errors_and_no_correct_question(planted, exams):
    reported = screen_planted(planted, exams)
    reported_counts = {kind.value: reported[check][kind] for kind, check in SCREENED.items()}
    assert reported_counts == {
        "comparison with a prior": 8,
        "wrong side or place": 7,
        "finding not in the report": 5,
        "more than one right answer": 1,
        "stem gives the answer away": 5,
    }
    assert not any(counts[None] for counts in reported.values())
