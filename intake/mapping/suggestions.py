"""Suggests a mapping for a table with unknown columns, by names and contents, and finds layout issues."""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingType
from dataclasses import dataclass
from pathlib import PurePosixPath

from domain.errors import InvalidValue
from domain.questions import option_letter
from domain.vocabulary import YES_NO, Difficulty, Task
from intake.mapping.declaration import (
    AnswerRule,
    BoxRule,
    Fields,
    Input,
    Mapping,
    MappingFile,
    Rule,
    list_builtin_mappings,
    load_builtin_mapping,
)
from intake.mapping.paths import follow
from intake.mapping.sample import TableSample

#: The fields that can be mapped to columns, with the names that such columns usually have.
FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "qid", "questionid", "uid", "uuid", "index", "idx", "number", "qaid"),
    "images": (
        "image", "images", "imagepath", "imagename", "imagefile", "imagepaths", "img", "imgname", "imgpath",
        "filename", "file", "filepath", "path", "dicom", "radiograph", "imageid", "picture",
        "imagesimagepath",
    ),
    "stem": ("question", "stem", "questiontext", "query", "prompt", "q", "frage"),
    "options": ("options", "choices", "option", "candidates", "answeroptions", "answerchoices",
                "optionscontent", "optionstext", "choicestext"),
    "answer": (
        "answer", "correctanswer", "answerid", "key", "answerkey", "correct", "correctoption", "label",
        "groundtruth", "gt", "target", "gold", "solution", "answeridx", "answerindex", "a",
        "response", "antwort",
    ),
    "explanation": ("explanation", "reason", "rationale", "justification", "why", "correctanswerexplanation"),
    "exam": ("exam", "study", "studyid", "examid", "studyuid", "studyinstanceuid", "accession",
             "accessionnumber", "caseid", "case"),
    "patient": ("patient", "patientid", "subject", "subjectid"),
    "views": ("view", "views", "viewposition", "projection"),
    "indication": ("indication", "history", "clinicalhistory", "clinicalinformation"),
    "age": ("age", "patientage"),
    "sex": ("sex", "gender", "patientsex"),
    "task": ("task", "taskname", "skill"),
    "difficulty": ("difficulty", "tier", "level"),
    "category": ("category", "finding", "class", "topic", "bodysystem"),
    "subcategory": ("subcategory", "subclass"),
    "content_type": ("contenttype", "questiontype", "type", "kind", "qtype"),
    "boxes": ("boxes", "bbox", "bboxes", "box", "boundingboxes", "boundingbox", "visuallocations"),
    "report": ("report", "findings", "orireport", "radiologyreport"),
}  # fmt: skip
REQUIRED_FIELDS = ("stem", "answer", "images")
_OPTION_COLUMN = re.compile(
    r"(?:(?:answer[ _-]?)?(?:option|choice|opt)|answer|distractor|alternative|antwort|r[ée]ponse|respuesta|"
    r"opci[óo]n|opzione|risposta)?[ _-]?([A-H]|\d{1,2})",
    re.IGNORECASE,
)
_IMAGE_COLUMN = re.compile(
    r"(?:images?|img|file|picture|radiograph)[ _-]?(?:name|path|file)?[ _-]?"
    r"(?:\d{1,2}|pa|ap|frontal|lat|lateral)",
    re.IGNORECASE,
)
_IMAGE_SUFFIX = re.compile(r"\.(?:png|jpe?g|dcm|dicom|tiff?)$", re.IGNORECASE)
_OPTION_SEPARATORS = ("|", ";", "\n", " / ", ",")
_LETTERED_CELL = re.compile(r"^\s*(\(?)A([.):])\s.*\s\(?B\2\s", re.DOTALL)
#: The extension that comes first if it is among those suggested for image names without an extension.
_USUAL_SUFFIX = ".png"
_MAX_SUFFIX_FIXES = 5
#: (yes, no) as other programs write them.
_YES_NO_PAIRS = (("1", "0"), ("true", "false"), ("y", "n"), ("ja", "nein"), ("oui", "non"), ("sí", "no"))
_FOLDER = re.compile(r"^.*[/\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutIssue:
    """A frequent layout of a table that needs a rule, and the possible rules, the most likely one first.

    ``fixes`` are (value, text for a button); the value is an argument of :func:`build_mapping`.
    """

    name: str
    text: str
    fixes: tuple[tuple[str, str], ...]


def find_builtin_mapping(sample: TableSample) -> Mapping | None:
    """Return the built-in mapping whose columns all occur in the sample, or None."""
    for name in list_builtin_mappings():
        mapping = load_builtin_mapping(name)
        settings = mapping.content.input
        if (
            settings.columns
            or settings.files
            or settings.records
            or settings.kind in ("coco", "label-studio")
        ):
            continue
        needed_paths = {path for _, path in mapping.list_paths() if not path.root and not path.optional}
        # a mapping of question, answer and image alone would match most tables
        if len(needed_paths) > len(REQUIRED_FIELDS) and all(
            any(follow(record, path) for record in sample.records) for path in needed_paths
        ):
            return mapping
    return None


def guess_columns(sample: TableSample) -> dict[str, tuple[str, ...]]:
    """Return the columns of each recognised field, matched by name, then by content."""
    columns_by_name = {_normalise(column): column for column in reversed(sample.columns)}
    guessed: dict[str, tuple[str, ...]] = {}
    option_columns = [  # one column per option
        column for column in sample.columns if _OPTION_COLUMN.fullmatch(column.strip()) is not None
    ]
    for field, names in FIELD_NAMES.items():
        column = next((columns_by_name[name] for name in names if name in columns_by_name), None)
        if column is not None and (column,) not in guessed.values() and _fits(field, sample, column):
            guessed[field] = (column,)
    if "options" not in guessed and len(option_columns) >= 2:
        guessed["options"] = tuple(option_columns)
        guessed = {
            field: columns
            for field, columns in guessed.items()
            if field == "options" or columns[0] not in option_columns
        }
    image_columns = [column for column in sample.columns if _IMAGE_COLUMN.fullmatch(column.strip())]
    if "images" not in guessed and len(image_columns) >= 2:
        guessed["images"] = tuple(image_columns)  # one column per view
    for field in ("images", "stem", "answer"):
        if field not in guessed:
            used_columns = {column for columns in guessed.values() for column in columns}
            column = next(
                (c for c in sample.columns if c not in used_columns and _looks_like(field, sample, c)), None
            )
            if column is not None:
                guessed[field] = (column,)
    return {field: guessed[field] for field in FIELD_NAMES if field in guessed}


def find_layout_issues(
    sample: TableSample, columns: MappingType[str, tuple[str, ...]], image_names: frozenset[str] = frozenset()
) -> tuple[LayoutIssue, ...]:
    """Return the frequent layout issues of a table.

    Args:
        sample: the first records of the table.
        columns: the columns of each field.
        image_names: the names of the delivered images; empty if there are none.
    """
    candidates = (
        _find_numbered_answers(sample, columns),
        _find_named_answers(sample, columns),
        _find_yes_no_words(sample, columns),
        _find_joined_options(sample, columns),
        _find_answer_texts(sample, columns),
        _find_missing_ids(sample, columns),
        _find_bare_image_names(sample, columns, image_names),
        _find_image_folders(sample, columns, image_names),
    )
    return tuple(issue for issue in candidates if issue is not None)


def build_mapping(
    name: str,
    columns: MappingType[str, tuple[str, ...]],
    fixes: MappingType[str, str],
    input_settings: Input | None = None,
) -> MappingFile:
    """Build a mapping of columns to fields.

    Args:
        name: the name of the format.
        columns: the columns of each field.
        fixes: the chosen fix by name of the layout issue; an empty text for none.
        input_settings: how the file is read; by default this is detected from the file.

    Raises:
        InvalidValue: a required field has no column.
    """
    for field in REQUIRED_FIELDS:
        if not columns.get(field):
            raise InvalidValue(field, "has no column; choose the column that contains it")
    rules: dict[str, object] = {
        field: chosen[0] if len(chosen) == 1 else Rule(from_=list(chosen))
        for field, chosen in columns.items()
        if chosen
    }
    key_notation = fixes.get("numbers") or fixes.get("texts")
    if key_notation:
        # A fix of a layout issue, so it is one of the allowed values.
        rules["answer"] = AnswerRule(from_=columns["answer"][0], as_=key_notation)  # type: ignore[arg-type]  # see above
    if fixes.get("names"):
        letters = {column: option_letter(index) for index, column in enumerate(columns["options"])}
        rules["answer"] = AnswerRule(from_=columns["answer"][0], values=dict(letters), as_="letter")
    if fixes.get("yes_no"):
        yes, no = fixes["yes_no"].split("|")
        rules["answer"] = AnswerRule(from_=columns["answer"][0], values={yes: "yes", no: "no"})
    if fixes.get("cell"):
        rules["options"] = Rule(from_=columns["options"][0], split=fixes["cell"])
    if fixes.get("ids"):
        rules["id"] = Rule(template="{$file}-{$number}")
    if fixes.get("suffix") or fixes.get("folders"):
        rules["images"] = Rule(
            from_=columns["images"][0] if len(columns["images"]) == 1 else list(columns["images"]),
            value_template="{}" + fixes["suffix"] if fixes.get("suffix") else None,
            remove=_FOLDER.pattern if fixes.get("folders") else None,
        )
    if columns.get("boxes"):
        rules["boxes"] = BoxRule(from_=columns["boxes"][0])
    expected = [field for field in ("explanation", "difficulty", "category", "task") if columns.get(field)]
    content = MappingFile(
        format="overread.mapping/1",
        name=_make_name(name),
        input=input_settings or Input(),
        fields=Fields(**rules),  # type: ignore[arg-type]  # each rule has the type of its field
    )
    content.expects.fields = expected
    return content


# -------------------------------------------------------------------------------------------- layout issues
def _find_numbered_answers(
    sample: TableSample, columns: MappingType[str, tuple[str, ...]]
) -> LayoutIssue | None:
    """Detect answer keys that are option numbers, which may start at 0 or at 1."""
    pairs = _pair_answers(sample, columns)
    if not pairs or not all(answer.isdecimal() for answer, _ in pairs):
        return None
    if all(answer in options for answer, options in pairs):
        return None  # the options are numbers themselves
    from_zero = any(int(answer) == 0 for answer, _ in pairs)
    from_one = any(int(answer) >= len(options) > 1 for answer, options in pairs)
    fixes_by_notation = {
        "index": ("index", "Count from 0: 0 is the first option"),
        "number": ("number", "Count from 1: 1 is the first option"),
    }
    order = ("number", "index") if from_one and not from_zero else ("index", "number")
    certainty = (
        "0 occurs, so numbering starts at 0."
        if from_zero
        else "The highest answer equals the number of options, so numbering starts at 1."
        if from_one
        else "Numbering may start at 0 or at 1: compare some questions with their images."
    )
    return LayoutIssue(
        name="numbers",
        text=f"The answers are option numbers. {certainty}",
        fixes=tuple(fixes_by_notation[notation] for notation in order),
    )


def _find_named_answers(
    sample: TableSample, columns: MappingType[str, tuple[str, ...]]
) -> LayoutIssue | None:
    """Detect answer keys that are names of option columns, such as "Option 2"."""
    option_columns = columns.get("options", ())
    pairs = _pair_answers(sample, columns)
    names = {column.strip().casefold() for column in option_columns if len(column.strip()) > 1}
    if len(option_columns) < 2 or not pairs or not all(answer.casefold() in names for answer, _ in pairs):
        return None
    return LayoutIssue(
        name="names",
        text=f"The answers are names of option columns, such as “{pairs[0][0]}”.",
        fixes=(("letter", "Take the option in that column"),),
    )


def _find_yes_no_words(sample: TableSample, columns: MappingType[str, tuple[str, ...]]) -> LayoutIssue | None:
    """Detect questions without options whose answers are yes and no in other words."""
    if not columns.get("answer") or columns.get("options"):
        return None
    answers = {text.casefold() for texts in sample.find_texts(columns["answer"][0]) for text in texts}
    pair = next((pair for pair in _YES_NO_PAIRS if answers == set(pair)), None)
    if pair is None:
        return None
    yes, no = pair
    return LayoutIssue(
        name="yes_no",
        text=f"All answers are “{yes}” or “{no}”.",
        fixes=((f"{yes}|{no}", f"“{yes}” means yes, “{no}” means no"),),
    )


def _find_image_folders(
    sample: TableSample, columns: MappingType[str, tuple[str, ...]], image_names: frozenset[str]
) -> LayoutIssue | None:
    """Detect image names with folders that the delivered images do not have."""
    if not columns.get("images"):
        return None
    names = set(_list_image_names(sample, columns["images"]))
    files = {_FOLDER.sub("", name) for name in names}
    if "" in files or files == names or len(files) < len(names) or names & image_names:
        return None
    is_absolute = all("\\" in name or name.startswith("/") for name in names)
    delivered_names = image_names | {str(PurePosixPath(name).with_suffix("")) for name in image_names}
    if not (files & delivered_names if image_names else is_absolute):
        return None
    return LayoutIssue(
        name="folders",
        text=f"Image names include folders, such as “{min(names)}”.",
        fixes=(("remove", "Use the file's name only"),),
    )


def _find_joined_options(
    sample: TableSample, columns: MappingType[str, tuple[str, ...]]
) -> LayoutIssue | None:
    """Detect tables that have all options of a question in one cell."""
    option_columns = columns.get("options", ())
    if len(option_columns) != 1:
        return None
    cells = [texts[0] for texts in sample.find_texts(option_columns[0]) if len(texts) == 1]
    if not cells or len(cells) < len([texts for texts in sample.find_texts(option_columns[0]) if texts]):
        return None
    if all(cell.strip().startswith("[") for cell in cells):
        return None  # a list as text, which is read without a rule
    letter_match = _LETTERED_CELL.match(cells[0])
    if letter_match and all(_LETTERED_CELL.match(cell) for cell in cells):
        letter = f"{letter_match[1]}A{letter_match[2]}"
        return LayoutIssue(
            name="cell",
            text="All options are in one cell.",
            fixes=((letter, f"Split before each letter ({letter} …)"),),
        )
    separators = [mark for mark in _OPTION_SEPARATORS if all(mark in cell for cell in cells)]
    if not separators:
        return None
    separator_labels = {"\n": "line break"}
    return LayoutIssue(
        name="cell",
        text="All options are in one cell.",
        fixes=tuple(
            (mark, f"Split at {separator_labels.get(mark, f'“{mark.strip()}”')}") for mark in separators
        ),
    )


def _find_answer_texts(sample: TableSample, columns: MappingType[str, tuple[str, ...]]) -> LayoutIssue | None:
    """Detect answer keys that are texts of options."""
    pairs = _pair_answers(sample, columns)
    if not pairs:
        return None
    match_count = sum(
        len(answer) > 1 and answer.casefold() in {_without_letter(option) for option in options}
        for answer, options in pairs
    )
    if match_count < len(pairs) / 2 or all(answer.isdecimal() for answer, _ in pairs):
        return None
    return LayoutIssue(
        name="texts",
        text=f"The answers are the texts of options ({match_count:,} of {len(pairs):,} match an option "
        "exactly).",
        fixes=(("text", "Find the option with that text"),),
    )


def _find_missing_ids(sample: TableSample, columns: MappingType[str, tuple[str, ...]]) -> LayoutIssue | None:
    fixes = (("number", "Make ids from the file's name and the record's number"),)
    if not columns.get("id"):
        return LayoutIssue(name="ids", text="No column contains ids of questions.", fixes=fixes)
    ids = [texts[0] if texts else "" for texts in sample.find_texts(columns["id"][0])]
    missing_count, repeated_count = ids.count(""), len(ids) - len(set(ids))
    if not missing_count and not repeated_count:
        return None
    problem = f"is empty in {missing_count:,}" if missing_count else f"repeats in {repeated_count:,}"
    return LayoutIssue(
        name="ids",
        text=f"The column “{columns['id'][0]}” {problem} of the first {len(ids):,} records.",
        fixes=fixes,
    )


def _find_bare_image_names(
    sample: TableSample, columns: MappingType[str, tuple[str, ...]], image_names: frozenset[str]
) -> LayoutIssue | None:
    if not columns.get("images"):
        return None
    names = _list_image_names(sample, columns["images"])
    bare_names = [name for name in names if not _IMAGE_SUFFIX.search(name)]
    if not bare_names or any(name in image_names for name in bare_names):
        return None
    stems = {PurePosixPath(name).name for name in bare_names}
    suffixes = {PurePosixPath(name).suffix for name in image_names if PurePosixPath(name).stem in stems} or {
        _USUAL_SUFFIX,
        ".jpg",
        ".dcm",
    }
    ordered = sorted(suffixes, key=lambda suffix: (suffix != _USUAL_SUFFIX, suffix))
    return LayoutIssue(
        name="suffix",
        text=f"Image names have no file extension, such as “{bare_names[0]}”.",
        fixes=tuple((suffix, f"Add {suffix}") for suffix in ordered[:_MAX_SUFFIX_FIXES]),
    )


def _list_image_names(sample: TableSample, columns: tuple[str, ...]) -> list[str]:
    return [name for column in columns for texts in sample.find_texts(column) for name in texts]


def _pair_answers(
    sample: TableSample, columns: MappingType[str, tuple[str, ...]]
) -> list[tuple[str, list[str]]]:
    """Return (answer, options) of the records that have both."""
    if not columns.get("answer") or not columns.get("options"):
        return []
    answers = sample.find_texts(columns["answer"][0])
    texts_by_column = [sample.find_texts(column) for column in columns["options"]]
    options = [[text for texts in row for text in texts] for row in zip(*texts_by_column, strict=True)]
    joined_options = _find_joined_options(sample, columns)
    if joined_options is not None and len(joined_options.fixes[0][0]) == 1:
        options = [
            [part.strip() for part in row[0].split(joined_options.fixes[0][0])] if row else []
            for row in options
        ]
    return [
        (answer[0], row) for answer, row in zip(answers, options, strict=True) if len(answer) == 1 and row
    ]


# -------------------------------------------------------------------------------------------------- columns
def _normalise(column: str) -> str:
    return re.sub(r"[^a-z0-9]", "", column.casefold())


def _without_letter(option: str) -> str:
    return re.sub(r"^\s*\(?[A-Z][.):]\s+", "", option).strip().casefold()


def _fits(field: str, sample: TableSample, column: str) -> bool:
    """Return whether the contents of a column are possible values of the field that its name suggests."""
    texts = [text for texts in sample.find_texts(column) for text in texts]
    if field in ("task", "difficulty"):
        allowed: set[str] = set(Task) if field == "task" else set(Difficulty)
        return bool(texts) and {text.casefold() for text in texts} <= allowed
    return bool(texts)


def _looks_like(field: str, sample: TableSample, column: str) -> bool:
    texts = [text for texts in sample.find_texts(column) for text in texts]
    if not texts:
        return False
    if field == "images":
        return all(_IMAGE_SUFFIX.search(text) for text in texts)
    if field == "stem":
        return sum("?" in text for text in texts) > len(texts) / 2
    return all(text.casefold().rstrip(".") in YES_NO or re.fullmatch(r"[A-H]", text) for text in texts)


def _make_name(name: str) -> str:
    cleaned = re.sub(r"[^\w .-]", "-", name).strip(" .-")[:60]
    return cleaned or "table"
