"""A second reader of Open-i's records, to check the keys of template questions.

It shares nothing with `generation.templates`: it has its own words, looks for a negation in the tokens before
a word, and derives from the text of a question what its key claims. It also reads the source files itself.
"""

import csv
import re

PRESENT, ABSENT, UNKNOWN = "present", "absent", "unknown"

CLEAR = [
    "lungs are clear",
    "clear lungs",
    "lungs remain clear",
    "lungs appear clear",
    "lungs clear",
    "lungs are bilaterally clear",
    "lungs are normally inflated and clear",
    "lungs are well expanded and clear",
    "expanded and clear",
]
ACUTE_DISEASE = "acute cardiopulmonary disease"
#: Finding as questions name it: words of reports, beginnings of MeSH codes, phrases of a normal examination.
LEXICON = {
    "pleural effusion": (
        ["effusion", "pleural fluid", "hydropneumothora"],
        ["Pleural Effusion", "Hydropneumothorax"],
        ["pleural spaces are clear"],
    ),
    "pneumothorax": (["pneumothora"], ["Pneumothorax", "Hydropneumothorax"], ["pleural spaces are clear"]),
    "airspace consolidation": (
        [
            "consolidat",
            "airspace disease",
            "air space disease",
            "airspace opac",
            "air space opac",
            "alveolar",
        ],
        ["Consolidation", "Airspace Disease"],
        CLEAR,
    ),
    "focal infiltrate": (["infiltrat"], ["Infiltrate"], [*CLEAR, "opacit"]),
    "pulmonary opacity": (
        ["opacit", "infiltrat", "consolidat", "airspace disease"],
        ["Opacity", "Infiltrate", "Airspace", "Consolidation", "Density/lung", "Pneumonia"],
        [],
    ),
    "atelectasis": (["atelecta"], ["Pulmonary Atelectasis", "Volume Loss"], []),
    "pulmonary edema": (["edema"], ["Pulmonary Edema"], CLEAR),
    "pulmonary vascular congestion": (
        ["congesti", "engorge"],
        ["Pulmonary Congestion"],
        ["vascularity", "vasculature", "pulmonary vessels"],
    ),
    "pneumonia": (["pneumonia"], ["Pneumonia"], CLEAR),
    "active tuberculosis": (["tubercul"], ["Tuberculosis"], []),
    "cardiomegaly": (
        [
            "cardiomegaly",
            "heart is enlarged",
            "enlarged heart",
            "heart size is enlarged",
            "cardiac enlargement",
            "heart size mildly enlarged",
            "enlarged",
            "large heart",
        ],
        ["Cardiomegaly", "Cardiac Shadow/enlarged"],
        [
            "heart size",
            "heart is normal",
            "heart and",
            "heart is not",
            "normal heart",
            "cardiac silhouette",
            "cardiac contour",
            "cardiac and",
            "cardiomediastinal",
            "cardio mediastinal",
            "heart normal",
            "normal cardiac",
            "heart is",
            "heart,",
            "cardiac size",
            "heart silhouette",
        ],
    ),
    "congestive heart failure": (["heart failure", "chf"], ["Heart Failure"], []),
    "pulmonary nodule": (["nodul"], ["Nodule", "Density"], []),
    "pulmonary mass": (["mass"], ["Mass/lung"], [*CLEAR, "opacit"]),
    "calcified granuloma": (["granuloma"], ["Calcified Granuloma", "Granuloma"], []),
    "calcification": (["calcif"], ["Calcinosis"], []),
    "cavity": (["cavit"], ["Cavitation"], []),
    "hyperinflation of the lungs": (
        ["hyperinfl", "hyperexp", "hyperaer", "hyperdis"],
        ["Lung/hyperdistention"],
        [
            "normally inflated",
            "lung volumes",
            "low volumes",
            "hypoinflat",
            "hypoventil",
            "inspiration",
            "inspiratory",
            "underinfl",
            "low lung",
            "hypoexp",
        ],
    ),
    "low lung volumes": (
        [
            "low lung volume",
            "lower lung volume",
            "low volume",
            "hypoinfl",
            "hypoventil",
            "hypoexp",
            "inspiration",
            "inspiratory",
            "underinfl",
            "decreased lung volume",
            "diminished lung volume",
            "volumes are low",
        ],
        ["Lung/hypoinflation"],
        ["normally inflated", "lung volumes", "hyperinfl", "hyperexp", "hyperaer", "hyperdis"],
    ),
    "pulmonary emphysema": (["emphysem"], ["Emphysema", "Pulmonary Emphysema"], []),
    "chronic obstructive pulmonary disease": (["copd", "obstructive"], ["Pulmonary Disease, Chronic"], []),
    "pulmonary fibrosis": (
        ["fibros", "interstitial lung disease", "interstitial disease"],
        ["Pulmonary Fibrosis", "Lung Diseases, Interstitial"],
        [],
    ),
    "increased interstitial markings": (
        ["interstitial"],
        ["Markings", "Opacity", "Lung Diseases", "Pulmonary Fibrosis"],
        [],
    ),
    "pulmonary scarring": (["scar"], ["Cicatrix"], []),
    "blunting of a costophrenic angle": (["blunt"], ["Costophrenic Angle"], []),
    "pleural thickening": (
        ["thicken", "pleural scar", "pleural plaque", "apical cap", "pleural cap"],
        ["Thickening/pleura", "Cicatrix/pleura"],
        [],
    ),
    "elevation of a hemidiaphragm": (["elevat", "eventrat"], ["Diaphragm", "Diaphragmatic Eventration"], []),
    "mediastinal widening": (
        ["mediastinal widening", "widening of the mediastin", "widened mediastin"],
        ["Mediastinum"],
        ["mediastin"],
    ),
    "deviation of the trachea": (
        ["tracheal deviation", "trachea is deviated"],
        ["Trachea", "Shift"],
        ["trachea is midline", "midline"],
    ),
    "tortuosity of the thoracic aorta": (["tortuo"], ["Aorta"], []),
    "atherosclerosis of the aorta": (
        ["atheroscl", "calcif", "atherom"],
        ["Atherosclerosis", "Calcinosis/aorta"],
        [],
    ),
    "hiatal hernia": (["hiatal hernia", "hiatus hernia"], ["Hernia, Hiatal"], []),
    "free air under the diaphragm": (
        ["free intraperitoneal air", "free air", "free sub"],
        ["Pneumoperitoneum"],
        [],
    ),
    "lymphadenopathy": (["adenopath"], ["Lung/hilum"], []),
    "airspace opacity": (["airspace", "air space", "alveolar"], ["Airspace Disease"], []),
    "fracture": (["fracture"], ["Fractures, Bone"], []),
    "acute fracture": (["fracture"], ["Fractures, Bone"], ["bony", "osseous", "bone", "skeletal"]),
    "healed fracture": (["fracture"], ["Fractures, Bone"], []),
    "degenerative changes of the spine": (
        ["degenerat", "spondyl", "osteophyt"],
        ["Thoracic Vertebrae", "Spine", "Spondylosis", "Osteophyte", "Lumbar Vertebrae"],
        [],
    ),
    "scoliosis of the spine": (["scolio"], ["Scoliosis"], []),
    "increased kyphosis": (["kypho"], ["Kyphosis"], []),
}
#: Statements and questions that do not name the finding by its noun: text, finding, whether it is claimed.
SPECIAL = {
    "the heart is enlarged": ("cardiomegaly", True),
    "the heart is not enlarged": ("cardiomegaly", False),
    "is the heart enlarged": ("cardiomegaly", True),
    "are the lungs hyperinflated": ("hyperinflation of the lungs", True),
    "the lungs are hyperinflated": ("hyperinflation of the lungs", True),
    "the lungs are not hyperinflated": ("hyperinflation of the lungs", False),
    "the lung volumes are low": ("low lung volumes", True),
    "are the lung volumes low": ("low lung volumes", True),
    "the lung volumes are not low": ("low lung volumes", False),
    "the mediastinum is widened": ("mediastinal widening", True),
    "is the mediastinum widened": ("mediastinal widening", True),
    "the mediastinum is not widened": ("mediastinal widening", False),
    "the trachea is deviated": ("deviation of the trachea", True),
    "is the trachea deviated from the midline": ("deviation of the trachea", True),
    "the trachea is in the midline": ("deviation of the trachea", False),
    "the thoracic aorta is tortuous": ("tortuosity of the thoracic aorta", True),
    "is the thoracic aorta tortuous": ("tortuosity of the thoracic aorta", True),
    "the thoracic aorta is not tortuous": ("tortuosity of the thoracic aorta", False),
    "a hemidiaphragm is elevated": ("elevation of a hemidiaphragm", True),
    "is a hemidiaphragm elevated": ("elevation of a hemidiaphragm", True),
    "neither hemidiaphragm is elevated": ("elevation of a hemidiaphragm", False),
    "the thoracic spine is curved to one side": ("scoliosis of the spine", True),
    "is the thoracic spine curved to one side": ("scoliosis of the spine", True),
    "the thoracic spine is not curved to one side": ("scoliosis of the spine", False),
    "both pleural spaces are free of fluid": ("pleural effusion", False),
    "both pleural spaces are free of gas": ("pneumothorax", False),
    "the lungs are free of airspace consolidation": ("airspace consolidation", False),
    "the lungs are free of focal infiltrates": ("focal infiltrate", False),
    "the lungs are free of opacities": ("pulmonary opacity", False),
    "the lungs are free of atelectasis": ("atelectasis", False),
    "the lungs are free of edema": ("pulmonary edema", False),
    "the pulmonary vessels are of normal caliber": ("pulmonary vascular congestion", False),
    "the bones are free of fractures": ("fracture", False),
    "the lungs are free of airspace opacities": ("airspace opacity", False),
    "the bones are free of acute fractures": ("acute fracture", False),
}
#: Open questions: the claims by (part of the stem, answer).
OPEN = {
    ("size of the heart", "Enlarged"): [("cardiomegaly", True)],
    ("size of the heart", "Not enlarged"): [("cardiomegaly", False)],
    ("pleural spaces contain", "Neither fluid nor gas"): [
        ("pleural effusion", False),
        ("pneumothorax", False),
    ],
    ("pleural spaces contain", "Fluid, no gas"): [("pleural effusion", True), ("pneumothorax", False)],
    ("pleural spaces contain", "Gas, no fluid"): [("pleural effusion", False), ("pneumothorax", True)],
    ("pleural spaces contain", "Fluid and gas"): [("pleural effusion", True), ("pneumothorax", True)],
    ("width of the mediastinum", "Not widened"): [("mediastinal widening", False)],
    ("width of the mediastinum", "Widened"): [("mediastinal widening", True)],
    ("Where is the trachea", "In the midline"): [("deviation of the trachea", False)],
    ("lung volumes", "Low"): [("low lung volumes", True), ("hyperinflation of the lungs", False)],
    ("lung volumes", "Increased (hyperinflation)"): [
        ("low lung volumes", False),
        ("hyperinflation of the lungs", True),
    ],
    ("lung volumes", "Normal"): [("low lung volumes", False), ("hyperinflation of the lungs", False)],
    ("pulmonary vessels", "Increased (congestion)"): [("pulmonary vascular congestion", True)],
    ("pulmonary vessels", "Normal, no congestion"): [("pulmonary vascular congestion", False)],
    ("acute fracture", "None"): [("acute fracture", False)],
    ("focal airspace disease", "None"): [("airspace consolidation", False)],
    ("nodule or mass", "None"): [("pulmonary nodule", False), ("pulmonary mass", False)],
    ("course of the thoracic aorta", "Tortuous"): [("tortuosity of the thoracic aorta", True)],
}

_STOPS = {
    "but",
    "however",
    "although",
    "except",
    "otherwise",
    "which",
    "there",
    "heart",
    "mild",
    "stable",
    "with",
}
_NEGATORS = {"no", "without", "negative", "free", "not", "absence", "nor", "clear"}
_ACUTE_CODES = re.compile(
    r"Pneumothorax|Pleural Effusion|Pneumonia|Pulmonary Edema|Consolidation|Infiltrate|Airspace|"
    r"Heart Failure|Mass"
)
_NO_ACUTE_DISEASE = re.compile(
    r"(no|negative for)( \w+){0,3} (acute|active)( \w+){0,2} (disease|process|abnorm|finding)"
)
_NORMAL_WORDS = re.compile(
    r"normal|unremarkable|clear|midline|intact|within|no |not |negative|without|low|hypo|hyper|poor|inspirat"
)
_HEDGES = re.compile(
    r"\b(may|might|could|possib|probabl|suggest|likely|question|versus|cannot|suspect|represent)"
)


def read_records(folder):
    """The rows of Open-i's table of reports by exam id."""
    with (folder / "indiana_reports.csv").open(encoding="utf-8-sig", newline="") as file:
        return {f"CXR{row['uid']}": row for row in csv.DictReader(file)}


def label(row, finding):
    """What a record states about a finding: present, absent or unknown."""
    text = f"{row['findings']} {row['impression']}".lower()
    if finding == ACUTE_DISEASE:
        is_denied = re.search(
            r"(no|negative for)( \w+){0,3} (acute|active)( \w+){0,2} (disease|process|abnorm|finding)", text
        )
        return PRESENT if _ACUTE_CODES.search(row["MeSH"]) else ABSENT if is_denied else UNKNOWN
    words, codes, normal = LEXICON[finding]
    is_coded = any(term.strip().startswith(code) for term in row["MeSH"].split(";") for code in codes)
    stated_count, negated_count = 0, 0
    for sentence in re.split(r"[.;]\s*", text):
        for word in words:
            for match in re.finditer(r"\b" + re.escape(word) if word != "edema" else word, sentence):
                before = re.findall(r"[a-z]+", sentence[: match.start()])
                window = before[-14:]
                cut = max((index for index, token in enumerate(window) if token in _STOPS), default=-1)
                is_negated_after = re.match(r".{0,25}\bnot (seen|identified)", sentence[match.end() :])
                if _NEGATORS & set(window[cut + 1 :]) or is_negated_after:
                    negated_count += 1
                elif not _HEDGES.search(sentence):
                    stated_count += 1
        if any(phrase in sentence for phrase in normal) and _NORMAL_WORDS.search(sentence):
            negated_count += 1
    if is_coded and stated_count:
        return PRESENT
    if negated_count and not stated_count and not (is_coded and not negated_count):
        return ABSENT
    return PRESENT if is_coded else UNKNOWN


def list_claims(question):
    """The claims of a question's key: finding, whether it is present, and where."""
    stem, key = question["stem"], question["answer"]
    if question["format"] == "open":
        for (part, answer), claims in OPEN.items():
            if part in stem and answer == key:
                return [(*claim, "") for claim in claims]
        if match := re.fullmatch(r"On which side (?:is|are) there (?:an? )?(.*)\?", stem):
            return [(match[1], True, key)]
        assert "Which acute cardiopulmonary disease" in stem, stem
        return [(ACUTE_DISEASE, False, "")]
    if question["format"] == "closed":
        return [_read_closed_question(stem, key)]
    claims = []
    for index, option in enumerate(question["options"]):
        claims += _read_option(stem, option, index in key)
    return claims


def _read_closed_question(stem, key):
    text, is_yes = stem.lower().rstrip("?"), key == "yes"
    if match := re.fullmatch(r"is it correct that (.*)", text):
        finding, claimed = _read_statement(match[1])
        return finding, claimed == is_yes, ""
    if text in SPECIAL:
        return SPECIAL[text][0], is_yes, ""
    if match := re.fullmatch(r"(?:is|are) there (?:an? )?(.*?) on the (right|left)", text):
        side = match[2] if is_yes else {"right": "left", "left": "right"}[match[2]]
        return match[1], True, f"On the {side}"
    match = re.fullmatch(
        r"(?:is|are) there (?:an? )?(.*)|does this examination support a diagnosis of (.*)", text
    )
    return match[1] or match[2], is_yes, ""


def _read_statement(text):
    text = text.lower()
    if text in SPECIAL:
        return SPECIAL[text]
    match = re.fullmatch(r"(no )?(?:an? )?(.*?) (?:is|are) present", text)
    return match[2], not match[1]


def _read_option(stem, option, is_chosen):
    if "conclusion" in stem:
        return (
            [(ACUTE_DISEASE, False, "")] if option.startswith("No acute") else [(option.lower(), False, "")]
        )
    if stem.startswith(("On which side", "Where is")):
        finding = re.sub(r"^(On which side (is|are) there|Where is) (an? |the )?", "", stem).rstrip("?")
        return [(finding, True, option)] if is_chosen else []
    if "statement" in stem or "description" in stem:
        finding, claimed = _read_statement(option)
        return [(finding, claimed == is_chosen, "")]
    asks_for_absent = "absent" in stem or "not support" in stem
    return [(option.lower(), is_chosen != asks_for_absent, "")]


def check_claim(row, finding, claimed, place):
    """Compare a claim with the record: "agrees", "contradicts" or "undetermined"."""
    value = label(row, finding)
    if value == UNKNOWN:
        return "undetermined"
    if (value == PRESENT) != claimed:
        return "contradicts"
    if not place:
        return "agrees"
    _, codes, _ = LEXICON[finding]
    terms = " ".join(
        term
        for term in row["MeSH"].lower().split(";")
        if any(term.strip().startswith(code.lower()) for code in codes)
    )
    sides = {side for side in ("right", "left", "bilateral") if side in terms}
    claimed_sides = {side for side in ("right", "left") if side in place.lower()} or {
        "bilateral",
        "right",
        "left",
    }
    agrees = sides == claimed_sides if len(claimed_sides) == 1 else "bilateral" in sides or len(sides) == 2
    return "agrees" if agrees else "contradicts"
