"""Results of iMRMC and RJafroc are read and compared with ours.

iMRMC 4.0.0 wrote the numbers of iMRMC for its example "fakepilot2". Its 150 positive and 150 negative cases
are reconstructed from these numbers: each reader calls the first cases of each kind positive. The numbers of
RJafroc are published for Van Dyke's data (RJafroc's book).
"""

import io
import json
import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook

from domain.errors import Refused
from reader_study.roc_files import RocRating, RocStudy
from reader_study.roc_results import MAX_BYTES, read_roc_results

VAN_DYKE = json.loads(
    (Path(__file__).parents[1] / "golden" / "statistics" / "mrmc_vandyke_auc.json").read_text(
        encoding="utf-8"
    )
)
PER_READER_COLUMNS = (
    "inputFile,date,iMRMCversion,readerID,N0,N1,modalityA,modalityB,AUCA,varAUCA,AUCB,varAUCB,AUCAminusAUCB,"
    "varAUCAminusAUCB,pValueNormal"
)
ALL_READERS_COLUMNS = (
    "inputFile,date,iMRMCversion,NR,N0,N1,modalityA,modalityB,UstatOrMLE,AUCA,varAUCA,AUCB,varAUCB,"
    "AUCAminusAUCB,varAUCAminusAUCB,pValueNormal,botCInormal,topCInormal,rejectNormal,dfBDG,pValueBDG,botCIBDG,"
    "topCIBDG,rejectBDG,dfHillis,pValueHillis,botCIHillis,topCIHillis,rejectHillis"
)
START = "study.imrmc,202603021200,iMRMC Version 4.0.0"
PER_READER_ROWS = [
    f"{START},1,150,150,1,NO_MOD,9.30000000E-1,2.02010000E-4,NA,NA,NA,NA,NA",
    f"{START},2,150,150,2,NO_MOD,5.40000000E-1,1.23490000E-4,NA,NA,NA,NA,NA",
    f"{START},3,150,150,1,2,9.60000000E-1,1.23490000E-4,5.60000000E-1,1.77180000E-4,4.00000000E-1,3.00670000E-4,NA",
]
ALL_READERS_ROWS = [
    (
        f"{START},3,150,150,1,NO_MOD,Ustat,9.03333333E-1,1.86122297E-3,NA,NA,NA,NA,0.00000000E0,"
        "8.18776776E-1,9.87889891E-1,1.00000000E0,2.11212165E0,1.12484833E-2,7.17708748E-1,1.08895792E0,"
        "1.00000000E0,2.11220765E0,1.12484833E-2,7.17708748E-1,1.08895792E0,1.00000000E0"
    ),
    (
        f"{START},3,150,150,1,2,Ustat,9.03333333E-1,1.86122297E-3,5.53333333E-1,1.82252051E-4,3.50000000E-1,"
        "1.42393736E-3,0.00000000E0,2.76040574E-1,4.23959426E-1,1.00000000E0,2.39887433E0,1.14251514E-2,"
        "1.87638992E-1,5.12361008E-1,1.00000000E0,2.39952379E0,1.14251514E-2,1.87638992E-1,5.12361008E-1,"
        "1.00000000E0"
    ),
]
#: The numbers of positive and of negative cases that each reader calls positive, by arm.
CALLED_POSITIVE = {"with AI": ((129, 0), (96, 0), (150, 12)), "alone": ((18, 0), (12, 0), (18, 0))}


def make_study(scores_by_arm, truth, readers):
    """A study from scores[arm][reader][case]."""
    return RocStudy(
        readers=readers,
        cases=tuple(f"q{case}" for case in range(len(truth))),
        truth=tuple(truth),
        arms=tuple(scores_by_arm),
        ratings=tuple(
            RocRating(reader=reader, case=case, arm=arm, score=int(score))
            for arm, scores in enumerate(scores_by_arm.values())
            for reader, row in enumerate(scores)
            for case, score in enumerate(row)
        ),
        notes=(),
    )


@pytest.fixture(scope="module")
def pilot():
    truth = [True] * 150 + [False] * 150
    scores = {
        arm: [
            [case < positive or 0 <= case - 150 < negative for case in range(300)]
            for positive, negative in called
        ]
        for arm, called in CALLED_POSITIVE.items()
    }
    return make_study(scores, truth, ("ann", "ben", "cleo"))


@pytest.fixture(scope="module")
def van_dyke():
    data = VAN_DYKE["data"]
    return make_study(
        {arm: data[arm] for arm in ("treatment 1", "treatment 2")},
        [value == "1" for value in data["truth"]],
        tuple(f"reader {number}" for number in range(1, 6)),
    )


def write_table(header, rows):
    return ("\n".join([header, *rows]) + "\n").encode()


def read(study, content, name="statAnalysis.csv"):
    return {
        (result.quantity, result.reader, result.arm): result
        for result in read_roc_results(study, name=name, content=content)
    }


def test_aucs_of_readers_and_their_standard_errors_equal_those_of_imrmc(pilot):
    results = read(pilot, write_table(PER_READER_COLUMNS, PER_READER_ROWS), "AUCperReader.csv")
    assert list(results) == [
        ("AUC", "ann", "with AI"),
        ("standard error", "ann", "with AI"),
        ("AUC", "ben", "alone"),
        ("standard error", "ben", "alone"),
        ("AUC difference", "cleo", "with AI minus alone"),
        ("standard error of the difference", "cleo", "with AI minus alone"),
    ]
    assert [result.difference for result in results.values()] == pytest.approx([0] * 6, abs=1e-6)
    assert results["AUC", "ann", "with AI"].location == "AUCperReader.csv, line 2"


def test_analysis_of_all_readers_equals_that_of_imrmc_but_for_rounded_degrees_of_freedom(pilot):
    results = read(pilot, write_table(ALL_READERS_COLUMNS, ALL_READERS_ROWS))
    for arm, first in (("with AI", "mean AUC"), ("with AI minus alone", "difference")):
        for name, tolerance in ((first, 1e-8), ("standard error", 1e-8), ("degrees of freedom", 1e-7)):
            assert results[name, "", arm].difference == pytest.approx(0, abs=tolerance), (name, arm)
    p = results["p", "", "with AI minus alone"]
    assert (p.other_value, p.method) == (1.14251514e-2, "U-statistic")
    assert p.our_value < p.other_value  # 2.4 degrees of freedom, which iMRMC rounds down to 2
    assert results["95% interval, low", "", "with AI"].other_value == 0.717708748


def test_table_with_names_in_place_of_numbers_is_read(pilot):
    row = PER_READER_ROWS[0].replace(",1,150,150,1,", ",ann,150,150,with AI,")
    assert ("AUC", "ann", "with AI") in read(pilot, write_table(PER_READER_COLUMNS, [row]))


def make_workbook(
    *,
    figure="Wilcoxon",
    covariance="Jackknife",
    columns=None,
    pair=(),
    trt="Trt - ",
    ids=("1", "2"),
    names=(),
):
    """A workbook as UtilOutputReport writes it, with the results for Van Dyke's data."""
    workbook = Workbook()
    summary = workbook.active
    summary.title = "Summary"
    for row in (
        ["Date", "Mar/02/2026"], ["Output file", "report.xlsx"], ["Input Dataset", "study"], [],
        ["Modality ID in output file", "Modality ID in input file",
         "Reader ID in output file", "Reader ID in input file"],
        *(names or [[1, "1", 1, "1"], [2, "2", 2, "2"]]), [],
        ["Number of non-diseased cases", 69], ["Number of diseased cases", 45], ["FOM", figure],
        ["Significance testing", "OR"], ["Variability estimation method", covariance],
    ):  # fmt: skip
        summary.append(row)
    figures = workbook.create_sheet("FOMs")
    figures.append(["FOMs: reader vs. treatment"])
    figures.append([None, "Rdr - 1", "Rdr - 2", "Rdr. Avg.", "Observed effect size"])
    figures.append([f"{trt}{ids[0]}", 0.91964573, 0.85877617, 0.89703704, -0.04380032])
    figures.append([f"{trt}{ids[1]}", 0.94782609, 0.90531401, 0.94083736])
    results = workbook.create_sheet("RRRC")
    results.append(["F statistic", "ddf", "P-value"])
    results.append([4.456319, 15.25967, 0.05166569])
    results.append([])
    results.append(["95% CI's FOMs, treatment difference"])
    results.append(columns or ["Estimate", "StdErr", "DF", "t", "PrGTt", "CILower", "CIUpper"])
    results.append(
        [*pair, -0.04380032, 0.02074862, 15.25967, -2.110999, 0.05166569, -0.0879594986, 0.0003588544]
    )
    results.append([])
    results.append(["95% CI's FOMs, each treatment"])
    results.append(["Treatment", "Estimate", "StdErr", "DF", "Lower", "Upper"])
    results.append(["1", 0.033, 12.7, 0.82, 0.96, 0.0004])
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


FORMER_COLUMNS = ["Difference", "Estimate", "StdErr", "DF", "t", "Pr > t", "Lower", "Upper"]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"columns": FORMER_COLUMNS, "pair": ("1 - 2",)},
        {"columns": FORMER_COLUMNS, "pair": ("trt1-trt2",), "trt": "trt"},
        {"ids": ("A", "B"), "names": [["A", "1", 1, "1"], ["B", "2", 2, "2"]]},
    ],
)
def test_a_workbook_of_rjafroc_has_the_same_aucs_and_obuchowski_rockette_results_as_ours(van_dyke, changes):
    results = read(van_dyke, make_workbook(**changes), "report.xlsx")
    arms = ("treatment 1", "treatment 2")
    pair = "treatment 1 minus treatment 2"
    assert list(results) == [
        *((name, reader, arm) for arm in arms for name, reader in (
            ("AUC", "reader 1"), ("AUC", "reader 2"), ("mean AUC", ""))),
        *((name, "", pair) for name in (
            "difference", "standard error", "degrees of freedom", "p", "95% interval, low",
            "95% interval, high")),
    ]  # fmt: skip
    assert [result.difference for result in results.values()] == pytest.approx([0] * 12, abs=1e-5)
    assert results["p", "", pair].method == "Obuchowski-Rockette (jackknife)"
    assert results["p", "", pair].location == "report.xlsx, RRRC, row 6"


def test_covariance_that_the_workbook_names_is_used(van_dyke):
    p = read(van_dyke, make_workbook(covariance="DeLong"))["p", "", "treatment 1 minus treatment 2"]
    assert p.method == "Obuchowski-Rockette (DeLong)"
    assert p.our_value == pytest.approx(VAN_DYKE["expected"]["auc_delong"]["diffs"]["p-value"], abs=1e-9)


def test_a_method_that_does_not_apply_gives_no_value_of_ours_but_the_reason(van_dyke):
    incomplete = RocStudy(
        readers=van_dyke.readers, cases=van_dyke.cases, truth=van_dyke.truth, arms=van_dyke.arms,
        ratings=van_dyke.ratings[1:], notes=(),
    )  # fmt: skip
    p = read(incomplete, make_workbook())["p", "", "treatment 1 minus treatment 2"]
    assert (p.our_value, p.difference) == (None, None)
    assert p.method == "not computed: Obuchowski-Rockette needs every reader on every case"


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        (PER_READER_COLUMNS, PER_READER_ROWS[0].replace(",1,150", ",7,150"),
         r"line 2, readerID: the study has no reader '7'\. Expected is a number from 1 to 3"),
        (PER_READER_COLUMNS, PER_READER_ROWS[0].replace("NO_MOD", "B"),
         "line 2, modalityB: the study has no modality 'B'"),
        (PER_READER_COLUMNS, PER_READER_ROWS[0].replace("9.30000000E-1", "high"),
         "line 2, AUCA: 'high' is not a number"),
        (PER_READER_COLUMNS, PER_READER_ROWS[0] + ",1", "line 2: the line does not have 15 values"),
        (PER_READER_COLUMNS, "a,b", "line 2: the line does not have 15 values"),
        (PER_READER_COLUMNS.replace("varAUCA,", ""), PER_READER_ROWS[0],
         "line 1: the column varAUCA is missing"),
        (ALL_READERS_COLUMNS, ALL_READERS_ROWS[0].replace("Ustat", "MLE"),
         "line 2, UstatOrMLE: 'MLE' is another analysis than ours"),
        ("question_id,rater,answer", "1,a,yes",
         r"line 1: the column modalityA is missing\. Choose AUCperReader"),
    ],
)  # fmt: skip
def test_table_of_another_study_or_program_is_refused_with_its_line(pilot, header, row, message):
    with pytest.raises(Refused, match=f"^x.csv, {message}"):
        read_roc_results(pilot, name="x.csv", content=write_table(header, [row]))


def alter_workbook(member, content):
    """The workbook with another content of one of its members."""
    altered = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(make_workbook())) as source, zipfile.ZipFile(altered, "w") as target:
        for name in source.namelist():
            target.writestr(name, content if name == member else source.read(name))
    return altered.getvalue()


def damage_compressed_sheet():
    """The workbook with bytes in the middle of a compressed worksheet set to 255."""
    content = bytearray(make_workbook())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        offset = archive.getinfo("xl/worksheets/sheet1.xml").header_offset
    content[offset + 60 : offset + 90] = b"\xff" * 30
    return bytes(content)


def set_encrypted_flag():
    """The workbook with the flag of encryption set in all entries of its directory."""
    content = make_workbook()
    return content.replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00")


@pytest.mark.parametrize(
    "content",
    [
        alter_workbook("xl/workbook.xml", b"<workbook"),
        alter_workbook("xl/worksheets/sheet1.xml", b"<worksheet><sheetData><row>"),
        damage_compressed_sheet(),
        set_encrypted_flag(),
    ],
)
def test_damaged_or_encrypted_workbook_is_refused(pilot, content):
    with pytest.raises(Refused, match=r"x\.xlsx is not a workbook that can be read"):
        read_roc_results(pilot, name="x.xlsx", content=content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00", "is not a table in UTF-8"),
        (write_table(PER_READER_COLUMNS, []), "contains no results"),
        (b"", "the column modalityA is missing"),
        (b"PK\x03\x04 damaged", "is not a workbook that can be read"),
        (b"x" * (MAX_BYTES + 1), r"has 5,000,001 bytes, more than 5,000,000"),
        (make_workbook(figure="wAFROC"), "worksheet Summary: the figure of merit is wAFROC"),
        (make_workbook(trt="Trt - 4"), r"FOMs, row 3: the study has no modality '41'"),
        (make_workbook(columns=FORMER_COLUMNS, pair=("1 - 9",)), "RRRC, row 6: '1 - 9' is not a difference"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(pilot, content, message):
    with pytest.raises(Refused, match=message):
        read_roc_results(pilot, name="x", content=content)
