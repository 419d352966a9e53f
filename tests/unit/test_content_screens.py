"""The rule-based screens: what each reports, and what looks similar and passes."""

import pytest

from domain.boxes import Box, BoxFit, BoxGrid, LabelledBox
from domain.questions import Question
from domain.vocabulary import AnswerFormat, Task, View
from quality.content_screens import (
    ImageGeometry,
    entails,
    screen_answer_revealed,
    screen_not_in_report,
    screen_several_correct,
    screen_side,
)
from terminology.findings import load_findings
from terminology.mentions import find_mentions, group_terms, read_mentions, read_text, split_sentences

PRESENT = "Which of the following is present on this radiograph?"
REPORT = (
    "Small left pleural effusion. Mild cardiomegaly. No pneumothorax. There is neither fracture nor "
    "consolidation."
)


def make_single_choice(stem=PRESENT, options=("Effusion", "Pneumothorax", "Fracture", "Emphysema"), **fields):
    return Question(
        id="q", exam_id="e", format=AnswerFormat.SINGLE, stem=stem, options=options, answer=(0,), **fields
    )


def make_question(stem, answer, **fields):
    closed = answer in ("yes", "no")
    format_ = AnswerFormat.CLOSED if closed else AnswerFormat.OPEN
    return Question(id="q", exam_id="e", format=format_, stem=stem, options=(), answer=answer, **fields)


def reason_of(problem):
    return None if problem is None else f"{problem.field} {problem.reason}"


# ------------------------------------------------------------------------------------ several right answers
@pytest.mark.parametrize(
    ("specific", "general"),
    [
        ("Left pleural effusion", "Pleural effusion"),
        ("Large right-sided pneumothorax", "Pneumothorax"),
        ("Bilateral effusions", "Right effusion"),
        ("Cardiomegaly", "Enlarged heart"),
        ("Left lower lung zone", "Left lung"),
        ("Pneumothorax", "pneumothorax"),
    ],
)
def test_a_more_specific_option_entails_the_general_one(specific, general):
    assert entails(specific, general)


@pytest.mark.parametrize(
    ("option", "other_option"),
    [
        ("Pleural effusion", "Left pleural effusion"),
        ("Pleural effusion", "No pleural effusion"),
        ("Left pleural effusion", "Right pleural effusion"),
        ("Left upper lobe", "Left lower lobe"),
        ("Calcified granuloma", "Calcified aorta"),
        ("Normal heart size", "Heart size"),
        ("", "Effusion"),
    ],
)
def test_an_option_does_not_entail_a_more_specific_or_different_option(option, other_option):
    assert not entails(option, other_option)


def test_an_option_that_follows_from_the_key_is_right_as_well():
    question = make_single_choice(options=("Left pleural effusion", "Fracture", "Pleural effusion", "Mass"))
    assert reason_of(screen_several_correct(question, None)) == (
        "options C 'Pleural effusion' follows from the key 'Left pleural effusion'"
    )


def test_an_option_that_the_report_states_is_right_as_well():
    question = make_single_choice(options=("Pleural effusion", "Cardiomegaly", "Mass", "Emphysema"))
    assert reason_of(screen_several_correct(question, REPORT)) == (
        "options B 'Cardiomegaly' is stated in the report, too"
    )
    assert screen_several_correct(make_single_choice(), REPORT) is None


@pytest.mark.parametrize(
    "stem",
    [
        "Which finding is NOT present on this radiograph?",
        "Which of these is absent?",
        "All are seen except which?",
    ],
)
def test_a_finding_that_the_report_does_not_mention_is_absent_as_well(stem):
    """ReXVQA's most frequent error: questions about absence with findings that no report names."""
    question = make_single_choice(stem, ("Pneumothorax", "Pleural effusion", "Cardiomegaly", "Emphysema"))
    assert reason_of(screen_several_correct(question, REPORT)) == (
        "options D 'Emphysema' is absent as well: the report does not mention it"
    )


def test_a_finding_that_the_report_negates_is_absent_as_well():
    question = make_single_choice(
        "Which is not seen?",
        ("Pneumothorax", "Pleural effusion", "Cardiomegaly", "Rib fracture"),
        task=Task.NEGATION,
    )
    assert reason_of(screen_several_correct(question, REPORT)) == (
        "options D 'Rib fracture' is absent as well: the report negates it"
    )


def test_a_question_about_absence_with_present_distractors_passes():
    question = make_single_choice(
        "Which is not seen?", ("Pneumothorax", "Pleural effusion", "Cardiomegaly", "Heart failure")
    )
    question_with_two = make_single_choice(
        "Which is not seen?", ("Pneumothorax", "Left pleural effusion", "Cardiomegaly")
    )
    assert screen_several_correct(question_with_two, REPORT) is None
    assert (
        screen_several_correct(question, "Pleural effusion, cardiomegaly and congestive heart failure.")
        is None
    )


def test_all_of_the_above_is_no_second_answer():
    question = make_single_choice(options=("All of the above", "Effusion", "Cardiomegaly", "Mass"))
    assert screen_several_correct(question, REPORT) is None


# ------------------------------------------------------------------------------------- what the report says
@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (
            make_question("Is there a pneumothorax?", "yes"),
            "stem names pneumothorax, which the report negates",
        ),
        (
            make_question("Is there emphysema?", "yes"),
            "stem names pulmonary emphysema, which the report does not mention",
        ),
        (
            make_question("Where is the pneumothorax?", "apex"),
            "stem names pneumothorax, which the report negates",
        ),
        (
            make_single_choice(options=("Emphysema", "Mass")),
            "options names pulmonary emphysema, which the report does not mention",
        ),
        (
            make_single_choice(explanation="There is emphysema as well as an effusion."),
            "explanation names pulmonary emphysema, which the report does not mention",
        ),
        (make_question("Is there a pneumothorax?", "no"), None),
        (make_question("Is there a pneumothorax?", "No, none is seen"), None),
        (make_question("Is there no pneumothorax?", "yes"), None),
        (make_question("Is there a pleural effusion?", "yes"), None),
        (make_question("What can cause a pleural effusion?", "Heart failure"), None),
        (make_question("Which finding is absent?", "Emphysema"), None),
        # The explanation of a template describes how a finding looks.
        (make_single_choice(explanation="Emphysema shows lucent, enlarged lungs with sparse vessels."), None),
    ],
)
def test_findings_that_a_question_takes_as_present_must_be_in_the_report(question, reason):
    assert reason_of(screen_not_in_report(question, REPORT)) == reason


def test_neither_negates_both_findings():
    """An earlier version took the findings of "neither fracture nor consolidation" as stated."""
    polarities = {
        m.finding: m.polarity for m in read_mentions("There is neither pneumothorax nor pleural effusion.")
    }
    assert {str(polarity) for polarity in polarities.values()} == {"negated"}


# ---------------------------------------------------------------------------------------------------- sides
@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (
            make_question(
                "Where is the mass?", "Left lung", explanation="A mass is seen in the right upper lobe."
            ),
            "explanation names the right side, but the answer names the left side",
        ),
        (
            make_question("Where in the right lung is the mass?", "Left upper lobe"),
            "answer names the left side, but the stem names the right side",
        ),
        (
            make_question("Where is it?", "Left upper lobe", explanation="In the left lower lobe."),
            "explanation names the lower part, but the answer names the upper part",
        ),
        (
            make_question("Is the mass on the left?", "yes", explanation="A mass on the right."),
            "explanation names the right side, but the stem names the left side",
        ),
        (make_question("Is the mass on the left?", "no", explanation="The mass is on the right."), None),
        (make_question("Is it on the left or on the right?", "Left", explanation="On the left."), None),
        (make_question("Where is it?", "Left lung", explanation="Both lungs are affected."), None),
        (
            make_question(
                "What is enlarged?", "Left atrium", explanation="The right heart border is double."
            ),
            None,
        ),
        (
            make_question(
                "Where is the trachea?", "Deviated to the right", explanation="A left pneumothorax."
            ),
            None,
        ),
    ],
)
def test_the_parts_of_a_question_must_agree_on_the_side(question, reason):
    assert reason_of(screen_side(question)) == reason


def test_the_side_in_the_report_counts_only_for_the_same_finding():
    question = make_question("Name the side of the pleural effusion.", "Right")
    assert (
        reason_of(screen_side(question, (), REPORT))
        == "answer names the right side, but the report names the left side"
    )
    assert screen_side(make_question("Name the side of the mass.", "Right"), (), REPORT) is None


FRONTAL = ImageGeometry(radiograph="pa", view=View.PA, columns=200)


def make_box(x_min, x_max, *, label="left lung", grid=None):
    box = Box(x_min=x_min, y_min=10, x_max=x_max, y_max=50)
    return LabelledBox(radiograph="pa", label=label, box=box, grid=grid)


@pytest.mark.parametrize(
    ("box", "image", "reason"),
    [
        (
            make_box(10, 60),
            FRONTAL,
            "boxes lies on the patient's right, but its label or the key names the left side",
        ),
        (make_box(120, 180), FRONTAL, None),
        (make_box(10, 150), FRONTAL, None),  # it reaches across the middle
        (make_box(10, 60), ImageGeometry(radiograph="pa", view=View.LATERAL, columns=200), None),
        (make_box(10, 60), ImageGeometry(radiograph="pa", view=View.PA, columns=None), None),
        (make_box(10, 60, label="bilateral lung"), FRONTAL, None),
        (
            make_box(130, 180, label="right lung", grid=BoxGrid(width=224, height=224, fit=BoxFit.LETTERBOX)),
            ImageGeometry(radiograph="pa", view=View.AP, columns=None),
            "boxes lies on the patient's left, but its label or the key names the right side",
        ),
    ],
)
def test_a_box_must_lie_on_the_side_of_its_label(box, image, reason):
    question = make_question("What is seen?", "Opacity", boxes=(box,))
    assert reason_of(screen_side(question, (image,))) == reason


# ------------------------------------------------------------------------------------------ answer revealed
@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (
            make_single_choice("Which finding shows the meniscus of an effusion?"),
            "stem contains what only the key has: effusion",
        ),
        (make_question("Is the heart enlarged? - Yes", "yes"), "stem ends with an answer"),
        (make_single_choice("Is it an effusion or a pneumothorax?"), None),
        (make_single_choice("Effusion, pneumothorax, fracture: which is seen?"), None),
        (make_single_choice(), None),
        (make_question("Is there an effusion?", "yes"), None),
    ],
)
def test_a_stem_must_not_contain_its_answer(question, reason):
    assert reason_of(screen_answer_revealed(question)) == reason


def test_the_fast_search_finds_the_mentions_of_each_pattern():
    text = " ".join(
        f"There is {term.with_article}. No {term.noun} is seen. {term.sign}"
        for term in load_findings().values()
    )
    found_by_pattern = [
        mention
        for sentence in split_sentences(text)
        for term in load_findings().values()
        for mention in find_mentions(sentence, term)
    ]
    assert list(read_mentions(text)) == found_by_pattern
    assert len({mention.finding for mention in found_by_pattern}) == len(load_findings())


def test_searches_for_each_finding_give_the_mentions_of_one_search_for_all():
    text = (
        "Small left pleural effusion. Bibasilar opacities may be atelectasis or pneumonia. No large "
        "pneumothorax; heart size is normal. The mediastinum is not widened. Stable calcified granuloma."
    )
    together = read_mentions(text)
    one_by_one = [m for name in load_findings() for m in read_text(text).find(group_terms(frozenset({name})))]
    assert len(together) >= 8
    assert sorted(one_by_one, key=repr) == sorted(together, key=repr)
    assert list(read_text(text).find(group_terms(frozenset(load_findings())))) == list(together)
