"""The structure of mapping files (``overread.mapping/1``), and checks that report file, line and advice.

``python -m intake.mapping.declaration`` rewrites the JSON Schema in docs/formats/. A test compares both.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import tomli_w
from msgspec import Meta

from domain.errors import InvalidValue
from domain.expectations import Expectations
from domain.vocabulary import AnswerFormat, Difficulty, Task
from intake.mapping.lines import find_line
from intake.mapping.paths import Path as ColumnPath
from intake.mapping.paths import parse_path
from records.decoding import convert_plain

BUILTIN_FOLDER = Path(__file__).resolve().parent / "ready"
SCHEMA_PATH = Path(__file__).resolve().parents[2] / "docs" / "formats" / "overread.mapping-1.schema.json"
#: Matches a placeholder of a template: {column}.
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

Scalar = str | int | float | bool


class Condition(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A condition on a column's text; upper and lower case are the same."""

    is_: Annotated[list[Scalar] | Scalar | None, Meta(description="One of these texts.")] = msgspec.field(
        name="is", default=None
    )
    not_: Annotated[list[Scalar] | Scalar | None, Meta(description="None of these texts.")] = msgspec.field(
        name="not", default=None
    )
    matches: Annotated[str | None, Meta(description="A regular expression that occurs in the text.")] = None
    empty: Annotated[bool | None, Meta(description="Whether the column is empty.")] = None


ConditionSpec = Condition | list[Scalar] | Scalar


class Rule(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """How the value of a field is made; the steps apply in this order."""

    where: Annotated[
        dict[str, ConditionSpec], Meta(description="Use this rule only for records with these values.")
    ] = {}
    from_: Annotated[
        str | list[str] | None,
        Meta(description="The column, or the path of a JSON value; several give several values."),
    ] = msgspec.field(name="from", default=None)
    template: Annotated[
        str | None, Meta(description="A text with columns in braces, instead of `from`: {study}-{number}.")
    ] = None
    value: Annotated[
        Scalar | list[str] | None, Meta(description="The same value for every record, instead of `from`.")
    ] = None
    split: Annotated[
        str | None,
        Meta(description='Between the values of one cell; "A." splits before each letter A., B., …'),
    ] = None
    value_template: Annotated[
        str | None, Meta(description="A template for each value: {} is the value, {[0]} a part of it.")
    ] = msgspec.field(name="each", default=None)
    remove: Annotated[
        str | list[str] | None, Meta(description="Regular expressions whose matches are removed.")
    ] = None
    extract: Annotated[
        str | None,
        Meta(description="A regular expression; its first group is kept. Without a match there is no value."),
    ] = None
    lower: Annotated[bool, Meta(description="Convert the text to lower case.")] = False
    values: Annotated[
        dict[str, Scalar] | None, Meta(description="The value for each text of the column, in any case.")
    ] = None
    otherwise: Annotated[
        Literal["refuse", "keep", "missing"],
        Meta(description="What becomes of a text that is not in `values`."),
    ] = "refuse"
    join: Annotated[str | None, Meta(description="Join several values to one text with this between.")] = None
    default: Annotated[Scalar | None, Meta(description="The value of a record without one.")] = None


class AnswerRule(Rule, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The rule of the answer key."""

    as_: Annotated[
        Literal["letter", "index", "number", "text"] | None,
        Meta(
            description="How the key names an option: by its letter, its index from 0, its number from 1, or "
            "its text. Without it, a letter or the text of an option is recognised."
        ),
    ] = msgspec.field(name="as", default=None)


class BoxRule(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The rule of the boxes; all are on the first image of the record."""

    from_: Annotated[
        str | list[str],
        Meta(description="A column with one box or a list of boxes of four numbers, or four columns."),
    ] = msgspec.field(name="from")
    labels: Annotated[str | None, Meta(description="The column with the label of each box.")] = None
    corners: Annotated[
        Literal["xyxy", "xywh"],
        Meta(description="Left, top, right, bottom; or left, top, width, height."),
    ] = "xyxy"
    grid: Annotated[
        tuple[int, int] | None, Meta(description="[width, height] of the pixel grid, if not the image's own.")
    ] = None
    fit: Annotated[Literal["letterbox", "stretch"], Meta(description="How the image fits on the grid.")] = (
        "letterbox"
    )


RuleSpec = str | Rule | list[str | Rule]
AnswerSpec = str | AnswerRule | list[str | AnswerRule]


class Fields(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The fields of a question: a column, a rule, or a list of rules; the first with a value counts."""

    id: Annotated[
        RuleSpec | None,
        Meta(description="Unique within the dataset; by default the file's name and the record's number."),
    ] = None
    exam: Annotated[
        RuleSpec | None, Meta(description="The exam's id; by default the first image without its ending.")
    ] = None
    patient: RuleSpec | None = None
    indication: RuleSpec | None = None
    age: RuleSpec | None = None
    sex: RuleSpec | None = None
    images: Annotated[RuleSpec, Meta(description="Paths of the images, relative to the folder of images.")]
    views: RuleSpec | None = None
    format: Annotated[
        RuleSpec | None,
        Meta(
            description="closed, single, multiple or open. By default single or multiple with options, "
            "closed if the answer is yes or no, else open."
        ),
    ] = None
    stem: Annotated[
        RuleSpec | None, Meta(description="The question; a table of reports has none (see `input.table`).")
    ] = None
    options: Annotated[
        RuleSpec | None, Meta(description="Their texts; letters such as “A. ” before them are removed.")
    ] = None
    answer: AnswerSpec | None = None
    explanation: RuleSpec | None = None
    boxes: str | BoxRule | None = None
    task: RuleSpec | None = None
    content_type: RuleSpec | None = None
    category: RuleSpec | None = None
    subcategory: RuleSpec | None = None
    difficulty: RuleSpec | None = None
    report: RuleSpec | None = None
    labels: Annotated[
        RuleSpec | None,
        Meta(description="Findings that are present, for the generation of questions from reports."),
    ] = None
    generator: RuleSpec | None = None
    generator_version: RuleSpec | None = None
    prompt_version: RuleSpec | None = None


class Input(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """How the file is read; settings that are not stated are detected from the file."""

    table: Annotated[
        str | None,
        Meta(
            description="The table of reports beside the mapping file, from which questions are generated. "
            "The import of questions does not need it."
        ),
    ] = None
    kind: Literal["csv", "tsv", "xlsx", "json", "parquet", "coco", "label-studio"] | None = None
    delimiter: Annotated[str, Meta(description="Between the cells of a line.", max_length=1)] | None = None
    quotes: Annotated[bool, Meta(description="Whether quotation marks enclose cells.")] = True
    columns: Annotated[
        list[str] | None, Meta(description="The names of the columns of a table without a header.")
    ] = None
    sheet: Annotated[str | None, Meta(description="Of a workbook; by default the first.")] = None
    files: Annotated[
        str | None, Meta(description="The JSON files of a folder (FILE is then a folder): pairs/*.json.")
    ] = None
    records: Annotated[
        str | None,
        Meta(
            description="The path of the records in a JSON file, if they are not its items: data[*].items[*]."
        ),
    ] = None
    nan: Annotated[bool, Meta(description="Whether NaN in JSON means a missing value.")] = False


class Join(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A second file, whose matching row is available as @name in every rule."""

    file: Annotated[str, Meta(description="Below the folder of the question file.")]
    on: Annotated[str, Meta(description="The column of the question file that names the row.")]
    key: Annotated[
        str | None, Meta(description="The column of the second file; without it, the keys of a JSON object.")
    ] = None
    many: Annotated[bool, Meta(description="Whether several rows may match: @name is then a list.")] = False


class Expects(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What every question of the collection has; the structural checks report where it is missing."""

    fields: list[str] = []
    options: Annotated[int | None, Meta(description="The number of options of a choice question.")] = None


class MappingFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A mapping file (TOML): how the records of a collection become questions."""

    format: Literal["overread.mapping/1"]
    name: Annotated[str, Meta(description="Of the collection's format.", pattern=r"^[\w][\w .-]{0,59}$")]
    description: str | None = None
    input: Input = msgspec.field(default_factory=Input)
    join: dict[str, Join] = {}
    columns: Annotated[
        dict[str, Rule], Meta(description="Computed columns, available as @name in every rule.")
    ] = {}
    where: Annotated[
        dict[str, ConditionSpec],
        Meta(description="The records that are imported; others are left out."),
    ] = {}
    fields: Fields
    expects: Expects = msgspec.field(default_factory=Expects)


#: The values of the fields that have a closed list.
_CHOICES: dict[str, tuple[str, ...]] = {
    "format": tuple(AnswerFormat),
    "task": tuple(Task),
    "difficulty": tuple(Difficulty),
}
#: The keys that lead to a place in the mapping file, and the path of a column that is used there.
PlacedPath = tuple[tuple[str, ...], ColumnPath]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """A valid mapping. ``file_name`` and ``text`` are the name and content of its file."""

    file_name: str
    text: str
    content: MappingFile

    @property
    def expectations(self) -> Expectations:
        """The fields and option count that the structural checks expect."""
        expects = self.content.expects
        return Expectations(fields=frozenset(expects.fields), option_count=expects.options)

    def error(self, keys: tuple[str, ...], reason: str) -> InvalidValue:
        """Return an error that names the line of the file."""
        return _error(self.file_name, self.text, keys, reason)

    def list_paths(self) -> Iterator[PlacedPath]:
        """Yield the paths of all columns that the mapping uses, with their places in the file."""
        content = self.content
        for column in content.where:
            yield ("where", column), parse_path(column)
        for name, join in content.join.items():
            yield ("join", name, "on"), parse_path(join.on)
        for keys, rule in list_rules(content):
            yield from _list_rule_paths(keys, rule)


def load_mapping(text: str, file_name: str) -> Mapping:
    """Read a mapping file.

    Args:
        text: the content of the file.
        file_name: the file name, used in error messages.

    Raises:
        InvalidValue: the mapping is not valid. The field is the file with the line; the reason states what to
            change.
    """
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"line (\d+)", str(error))
        line = match[1] if match else str(text.count("\n") + 1)
        reason = re.sub(r" \(at .*\)", "", str(error))
        raise InvalidValue(
            f"{file_name}, line {line}", f"is not valid TOML: {reason}. Texts need quotation marks"
        ) from None
    try:
        content = convert_plain(plain, MappingFile)
    except msgspec.ValidationError as error:
        raise _explain(plain, text, file_name, error) from None
    mapping = Mapping(file_name=file_name, text=text, content=content)
    _check(mapping)
    return mapping


def list_builtin_mappings() -> list[str]:
    """Return the names of the mapping files that ship with Overread."""
    return sorted(path.stem for path in BUILTIN_FOLDER.glob("*.toml"))


def load_builtin_mapping(name: str) -> Mapping:
    """Read a mapping file that ships with Overread.

    Raises:
        InvalidValue: there is no mapping of this name.
    """
    if name not in list_builtin_mappings():
        raise InvalidValue(
            "mapping", f"{name!r} is neither a file nor one of {', '.join(list_builtin_mappings())}"
        )
    return load_mapping((BUILTIN_FOLDER / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")


def write_mapping(content: MappingFile) -> str:
    """Return the text of a mapping file."""
    return tomli_w.dumps(msgspec.to_builtins(content))


def list_rules(content: MappingFile) -> Iterator[tuple[tuple[str, ...], str | Rule | BoxRule]]:
    """Yield the rules of a mapping with their places in the file."""
    for name, column in content.columns.items():
        yield ("columns", name), column
    for name in Fields.__struct_fields__:
        spec = getattr(content.fields, name)
        for rule in spec if isinstance(spec, list) else [spec]:
            if rule is not None:
                yield ("fields", name), rule


def suggest(word: str, known: list[str]) -> str:
    """Return a hint that names the most similar known word; empty if no word is similar."""
    matches = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f" Did you mean {matches[0]!r}?" if matches else ""


def _list_rule_paths(keys: tuple[str, ...], rule: str | Rule | BoxRule) -> Iterator[PlacedPath]:
    if isinstance(rule, str):
        yield keys, parse_path(rule)
        return
    for path in [rule.from_] if isinstance(rule.from_, str) else rule.from_ or []:
        yield (*keys, "from"), parse_path(path)
    if isinstance(rule, BoxRule):
        if rule.labels is not None:
            yield (*keys, "labels"), parse_path(rule.labels)
        return
    for column in rule.where:
        yield (*keys, "where", column), parse_path(column)
    for placeholder in PLACEHOLDER.findall(rule.template or ""):
        yield (*keys, "template"), parse_path(placeholder)


def _check(mapping: Mapping) -> None:
    content = mapping.content
    try:
        mapping.expectations  # noqa: B018 - reading the property checks the fields
    except InvalidValue as error:
        raise mapping.error(tuple(error.field.split(".")), error.reason) from None
    for name in content.columns.keys() & content.join.keys():
        raise mapping.error(("columns", name), "is also the name of a join; choose another name")
    for name in ("stem", "answer") if content.input.table is None else ("report",):
        if getattr(content.fields, name) is None:
            raise mapping.error(("fields",), f"{name} is missing; add it")
    conditions: list[tuple[tuple[str, ...], dict[str, ConditionSpec]]] = [(("where",), content.where)]
    for keys, rule in list_rules(content):
        with _add_place_to_errors(mapping, keys):
            _check_rule(mapping, keys, rule)
            list(_list_rule_paths(keys, rule))
        if isinstance(rule, Rule):
            conditions.append(((*keys, "where"), rule.where))
    for keys, by_column in conditions:
        for column, condition in by_column.items():
            if isinstance(condition, Condition):
                _check_pattern(mapping, (*keys, column), condition.matches)
    with _add_place_to_errors(mapping, ("where",)):
        _check_names(mapping)


def _check_names(mapping: Mapping) -> None:
    declared_names = [f"@{name}" for name in (*mapping.content.columns, *mapping.content.join)]
    for keys, path in mapping.list_paths():
        if path.root.startswith("@") and path.root not in declared_names:
            reason = f"{path.root!r} is not declared under [columns] or [join]."
            raise mapping.error(keys, reason + suggest(path.root, declared_names))
    names_by_column: dict[str, set[str]] = {}
    for keys, path in mapping.list_paths():
        if keys[0] in ("columns", "join") and path.root.startswith("@"):
            names_by_column.setdefault(f"@{keys[1]}", set()).add(path.root)
    try:
        TopologicalSorter(names_by_column).prepare()
    except CycleError as error:
        cycle = error.args[1][::-1]
        name = cycle[0].removeprefix("@")
        table = "columns" if name in mapping.content.columns else "join"
        raise mapping.error((table, name), f"refers to itself: {' needs '.join(cycle)}") from None


@contextmanager
def _add_place_to_errors(mapping: Mapping, keys: tuple[str, ...]) -> Iterator[None]:
    """Add the place in the mapping file to errors about paths."""
    try:
        yield
    except InvalidValue as error:
        if error.field.startswith(mapping.file_name):
            raise
        raise mapping.error(keys, f"{error.field} {error.reason}") from None


def _check_rule(mapping: Mapping, keys: tuple[str, ...], rule: str | Rule | BoxRule) -> None:
    if not isinstance(rule, Rule):
        return
    given_keys = [
        name
        for name, value in (("from", rule.from_), ("template", rule.template), ("value", rule.value))
        if value is not None
    ]
    if len(given_keys) != 1:
        reason = "needs one of from, template and value"
        raise mapping.error(keys, f"{reason}, not {' and '.join(given_keys)}" if given_keys else reason)
    for pattern in [rule.remove] if isinstance(rule.remove, str) else rule.remove or []:
        _check_pattern(mapping, (*keys, "remove"), pattern)
    _check_pattern(mapping, (*keys, "extract"), rule.extract)
    choices = _CHOICES.get(keys[-1]) if keys[0] == "fields" else None
    results: list[tuple[tuple[str, ...], Any]] = [
        (("values", text), result) for text, result in (rule.values or {}).items()
    ]
    results += [(("default",), rule.default), (("value",), rule.value)]
    for place, result in results:
        if choices and result is not None and result not in choices:
            raise mapping.error((*keys, *place), f"{result!r} must be one of {', '.join(choices)}")
    folded_texts = [text.strip().casefold() for text in rule.values or {}]
    for text in rule.values or {}:
        if folded_texts.count(text.strip().casefold()) > 1:
            raise mapping.error((*keys, "values", text), f"{text!r} occurs twice; case makes no difference")
    if rule.values is not None and not rule.values:
        raise mapping.error((*keys, "values"), "is empty; list the texts of the column and their values")


def _check_pattern(mapping: Mapping, keys: tuple[str, ...], pattern: str | None) -> None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise mapping.error(keys, f"is not a regular expression: {error}") from None


def _error(file_name: str, text: str, keys: tuple[str, ...], reason: str) -> InvalidValue:
    location = f"{'.'.join(keys)}: " if keys else ""
    return InvalidValue(f"{file_name}, line {find_line(text, keys)}", location + reason)


def _explain(plain: Any, text: str, file_name: str, error: msgspec.ValidationError) -> InvalidValue:  # noqa: ANN401  # any TOML value
    """Convert msgspec's error to file, line and advice. The text of the error omits the keys of tables."""
    message, _, path_text = str(error).partition(" - at `$")
    keys = _resolve_keys(plain, path_text.rstrip("`"))
    field_match = re.match(r"Object (missing required|contains unknown) field `(.*)`", message)
    if field_match and field_match[1] == "contains unknown":
        unknown_key, known_keys = field_match[2], _list_known_keys(keys)
        listed = f"; it may be {', '.join(known_keys)}" if known_keys else ""
        reason = f"is not known{listed}.{suggest(unknown_key, known_keys)}"
        return _error(file_name, text, (*keys, unknown_key), reason)
    if field_match:
        return _error(file_name, text, keys, f"{field_match[2]} is missing; add it")
    type_match = re.match(r"Expected `(.*)`, got `(.*)`", message)
    if type_match:
        names = {"str": "a text in quotation marks", "int": "a whole number", "float": "a number"}
        names |= {"array": "a list [...]", "object": "a table {...}", "bool": "true or false"}
        expected = " or ".join(names.get(kind, kind) for kind in type_match[1].split(" | ") if kind != "null")
        return _error(
            file_name, text, keys, f"must be {expected}, not {names.get(type_match[2], type_match[2])}"
        )
    if message.startswith("Invalid enum value"):
        value = message.removeprefix("Invalid enum value ").strip("'\"")
        allowed = {"format": "overread.mapping/1", "otherwise": "refuse, keep, missing"}
        allowed |= {"as": "letter, index, number, text", "corners": "xyxy, xywh", "fit": "letterbox, stretch"}
        allowed |= {"kind": "csv, tsv, xlsx, json, parquet, coco, label-studio"}
        return _error(file_name, text, keys, f"{value!r} must be one of {allowed.get(keys[-1], '…')}")
    return _error(file_name, text, keys, message[:1].lower() + message[1:])


def _resolve_keys(plain: Any, path_text: str) -> tuple[str, ...]:  # noqa: ANN401  # any TOML value
    """Return the keys of msgspec's path. In a table, "[...]" is the first key with an invalid value."""
    keys: list[str] = []
    value = plain
    for key in re.findall(r"[^.\[\]]+|\[\.\.\.\]", path_text):
        if key == "[...]":
            if not isinstance(value, dict):
                continue
            tables = {"join": Join, "columns": Rule}
            kind: Any = tables.get(keys[-1], ConditionSpec if keys[-1] == "where" else Scalar)
            name = next((name for name, member in value.items() if not _is_valid(member, kind)), "")
        else:
            name = key
        if name.isdigit() or not name:
            value = value[int(name)] if name and isinstance(value, list) else value
            continue
        keys.append(name)
        value = value.get(name) if isinstance(value, dict) else value
    return tuple(keys)


def _is_valid(value: Any, kind: Any) -> bool:  # noqa: ANN401  # any TOML value and any type
    try:
        convert_plain(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _list_known_keys(keys: tuple[str, ...]) -> list[str]:
    structs: dict[str, Any] = {"input": Input, "expects": Expects, "fields": Fields}
    if not keys:
        return [field.encode_name for field in msgspec.structs.fields(MappingFile)]
    if len(keys) == 1:
        kind = structs.get(keys[0])
    elif keys[0] == "join":
        kind = Join
    elif "where" in keys:
        kind = Condition
    else:
        kind = {"answer": AnswerRule, "boxes": BoxRule}.get(keys[1], Rule)
    return [field.encode_name for field in msgspec.structs.fields(kind)] if kind else []


def render_schema() -> str:
    """Return the JSON Schema (draft 2020-12) of a mapping file that was converted to JSON."""
    (_,), definitions = msgspec.json.schema_components([MappingFile], ref_template="#/$defs/{name}")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_PATH.name,
        **definitions.pop("MappingFile"),
        "title": "overread.mapping/1",
        "$defs": dict(sorted(definitions.items())),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_PATH.write_text(render_schema(), encoding="utf-8")
