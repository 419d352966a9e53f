"""Recipes: the shipped prompts agree with the code; invalid parts of replies are left out and counted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from domain.provenance import CallReference
from domain.vocabulary import Difficulty, Task
from generation.recipes import RECIPES
from generation.recipes.rexvqa import find_uncovered
from generation.recipes.short_replies import TEXT_LENGTH, limit_numbers, shorten_replies
from generation.recipes.stages import Statement, make_material
from generation.source_exams import ReportSections, SourceExam, SourceImage
from language_models.prompts import parse_prompt
from terminology.findings import load_findings
from terminology.regions import REGIONS
from tests.storage.recipe_replies import write_bullets, write_gemex_questions, write_rexvqa_questions

REGION_STAGE, QUESTION_STAGE = RECIPES["gemex"].stages
BULLET_STAGE, MCQ_STAGE = RECIPES["rexvqa"].stages
STAGES = [stage for recipe in RECIPES.values() for stage in recipe.stages]


def make_exam_material(findings="The cardiomediastinal silhouette is normal. There is a left effusion."):
    return make_material(
        SourceExam(
            id="e1",
            file="f",
            record="1",
            images=(SourceImage(id="i1", file="i1.png"),),
            report=ReportSections(findings=findings),
        ),
        source="openi-csv",
    )


def read(stage, material, reply):
    """Return the exam with the statements and questions of a reply, and the counts of what was left out."""
    left_out: Counter[str] = Counter()
    call = CallReference(stage=stage.name, prompt=f"{stage.name}@1", model="m-1")
    material = replace(material, calls=(*material.calls, call))
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return stage.read(material, text, lambda kind, detail="": left_out.update([kind])), left_out


def make_pair(number, sentence, region):
    return {"number": number, "sentence": sentence, "region": region}


# -------------------------------------------------------------------------------------------------- prompts
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_shipped_prompt_has_the_name_and_the_variables_of_its_stage(stage):
    prompt = parse_prompt(stage.read_shipped_prompt())
    material = replace(
        make_exam_material(),
        statements=(
            Statement(text="a b c", sentences=(1,), region="spine"),
            Statement(text="d e f", sentences=(2,), region="svc"),
        ),
    )
    values = stage.fill(material, lambda *_: None)
    assert prompt.name == stage.name
    assert prompt.build_request(custom_id="e1", values=values).custom_id == "e1"


def find_enums(schema):
    """All closed lists of a schema, as sets."""
    if isinstance(schema, dict):
        enums = [frozenset(schema["enum"])] if "enum" in schema else []
        return enums + [enum for part in schema.values() for enum in find_enums(part)]
    return [enum for part in schema for enum in find_enums(part)] if isinstance(schema, list) else []


def test_the_closed_lists_of_the_prompts_equal_those_of_the_code():
    enums = {
        stage.name: set(find_enums(parse_prompt(stage.read_shipped_prompt()).schema)) for stage in STAGES
    }
    assert frozenset(REGIONS) in enums["gemex-regions"] & enums["gemex-questions"]
    for name in ("gemex-questions", "rexvqa-questions"):
        assert {frozenset(Task), frozenset(Difficulty)} <= enums[name]
        categories = max(enums[name], key=lambda enum: ("Heart" in enum, len(enum)))
        assert {term.category for term in load_findings().values()} <= categories
    assert all(region in parse_prompt(REGION_STAGE.read_shipped_prompt()).system for region in REGIONS)


# -------------------------------------------------------------------------------------------- GEMeX, stage I
def test_a_sentence_with_two_regions_is_split_as_in_the_paper():
    reply = {
        "pairs": [
            make_pair(1, "The cardiac silhouette is normal.", "Cardiac region"),
            make_pair(1, "The mediastinal silhouette is normal.", "mediastinum"),
            make_pair(2, "There is a left effusion.", "left lung"),
        ]
    }
    material, left_out = read(REGION_STAGE, make_exam_material(), reply)
    assert [(statement.sentences, statement.region) for statement in material.statements] == [
        ((1,), "cardiac silhouette"),
        ((1,), "mediastinum"),
        ((2,), "left lung"),
    ]
    assert left_out == {}


@pytest.mark.parametrize(
    ("pair", "kind"),
    [
        (make_pair(1, "The heart is normal.", "carina"), "unknown region"),
        (make_pair(3, "The heart is normal.", "svc"), "number of a sentence that the report does not have"),
        (make_pair(0, "The heart is normal.", "svc"), "number of a sentence that the report does not have"),
        (make_pair(1, "Normal heart.", "svc"), "not a complete sentence"),
        (make_pair(1, " ", "svc"), "not a complete sentence"),
        (make_pair(2, "There is a left effusion.", "left lung"), "the same pair twice"),
        (make_pair(2, "There is a left effusion.", "right lung"), "one sentence with several regions"),
    ],
)
def test_a_pair_that_breaks_a_rule_is_left_out(pair, kind):
    reply = {"pairs": [make_pair(2, "There is a left effusion.", "left lung"), pair]}
    material, left_out = read(REGION_STAGE, make_exam_material(), reply)
    assert [statement.region for statement in material.statements] == ["left lung"]
    assert left_out == {kind: 1, "sentence without a region": 1}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
@pytest.mark.parametrize("reply", ["[]", "{}", '{"pairs": 1}', "no JSON"])
def test_a_reply_that_does_not_match_the_schema_is_left_out(stage, reply):
    material, left_out = read(stage, make_exam_material(), reply)
    assert (material.statements, material.questions) == ((), ())
    assert left_out == {"reply of another form": 1}


def test_a_report_with_one_grounded_sentence_gives_no_questions():
    material = replace(
        make_exam_material(), statements=(Statement(text="a b c", sentences=(1,), region="spine"),)
    )
    kinds = []
    assert QUESTION_STAGE.fill(material, lambda kind, detail="": kinds.append(kind)) is None
    assert kinds == ["fewer than 2 grounded sentences"]


# ------------------------------------------------------------------------------------------- GEMeX, stage II
GROUNDED = replace(
    make_exam_material(),
    statements=(
        Statement(text="The heart is normal.", sentences=(1,), region="cardiac silhouette"),
        Statement(text="There is a left effusion.", sentences=(2,), region="left lung"),
    ),
)
LINES = [
    (1, "The heart is normal. [visual location: cardiac silhouette]"),
    (2, "There is a left effusion. [visual location: left lung]"),
]


def write_reply(format_="single", **changes):
    """A valid reply to stage II with changes to the first question of a format."""
    reply = write_gemex_questions(LINES)
    reply[format_][0] |= changes
    return reply


def test_a_valid_reply_gives_3_open_2_closed_3_single_and_3_multiple_choice_questions():
    material, left_out = read(QUESTION_STAGE, GROUNDED, write_reply())
    questions = [generated.question for generated in material.questions]
    assert Counter(question.format for question in questions) == {
        "open": 3,
        "closed": 2,
        "single": 3,
        "multiple": 3,
    }
    assert [question.id for question in questions] == [f"e1-g{number:02d}" for number in range(1, 12)]
    assert {question.answer for question in questions} >= {"yes", (1,), (0, 2)}
    assert questions[0].source.generator == "m-1"
    assert left_out == {}


@pytest.mark.parametrize(
    ("format_", "changes", "kind"),
    [
        ("single", {"answer": "E"}, "invalid answer"),
        ("single", {"answer": ""}, "invalid answer"),
        ("multiple", {"answers": []}, "invalid answer"),
        ("multiple", {"answers": ["A", "a"]}, "invalid answer"),
        ("closed", {"answer": "maybe"}, "invalid answer"),
        ("open", {"answer": " "}, "invalid answer"),
        ("open", {"question": " "}, "invalid stem"),
        ("open", {"reason": " "}, "no explanation"),
        ("single", {"options": {"A": "a", "B": "b", "C": "B ", "D": "d"}}, "the same option twice"),
        ("single", {"options": {"A": "a", "B": " ", "C": "c", "D": "d"}}, "invalid options"),
        ("open", {"regions": ["left knee"]}, "unknown region"),
        ("open", {"regions": ["spine"]}, "region of no grounded sentence"),
        ("open", {"regions": []}, "no region"),
        ("open", {"phrases": [3]}, "number of a phrase that the exam does not have"),
        ("open", {"phrases": []}, "number of a phrase that the exam does not have"),
        ("single", {"question": "What does region 1 show?"}, "the same question twice"),
        ("open", {"reason": "The report describes an effusion."}, "refers to the report"),
        ("open", {"question": "Has the effusion worsened?"}, "compares with a prior exam"),
    ],
)
def test_a_question_that_breaks_a_rule_is_left_out(format_, changes, kind):
    material, left_out = read(QUESTION_STAGE, GROUNDED, write_reply(format_, **changes))
    assert len(material.questions) == 10
    assert left_out == {kind: 1}


def test_missing_and_additional_questions_are_counted():
    reply = write_reply()
    reply["open"] = reply["open"][:1]
    reply["closed"].append(reply["closed"][0] | {"question": "Is a third one present?"})
    material, left_out = read(QUESTION_STAGE, GROUNDED, reply)
    assert len(material.questions) == 9
    assert left_out == {
        "fewer open questions than requested": 2,
        "more closed questions than requested": 1,
    }


def test_numbered_questions_are_read_and_null_counts_as_missing():
    reply = {
        name: {str(number): entry for number, entry in enumerate(entries, start=1)}
        for name, entries in write_reply().items()
    }
    reply["multiple"]["2"] = None
    material, left_out = read(QUESTION_STAGE, GROUNDED, reply)
    assert len(material.questions) == 10
    assert left_out == {"fewer multiple questions than requested": 1}


@pytest.mark.parametrize(
    ("stage", "name", "number"),
    [
        (QUESTION_STAGE, "open", 3),
        (QUESTION_STAGE, "closed", 2),
        (RECIPES["rexvqa"].stages[1], "questions", 5),
    ],
)
def test_the_schema_limits_the_number_of_questions_in_a_reply(stage, name, number):
    schema = parse_prompt(stage.read_shipped_prompt()).schema
    allowed = dict.fromkeys(map(str, range(1, number + 1)))
    part = {**schema["properties"][name], "$defs": schema["$defs"]}
    assert Draft202012Validator(part).is_valid(allowed)
    assert not Draft202012Validator(part).is_valid(allowed | {str(number + 1): None})


def list_schema_parts(schema):
    """All parts of a schema that have a type."""
    if isinstance(schema, dict):
        own_part = [schema] if isinstance(schema.get("type"), str) else []
        return own_part + [part for inner in schema.values() for part in list_schema_parts(inner)]
    return [part for inner in schema for part in list_schema_parts(inner)] if isinstance(schema, list) else []


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_every_list_of_a_shipped_prompt_is_limited(stage):
    parts = list_schema_parts(parse_prompt(stage.read_shipped_prompt()).schema)
    assert all("maxItems" in part for part in parts if part["type"] == "array")


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_short_replies_limit_every_text_and_list(stage):
    short = parse_prompt(shorten_replies(stage.read_shipped_prompt()))
    parts = list_schema_parts(short.schema)
    texts = [part for part in parts if part["type"] == "string" and "enum" not in part]
    assert all(part["maxLength"] == TEXT_LENGTH for part in texts)
    assert all(part["maxItems"] <= 8 for part in parts if part["type"] == "array")
    assert all(part["minimum"] == 1 for part in parts if part["type"] == "integer")
    assert texts
    integers = [
        part for part in list_schema_parts(limit_numbers(short.schema, lines=4)) if part["type"] == "integer"
    ]
    assert integers
    assert all((part["minimum"], part["maximum"]) == (1, 4) for part in integers)


@pytest.mark.parametrize(
    ("stage", "stated", "numbers"),
    [
        (QUESTION_STAGE, "Generate 1 open-ended question, 1 closed-ended question, 1 single-choice", {1}),
        (RECIPES["rexvqa"].stages[1], "Write up to two questions", {1, 2}),
    ],
)
def test_prompts_for_short_replies_request_and_allow_fewer_questions(stage, stated, numbers):
    short = parse_prompt(shorten_replies(stage.read_shipped_prompt()))
    assert stated in short.system
    for part in short.schema["properties"].values():
        assert set(part["required"]) == set(part["properties"]) == {str(number) for number in numbers}


def test_closed_answers_may_be_written_in_upper_or_lower_case():
    material, _ = read(QUESTION_STAGE, GROUNDED, write_reply("closed", answer="Yes."))
    assert len(material.questions) == 11


# --------------------------------------------------------------------------------------------------- ReXVQA
def test_bullets_keep_the_hierarchy_and_the_numbers_of_their_sentences():
    reply = {
        "structures": [
            {
                "structure": "Pleura",
                "findings": [
                    {
                        "finding": "effusion",
                        "is_abnormal": True,
                        "details": ["left", "small"],
                        "sentences": [2, 2],
                    }
                ],
            }
        ]
    }
    material, left_out = read(BULLET_STAGE, make_exam_material(), reply)
    (bullet,) = material.statements
    assert (bullet.text, bullet.sentences, bullet.is_abnormal) == (
        "Pleura: effusion; left; small",
        (2,),
        True,
    )
    assert left_out == {"sentence that no bullet covers": 1}
    values = MCQ_STAGE.fill(material, lambda *_: None)
    assert values == {"bullets": "1. (abnormal) Pleura: effusion; left; small"}


def test_a_sentence_is_covered_if_bullets_that_cite_it_contain_half_of_its_content_words():
    sentences = ("There is no pleural effusion or pneumothorax.", "The heart is mildly enlarged.")
    # Content words of the first: no, pleural, effusion, pneumothorax; two of four are half.
    cites_first = Statement(text="Pleura: no effusion", sentences=(1,))
    unrelated = Statement(text="Heart: mild enlargement", sentences=(1,))
    assert find_uncovered(sentences, (cites_first, unrelated)) == (sentences[1],)
    cites_second = Statement(text="Heart: mild enlargement", sentences=(2,))
    # Words match if their first five letters do: heart and enlarged, but not mildly; two of three words.
    assert find_uncovered(sentences, (cites_first, cites_second)) == ()
    assert find_uncovered(sentences, ()) == sentences
    assert find_uncovered((), ()) == ()


def test_every_sentence_is_covered_by_bullets_that_repeat_it():
    material = make_exam_material()
    lines = list(enumerate(material.sentences, start=1))
    with_bullets, left_out = read(BULLET_STAGE, material, write_bullets(lines))
    assert len(with_bullets.statements) == 2
    assert left_out == {}


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"answer": "E"}, "invalid answer"),
        ({"explanation": ""}, "no explanation"),
        ({"bullets": [9]}, "number of a bullet that the exam does not have"),
        ({"options": {"A": "x", "B": "X", "C": "c", "D": "d"}}, "the same option twice"),
        ({"explanation": "As described, the lungs are clear."}, "refers to the report"),
        ({"task": "guessing"}, "reply of another form"),
    ],
)
def test_a_multiple_choice_question_that_breaks_a_rule_is_left_out(changes, kind):
    reply = write_rexvqa_questions([(1, "(normal) Heart: normal")])
    reply["questions"][0] |= changes
    material = replace(make_exam_material(), statements=(Statement(text="Heart: normal", sentences=(1,)),))
    with_questions, left_out = read(MCQ_STAGE, material, reply)
    assert len(with_questions.questions) == (0 if kind == "reply of another form" else 4)
    assert left_out == {kind: 1}
