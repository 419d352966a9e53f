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
from domain.corrections import apply_correction
from domain.verdicts import Decision, ErrorKind, check_decision
from domain.vocabulary import AnswerFormat, Difficulty, Task
from quality.checks import check_question

pytestmark = pytest.mark.full

# Normal, nodule, heart and fluid, free air, devices, and each way in which report and image differ.
NUMBERS = (1, 3, 4, 5, 7, 10, 11, 12, 15, 24, 27, 32, 36)


@pytest.fixture(scope="module")
def exams() -> list[ExamFacts]:
    cases = [case for case in CASES if case.number in NUMBERS]
    facts = {
        case.number: collect_facts(
            case,
            render_exam(case.seed, findings=case.findings, sex=case.sex, age=case.age, rows=200, columns=164),
        )
        for case in cases
    }
    return [
        with_report_from(each, facts[each.case.report_from_exam]) if each.case.report_from_exam else each
        for each in facts.values()
    ]


@pytest.fixture(scope="module")
def written(exams):
    return write_questions(exams, seed=1)


@pytest.fixture(scope="module")
def planted(written):
    return plant_errors(written, seed=1)


def test_every_format_task_and_tier_is_there(written):
    questions = [each.question for each in written]
    assert {each.format for each in questions} == set(AnswerFormat)
    assert {each.task for each in questions} == set(Task)
    assert {each.difficulty for each in questions} == set(Difficulty)


def test_the_tiers_are_of_different_sizes(written):
    sizes = sorted(Counter(each.question.difficulty for each in written).values())
    assert sizes[0] < 0.8 * sizes[-1]


def test_no_stem_comes_twice_on_an_exam(written):
    stems = Counter((each.question.exam_id, each.question.stem) for each in written)
    assert stems.most_common(1)[0][1] == 1


def test_no_option_comes_twice_in_a_question(written):
    assert all(len(set(each.question.options)) == len(each.question.options) for each in written)


def test_choice_questions_have_four_options(written):
    assert {len(each.question.options) for each in written} == {0, 4}


def test_sound_questions_pass_the_structural_checks(written):
    found = [check_question(each.question, minimum_explanation=20) for each in written]
    assert not any(found)


def test_boxes_lie_on_the_exams_own_radiographs(written):
    for each in written:
        names = {each.facts.frontal, "lateral"} if each.facts.lateral else {each.facts.frontal}
        assert {box.radiograph for box in each.question.boxes} <= names


def test_whether_a_finding_is_there_is_answered_by_what_was_put_in(written):
    for each in written:
        for kind in FindingKind:
            stem = f"Does this examination show {TERMS[kind].with_article}?"
            if each.question.stem == stem:
                assert (each.question.answer == "yes") == bool(each.facts.visible_of_kind(kind))


def test_a_finding_that_the_report_leaves_out_is_never_asked_about(written):
    quiet = [each for each in written if each.facts.unreported]
    assert quiet
    for each in quiet:
        term = TERMS[each.facts.unreported[0].kind]
        texts = (each.question.stem, *each.question.options)
        assert not any(term.after_no in text.lower() for text in texts)


def test_the_same_seed_writes_the_same_questions(exams, written):
    assert write_questions(exams, seed=1) == written


def test_reports_name_every_finding_that_they_do_not_leave_out(exams):
    for facts in exams:
        report = write_report(facts, seed=1)
        for seen in facts.visible:
            word = {"cardiomegaly": "heart", "nodule": "nodule"}.get(
                str(seen.kind), str(seen.kind).split()[-1]
            )
            assert word in report.lower() or "silhouette" in report
        for seen in facts.unreported:
            assert TERMS[seen.kind].after_no not in report.lower()


def test_indications_give_nothing_away():
    words = {
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
        assert not words & set(case.indication.lower().replace(".", "").replace(",", "").split())


def test_eight_exams_or_more_show_nothing():
    assert sum(not case.findings for case in CASES) >= 8


def test_two_exams_of_one_patient_are_of_the_same_sex_and_no_year_apart_backwards():
    by_patient = itertools.groupby(
        sorted(CASES, key=lambda case: (case.patient, case.number)), lambda c: c.patient
    )
    several = [list(cases) for _, cases in by_patient]
    twice = [cases for cases in several if len(cases) > 1]
    assert twice
    for cases in twice:
        assert len({case.sex for case in cases}) == 1
        assert [case.age for case in cases] == sorted(case.age for case in cases)


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_each_kind_of_error_is_planted(planted, kind):
    assert sum(each.kind is kind for each in planted.planted.values()) >= min(QUESTIONS_PER_ERROR, 3)


def test_each_fault_for_the_checks_is_planted(planted):
    assert set(Counter(planted.faults.values()).values()) == {QUESTIONS_PER_FAULT}


def test_the_checks_find_all_planted_faults_and_nothing_else(planted):
    found = {each.id for each in planted.questions if check_question(each, minimum_explanation=20)}
    assert found == set(planted.faults)


def test_every_planted_error_changes_its_question_or_its_exam_has_a_strange_report(written, planted):
    sound = {each.question.id: each.question for each in written}
    for name, each in planted.planted.items():
        assert (each.question == sound[name]) == (each.kind is ErrorKind.EXAM_MISMATCH)


def test_the_question_as_it_should_be_is_the_sound_one(written, planted):
    sound = {each.question.id: each.question for each in written}
    for name, each in planted.planted.items():
        assert each.corrected is None or each.corrected == sound[name]


def test_no_stem_comes_twice_on_an_exam_after_planting(planted):
    stems = Counter((each.exam_id, each.stem) for each in planted.questions)
    assert stems.most_common(1)[0][1] == 1


def test_the_hidden_key_names_every_error_and_fault(planted):
    assert set(planted.build_answer_key()) == set(planted.planted) | set(planted.faults)


def test_simulated_verdicts_stand_and_corrections_mend(planted):
    source = random.Random(5)  # noqa: S311 - seeded on purpose
    for question in planted.questions:
        known = planted.planted.get(question.id)
        judged = simulate_verdict(question, known, rng=source, all_parts=True)
        check_decision(judged.decision, judged.opinion)
        if judged.decision is Decision.REVISE and judged.opinion.errors:
            assert apply_correction(question, judged.opinion.correction) == known.corrected


def test_a_simulated_verdict_on_image_alignment_rates_nothing_else(planted):
    source = random.Random(5)  # noqa: S311 - seeded on purpose
    for question in planted.questions[:60]:
        opinion = simulate_verdict(
            question, planted.planted.get(question.id), rng=source, all_parts=False
        ).opinion
        assert opinion.ratings.image_alignment is not None
        assert opinion.ratings.clinical_quality is None
        assert opinion.correction.is_empty()


def test_devices_are_described_at_their_place(exams):
    tips = [each.tip_mm for each in exams if each.visible_of_kind(FindingKind.ENDOTRACHEAL_TUBE)]
    assert tips
    assert all(20 < tip < 70 for tip in tips)
    assert DEVICES
