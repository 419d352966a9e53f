"""Values that R computes with psych, survey and lme4 (statistics/r_oracles.R), by public commands."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cli import main
from tests.golden.test_references_by_command import count_sample, measure_answers, select_all_tasks
from tests.golden.test_statistics import table_to_pairs
from tests.golden.test_statistics_of_readers import load_van_dyke_ratings
from tests.golden.worked_examples import FOLDER, load_example

ORACLES = json.loads((FOLDER / "r_oracles.json").read_text(encoding="utf-8"))


def test_intraclass_correlations_equal_those_of_psych(tmp_path):
    data, _, _ = load_example("icc_shrout_fleiss")
    rows = select_all_tasks(measure_answers(tmp_path, data["ratings"], "quadratic")["intraclass"])
    assert {row["icc"]: row["estimate"] for row in rows} == pytest.approx(ORACLES["psych_icc"])


@pytest.mark.parametrize(("weights", "name"), [("none", "unweighted"), ("quadratic", "quadratic")])
def test_kappa_equals_that_of_psych(tmp_path, weights, name):
    data, _, _ = load_example("kappa_cohen1968")
    pairs = (table_to_pairs(data["table"]) + 1).tolist()
    [pair] = select_all_tasks(measure_answers(tmp_path, pairs, weights)["agreement"])
    assert pair["kappa"] == pytest.approx(ORACLES["psych_kappa"][name])


def test_a_stratified_mean_equals_that_of_survey(tmp_path):
    data, _, _ = load_example("stratified_quality_review")
    units = [
        (stratum["tier"], stratum["N"], int(index < stratum["x"]))
        for stratum in data["counts"]
        for index in range(stratum["n"])
    ]
    row = count_sample(tmp_path, units)
    assert (row["mean"], row["se"]) == pytest.approx(tuple(ORACLES["survey_rate"].values()))


def test_variance_components_equal_those_of_lme4(tmp_path, capsys):
    truth, ratings, _, _ = load_van_dyke_ratings()
    says_yes = ratings[0] >= 3
    lines = ["question_id,rater,kind,answer"]
    lines += [f"{case},truth,reference,{int(positive)}" for case, positive in enumerate(truth)]
    lines += [f"{case},model,model,{int(positive)}" for case, positive in enumerate(truth)]
    lines += [
        f"{case},r{reader},reader,{int(says_yes[case, reader])}"
        for case, reader in np.ndindex(says_yes.shape)
    ]
    path = tmp_path / "pilot.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["study", "power", "--pilot", str(path), "--runs", "0", "--json"]) == 0
    pilot = json.loads(capsys.readouterr().out)["pilot"]
    names = {"reader": "reader_variance", "case": "case_variance", "Residual": "interaction_variance"}
    for name, field in names.items():  # lme4 maximises the restricted likelihood by iteration
        assert pilot[field] == pytest.approx(ORACLES["lme4_van_dyke"][name], rel=1e-6), field
