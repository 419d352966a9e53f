"""Scores of models on a split against plain loops, and the tables of the papers against their own numbers."""

from __future__ import annotations

import csv
import io
import itertools
import random
from dataclasses import astuple, replace

import numpy as np
import pytest

from domain.boxes import Box, LabelledBox
from domain.evaluations import EvaluatedExam
from domain.exams import Radiograph
from domain.questions import Question
from domain.readings import Prediction
from domain.vocabulary import AnswerFormat, Difficulty, Task, View
from evaluation.answer_texts import build_candidate, build_reference, clean_reply
from evaluation.cases import EvaluatedQuestion
from evaluation.disagreement import list_disagreements
from evaluation.paper_tables import PaperTable, build_paper_tables, table_to_csv, table_to_latex
from evaluation.published import load_published
from evaluation.score_table import (
    AnswerState,
    ModelScores,
    ScoreColumn,
    build_question_table,
    decode_question_table,
    decode_scores,
    encode_question_table,
    encode_scores,
    score_model,
)
from evaluation.scoreboard import (
    ScoredModel,
    compare_models,
    find_rows,
    summarise_groups,
    summarise_models,
)
from evaluation.scores_text import list_answer_rows, list_group_rows, list_score_rows
from measures.means import mean_by_cluster
from measures.paired import compare_paired
from measures.proportions import wilson_by_cluster

FORMATS = (AnswerFormat.SINGLE, AnswerFormat.MULTIPLE, AnswerFormat.CLOSED, AnswerFormat.OPEN)
KEYS = {
    AnswerFormat.SINGLE: (1,), AnswerFormat.MULTIPLE: (0, 2), AnswerFormat.CLOSED: "no",
    AnswerFormat.OPEN: "Small effusion",
}  # fmt: skip


KEY_BOX = LabelledBox(radiograph="pa", label="lung", box=Box(x_min=0, y_min=0, x_max=9, y_max=9))


def make_box(draw: random.Random) -> LabelledBox:
    x, y = draw.randint(0, 20), draw.randint(0, 20)
    box = Box(x_min=x, y_min=y, x_max=x + draw.randint(1, 12), y_max=y + draw.randint(1, 12))
    return LabelledBox(radiograph="pa", label="lung", box=box)


def make_question(number: int, **changes) -> EvaluatedQuestion:
    answer_format = FORMATS[number % 4]
    fields = {
        "id": f"Q{number}", "exam_id": f"E{number}", "format": answer_format, "stem": "What?",
        "answer": KEYS[answer_format], "options": ("a", "b", "c") if answer_format.has_options else (),
        "explanation": "The base is blunted.", "task": list(Task)[number % 5],
        "category": f"category {number % 3}", "difficulty": list(Difficulty)[number % 3],
    }  # fmt: skip
    radiograph = Radiograph(id="pa", file="f", view=View.PA)
    exam = EvaluatedExam(number=number, id=f"E{number}", patient=f"P{number // 2}", radiographs=(radiograph,))
    return EvaluatedQuestion(number=number, question=Question(**(fields | changes)), exam=exam)


def make_prediction(number: int, answer, **changes) -> Prediction:
    return Prediction(model_id=1, question_row_id=number, answer=answer, **({"rule": "tag"} | changes))


def answer_all(numbers):
    """Correct answers."""
    return [make_prediction(number, KEYS[FORMATS[number % 4]]) for number in numbers]


def make_table(questions):
    return build_question_table(
        questions,
        {item.exam.number: (["F", "M"][item.number % 2], f"{20 + item.number}") for item in questions},
    )


def score(questions, predictions, *, name="net", columns=()):
    scores = score_model(questions, [item.number for item in questions], predictions)
    return ScoredModel(name=name, model="Net 1", is_test_model=False, scores=scores, columns=columns)


def summarise(table, model, rows):
    [summary] = summarise_models(table, [model], rows)
    return summary


def select_all_rows(table):
    return np.ones(len(table.numbers), dtype=bool)


def overlap(first, second):
    width = min(first.x_max, second.x_max) - max(first.x_min, second.x_min)
    height = min(first.y_max, second.y_max) - max(first.y_min, second.y_min)
    common = max(0, width) * max(0, height)
    return common / (first.width * first.height + second.width * second.height - common)


def test_the_v_score_equals_plain_loops_over_all_pairings():
    draw = random.Random(7)  # noqa: S311 - the same cases in each run
    questions, predictions, expected = [], [], []
    for number in range(1000):
        key = [make_box(draw) for _ in range(draw.randint(1, 3))]
        predicted = [make_box(draw) for _ in range(draw.randint(0, 3))]
        questions.append(make_question(number, boxes=tuple(key)))
        predictions.append(make_prediction(number, KEYS[FORMATS[number % 4]], boxes=tuple(predicted)))
        small, large = sorted([key, predicted], key=len)
        best = max(
            sum(overlap(left.box, right.box) for left, right in zip(small, order, strict=True))
            for order in itertools.permutations(large, len(small))
        )
        matched = best / len(small) if small else None
        expected.append((best / len(large), best / len(key), matched))
    table = make_table(questions)
    summary = summarise(table, score(questions, predictions), select_all_rows(table))
    assert summary.overlap.n == 1000
    assert summary.overlap.estimate == pytest.approx(np.mean([row[0] for row in expected]))
    assert summary.overlap_per_truth == pytest.approx(np.mean([row[1] for row in expected]))
    matched = [row[2] for row in expected if row[2] is not None]
    assert summary.overlap_per_match == pytest.approx(np.mean(matched))
    assert summary.overlap.low < summary.overlap.estimate < summary.overlap.high


def test_a_model_without_boxes_has_no_v_score():
    questions = [make_question(number, boxes=(KEY_BOX,)) for number in range(8)]
    table = make_table(questions)
    summary = summarise(table, score(questions, []), select_all_rows(table))
    assert (summary.overlap.n, summary.overlap.estimate) == (0, None)


def test_answers_are_counted_by_source_and_only_the_exact_set_is_correct():
    questions = [make_question(number) for number in range(8)]
    predictions = [
        make_prediction(0, (1,)),  # single: correct
        make_prediction(1, (0,)),  # multiple: half of the set is wrong
        make_prediction(2, "no", rule="given"),  # closed: correct
        make_prediction(3, "something"),  # open: not scored
        make_prediction(4, None, raw="I am not sure.", rule="failed"),
        make_prediction(5, (0, 2)),  # multiple: correct
        # 6 and 7 have no reply
    ]
    table = make_table(questions)
    summary = summarise(table, score(questions, predictions), select_all_rows(table))
    counts = summary.answers
    assert (counts.given, counts.by_rule, counts.failed, counts.missing) == (1, 4, 1, 2)
    assert (summary.questions, summary.accuracy.n, summary.accuracy.count) == (8, 6, 3)
    # guesses: 1/3 of three options, 1/7 of their non-empty sets, 1/2 of yes and no
    assert summary.chance == pytest.approx((2 / 3 + 2 / 7 + 2 / 2) / 6)
    [row] = list_answer_rows([summary])
    assert row["No answer extracted"] == "1 (12.5 %)"


def test_questions_without_a_case_are_not_counted():
    questions = [make_question(number) for number in range(8)]
    scores = score_model(questions, [0, 2], [make_prediction(0, (1,))])
    assert list(scores.state[:3]) == [AnswerState.BY_RULE, AnswerState.NOT_ASKED, AnswerState.MISSING]
    table = make_table(questions)
    model = ScoredModel(name="net", model="Net", is_test_model=False, scores=scores)
    assert summarise(table, model, select_all_rows(table)).questions == 2


def test_the_texts_of_key_and_reply_contain_answer_and_reason():
    question = make_question(0).question
    assert build_reference(question) == "B. b The base is blunted."
    assert build_candidate(make_prediction(0, (0,), explanation="Seen."), question) == "A. a Seen."
    assert build_candidate(make_prediction(0, (0,), raw="<answer>A</answer> Seen."), question) == "A Seen."
    assert build_candidate(None, question) == ""
    gemex = "<answer> ['B', 'C'] <reason> Both bases. <location>[[1, 2, 3, 4], [5, 6, 7, 8]]"
    assert clean_reply(gemex) == "['B', 'C'] Both bases."


def test_a_slice_contains_the_questions_with_the_chosen_values():
    questions = [make_question(number) for number in range(60)]
    table = make_table(questions)
    rows = find_rows(table, {"task": ["presence"], "sex": ["F"], "age": [], "format": ["single", "open"]})
    expected = [
        number for number in range(60) if number % 5 == 0 and number % 2 == 0 and number % 4 in (0, 3)
    ]
    assert list(np.flatnonzero(rows)) == expected
    assert table.dimensions["age"].values == ("18 to 39", "40 to 59", "60 to 79")
    assert set(table.dimensions) == {"task", "category", "format", "tier", "view", "sex", "age"}


def test_groups_and_scores_are_rows_with_intervals():
    questions = [make_question(number) for number in range(60)]
    table = make_table(questions)
    model = score(questions, answer_all(range(0, 60, 3)))
    rows = list_group_rows(table, [model], select_all_rows(table), dimension="task", measure="A-score")
    assert [row["Questions"] for row in rows] == [12] * 5
    assert all("to" in str(row["net"]) for row in rows)
    [row] = list_score_rows([summarise(table, model, select_all_rows(table))], [model])
    assert row["Model"] == "net (Net 1)"
    assert row["n"] == 45


def test_groups_have_the_scores_of_their_slice():
    draw = random.Random(3)  # noqa: S311 - the same cases in each run
    questions = [make_question(number, boxes=(KEY_BOX,) * (number % 11 > 4)) for number in range(240)]
    table = make_table(questions)
    column = ScoreColumn(name="GREEN", version="1", values=np.where(np.arange(240) % 7 < 5, 0.5, np.nan))
    models = [
        score(
            questions,
            [
                make_prediction(n, KEYS[FORMATS[n % 4]], boxes=(make_box(draw),) * draw.randrange(3))
                for n in draw.sample(range(240), k=160)
            ],
            name=name,
            columns=(column,),
        )
        for name in ("one", "two")
    ]
    rows = np.arange(240) % 5 != 2
    for dimension in ("category", "format", "age"):
        groups = summarise_groups(table, models, rows, dimension)
        assert list(groups) == [
            value
            for value in table.dimensions[dimension].values
            if (rows & table.dimensions[dimension].find_rows(value)).any()
        ]
        for value, summaries in groups.items():
            part = rows & table.dimensions[dimension].find_rows(value)
            assert summaries == summarise_models(table, models, part)
            for model, summary in zip(models, summaries, strict=True):
                scored = part & (model.scores.correct >= 0)
                expected = wilson_by_cluster(model.scores.correct[scored] == 1, table.clusters[scored])
                assert astuple(summary.accuracy) == pytest.approx(astuple(expected))
                values, clusters = model.scores.rouge[part], table.clusters[part]
                mean = mean_by_cluster(values, clusters, minimum=0.0, maximum=1.0)
                assert astuple(summary.rouge) == pytest.approx(astuple(mean))
                with_boxes = part & ~np.isnan(model.scores.overlap)
                assert summary.overlap.n == with_boxes.sum()
                per_truth = model.scores.overlap_per_truth[with_boxes]
                assert summary.overlap_per_truth == pytest.approx(per_truth.mean())
                assert summary.columns["GREEN"].n == (part & ~np.isnan(column.values)).sum()


def test_scores_are_unchanged_by_encoding_and_decoding():
    questions = [make_question(number) for number in range(8)]
    table, model = make_table(questions), score(questions, [make_prediction(0, (1,))])
    decoded_table = decode_question_table(encode_question_table(table))
    assert decoded_table.dimensions["category"].values == table.dimensions["category"].values
    np.testing.assert_array_equal(decoded_table.chance, table.chance)
    decoded_scores = decode_scores(encode_scores(model.scores))
    for name in ModelScores.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(decoded_scores, name), getattr(model.scores, name))


def test_differences_are_paired_by_patient_and_adjusted_by_holm():
    questions = [make_question(number) for number in range(0, 160, 4)]  # single choice
    draw = random.Random(3)  # noqa: S311 - the same cases in each run
    models = [
        score(
            questions,
            [make_prediction(item.number, (1,) if draw.random() < share else (0,)) for item in questions],
            name=name,
        )
        for name, share in (("weak", 0.3), ("fair", 0.6), ("good", 0.9))
    ]
    table = make_table(questions)
    fair, good = compare_models(table, models, select_all_rows(table), with_model="weak")
    expected = compare_paired(
        models[2].scores.correct == 1, models[0].scores.correct == 1, clusters=table.clusters
    )
    assert (good.name, good.difference, good.low, good.p) == (
        "good", expected.difference, expected.low, expected.p_exact,
    )  # fmt: skip
    smaller, larger = sorted([fair, good], key=lambda item: item.p)
    assert smaller.p_holm == pytest.approx(min(1, 2 * smaller.p))
    assert larger.p_holm == pytest.approx(max(smaller.p_holm, larger.p))


def test_the_most_balanced_disagreement_comes_first():
    questions = [make_question(number) for number in (0, 4, 8, 12)]  # single choice, key b
    votes = {"x": [1, 1, 0, 1], "y": [1, 0, 0, 0], "z": [1, 2, 0, 1]}
    models = [
        score(
            questions,
            [make_prediction(item.number, (vote,)) for item, vote in zip(questions, values, strict=True)],
            name=name,
        )
        for name, values in votes.items()
    ]
    table = make_table(questions)
    cases, total = list_disagreements(table, models, select_all_rows(table), limit=10)
    # all agree on 0 and 8; 4 has three answers, 12 two
    assert [(case.question_row_id, case.correct, case.answers) for case in cases] == [(4, 1, 3), (12, 2, 2)]
    assert total == 2
    assert list_disagreements(table, models[:1], select_all_rows(table), limit=10) == ([], 0)


@pytest.fixture(scope="module")
def paper_tables():
    questions = [make_question(number) for number in range(40)]
    table = make_table(questions)
    column = ScoreColumn(name="AR-score", version="judge", values=np.arange(40.0))
    model = score(
        questions,
        answer_all(range(40)),
        columns=(column,),
    )
    rows = np.ones(40, dtype=bool)
    return {item.name: item for item in build_paper_tables(table, [model], rows, with_published=True)}


def test_table_5_of_gemex_has_its_numbers_and_averages_the_formats(paper_tables):
    rows = {row["Model"]: row for row in paper_tables["gemex-table-5"].rows}
    assert len([name for name in rows if name.endswith("(poster)")]) == 2
    fine_tuned = rows["LLaVA-Med-GEMeX (paper)"]
    assert fine_tuned["Open-ended AR-score"] == "97.05"
    assert fine_tuned["Multi-choice V-score"] == "47.99"
    titles = ("Open-ended", "Closed-ended", "Single-choice", "Multi-choice")
    for name, row in rows.items():
        if "(" in name and not name.startswith("Random"):
            mean = sum(float(row[f"{title} AR-score"]) for title in titles) / 4
            assert float(row["Avg. AR-score"]) == pytest.approx(mean, abs=0.0101)
    net_row = rows["net"]
    assert (net_row["Closed-ended A-score"], net_row["Closed-ended V-score"]) == ("100.00", "-")
    # questions 3, 7, … are open: their mean is 21; single 18, multiple 19, closed 20
    assert (net_row["Open-ended AR-score"], net_row["Avg. AR-score"]) == ("21.00", "19.50")


def test_table_6_of_gemex_has_its_numbers(paper_tables):
    rows = {row["Model"]: row for row in paper_tables["gemex-table-6"].rows}
    assert rows["LLaVA-v1.5 (paper)"]["Single-choice BLEU-1"] == "1.49"
    assert rows["net"]["Open-ended BERTScore"] == "-"
    assert float(rows["net"]["Open-ended ROUGE-L"]) > 0


def test_table_2_of_rexvqa_has_both_averages_from_its_task_columns(paper_tables):
    rows = {row["Model"]: row for row in paper_tables["rexvqa-table-2"].rows}
    for record in load_published("rexvqa_table2"):
        row = rows[f"{record['model']} (paper)"]
        average = "Overall (micro)" if record["model"] == "MedGemma" else "Overall (macro)"
        assert float(row[average]) == pytest.approx(float(record["overall"]), abs=0.0101)
    assert rows["MedGemma (paper)"]["Overall (macro)"] == "82.17"
    assert rows["Gemini (paper)"]["Overall (micro)"] == "70.80"
    assert rows["net"]["Presence Assessment"] == "100.00"
    assert rows["Questions"]["Overall (micro)"] == "30"


def test_tables_3_and_6_and_figure_2_of_rexvqa_have_their_numbers(paper_tables):
    selected = {row["Category"]: row for row in paper_tables["rexvqa-table-3"].rows}
    assert len(selected) == 16
    assert selected["Heart"]["MedGemma (paper)"] == "97.03"
    categories = {row["Category"]: row for row in paper_tables["rexvqa-table-6"].rows}
    assert categories["Rib"]["MedGemma (paper)"] == "91.84"
    assert categories["category 1"]["net"] == "100.00"
    assert categories["Average of the categories"]["MedGemma (paper)"] == "83.24"
    figure = {row["Rater"]: row["Accuracy"] for row in paper_tables["rexvqa-figure-2"].rows}
    assert (figure["MedGemma (paper)"], figure["Reader 3 (paper)"]) == ("83.84", "77.27")


def test_tables_are_written_as_csv_and_latex(paper_tables):
    table = paper_tables["gemex-table-5"]
    rows = list(csv.DictReader(io.StringIO(table_to_csv(table))))
    assert rows == [{name: "" if cell == "-" else cell for name, cell in row.items()} for row in table.rows]
    latex = table_to_latex(table)
    assert latex.count(r" \\") == len(table.rows) + 1
    assert r"\begin{tabular}" in latex


def test_a_heading_of_a_csv_file_is_escaped_if_it_looks_like_a_formula():
    table = PaperTable(name="t", title="T", rows=({"=1+1": "0.5"},), note="")
    assert table_to_csv(table) == "'=1+1\n0.5\n"


def test_scores_given_to_or_by_the_test_model_are_marked_in_every_table():
    questions = [make_question(number) for number in range(40)]
    version = "judge:SmolLM2-135M|path tested, quality not measured"
    column = ScoreColumn(name="AR-score", version=version, values=np.arange(40.0))
    model = score(questions, answer_all(range(40)), columns=(column,))
    rows = np.ones(40, dtype=bool)
    for labelled in (model, replace(model, columns=(), is_test_model=True)):
        tables = build_paper_tables(make_table(questions), [labelled], rows, with_published=False)
        assert len(tables) == 6
        for table in tables:
            assert "net (path tested, quality not measured)" in table_to_csv(table), table.name
