"""Draws by risk in a real database: stored probabilities, rounds, and estimates that correct for them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import insert, select, update

from accounts.service import command_line_person
from commands.estimate import format_rates
from commands.sample import parse_assumptions
from domain.batches import RiskDesign, RiskSource, SamplingPlan
from domain.checks import Check, Problem
from domain.errors import InvalidValue, Refused
from measures.weighted_rates import level_for_every_look
from records.values import to_json
from review.estimates_text import format_csv_rows
from review.service import estimate_dataset
from review.service.sample_data import build_sample, load_sample_data
from sampling.service import compare_strategies, describe_risk, draw_batch, preview_draw
from sampling.strategies import ErrorAssumptions
from storage.quality.problems import replace_problems
from storage.rows.audit import AuditRow
from storage.rows.batches import BatchQuestionRow, BatchRow, DrawProbabilityRow
from storage.rows.datasets import ExamRow
from storage.rows.people import PersonRow
from storage.rows.studies import ModelRow, PredictionRow, PredictionRunRow
from storage.rows.verdicts import VerdictRow
from storage.sampling.batches import load_batch, plan_to_dict
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.sampling_frames import NOW, insert_questions, make_questions

BY = command_line_person()
PLAN = SamplingPlan(seed=1, per_1000=None, n=60, risk=RiskDesign(weights={RiskSource.CHECKS: 1.0}))


@pytest.fixture
def dataset(engine):
    """300 questions; a check reported a problem in every tenth."""
    insert_questions(engine, make_questions(300))
    report_problems(engine, range(1, 301, 10))
    return engine


def report_problems(engine, numbers):
    with unit_of_work(engine) as db:
        replace_problems(
            db,
            dataset_id=1,
            check=Check.COMPARISON,
            problems=[
                (number, Problem(check=Check.COMPARISON, field="stem", reason="“unchanged”"))
                for number in numbers
            ],
        )


def draw(engine, plan=PLAN, name="risky"):
    with unit_of_work(engine) as db:
        return draw_batch(db, by=BY, dataset="demo", plan=plan, batch_name=name, now=NOW)


def load_drawn(engine, name="risky"):
    """The drawn questions with stratum and probability."""
    with read_only_session(engine) as db:
        batch = load_batch(db, name=name)
        rows = db.execute(select(BatchQuestionRow).where(BatchQuestionRow.batch_id == batch.id)).scalars()
        return {row.question_id: (row.stratum, row.inclusion_probability) for row in rows}


def load_probabilities(engine, draw_id=1):
    with read_only_session(engine) as db:
        rows = db.execute(select(DrawProbabilityRow).where(DrawProbabilityRow.draw_id == draw_id)).scalars()
        return {row.question_id: (row.risk, row.probability) for row in rows}


def judge(engine, name, questions, faulty):
    """Judge questions of a batch; those in ``faulty`` are rejected for a wrong key."""
    with unit_of_work(engine) as db:
        batch = load_batch(db, name=name)
        person = db.execute(select(PersonRow.id)).scalars().first()
        if person is None:
            row = PersonRow(name="ruth", display_name="Ruth", created_at=NOW)
            db.add(row)
            db.flush()
            person = row.id
        for number in questions:
            is_faulty = number in faulty
            db.add(
                VerdictRow(
                    batch_id=batch.id, question_id=number, person_id=person, revision=1,
                    decision="reject" if is_faulty else "accept",
                    errors=json.dumps(["wrong key"] if is_faulty else []),
                    seconds=1, seconds_looking=1, seconds_away=0, given_at=NOW + timedelta(hours=1),
                )
            )  # fmt: skip


def test_the_probability_of_every_question_is_stored_with_the_draw(dataset):
    result = draw(dataset)
    probabilities, drawn = load_probabilities(dataset), load_drawn(dataset)
    assert len(probabilities) == 300
    assert sum(p for _, p in probabilities.values()) == pytest.approx(60)
    # Of the 100 questions of each tier, the 10 with a risk are certain; 10 of the other 90 are drawn.
    assert {round(p, 6) for risk, p in probabilities.values() if risk == 0} == {0.111111}
    assert {round(p, 6) for risk, p in probabilities.values() if risk == 0.5} == {1.0}
    assert result.added == len(drawn)
    assert {number: p for number, (_, p) in drawn.items()} == {
        number: probabilities[number][1] for number in drawn
    }
    assert {number for number, (risk, _) in probabilities.items() if risk} <= set(drawn)
    assert {stratum.split(" / ")[1] for stratum, _ in drawn.values()} == {"uniform arm", "risk arm"}


def test_the_preview_equals_the_draw_and_the_audit_trail_has_a_hash_of_the_probabilities(dataset):
    with read_only_session(dataset) as db:
        preview = preview_draw(db, by=BY, dataset="demo", plan=PLAN)
    result = draw(dataset)
    assert (preview.n, preview.strata) == (result.added, result.strata)
    with read_only_session(dataset) as db:
        [entry] = db.execute(select(AuditRow).where(AuditRow.what == "draw batch")).scalars()
    assert len(json.loads(entry.new)["probabilities_sha256"]) == 64


def test_a_seed_of_another_batch_is_refused(dataset):
    draw(dataset, SamplingPlan(seed=1), "uniform")
    with pytest.raises(Refused, match="Choose another seed, such as 2"):
        draw(dataset)


def test_a_dataset_without_any_risk_is_refused(engine):
    insert_questions(engine, make_questions(30))
    with pytest.raises(Refused, match="None of the chosen sources"):
        draw(engine)


def test_rounds_have_joint_probabilities_and_share_no_question(dataset):
    draw(dataset)
    draw(dataset, replace(PLAN, seed=2, exclude_drawn=True), "second")
    first, second = load_drawn(dataset), load_drawn(dataset, "second")
    assert not first.keys() & second.keys()
    judge(dataset, "risky", first, set())
    judge(dataset, "second", second, set())
    stored = [load_probabilities(dataset, 1), load_probabilities(dataset, 2)]
    assert len(stored[1]) == 300  # including the questions of the first round
    with read_only_session(dataset) as db:
        sample = build_sample(db, load_sample_data(db, dataset="demo", names=None))
    assert sample.probabilities == pytest.approx(
        {
            number: 1 - (1 - stored[0][number][1]) * (1 - stored[1][number][1])
            for number in first.keys() | second.keys()
        }
    )
    assert sum(sample.sizes.values()) == 300


def load_sample(engine, names=None):
    with read_only_session(engine) as db:
        return build_sample(db, load_sample_data(db, dataset="demo", names=names))


def test_joint_probability_of_two_rounds_equals_a_simulation_if_the_first_is_partly_judged(dataset):
    small_plan = replace(PLAN, n=30)  # no question is certain to be drawn: the probabilities are .05 and .55
    draw(dataset, small_plan)
    draw(dataset, replace(small_plan, seed=2, exclude_drawn=True), "second")
    first, second = sorted(load_drawn(dataset)), sorted(load_drawn(dataset, "second"))
    judged = first[: len(first) // 3]
    judge(dataset, "risky", judged, set())
    judge(dataset, "second", second, set())
    stored = [load_probabilities(dataset, 1), load_probabilities(dataset, 2)]
    rng, rounds, share = np.random.default_rng(8), 100_000, len(judged) / len(first)
    simulated = {}
    for pair in {(stored[0][number][1], stored[1][number][1]) for number in (*judged, *second)}:
        is_first = rng.random(rounds) < pair[0]
        # The second draw excludes the whole first round.
        is_second = ~is_first & (rng.random(rounds) < pair[1])
        simulated[pair] = ((is_first & (rng.random(rounds) < share)) | is_second).mean()
    joint = load_sample(dataset).probabilities
    assert joint.keys() == {*judged, *second}
    for number, probability in joint.items():
        expected = simulated[stored[0][number][1], stored[1][number][1]]
        assert probability == pytest.approx(expected, abs=0.008)  # 5 standard errors


@pytest.mark.parametrize("risk", [PLAN.risk, None])
def test_a_second_round_alone_includes_the_chance_not_to_be_drawn_in_the_first_round(dataset, risk):
    draw(dataset)
    draw(dataset, replace(PLAN, seed=2, exclude_drawn=True, risk=risk), "second")
    second = load_drawn(dataset, "second")
    judge(dataset, "second", second, set())
    first = load_probabilities(dataset, 1)
    sample = load_sample(dataset, ["second"])
    assert sample.probabilities == pytest.approx(
        {number: (1 - first[number][1]) * p for number, (_, p) in second.items()}
    )
    # the 30 questions with a problem were certain to be drawn in the first round
    assert sum(sample.sizes.values()) == 270
    assert sum(load_sample(dataset).sizes.values()) == 270  # the first round is not judged
    with read_only_session(dataset) as db:
        result = estimate_dataset(db, by=BY, dataset="demo", batches=["second"])
    assert (result.estimates.covered, result.estimates.dataset_size) == (270, 300)
    assert "left out by the draws: 30." in " ".join(result.notes)


def test_a_uniform_draw_with_the_seed_of_a_batch_by_risk_is_refused(dataset):
    draw(dataset)
    with pytest.raises(Refused, match="Choose another seed, such as 2"):
        draw(dataset, SamplingPlan(seed=1), "uniform")
    assert draw(dataset, SamplingPlan(seed=2), "uniform").added


def test_a_batch_with_the_seed_of_a_batch_by_risk_does_not_count(dataset):
    draw(dataset)
    draw(dataset, SamplingPlan(seed=2), "uniform")
    with unit_of_work(dataset) as db:  # as in a workspace older than this refusal
        plan = to_json(plan_to_dict(SamplingPlan(seed=1)))
        db.execute(update(BatchRow).where(BatchRow.name == "uniform").values(seed=1, plan=plan))
    with read_only_session(dataset) as db:
        data = load_sample_data(db, dataset="demo", names=None)
        assert [batch.name for batch in data.batches] == ["risky"]
        assert data.excluded == (
            ("uniform", "it was drawn with the same seed as batch risky; choose it alone"),
        )
        alone = load_sample_data(db, dataset="demo", names=["uniform"])
    assert [batch.name for batch in alone.batches] == ["uniform"]


def test_questions_of_strata_without_risk_belong_to_the_uniform_arm(engine):
    insert_questions(engine, make_questions(300))
    report_problems(engine, range(1, 301, 30))  # all of them easy
    draw(engine)
    arms = {stratum for stratum, _ in load_drawn(engine).values() if not stratum.startswith("easy")}
    assert arms == {"medium / uniform arm", "hard / uniform arm"}


def test_estimates_count_each_question_by_its_inverse_probability(dataset):
    draw(dataset)
    drawn = load_drawn(dataset)
    faulty = set(range(1, 301, 10))  # all errors are where the check reported a problem: 30 of 300
    judge(dataset, "risky", drawn, faulty)
    with read_only_session(dataset) as db:
        result = estimate_dataset(db, by=BY, dataset="demo")
    weights = {number: 1 / probability for number, (_, probability) in drawn.items()}
    expected = sum(weights[number] for number in faulty) / sum(weights.values())
    rate = result.estimates.key_errors
    assert rate.rate.estimate == pytest.approx(expected)
    assert rate.rate.unweighted == pytest.approx(30 / len(drawn))
    assert rate.rate.low < 0.1 < rate.rate.high
    assert rate.powered.estimate == pytest.approx(0.1)  # the risk predicts every error
    accepted = result.estimates.outcomes[0]
    assert (accepted.name, accepted.powered.estimate) == ("accepted", pytest.approx(0.9))
    assert accepted.powered.tuning > 0
    assert rate.covered == 300
    assert "drawn by risk" in " ".join(result.notes)


def test_a_batch_that_is_judged_in_part_has_smaller_probabilities(dataset):
    draw(dataset)
    drawn = load_drawn(dataset)
    half = sorted(drawn)[: len(drawn) // 2]
    judge(dataset, "risky", half, set())
    with read_only_session(dataset) as db:
        sample = build_sample(db, load_sample_data(db, dataset="demo", names=None))
    share = len(half) / len(drawn)
    assert sample.probabilities == pytest.approx({number: share * drawn[number][1] for number in half})


def load_key_errors(engine, batch):
    with read_only_session(engine) as db:
        return estimate_dataset(db, by=BY, dataset="demo", batches=[batch]).estimates.key_errors


@pytest.mark.parametrize("plan", [PLAN, replace(PLAN, risk=None)])
def test_questions_of_one_patient_count_together(dataset, plan):
    draw(dataset, replace(plan, n=90))
    drawn = sorted(load_drawn(dataset))
    patients = {number: (number - 1) // 30 for number in drawn}  # an exam has 3 questions, a patient 10 exams
    judge(dataset, "risky", drawn, {number for number in drawn if patients[number] < 2})
    by_exam = load_key_errors(dataset, "risky")
    with unit_of_work(dataset) as db:
        for exam in range(1, 101):
            # the same patient, written in two ways
            name = f"P{(exam - 1) // 10}" if exam % 2 else f" p{(exam - 1) // 10} "
            db.execute(update(ExamRow).where(ExamRow.id == exam).values(patient=name))
    by_patient = load_key_errors(dataset, "risky")
    assert by_patient.rate.estimate == pytest.approx(by_exam.rate.estimate)
    assert by_patient.half_width > 1.2 * by_exam.half_width
    if by_exam.powered is not None:
        widths = [rate.powered.high - rate.powered.low for rate in (by_exam, by_patient)]
        assert widths[1] > 1.2 * widths[0]


def test_the_stopping_rule_begins_at_50_questions_and_later_draws_do_not_change_its_level(dataset):
    draw(dataset, SamplingPlan(seed=1, per_1000=None, n=60), "uniform")
    drawn = sorted(load_drawn(dataset, "uniform"))
    judge(dataset, "uniform", drawn[:49], set())
    with read_only_session(dataset) as db:
        assert estimate_dataset(db, by=BY, dataset="demo").stopping is None
    judge(dataset, "uniform", drawn[49:50], set())
    with read_only_session(dataset) as db:
        before = estimate_dataset(db, by=BY, dataset="demo").stopping
        key_before = load_sample_data(db, dataset="demo", names=None).frame_key
    insert_questions(dataset, make_questions(300, first=300))
    draw(dataset, SamplingPlan(seed=1, per_1000=None, n=60, exclude_drawn=True), "more")
    with read_only_session(dataset) as db:
        after = estimate_dataset(db, by=BY, dataset="demo").stopping
        key_after = load_sample_data(db, dataset="demo", names=None).frame_key
    assert before.level == after.level == level_for_every_look(50, planned=60)
    assert key_before != key_after  # the page reads the risk of the questions again


def test_predictions_that_change_nothing_are_not_printed(dataset):
    draw(dataset)
    drawn = load_drawn(dataset)
    judge(dataset, "risky", drawn, {1, 11})  # fewer than five errors
    with read_only_session(dataset) as db:
        rate = estimate_dataset(db, by=BY, dataset="demo").estimates.key_errors
    assert (rate.powered.tuning, rate.count) == (0, 2)
    [line] = format_rates([rate])
    assert "effective n" in line
    assert "with predictions" not in line
    [_, row] = csv.DictReader(format_csv_rows([("whole", "demo", [rate, rate])]))
    assert (row["powered"], row["powered_effective_size"]) == ("", "")
    assert row["effective_size"]


def test_a_comparison_uses_the_sources_of_the_draw(dataset):
    def compare(source):
        with read_only_session(dataset) as db:
            return compare_strategies(
                db, by=BY, dataset="demo", assumptions=ErrorAssumptions(rate=0.1, odds_ratio=100.0),
                sizes=[50], design=RiskDesign(weights={source: 1.0}),
            )  # fmt: skip

    by_share = {point.uniform_share: point.errors.mean for point in compare(RiskSource.CHECKS)}
    assert by_share[0.2] > by_share[1.0]
    with pytest.raises(Refused, match="no source of risk indicates an error"):
        compare(RiskSource.CONTRADICTIONS)


def test_invalid_assumptions_of_a_comparison_are_refused_with_the_reason():
    with pytest.raises(InvalidValue, match="rate: must be above 0 %"):
        parse_assumptions("0:5")
    with pytest.raises(InvalidValue, match="must have the form 10:5"):
        parse_assumptions("ten")


def test_answers_of_models_are_a_source_of_risk(dataset):
    answers = {"first": ['"no"', '"no"', None], "second": ['"no"', '"yes"', '"yes"']}  # the key is "yes"
    with unit_of_work(dataset) as db:
        for index, (model, given) in enumerate(answers.items(), start=1):
            db.add(ModelRow(id=index, dataset_id=1, name=model, created_at=NOW))
            db.flush()
            db.add(
                PredictionRunRow(
                    id=index, model_id=index, file_name="", file_sha256="", predictions=3, failed=0,
                    refused=0, imported_at=NOW,
                )
            )  # fmt: skip
            db.flush()
            db.execute(
                insert(PredictionRow),
                [
                    {"model_id": index, "question_id": number, "run_id": index, "answer": answer, "rule": "r"}
                    for number, answer in enumerate(given, start=1)
                ],
            )
    with read_only_session(dataset) as db:
        overview = describe_risk(db, by=BY, dataset="demo")
    assert overview.questions == {
        RiskSource.CHECKS: 30,
        RiskSource.CONTRADICTIONS: 0,
        RiskSource.KEY: 2,  # question 1 by both models, question 2 by one
        RiskSource.MODELS: 1,  # question 2
        RiskSource.TEXT_ONLY: 0,
    }
    plan = replace(PLAN, risk=RiskDesign(weights={RiskSource.KEY: 1.0, RiskSource.MODELS: 1.0}))
    draw(dataset, plan)
    risks = {number: risk for number, (risk, _) in load_probabilities(dataset).items() if risk}
    assert risks == {1: 0.5, 2: 0.75}  # (1 + 0) / 2 and (.5 + 1) / 2
