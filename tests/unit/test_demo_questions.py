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
from demo.questions import write_questions
from demo.reports import write_report
from demo.simulated_reviewers import simulate_verdict
from demo.terms import TERMS
from domain.checks import Check
from domain.corrections import apply_correction
from domain.expectations import COMPLETE
from domain.verdicts import Decision, ErrorKind, check_decision
from domain.vocabulary import AnswerFormat, Difficulty, Task
from quality.question_checks import CheckedQuestion, apply_check
from quality.structural_checks import check_question

pytestmark = pytest.mark.full

# Normal, nodule, heart and fluid, free air, devices, and each way in which report and image differ.
CASE_NUMBERS = (1, 3, 4, 5, 7, 10, 11, 12, 15, 24, 27, 32, 36)


@pytest.fixture(scope="module")
def exams() -> list[ExamFacts]:
    cases = [case for case in CASES if case.number in CASE_NUMBERS]
    facts = {
        case.number: collect_facts(
            case,
            render_exam(case.seed, findings=case.findings, sex=case.sex, age=case.age, rows=200, columns=164),
        )
        for case in cases
    }
    return [
        with_report_from(exam, facts[exam.case.report_from_exam]) if exam.case.report_from_exam else exam
        for exam in facts.values()
    ]


@pytest.fixture(scope="module")
def written_questions(exams):
    return write_questions(exams, seed=1)


@pytest.fixture(scope="module")
def planted(written_questions):
    return plant_errors(written_questions, seed=1)


def test_every_format_task_and_tier_is_there(written_questions):
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
        names = (
            {written_question.facts.frontal, "lateral"}
            if written_question.facts.lateral
            else {written_question.facts.frontal}
        )
        assert {box.radiograph for box in written_question.question.boxes} <= names


def test_presence_questions_are_answered_by_the_rendered_findings(written_questions):
    for written_question in written_questions:
        for kind in FindingKind:
            stem = f"Does this examination show {TERMS[kind].with_article}?"
            if written_question.question.stem == stem:
                assert (written_question.question.answer == "yes") == bool(
                    written_question.facts.visible_of_kind(kind)
                )


def test_no_question_is_about_a_finding_missing_from_the_report(written_questions):
    with_unreported_finding = [
        written_question for written_question in written_questions if written_question.facts.unreported
    ]
    assert with_unreported_finding
    for written_question in with_unreported_finding:
        term = TERMS[written_question.facts.unreported[0].kind]
        texts = (written_question.question.stem, *written_question.question.options)
        assert not any(term.after_no in text.lower() for text in texts)


def test_the_same_seed_writes_the_same_questions(exams, written_questions):
    assert write_questions(exams, seed=1) == written_questions


def test_reports_name_all_findings_except_unreported_ones(exams):
    for facts in exams:
        report = write_report(facts, seed=1)
        for finding in facts.visible:
            report_word = {"cardiomegaly": "heart", "nodule": "nodule"}.get(
                str(finding.kind), str(finding.kind).split()[-1]
            )
            assert report_word in report.lower() or "silhouette" in report
        for finding in facts.unreported:
            assert TERMS[finding.kind].after_no not in report.lower()


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


def test_the_mended_question_is_the_original_one(written_questions, planted):
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


def test_simulated_verdicts_are_valid_and_corrections_mend_errors(planted):
    rng = random.Random(5)  # noqa: S311 - seeded on purpose
    for question in planted.questions:
        error = planted.planted.get(question.id)
        verdict = simulate_verdict(question, error, rng=rng, all_parts=True)
        check_decision(verdict.decision, verdict.opinion)
        if verdict.decision is Decision.REVISE and verdict.opinion.errors:
            assert apply_correction(question, verdict.opinion.correction) == error.corrected


def test_a_simulated_image_alignment_verdict_has_no_other_rating(planted):
    rng = random.Random(5)  # noqa: S311 - seeded on purpose
    for question in planted.questions[:60]:
        opinion = simulate_verdict(
            question, planted.planted.get(question.id), rng=rng, all_parts=False
        ).opinion
        assert opinion.ratings.image_alignment is not None
        assert opinion.ratings.clinical_quality is None
        assert opinion.correction.is_empty()


def test_tube_tips_are_at_plausible_distances(exams):
    tips = [exam.tip_mm for exam in exams if exam.visible_of_kind(FindingKind.ENDOTRACHEAL_TUBE)]
    assert tips
    assert all(20 < tip < 70 for tip in tips)
    assert DEVICES


#: Kind of planted error: the screen that is meant for it, and how many of the planted it finds here.
SCREENED = {
    ErrorKind.COMPARISON: Check.COMPARISON,
    ErrorKind.WRONG_LOCATION: Check.SIDE,
    ErrorKind.NOT_IN_REPORT: Check.NOT_IN_REPORT,
    ErrorKind.SEVERAL_CORRECT: Check.SEVERAL_RIGHT,
    ErrorKind.ANSWER_REVEALED: Check.ANSWER_REVEALED,
}


def screen_planted(planted, exams):
    """The kinds of planted errors (None: correct) of the questions that each screen reports."""
    reports = {exam.exam_id: write_report(exam, seed=1) for exam in exams}
    reported: dict[Check, Counter[ErrorKind | None]] = {check: Counter() for check in SCREENED.values()}
    for question in planted.questions:
        error = planted.planted.get(question.id)
        checked = CheckedQuestion(question=question, expected=COMPLETE, report=reports[question.exam_id])
        for check, counts in reported.items():
            if apply_check(check, checked, {}).problem is not None:
                counts[error.kind if error else None] += 1
    return reported


def test_the_screens_report_planted_errors_and_hardly_any_correct_question(planted, exams):
    reported = screen_planted(planted, exams)
    found = {kind.value: reported[check][kind] for kind, check in SCREENED.items()}
    assert found == {
        "comparison with a prior": 8,
        "wrong side or place": 6,
        "finding not in the report": 3,
        "more than one right answer": 1,
        "stem gives the answer away": 7,
    }
    assert {check.value: counts[None] for check, counts in reported.items() if counts[None]} == {
        "not in the report": 1  # "free air in the pleural space" is read as free air under the diaphragm
    }
