"""Corrections: what they change, and what they leave unchanged."""

from domain.corrections import Correction, apply_correction, drop_unchanged, list_changes
from domain.questions import Question
from domain.vocabulary import AnswerFormat


def question(**values):
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


def test_values_that_equal_the_questions_own_are_no_correction():
    same = Correction(stem="Which finding is there?", answer=(0,))
    assert drop_unchanged(question(), same).is_empty()


def test_the_same_key_stated_again_takes_the_further_right_answers_away():
    either = question(also_right=((2,),))
    only = drop_unchanged(either, Correction(answer=(0,)))
    assert [(each.field, each.before, each.after) for each in list_changes(either, only)] == [
        ("also_right", ((2,),), ())
    ]


def test_rewording_an_option_keeps_the_further_right_answers():
    either = question(also_right=((2,),))
    reworded = apply_correction(either, Correction(options=("Nodule", "Effusion", "Apical pneumothorax")))
    assert reworded.also_right == ((2,),)


def test_removing_an_option_drops_further_right_answers_whose_letters_have_moved():
    either = question(also_right=((2,),))
    shorter = apply_correction(either, Correction(options=("Nodule", "Pneumothorax"), answer=(0,)))
    assert shorter.also_right == ()


def test_a_change_names_the_field_and_both_values():
    found = list_changes(question(), Correction(answer=(1,)))
    assert [(each.field, each.before, each.after) for each in found] == [("answer", (0,), (1,))]
