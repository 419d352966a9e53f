"""Corrections: what they change, and what they leave unchanged."""

from domain.corrections import Correction, apply_correction, drop_unchanged, list_changes
from domain.questions import Question
from domain.vocabulary import AnswerFormat


def make_question(**values):
    return Question(
        **{
            "id": "q1",
            "exam_id": "e1",
            "format": AnswerFormat.SINGLE,
            "stem": "Which finding is there?",
            "options": ("Nodule", "Effusion", "Pneumothorax"),
            "answer": (0,),
            **values,
        }
    )


def test_unchanged_values_are_no_correction():
    unchanged = Correction(stem="Which finding is there?", answer=(0,))
    assert drop_unchanged(make_question(), unchanged).is_empty()


def test_restating_the_key_removes_the_alternative_answers():
    with_alternative = make_question(also_right=((2,),))
    correction = drop_unchanged(with_alternative, Correction(answer=(0,)))
    assert [
        (change.field, change.before, change.after) for change in list_changes(with_alternative, correction)
    ] == [("also_right", ((2,),), ())]


def test_rewording_an_option_keeps_alternative_answers():
    with_alternative = make_question(also_right=((2,),))
    reworded = apply_correction(
        with_alternative, Correction(options=("Nodule", "Effusion", "Apical pneumothorax"))
    )
    assert reworded.also_right == ((2,),)


def test_removing_an_option_removes_the_alternative_answers():
    with_alternative = make_question(also_right=((2,),))
    shorter = apply_correction(with_alternative, Correction(options=("Nodule", "Pneumothorax")))
    assert shorter.also_right == ()


def test_a_change_names_the_field_and_both_values():
    changes = list_changes(make_question(), Correction(answer=(1,)))
    assert [(change.field, change.before, change.after) for change in changes] == [("answer", (0,), (1,))]
