"""Which findings count as present and as ruled out, and why the others are not used."""

import pytest

from domain.boxes import Box, BoxFit, BoxGrid, LabelledBox
from generation.source_exams import CodedFinding, CodeSystem, ReportSections, SourceExam, SourceImage
from generation.templates.exam_facts import collect_facts
from generation.templates.exclusions import load_exclusions
from terminology.findings import load_findings
from terminology.mentions import find_mentions


def make_exam(findings="", impression="", *, mesh=(), codes=(), searched=()):
    return SourceExam(
        id="CXR1",
        file="test",
        record="1",
        images=(SourceImage(id="pa", file="pa.png"),),
        report=ReportSections(findings=findings, impression=impression),
        codes=(*(CodedFinding(system=CodeSystem.MESH, code=code) for code in mesh), *codes),
        labels_searched=frozenset(searched),
    )


def list_absent(text, *, mesh=()):
    return set(collect_facts(make_exam(text, mesh=mesh)).absent)


@pytest.mark.parametrize(
    ("sentence", "finding", "polarity"),
    [
        ("There is a small left pleural effusion.", "pleural_effusion", "stated"),
        ("No pleural effusion or pneumothorax.", "pneumothorax", "negated"),
        ("No focal consolidation, pneumothorax, or pleural effusion.", "pleural_effusion", "negated"),
        ("The lungs are free of focal airspace disease.", "consolidation", "negated"),
        ("Negative for pneumothorax.", "pneumothorax", "negated"),
        ("A pneumothorax is not seen.", "pneumothorax", "negated"),
        ("No large pleural effusion.", "pleural_effusion", "restricted"),
        ("No large pleural effusion or pneumothorax.", "pneumothorax", "restricted"),
        ("No large pleural effusion, pneumothorax.", "pneumothorax", "negated"),
        ("No definite pleural effusion seen.", "pleural_effusion", "restricted"),
        ("No pleural effusion on the right.", "pleural_effusion", "restricted"),
        ("No XXXX pneumothorax.", "pneumothorax", "restricted"),
        ("No displaced fracture.", "acute_fracture", "restricted"),
        ("No noncalcified nodules.", "nodule", "restricted"),
        ("No pneumothorax but a small effusion.", "pleural_effusion", "uncertain"),
        ("No pneumothorax, small left effusion.", "pleural_effusion", "uncertain"),
        ("Opacity may represent atelectasis.", "atelectasis", "uncertain"),
        ("Minimal atelectasis or scar at the base.", "atelectasis", "uncertain"),
        ("XXXX atelectasis at the base.", "atelectasis", "uncertain"),
        ("Pneumothorax has resolved.", "pneumothorax", "uncertain"),
        ("Edema cannot be excluded.", "pulmonary_edema", "uncertain"),
        ("The lungs are not hyperinflated.", "hyperinflation", "negated"),
        ("ET tube tip is 4 cm above the carina.", "endotracheal_tube", "stated"),
        ("Dual-lead pacemaker on the left.", "pacemaker", "stated"),
        ("PICC line ends in the SVC.", "central_venous_catheter", "stated"),
        ("No new central venous catheter.", "central_venous_catheter", "restricted"),
        ("The Dobhoff tube has been removed.", "enteric_tube", "uncertain"),
    ],
)
def test_a_sentence_states_negates_restricts_or_leaves_open_a_finding(sentence, finding, polarity):
    mentions = {str(mention.polarity) for mention in find_mentions(sentence, load_findings()[finding])}
    assert mentions == {polarity}


def test_a_pericardial_effusion_is_no_pleural_effusion():
    assert list(find_mentions("Pericardial effusion.", load_findings()["pleural_effusion"])) == []


def test_a_coded_finding_that_the_report_states_is_present():
    facts = collect_facts(make_exam("Small left effusion.", mesh=["Pleural Effusion/left/small"]))
    assert {name: finding.side for name, finding in facts.present.items()} == {"pleural_effusion": "left"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Blunting may represent an effusion.", "coded, but the report only suggests it"),
        ("Small left effusion. No pleural effusion.", "coded, but the report also negates it"),
        ("Lungs are clear.", "coded, but not named in the report"),
    ],
)
def test_a_code_that_the_report_does_not_confirm_is_counted_and_not_used(text, reason):
    facts = collect_facts(make_exam(text, mesh=["Pleural Effusion/left"]))
    assert "pleural_effusion" not in facts.present
    assert "pleural_effusion" not in facts.absent
    assert facts.unused[reason] == 1


def test_a_finding_that_a_normal_statement_excludes_is_neither_present_nor_absent():
    facts = collect_facts(
        make_exam(
            "Cardiomediastinal silhouette is normal. Widened superior mediastinum.",
            mesh=["Mediastinum/prominent"],
        )
    )
    assert "wide_mediastinum" not in {**facts.present, **facts.absent}


def test_a_prominent_mediastinum_is_not_a_widened_one():
    facts = collect_facts(make_exam("The mediastinum appears prominent.", mesh=["Mediastinum/prominent"]))
    assert facts.present == {}


def test_a_fracture_of_unknown_age_is_not_an_acute_one():
    facts = collect_facts(
        make_exam("Wedge-shaped fracture of T12.", mesh=["Fractures, Bone/thoracic vertebrae"])
    )
    assert set(facts.present) == {"fracture"}


@pytest.mark.parametrize(
    ("code", "present"),
    [("Density/lung/base/round", True), ("Density/thorax/round", False), ("Density/round", False)],
)
def test_only_a_round_density_of_the_lung_is_a_nodule(code, present):
    facts = collect_facts(make_exam("Nodular densities are seen.", mesh=[code]))
    assert ("nodule" in facts.present) is present


def test_noncalcified_nodules_say_nothing_about_calcification():
    assert "calcification" not in list_absent("No noncalcified nodules.")


@pytest.mark.parametrize(
    ("text", "excluded", "kept"),
    [
        ("Lungs are clear.", {"consolidation", "pulmonary_edema", "mass"}, {"nodule", "pleural_effusion"}),
        ("Lungs are otherwise clear.", set(), {"consolidation"}),
        ("Heart size normal.", {"cardiomegaly"}, {"wide_mediastinum"}),
        ("Heart size upper limits of normal.", set(), {"cardiomegaly"}),
        ("Cardiomediastinal silhouette is normal.", {"cardiomegaly", "wide_mediastinum"}, set()),
        ("Trachea is midline.", {"tracheal_deviation"}, set()),
        ("No acute bony abnormality.", {"acute_fracture"}, {"fracture", "healed_fracture"}),
        ("Pleural spaces are clear.", {"pleural_effusion", "pneumothorax"}, set()),
    ],
)
def test_a_normal_statement_excludes_what_the_table_lists(text, excluded, kept):
    absent = list_absent(text)
    assert excluded <= absent
    assert not kept & absent


def test_hyperinflation_excludes_low_lung_volumes():
    facts = collect_facts(make_exam("Lungs are hyperinflated.", mesh=["Lung/hyperdistention"]))
    assert "low_lung_volumes" in facts.absent


def test_a_similar_finding_prevents_an_exclusion():
    assert "consolidation" in list_absent("No focal consolidation.")
    assert "consolidation" not in list_absent("No focal consolidation. Opacity at the left base.")


def test_what_the_report_never_mentions_is_unknown():
    facts = collect_facts(make_exam("No pneumothorax."))
    assert set(facts.absent) == {"pneumothorax"}


def test_the_side_is_unknown_if_the_report_names_another_side():
    mesh = ["Pulmonary Atelectasis/base/left"]
    assert (
        collect_facts(make_exam("Left basilar atelectasis.", mesh=mesh)).present["atelectasis"].side == "left"
    )
    assert collect_facts(make_exam("Bibasilar atelectasis.", mesh=mesh)).present["atelectasis"].side == ""


@pytest.mark.parametrize(
    ("text", "mesh", "finding"),
    [
        ("Right lower lobe opacity. Bilateral fibrotic changes.", "Opacity/lung/lower lobe/right", "opacity"),
        ("Small right effusion. The left angle is blunted.", "Pleural Effusion/right", "pleural_effusion"),
    ],
)
def test_the_side_is_unknown_if_a_similar_finding_is_on_another_side(text, mesh, finding):
    assert collect_facts(make_exam(text, mesh=[mesh])).present[finding].side == ""
    alone = text.split(". ")[0] + "."
    assert collect_facts(make_exam(alone, mesh=[mesh])).present[finding].side == "right"


def test_a_shadow_that_may_be_a_nipple_is_no_finding():
    mesh = ["Nodule/lung/lower lobe/right"]
    assert "nodule" in collect_facts(make_exam("Right lower lobe nodule.", mesh=mesh)).present
    facts = collect_facts(make_exam("Right lower lobe nodule, XXXX nipple.", mesh=mesh))
    assert (facts.present, facts.absent) == ({}, {})


def test_atherosclerosis_of_an_unnamed_vessel_is_not_attributed_to_the_aorta():
    aortic_text = "Atherosclerotic calcification of the aortic XXXX."
    assert collect_facts(make_exam(aortic_text, mesh=["Atherosclerosis"])).present
    assert not collect_facts(
        make_exam("There are atherosclerotic calcifications.", mesh=["Atherosclerosis"])
    ).present


def test_an_exam_without_report_and_codes_has_no_facts():
    facts = collect_facts(make_exam())
    assert (facts.present, facts.absent, facts.no_acute_disease) == ({}, {}, "")


def make_label(name, *, present=True, corners=None, region=None, system=CodeSystem.LABEL):
    grid = BoxGrid(width=1000, height=1000, fit=BoxFit.STRETCH)
    boxes = (LabelledBox(radiograph="pa", label=name, box=Box(**corners), grid=grid),) if corners else ()
    return CodedFinding(system=system, code=name, present=present, region=region, boxes=boxes)


RIGHT_CORNERS = {"x_min": 100, "y_min": 100, "x_max": 300, "y_max": 300}


def test_a_label_table_that_searched_all_categories_rules_out_the_others():
    facts = collect_facts(
        make_exam(
            codes=[make_label("Effusion", corners=RIGHT_CORNERS)], searched=["Effusion", "Pneumothorax"]
        )
    )
    assert facts.present["pleural_effusion"].side == "right"
    assert set(facts.absent) == {"pneumothorax"}


def test_a_label_table_without_searched_categories_states_no_side_and_no_absence():
    facts = collect_facts(make_exam(codes=[make_label("Effusion", corners=RIGHT_CORNERS)]))
    assert facts.present["pleural_effusion"].side == ""
    assert facts.present["pleural_effusion"].boxes
    assert facts.absent == {}


def test_a_label_that_is_yes_and_no_is_not_used():
    facts = collect_facts(make_exam(codes=[make_label("Edema"), make_label("Edema", present=False)]))
    assert (facts.present, facts.absent) == ({}, {})


def test_a_finding_is_ruled_out_by_both_lungs_together_but_not_by_one_region():
    def list_absent_in(*regions):
        codes = [
            make_label("pneumothorax", present=False, region=region, system=CodeSystem.SCENE_GRAPH)
            for region in regions
        ]
        return set(collect_facts(make_exam(codes=codes)).absent)

    assert list_absent_in("left upper lung zone") == set()
    assert list_absent_in("left lung") == set()
    assert list_absent_in("left lung", "right lung") == {"pneumothorax"}


def test_every_exclusion_has_a_source_and_excludes_known_findings():
    table = load_exclusions()
    rows = (*table.statements, *table.negated, *table.present)
    assert all(row.source and row.reason and set(row.excludes) <= load_findings().keys() for row in rows)
