"""Real models' answers are imported, extracted and scored; compared with published values and plain loops."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from domain.evaluations import AnsweredBy, Condition
from evaluation import service as evaluations
from evaluation.paper_tables import build_paper_tables
from evaluation.scoreboard import summarise_models
from storage.unit_of_work import read_only_session, unit_of_work
from tests.collections.folder import COLLECTIONS
from tests.storage.evaluation_worlds import BY, make_evaluation_world, make_settings

pytestmark = pytest.mark.full

FMMEDVQA = COLLECTIONS / "vqa-predictions-fmmedvqa" / "vqa_rad"
WORLDMEDQAV = COLLECTIONS / "worldmedqav-predictions"
MODELS = ("llavamed", "tinyllava", "tinyllava_ft", "vilt", "vilt_ft")


def load_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def import_model(name, lines, folder):
    path, now = folder / f"{name}.jsonl", datetime.now(UTC)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with unit_of_work() as db:
        evaluations.plan_without_endpoint(
            db, by=BY, settings=make_settings(name=name, conditions=(Condition.AS_GIVEN,)),
            answered_by=AnsweredBy.FILE, model=name, now=now,
        )  # fmt: skip
        outcome = evaluations.import_answers(
            db, by=BY, name=name, condition=Condition.AS_GIVEN, path=path, now=now
        )
    assert not outcome.refused, outcome.refusals


def load_scored():
    with read_only_session() as db:
        [evaluated_split] = evaluations.list_evaluated_splits(db, by=BY)
    evaluations.compute_scores(by=BY, release_id=evaluated_split.release_id, split=evaluated_split.split)
    with read_only_session() as db:
        [evaluated_split] = evaluations.list_evaluated_splits(db, by=BY)
    return evaluations.load_split_scores(by=BY, evaluated_split=evaluated_split)


def test_worldmedqav_has_the_published_accuracies(workspace_engine, tmp_path):
    files = sorted(WORLDMEDQAV.glob("*.json"))
    results = {file.name.split("_evaluation")[0][:70]: load_json(file) for file in files}
    keys = {
        number: prediction["gold_answer"]
        for result in results.values()
        for number, prediction in result["predictions"].items()
    }
    numbers = sorted(keys, key=int)
    make_evaluation_world(
        workspace_engine,
        tmp_path / "workspace",
        questions=len(numbers),
        values=[
            {"options": '["first", "second", "third", "fourth"]', "answer": f"[{'ABCD'.index(keys[number])}]"}
            for number in numbers
        ],
    )
    ids = {number: f"Q{position}" for position, number in enumerate(numbers, start=1)}
    for name, result in results.items():
        lines = [
            {"question_id": ids[number], "raw": prediction["predicted_answer"]}
            for number, prediction in result["predictions"].items()
        ]
        import_model(name, lines, tmp_path)
    scored = load_scored()
    assert len(scored.models) == len(files) == 14
    rows = scored.questions.numbers >= 0
    for model in scored.models:
        accuracy = summarise_models(scored.questions, [model], rows)[0].accuracy
        result = results[model.name]
        assert len(result["predictions"]) == accuracy.n
        assert accuracy.estimate == pytest.approx(result["accuracy"], abs=1e-12)
    tables = {table.name: table for table in build_paper_tables(
        scored.questions, scored.models, rows, with_published=False
    )}  # fmt: skip
    gemex_rows = {row["Model"]: row for row in tables["gemex-table-5"].rows}
    rexvqa_rows = {row["Model"]: row for row in tables["rexvqa-table-2"].rows}
    for name, result in results.items():
        printed = f"{100 * result['accuracy']:.2f}"
        assert gemex_rows[name]["Single-choice A-score"] == printed
        assert rexvqa_rows[name]["Overall (micro)"] == printed


def test_scores_of_fm_medvqa_equal_those_of_plain_loops(workspace_engine, tmp_path):
    truths = [row["original_gt"].strip().lower() for row in load_json(FMMEDVQA / "eval_llavamed_IN.json")]
    closed_indices = [index for index, truth in enumerate(truths) if truth in ("yes", "no")]
    make_evaluation_world(
        workspace_engine,
        tmp_path / "workspace",
        questions=len(closed_indices),
        values=[
            {"format": "closed", "options": "[]", "answer": json.dumps(truths[index]), "explanation": ""}
            for index in closed_indices
        ],
    )
    replies = {
        name: [load_json(FMMEDVQA / f"{name}_pred.jsonl")[index]["answer_pred"] for index in closed_indices]
        for name in MODELS
    }
    for name, texts in replies.items():
        lines = [{"question_id": f"Q{row}", "raw": text} for row, text in enumerate(texts, start=1)]
        import_model(name, lines, tmp_path)
    scored = load_scored()
    rows = np.ones(len(closed_indices), dtype=bool)
    for model in scored.models:
        [summary] = summarise_models(scored.questions, [model], rows)
        references = [truths[index] for index in closed_indices]
        texts = [" ".join(text.split()) for text in replies[model.name]]
        if model.name in ("tinyllava_ft", "vilt", "vilt_ft"):  # short replies: the reply is the answer
            pairs = zip(references, texts, strict=True)
            correct = sum(text.strip(" .").lower() == truth for truth, text in pairs)
            assert summary.accuracy.count == correct
        else:  # sentences: the first word is the answer, unless the sentence contradicts it
            pairs = zip(references, texts, strict=True)
            correct = sum(
                text.lower().replace(",", " ").split()[0].strip(".") == truth for truth, text in pairs
            )
            assert abs(summary.accuracy.count - correct) <= 0.03 * len(closed_indices)
        bleu = BLEU(max_ngram_order=1).corpus_score(texts, [references]).score
        assert 100 * summary.bleu.estimate == pytest.approx(bleu, rel=1e-9)
        assert summary.rouge.estimate == pytest.approx(np.mean([
            compute_plain_rouge(text, truth) for truth, text in zip(references, texts, strict=True)
        ]))  # fmt: skip


def compute_plain_rouge(candidate, reference):
    """ROUGE-L for a reference of one word, which is in the candidate or not."""
    words = "".join(
        letter if letter.isascii() and letter.isalnum() else " " for letter in candidate.lower()
    ).split()
    is_hit = reference in words
    return 2 * (1 / len(words)) / (1 / len(words) + 1) if is_hit else 0.0
