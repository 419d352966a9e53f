"""Questions from templates: every key and every distractor follows from the facts."""

import json
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import AlreadyThere, InvalidValue
from domain.expectations import COMPLETE
from domain.vocabulary import AnswerFormat, Task
from generation.source_exams import CodedFinding, CodeSystem, SourceExam, SourceImage
from generation.sources import load_source
from generation.templates.drafts import DraftWriter
from generation.templates.exam_facts import collect_facts
from generation.templates.question_file import (
    GenerationCounts,
    generate_questions,
    write_question_file,
)
from generation.templates.questions import draft_questions
from generation.templates.selection import MAX_PER_FORMAT, PER_EXAM
from quality.structural_checks import check_question
from terminology.findings import load_findings
from tests.unit.generation_sources import make_region, write_openi, write_scene_graph

#: The finding that each label of a source stands for.
LABELS = {
    "Effusion": "pleural_effusion",
    "Pneumothorax": "pneumothorax",
    "Consolidation": "consolidation",
    "Atelectasis": "atelectasis",
    "Cardiomegaly": "cardiomegaly",
    "Edema": "pulmonary_edema",
    "Emphysema": "emphysema",
    "Hernia": "hiatal_hernia",
    "Fracture": "fracture",
    "Mass": "mass",
    "low lung volumes": "low_lung_volumes",
    "tortuous aorta": "tortuous_aorta",
    "mediastinal widening": "wide_mediastinum",
}
STATES = st.dictionaries(st.sampled_from(sorted(LABELS)), st.booleans())


def make_exam(states):
    return SourceExam(
        id="e-1",
        file="test",
        record="1",
        images=(SourceImage(id="pa", file="pa.png"),),
        codes=tuple(
            CodedFinding(system=CodeSystem.LABEL, code=label, present=present)
            for label, present in states.items()
        ),
    )


def write_questions(exam, *, seed=1, counts=None):
    return [generated.question for generated in generate_questions(exam, seed=seed, counts=counts)]


def make_random():
    return random.Random(1)  # noqa: S311 - seeded on purpose, nothing secret


def list_true_and_false_options(facts):
    """Return options of present and of absent findings, then true and false statements, by the facts."""
    terms = load_findings()
    present = {terms[name].option for name in facts.present}
    absent = {terms[name].option for name in facts.absent}
    true = {terms[name].present for name in facts.present} | {terms[name].absent for name in facts.absent}
    false = {terms[name].absent for name in facts.present} | {terms[name].present for name in facts.absent}
    return present, absent, true, false


@settings(max_examples=60, deadline=None)
@given(STATES)
def test_every_option_is_true_or_false_by_the_facts(states):
    exam = make_exam(states)
    facts = collect_facts(exam)
    present, absent, true, false = list_true_and_false_options(facts)
    writer = DraftWriter(facts=facts, random=make_random())
    for draft in draft_questions(writer):
        if not draft.options:
            continue
        key_options = {option for index, option in enumerate(draft.options) if index in draft.answer}
        distractors = set(draft.options) - key_options
        assert len(draft.options) == len(set(draft.options)) == 4
        assert key_options
        assert distractors
        if "statement" in draft.template:
            assert key_options <= true
            assert distractors <= false
        elif "absence" in draft.template or draft.template == "multiple diagnoses":
            assert key_options <= absent
            assert distractors <= present
        else:
            assert key_options <= present
            assert distractors <= absent


@settings(max_examples=60, deadline=None)
@given(STATES)
def test_closed_questions_have_the_answer_of_the_facts(states):
    facts = collect_facts(make_exam(states))
    for draft in draft_questions(DraftWriter(facts=facts, random=make_random())):
        if draft.format is AnswerFormat.CLOSED:
            (name,) = draft.findings
            is_present = name in facts.present
            asks_for_absence = draft.template == "closed negation"
            assert draft.answer == ("yes" if is_present != asks_for_absence else "no")


@settings(max_examples=60, deadline=None)
@given(STATES)
def test_findings_of_one_group_are_never_in_one_question(states):
    facts = collect_facts(make_exam(states))
    for draft in draft_questions(DraftWriter(facts=facts, random=make_random())):
        if draft.options:
            groups = [load_findings()[name].group for name in draft.findings]
            assert len(groups) == len(set(groups))


@settings(max_examples=40, deadline=None)
@given(STATES, st.integers(0, 3))
def test_an_exam_has_at_most_the_planned_questions_per_format_and_none_has_a_problem(states, seed):
    counts = GenerationCounts()
    questions = write_questions(make_exam(states), seed=seed, counts=counts)
    formats = Counter(question.format for question in questions)
    assert all(formats[format_] <= number for format_, number in PER_EXAM.items())
    assert len({question.stem for question in questions}) == len(questions)
    assert len({question.id for question in questions}) == len(questions)
    for question in questions:
        assert question.source.generator == "template"
        assert check_question(question, expected=COMPLETE, minimum_explanation=20) == ()
    assert questions == write_questions(make_exam(states), seed=seed)


def test_a_rich_record_gives_all_four_formats_and_five_tasks(tmp_path):
    write_openi(
        tmp_path,
        {
            "MeSH": "Pleural Effusion/left/small;Pulmonary Emphysema;Lung/hyperdistention",
            "findings": (
                "Small left pleural effusion. Lungs are hyperinflated. Emphysema. No pneumothorax. Trachea "
                "is midline. Heart size normal. No pneumonia, edema or masses. No free air. "
                "No acute bony abnormality."
            ),
            "impression": "Emphysema.",
        },
    )
    (exam,) = load_source("openi-csv", tmp_path).exams
    drafts = list(draft_questions(DraftWriter(facts=collect_facts(exam), random=make_random())))
    assert {draft.format for draft in drafts} == set(AnswerFormat)
    assert {draft.task for draft in drafts} == set(Task)
    questions = write_questions(exam)
    assert Counter(question.format for question in questions) == Counter(PER_EXAM)
    assert {question.task for question in questions} == set(Task)


@settings(max_examples=40, deadline=None)
@given(STATES)
def test_the_evidence_of_a_question_covers_each_finding_that_its_options_name(states):
    terms = load_findings()
    texts = {
        text: name
        for name in LABELS.values()
        for text in (terms[name].option, terms[name].present, terms[name].absent)
    }
    for generated in generate_questions(make_exam(states), seed=1, source="nih"):
        question, provenance = generated.question, generated.provenance
        evidence_findings = {(fact.finding, fact.present) for fact in provenance.evidence}
        named_findings = {texts[option] for option in question.options if option in texts}
        assert (provenance.source, provenance.record, provenance.calls) == ("nih", "e-1", ())
        assert evidence_findings
        assert named_findings <= {finding for finding, _ in evidence_findings}


def test_the_evidence_of_an_absent_finding_is_the_sentence_and_the_rule(tmp_path):
    write_openi(tmp_path, {"MeSH": "normal", "findings": "The heart size is normal.", "impression": ""})
    (exam,) = load_source("openi-csv", tmp_path).exams
    evidence = collect_facts(exam).list_evidence("cardiomegaly")
    assert [(item.kind.value, item.text, item.present) for item in evidence] == [
        ("sentence", "The heart size is normal.", None),
        ("rule", "A heart of normal size is not enlarged.", False),
    ]


def test_the_tier_follows_from_format_and_task():
    facts = collect_facts(make_exam(dict.fromkeys(LABELS, False)))
    tiers = {
        (draft.format.value, draft.task is Task.DIFFERENTIAL): draft.difficulty.value
        for draft in draft_questions(DraftWriter(facts=facts, random=make_random()))
    }
    assert tiers["closed", False] == tiers["closed", True] == "easy"
    assert tiers["single", False] == tiers["open", False] == "medium"
    assert tiers["multiple", False] == "hard"


def test_questions_that_lack_facts_are_not_built_but_counted():
    counts = GenerationCounts()
    questions = write_questions(make_exam({"Pneumothorax": False}), counts=counts)
    assert {question.format for question in questions} == {AnswerFormat.CLOSED}
    assert counts.complete == 0
    assert counts.not_built["single statement: fewer than 3 distractors are ruled out"] == 4


def test_an_exam_without_facts_gives_no_question_and_is_counted():
    counts = GenerationCounts()
    assert write_questions(make_exam({}), counts=counts) == []
    assert (counts.exams, counts.without_questions) == (1, 1)


def test_questions_on_a_region_have_its_boxes_on_the_grid_of_the_source(tmp_path):
    write_scene_graph(
        tmp_path,
        make_region("left lung", (120, 20, 200, 180), "anatomicalfinding|yes|atelectasis"),
    )
    (exam,) = load_source("scene-graphs", tmp_path).exams
    questions = write_questions(exam)
    assert {question.answer for question in questions if question.stem.startswith("On which side")} <= {
        "On the left"
    }
    (box,) = next(question.boxes for question in questions if question.boxes)
    assert (box.label, box.box.as_tuple(), box.grid.width) == ("left lung", (120, 20, 200, 180), 224)


def draft_zone_questions(tmp_path, *zones):
    write_scene_graph(
        tmp_path,
        *(make_region(zone, (120, 20, 200, 80), "anatomicalfinding|yes|lung nodule") for zone in zones),
    )
    (exam,) = load_source("scene-graphs", tmp_path).exams
    return {draft.template: draft for draft in draft_questions(make_writer(collect_facts(exam)))}


def make_writer(facts):
    return DraftWriter(facts=facts, random=make_random())


def test_the_options_for_a_zone_leave_out_its_neighbouring_zones(tmp_path):
    drafts = draft_zone_questions(tmp_path, "left upper lung zone")
    single = drafts["single zone"]
    assert single.stem == "Where is the pulmonary nodule?"
    assert single.options[single.answer[0]] == "In the left upper lung zone"
    assert "In the right upper lung zone" in single.options
    assert "In the left mid lung zone" not in single.options
    assert drafts["open zone"].answer == "Left upper lung zone"


def test_nodules_in_two_zones_have_no_question_on_the_zone(tmp_path):
    drafts = draft_zone_questions(tmp_path, "left upper lung zone", "left lower lung zone")
    assert not {"single zone", "open zone"} & drafts.keys()
    assert drafts["open side"].answer == "On the left"


def test_devices_of_a_scene_graph_are_asked_about(tmp_path):
    write_scene_graph(
        tmp_path, make_region("trachea", (90, 5, 110, 60), "tubesandlines|yes|endotracheal tube")
    )
    (exam,) = load_source("scene-graphs", tmp_path).exams
    drafts = draft_questions(make_writer(collect_facts(exam)))
    answers = {draft.stem: draft.answer for draft in drafts}
    assert answers["Is there an endotracheal tube?"] == "yes"


def test_the_explanation_of_statements_describes_the_correct_ones_and_corrects_the_others():
    facts = collect_facts(
        make_exam({"Effusion": True, "Cardiomegaly": False, "Mass": False, "Hernia": False})
    )
    terms = load_findings()
    drafts = [draft for draft in draft_questions(make_writer(facts)) if draft.template == "single statement"]
    assert drafts
    for draft in drafts:
        right, *wrong = draft.findings
        assert draft.explanation.startswith(terms[right].sign)
        for name in wrong:
            assert (terms[name].sign in draft.explanation) == (name in facts.present)


# --------------------------------------------------------------------------------------------------- number
def test_more_questions_per_exam_are_written_on_request():
    exam = make_exam(dict.fromkeys(LABELS, False))
    per_exam = {AnswerFormat.CLOSED: 12, AnswerFormat.OPEN: 1}
    questions = [generated.question for generated in generate_questions(exam, seed=1, per_exam=per_exam)]
    assert Counter(question.format for question in questions) == Counter(per_exam)
    assert Counter(
        question.answer for question in questions if question.format is AnswerFormat.CLOSED
    ) == Counter(yes=6, no=6)


@pytest.mark.parametrize("count", [-1, MAX_PER_FORMAT + 1])
def test_a_number_of_questions_out_of_range_is_refused(tmp_path, count):
    with pytest.raises(InvalidValue, match=f"from 0 to {MAX_PER_FORMAT}"):
        write_question_file(tmp_path / "q.jsonl", [], seed=1, per_exam={AnswerFormat.OPEN: count})


def test_a_request_for_no_questions_is_refused(tmp_path):
    with pytest.raises(InvalidValue, match="at least 1"):
        write_question_file(tmp_path / "q.jsonl", [], seed=1, per_exam=dict.fromkeys(AnswerFormat, 0))


# --------------------------------------------------------------------------------------------------- file
def test_the_file_is_complete_or_does_not_exist(tmp_path):
    class BrokenError(Exception):
        pass

    def exams():
        yield make_exam({"Pneumothorax": False})
        raise BrokenError

    path = tmp_path / "questions.jsonl"
    with pytest.raises(BrokenError):
        write_question_file(path, exams(), seed=1)
    assert list(tmp_path.iterdir()) == []
    write_question_file(path, [make_exam({"Pneumothorax": False})], seed=1)
    with pytest.raises(AlreadyThere, match="exists already"):
        write_question_file(path, [make_exam({"Edema": True})], seed=1)
    assert "edema" not in path.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [path]


def test_the_comparison_section_of_the_report_is_left_out_on_request(tmp_path):
    exams = load_source("openi-csv", write_openi(tmp_path / "source")).exams
    for comparison in (True, False):
        path = tmp_path / f"{comparison}.jsonl"
        write_question_file(path, exams, seed=1, comparison=comparison)
        reports = {json.loads(line)["report"] for line in path.read_text(encoding="utf-8").splitlines()}
        (report,) = reports
        assert ("COMPARISON" in report) == comparison


def test_the_explanation_states_the_place_of_the_finding_and_the_conclusion(tmp_path):
    write_openi(
        tmp_path,
        {
            "MeSH": "Diaphragm/right/elevated",
            "findings": "The right hemidiaphragm is elevated. Lungs are clear. No pneumothorax or effusion.",
            "impression": "No acute disease.",
        },
    )
    (exam,) = load_source("openi-csv", tmp_path).exams
    writer = DraftWriter(facts=collect_facts(exam), random=make_random())
    explanations = {draft.template: draft.explanation for draft in draft_questions(writer)}
    assert explanations["open side"].endswith("Elevation of a hemidiaphragm is seen on the right.")
    assert explanations["open conclusion"].endswith("No acute cardiopulmonary disease is seen.")
