"""The taxonomy: the names of the papers' tables, their headings, and a dataset's own names."""

import pytest

from domain.batches import SamplingPlan
from domain.errors import InvalidValue
from quality.duplicates.marking import Mark, count_shares
from quality.service import suggest_names
from terminology.taxonomy import (
    DERIVED_FEATURES,
    NamedField,
    NameMapping,
    derive_feature,
    derive_value,
    load_taxonomy,
)

CATEGORY = NamedField.CATEGORY
#: The 65 category names of ReXVQA's Table 6.
TABLE_6 = (
    "Abdomen", "Airway", "Aorta", "Aortic Disease", "Bone", "Bone Density", "Bones", "Bones and Soft Tissues",
    "Bones/Joints", "Bony Structures", "Bony Thorax", "Cardiac Disease", "Chest Wall", "Clavicle",
    "Congenital Disease", "Diaphragm", "Gastrointestinal Devices", "Heart", "Hila", "Hilar Opacity",
    "Humerus", "Implanted Devices", "Infectious Disease", "Joint", "Lung Volume", "Lung and Pleural Lucency",
    "Lung and Pleural Opacity", "Lymph Nodes", "Lymphoproliferative Disease", "Mediastinum",
    "Miscellaneous Bone Abnormality", "Miscellaneous Diagnosis", "Musculoskeletal",
    "Neck/Chest Wall Soft Tissue", "Negation", "Non-Therapeutic Internal Foreign Bodies",
    "Osseous Structures",
    "Osseous structures and Soft Tissues", "Other (Artifacts and External Foreign Bodies)",
    "Other Bone Abnormality", "Other Great Vessel", "Other Implanted Devices", "Other Pulmonary Diagnosis",
    "Pleura", "Pleural", "Pleural Effusion", "Pleural Space", "Pleural Thickening", "Pulmonary Fissure",
    "Pulmonary Neoplasm", "Pulmonary Vascularity", "Rib", "Scapula", "Shoulder", "Skeletal Structures",
    "Skeletal System", "Skeleton", "Soft Tissue", "Spine", "Sternum", "Trauma", "Tubes and Lines", "Vascular",
    "Vasculature", "Vascularity",
)  # fmt: skip
#: The groups of Table 3 with their categories; "Lung & P.O." and "Lung & P.L." are written out.
TABLE_3 = {
    "Clinical Assessment": ["Quality of Exams"],
    "Respiratory System": ["Lung and Pleural Opacity", "Lung and Pleural Lucency", "Lung Volume"],
    "Cardiovascular": ["Heart", "Aorta", "Other Great Vessel"],
    "Medical Devices": ["Tubes and Lines", "Implanted Devices"],
    "Pathologies": ["Infectious Disease", "Pulmonary Neoplasm", "Negation"],
    "Musculoskeletal": ["Rib", "Spine", "Clavicle", "Joint"],
}
#: The classes of Table 5 with their numbers of subcategories, 36 in all.
TABLE_5 = {
    "Congenital Disease": 3, "Infectious Disease": 3, "Pulmonary Neoplasm": 3,
    "Lymphoproliferative Disease": 2, "Other Pulmonary Diagnosis": 13, "Cardiac Disease": 5,
    "Aortic Disease": 3, "Miscellaneous Diagnosis": 3, "Negation": 1,
}  # fmt: skip


def test_all_65_names_of_table_6_have_a_controlled_name():
    assert len(TABLE_6) == len(set(TABLE_6)) == 65
    assert [name for name in TABLE_6 if load_taxonomy().find(CATEGORY, name) is None] == []


def test_the_mapping_yields_the_headings_of_table_3():
    taxonomy = load_taxonomy()
    for heading, names in TABLE_3.items():
        assert [taxonomy.find(CATEGORY, name).heading for name in names] == [heading] * len(names)
        assert [taxonomy.find(CATEGORY, name).name for name in names] == names
    assert {entry.heading for entry in taxonomy.names[CATEGORY]} == set(TABLE_3)


def test_the_headings_of_subcategories_are_the_classes_of_table_5_and_categories_too():
    taxonomy = load_taxonomy()
    entries = taxonomy.names[NamedField.SUBCATEGORY]
    assert {heading: sum(entry.heading == heading for entry in entries) for heading in TABLE_5} == TABLE_5
    assert len(entries) == 36
    assert set(TABLE_5) <= set(taxonomy.list_names(CATEGORY))


def test_names_for_the_skeleton_are_the_same_category():
    skeleton_names = (
        "Bone",
        "Bones",
        "Bones/Joints",
        "Bony Structures",
        "Osseous Structures",
        "Skeletal System",
        "Skeleton",
    )
    assert {load_taxonomy().find(CATEGORY, name).name for name in skeleton_names} == {"Bone"}


def test_regions_are_the_30_of_gemex_and_the_cardiac_region_is_the_cardiac_silhouette():
    taxonomy = load_taxonomy()
    assert len(taxonomy.names[NamedField.REGION]) == 30
    controlled_names = {
        raw: taxonomy.find(NamedField.REGION, raw).name
        for raw in ("Cardiac region", "right costophrenic angle", "bilateral lung")
    }
    assert controlled_names == {
        "Cardiac region": "cardiac silhouette",
        "right costophrenic angle": "right lower lung zone",
        "bilateral lung": "bilateral lung",
    }
    assert taxonomy.find(NamedField.REGION, "carina") is None  # dropped in Table 8


def test_the_content_types_of_figure_6_have_controlled_names():
    types = ("abnormality", "disease", "location", "severity", "cause", "size", "implication")
    assert {load_taxonomy().find(NamedField.CONTENT_TYPE, name).heading for name in types} == {"GEMeX"}


def test_a_datasets_own_name_precedes_the_taxonomy_and_unknown_names_are_not_mapped():
    mapping = NameMapping(own={(CATEGORY, "Bones"): "Rib", (CATEGORY, "Cor"): "Heart"})
    values = [
        derive_feature("controlled_category", raw, mapping) for raw in ("Bones", "Cor", "Bone", "Foo", "")
    ]
    assert values == ["Rib", "Heart", "Bone", "not mapped", ""]
    domains = [derive_feature("domain", raw, mapping) for raw in ("Cor", "Foo", "")]
    assert domains == ["Cardiovascular", "not mapped", ""]


def test_a_mapping_of_one_field_does_not_apply_to_another_field():
    mapping = NameMapping(own={(CATEGORY, "Cor"): "Heart"})
    assert mapping.find_controlled(NamedField.SUBCATEGORY, "Cor") == "not mapped"


def test_looked_up_names_apply_only_to_derived_features():
    names = {"domain": {"Cor": "Cardiovascular"}}
    assert derive_value("category", "Cor", names) == "Cor"
    assert derive_value("domain", "Pes", names) == "not mapped"
    assert derive_value("domain", "", names) == ""
    assert set(DERIVED_FEATURES) >= {"controlled_category", "domain"}


@pytest.mark.parametrize(
    ("raw", "first"),
    [("Heart size", "Heart"), ("tubes & lines", "Tubes and Lines"), ("Skeletal", "Bone"), ("Ribs", "Rib")],
)
def test_similar_names_are_suggested_first(raw, first):
    assert suggest_names(CATEGORY, raw)[0] == first
    assert sorted(suggest_names(CATEGORY, raw)) == sorted(load_taxonomy().list_names(CATEGORY))


def test_shares_of_duplicates_are_counted_by_controlled_category_too():
    sizes = {("presence", "Bone"): 30, ("presence", "Bones"): 10, ("location", "Foo"): 5}
    shares = count_shares(
        [Mark(question=1, kept=2, similarity=1.0)], sizes=sizes, groups={1: ("presence", "Bones")}
    )
    by_name = {(share.kind, share.name): (share.questions, share.marked) for share in shares}
    assert by_name["controlled category", "Bone"] == (40, 1)
    assert by_name["controlled category", "not mapped"] == (5, 0)
    assert by_name["category", "Bones"] == (10, 1)


def test_a_plan_with_an_unknown_feature_as_stratum_is_refused():
    assert SamplingPlan(seed=1, strata=("domain", "controlled_category")).strata
    with pytest.raises(InvalidValue, match="controlled_category, domain"):
        SamplingPlan(seed=1, strata=("generator",))
