"""Juries: the shipped criteria, how replies are read, and what the votes decide."""

from __future__ import annotations

import json

import pytest

from domain.checks import JURY_CHECKS, Check, Need
from domain.errors import InvalidValue
from domain.juries import SAME_FAMILY, CriterionAnswer, JuryCriterion, Vote
from domain.language_models import DataUse, Endpoint
from domain.questions import Question
from domain.vocabulary import AnswerFormat, Difficulty
from language_models.families import find_family, infer_family
from language_models.prompts import parse_prompt
from quality.juries.criteria import (
    build_request,
    list_allowed_answers,
    name_prompt,
    read_answers,
    read_criteria,
    read_shipped_prompt,
)
from quality.juries.decision import decide

CRITERIA = (JuryCriterion(id="a", criterion="A."), JuryCriterion(id="b_c", criterion="B."))
TIER = (JuryCriterion(id="difficulty", criterion="Tier."),)
CODES = {"y": CriterionAnswer.YES, "n": CriterionAnswer.NO, "i": CriterionAnswer.INSUFFICIENT}
QUESTION = Question(
    id="q1",
    exam_id="e1",
    format=AnswerFormat.SINGLE,
    stem="Which finding is present?",
    options=("Effusion", "Pneumothorax"),
    answer=(0,),
    explanation="The angle is blunted.",
    difficulty=Difficulty.HARD,
)


def vote(family, codes, failure=""):
    return Vote(family=family, answers=tuple(CODES[code] for code in codes), failure=failure)


def decide_codes(*votes):
    return decide(Check.COGNITIVE_DEPTH, CRITERIA, [vote(*arguments) for arguments in votes])


def decide_tiers(*tiers, stated=Difficulty.HARD):
    votes = [Vote(family=str(index), answers=(CriterionAnswer(tier),)) for index, tier in enumerate(tiers)]
    return decide(Check.DIFFICULTY, TIER, votes, stated=stated)


@pytest.mark.parametrize("check", JURY_CHECKS)
def test_the_shipped_prompts_have_criteria_with_the_allowed_answers(check):
    prompt = parse_prompt(read_shipped_prompt(check))
    criteria = read_criteria(prompt)
    assert prompt.name == name_prompt(check)
    assert len(criteria) == {Check.CLINICAL_ALIGNMENT: 4, Check.DIFFICULTY: 1}.get(check, 3)
    for criterion in criteria:
        assert criterion.criterion.endswith(".")
        assert f"{criterion.id}:" in prompt.user or check is Check.DIFFICULTY  # the criterion in full
    for answer in list_allowed_answers(check):
        assert answer.value in prompt.system + prompt.user


def test_judges_see_explanation_and_report_only_in_the_checks_that_need_them():
    for check in JURY_CHECKS:
        body = json.dumps(
            build_request(
                parse_prompt(read_shipped_prompt(check)), QUESTION, "Left effusion.", question_row_id=7
            ).body
        )
        assert ("The angle is blunted." in body) is (check in (Check.CLINICAL_ALIGNMENT, Check.DIFFICULTY))
        assert ("Left effusion." in body) is (check is Check.CLINICAL_ALIGNMENT)


def test_the_judge_of_the_difficulty_does_not_see_the_stated_difficulty():
    request = build_request(
        parse_prompt(read_shipped_prompt(Check.DIFFICULTY)), QUESTION, None, question_row_id=7
    )
    changed = build_request(
        parse_prompt(read_shipped_prompt(Check.DIFFICULTY)),
        Question(**{field: getattr(QUESTION, field) for field in QUESTION.__slots__} | {"difficulty": None}),
        None,
        question_row_id=7,
    )
    assert request.body == changed.body
    assert request.custom_id == "7"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "jury-difficulty"', 'name = "mcq"', "is not the prompt of a jury check"),
        (
            '["easy", "medium", "hard", "insufficient evidence"]',
            '["easy", "hard"]',
            "one of easy, medium, hard",
        ),
        ("${answer}", "${key}", "no variables but question, answer, explanation, report"),
        ('required = ["difficulty"]', "required = []", "must"),
    ],
)
def test_invalid_criteria_are_refused(old, new, message):
    content = read_shipped_prompt(Check.DIFFICULTY)
    assert old in content
    with pytest.raises(InvalidValue, match=message):
        read_criteria(parse_prompt(content.replace(old, new)))


def test_a_reply_is_read_in_the_order_of_the_criteria():
    reply = json.dumps({"b_c": {"answer": "no", "reason": "r2"}, "a": {"reason": "r1", "answer": "yes"}})
    assert read_answers(reply, CRITERIA) == ((CriterionAnswer.YES, CriterionAnswer.NO), ("r1", "r2"))


@pytest.mark.parametrize("reply", ["", "[]", "{}", '{"a": {"answer": "maybe"}}', '{"a": {"answer": "yes"}}'])
def test_a_reply_without_a_valid_answer_to_each_criterion_is_refused(reply):
    with pytest.raises(InvalidValue, match="reply"):
        read_answers(reply, CRITERIA)


def test_a_criterion_that_a_majority_denies_is_a_problem():
    """Of 3 judges, 2 deny the second criterion and 1 denies the first."""
    outcome = decide_codes(("qwen", "yn"), ("gpt", "nn"), ("gemma", "yy"))
    assert [(problem.field, problem.reason) for problem in outcome.problems] == [
        ("b c", "2 of 3 judges answered no")
    ]


def test_a_question_passes_with_a_majority_for_each_criterion():
    outcome = decide_codes(("qwen", "yy"), ("gpt", "yn"), ("gemma", "iy"))
    assert (outcome.problems, outcome.missing_need) == ((), None)


@pytest.mark.parametrize("second", ["yn", "yi"])
def test_two_judges_who_disagree_decide_nothing(second):
    assert decide_codes(("qwen", "yy"), ("gpt", second)).missing_need is Need.MAJORITY


def test_half_of_the_judges_is_no_majority():
    assert decide_codes(("a", "yn"), ("b", "yn"), ("c", "yy"), ("d", "yi")).missing_need is Need.MAJORITY


def test_one_usable_reply_decides_nothing():
    assert decide_codes(("qwen", "nn"), ("gpt", "", "wrong schema")).missing_need is Need.REPLIES
    assert decide_codes().missing_need is Need.REPLIES


def test_a_judge_excluded_because_of_its_family_is_stated_as_the_reason():
    assert decide_codes(("qwen", "nn"), ("gpt", "", SAME_FAMILY)).missing_need is Need.OTHER_FAMILIES


def test_models_of_one_family_have_one_vote_and_the_last_usable_one_counts():
    assert decide_codes(("qwen", "nn"), ("qwen", "nn")).missing_need is Need.REPLIES
    outcome = decide_codes(("qwen", "nn"), ("gpt", "yy"), ("qwen", "yy"), ("qwen", "", "timeout"))
    assert outcome.missing_need is None
    assert not outcome.problems


def test_a_stated_difficulty_that_the_majority_does_not_choose_is_a_problem():
    outcome = decide_tiers("easy", "easy", "hard")
    assert outcome.problems[0].reason == "stated as hard, judged as easy by 2 of 3 judges"
    assert outcome.tier is Difficulty.EASY


def test_the_stated_difficulty_passes_or_is_not_decided():
    assert decide_tiers("hard", "hard").problems == ()
    assert decide_tiers("hard", "easy").missing_need is Need.MAJORITY
    assert decide_tiers(*["insufficient evidence"] * 2).missing_need is Need.MAJORITY


def test_a_question_without_a_difficulty_gets_a_tier_and_no_result():
    outcome = decide_tiers("easy", "easy", stated=None)
    assert (outcome.missing_need, outcome.tier) == (Need.DIFFICULTY, Difficulty.EASY)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("Qwen/Qwen2.5-VL-72B-Instruct", "qwen"),
        ("gpt-4o-2024-05-13", "gpt"),
        ("o1-mini", "gpt"),
        ("openai/gpt-oss-120b", "gpt"),
        ("meta-llama/Llama-3.3-70B", "llama"),
        ("Mixtral-8x22B", "mistral"),
        ("claude-sonnet-4", "claude"),
        ("SmolLM2-135M-Instruct", "smollm"),
        ("/models/gemma-3-27b-it.gguf", "gemma"),
        ("radiance-7b", "radiance"),
        ("Radiance-7B-GPTQ", "radiance"),
        ("chatgpt-4o-latest", "gpt"),
        ("dolphin-2.9", "dolphin"),
        ("malaya-7b", "malaya"),
        ("phi-4", "phi"),
        ("chatglm3-6b", "glm"),
        ("7", ""),
    ],
)
def test_a_family_is_taken_from_the_name_of_a_model(model, family):
    assert infer_family(model) == family


def test_a_declared_family_takes_precedence_over_the_name():
    endpoint = Endpoint(
        name="x", url="http://x/v1", model="house-model-3", data_use=DataUse.LOCAL, family="qwen"
    )
    assert find_family(endpoint) == "qwen"
