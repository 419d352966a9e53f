"""``cli.py counts`` on the worked examples: published tables that have counts but no single cases."""

from __future__ import annotations

import json

import pytest

from cli import main
from tests.golden.worked_examples import load_example


@pytest.fixture
def run_counts(tmp_path, capsys):
    """``run_counts(text)``: exit code, output, and the tables."""

    def run_command(text: str):
        path, out = tmp_path / "table.csv", tmp_path / "table.json"
        path.write_text(text, encoding="utf-8")
        code = main(["counts", str(path), "--out", str(out)])
        captured = capsys.readouterr()
        return code, captured.out + captured.err, json.loads(out.read_text()) if out.exists() else None

    return run_command


def test_a_paired_table_equals_the_reference(run_counts):
    data, expected, tolerance = load_example("mcnemar_dev")
    lines = ["a,b,both,a_only,b_only,neither"]
    lines += [f"{name},second,{row[0][0]},{row[0][1]},{row[1][0]},{row[1][1]}" for name, row in data.items()]
    code, output, tables = run_counts("\n".join(lines))
    assert code == 0
    assert "newcombe_low" in output
    for row in tables["paired"]:
        reference = expected[row["a"]]
        for name, key in (
            ("chi2", "chi2"), ("p_chi2", "p"), ("chi2_corrected", "chi2_cc"), ("p_chi2_corrected", "p_cc"),
            ("p_exact", "exact"), ("p_mid", "midp"), ("difference", "diff_p1_minus_p2"),
        ):  # fmt: skip
            assert row[name] == pytest.approx(reference[key], abs=tolerance), name
        assert [row["low"], row["high"]] == pytest.approx(reference["tango_ci"], abs=tolerance)
        newcombe = [row["newcombe_low"], row["newcombe_high"]]
        assert newcombe == pytest.approx(reference["newcombe10_ci"], abs=tolerance)


def test_the_intervals_of_a_proportion_equal_the_reference(run_counts):
    data, expected, tolerance = load_example("binom_ci_dev")
    lines = ["rater,n,correct", *(f"{share},{share.split('/')[1]},{share.split('/')[0]}" for share in data)]
    _, _, tables = run_counts("\n".join(lines))
    for row in tables["accuracy"]:
        for prefix, key in (("", "wilson"), ("corrected_", "wilson_cc"), ("exact_", "clopper")):
            limits = [row[f"{prefix}low"], row[f"{prefix}high"]]
            assert limits == pytest.approx(expected[row["rater"]][key], abs=tolerance)


def test_a_list_of_p_values_equals_the_reference(run_counts):
    _, expected, tolerance = load_example("cochran_q_drugs")
    lines = ["comparison,p", *(f"{index},{p!r}" for index, p in enumerate(expected["pairwise_exact"]))]
    _, _, tables = run_counts("\n".join(lines))
    assert [row["p_holm"] for row in tables["adjusted"]] == pytest.approx(expected["holm"], abs=tolerance)
    # Benjamini-Hochberg: the two smallest p values are equal, so both are multiplied by 3 / 2
    assert tables["adjusted"][1]["p_bh"] == pytest.approx(1.5 * expected["pairwise_exact"][1])


def test_each_family_of_p_values_is_adjusted_by_itself(run_counts):
    _, _, tables = run_counts("family,p\na,0.01\na,0.04\nb,0.03\n")
    assert [row["p_holm"] for row in tables["adjusted"]] == [0.02, 0.04, 0.03]


@pytest.mark.parametrize("name", ["stratified_lohr_agstrat", "srs_lohr_agsrs"])
def test_a_stratified_sample_equals_r_survey(run_counts, name):
    data, expected, tolerance = load_example(name)
    strata, sizes = (
        (data["acres"], data["sizes"]) if "sizes" in data else ({"": data["acres"]}, {"": data["size"]})
    )
    lines = ["stratum,size,value"]
    lines += [f"{stratum},{sizes[stratum]},{value}" for stratum in sizes for value in strata[stratum]]
    _, _, tables = run_counts("\n".join(lines))
    [row] = tables["stratified"]
    mean, se = ("mean_acres92", "se_acres92") if "sizes" in data else ("mean", "se")
    assert [row["mean"], row["se"]] == pytest.approx([expected[mean], expected[se]], abs=tolerance)
    if "total" in expected:
        assert [row["total"], row["total_se"]] == pytest.approx([expected["total"], expected["total_se"]])


def test_a_diagnostic_table_gives_shares_with_intervals(run_counts):
    # Altman and Bland 1994: liver scan, 231 of 258 abnormal and 54 of 86 normal patients, 32 false positive
    _, _, tables = run_counts("rater,tp,fp,fn,tn\nscan,231,32,27,54\n")
    shares = {
        row["measure"]: (row["count"], row["n"], round(row["estimate"], 2)) for row in tables["diagnostic"]
    }
    assert shares == {
        "sensitivity": (231, 258, 0.9), "specificity": (54, 86, 0.63), "ppv": (231, 263, 0.88),
        "npv": (54, 81, 0.67), "accuracy": (285, 344, 0.83),
    }  # fmt: skip
    assert all(
        row["exact_low"] < row["low"] < row["high"] < row["exact_high"] for row in tables["diagnostic"]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p\n1.5\n", "line 2: p: must be 0 to 1, not 1.5"),
        ("p\nsmall\n", "line 2: p: 'small' is not a number"),
        ("both,a_only,b_only,neither\n0,0,0,0\n", "line 2: both: the four counts are 0"),
        ("tp,fp,fn,tn\n1,2,3,-4\n", "line 2: tn: '-4' is not a whole number"),
        ("stratum,size,value\na,10,1\n", "stratum 'a' has 1 values and the size 10"),
        ("stratum,size,value\na,10,1\na,12,2\n", "stratum 'a' has the sizes 10 and 12"),
        ("p\n", "line 2: the file has no rows"),
    ],
)
def test_an_invalid_table_is_refused_with_its_line(run_counts, text, message):
    code, output, tables = run_counts(text)
    assert (code, tables) == (1, None)
    assert message in output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("stratum,größe\nä,1\n".encode("latin-1"), "is not UTF-8; save the table as CSV in UTF-8"),
        (b"p\n0.1\n\xff\n", "is not UTF-8; save the table as CSV in UTF-8"),
        (b"p\n" + b"1" * 1_200_000 + b"\n", "is not CSV: field larger than field limit"),
    ],
)
def test_a_file_that_is_not_a_utf_8_table_is_refused(tmp_path, capsys, content, message):
    path = tmp_path / "counts.csv"
    path.write_bytes(content)
    assert main(["counts", str(path)]) == 1
    assert f"counts.csv: {message}" in capsys.readouterr().err
