"""Writes small sources in each layout that `generation.sources` reads."""

import csv
import json

REPORT = {
    "uid": "1",
    "MeSH": "Pleural Effusion/left/small",
    "Problems": "Pleural Effusion",
    "image": "PA and lateral chest",
    "indication": "Cough.",
    "comparison": "None.",
    "findings": "Small left pleural effusion. No pneumothorax.",
    "impression": "Small left pleural effusion.",
}


def write_csv(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_openi(folder, *reports, images=None):
    """Write Open-i's two tables: reports are changes to ``REPORT``; images are (uid, file, projection)."""
    folder.mkdir(exist_ok=True)
    rows = [{**REPORT, **changes} for changes in reports or ({},)]
    write_csv(folder / "indiana_reports.csv", rows)
    if images is None:
        images = [
            (row["uid"], f"{row['uid']}_IM-{number}.dcm.png", projection)
            for row in {row["uid"]: row for row in rows}.values()
            for number, projection in enumerate(("Frontal", "Lateral"), start=1)
        ]
    write_csv(
        folder / "indiana_projections.csv",
        [dict(zip(("uid", "filename", "projection"), image, strict=True)) for image in images]
        or [{"uid": "none", "filename": "none.png", "projection": "Frontal"}],
    )
    return folder


def write_mimic(folder, text, *, labels=None):
    """Write one report in MIMIC-CXR's layout, with its metadata and CheXpert labels."""
    report = folder / "files" / "p10" / "p10000032" / "s50414267.txt"
    report.parent.mkdir(parents=True)
    report.write_text(text, encoding="utf-8")
    write_csv(
        folder / "mimic-cxr-2.0.0-metadata.csv",
        [
            {"dicom_id": "aa-bb", "subject_id": "10000032", "study_id": "50414267", "ViewPosition": "PA"},
            {
                "dicom_id": "cc-dd",
                "subject_id": "10000032",
                "study_id": "50414267",
                "ViewPosition": "LATERAL",
            },
        ],
    )
    if labels:
        write_csv(
            folder / "mimic-cxr-2.0.0-chexpert.csv",
            [{"subject_id": "10000032", "study_id": "50414267", **labels}],
        )
    return folder


def make_region(name, box, *attributes, phrases=None, temporal=None):
    """The object and the attributes of one region of a scene graph."""
    corners = dict(zip(("x1", "y1", "x2", "y2"), box, strict=True))
    return (
        {"object_id": name, "bbox_name": name, **corners},
        {
            name: True,
            "name": name,
            "attributes": [list(attributes)],
            "phrases": phrases or ["A sentence."],
            "temporal_cues": temporal or [[]],
        },
    )


def write_scene_graph(folder, *regions, image_id="aa-bb"):
    folder.mkdir(exist_ok=True)
    graph = {
        "image_id": image_id,
        "patient_id": 10000032,
        "study_id": 50414267,
        "viewpoint": "PA",
        "reason_for_exam": "Cough.",
        "objects": [entry for entry, _ in regions],
        "attributes": [attribute for _, attribute in regions],
    }
    (folder / f"{image_id}_SceneGraph.json").write_text(json.dumps(graph), encoding="utf-8")
    return folder
