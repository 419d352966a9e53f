"""The automatic checks of questions: their declarations and results. docs/checks.md describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.verdicts import ErrorKind
from domain.vocabulary import Choice


class Check(Choice):
    """The checks. The first four are the structural validators of ReXVQA (its section 3.3.2)."""

    SCHEMA = ("schema", "Schema")
    TYPES = ("types", "Types")
    FORMAT = ("format", "Format")
    COMPLETENESS = ("completeness", "Completeness")
    COMPARISON = ("comparison", "Comparison with a prior")
    REPORT_REFERENCE = ("reference to the report", "Reference to the report")
    SEVERAL_RIGHT = ("several right answers", "Several right answers")
    NOT_IN_REPORT = ("not in the report", "Not in the report")
    SIDE = ("side or height", "Side or height")
    ANSWER_REVEALED = ("answer revealed", "Answer revealed")
    DUPLICATE = ("duplicate", "Near-duplicates")
    CONTRADICTION = ("contradiction", "Contradicting keys")


class CheckGroup(Choice):
    """The kinds of checks. A question passes the structural checks before the others mean anything."""

    STRUCTURE = ("structure", "Structure")
    WORDING = ("wording", "Wording and contradictions")
    MODELS = ("models", "Language models")
    DATASET = ("dataset", "Whole dataset")


class Severity(Choice):
    """How certain a problem is. A warning asks a person to look; an error is wrong by definition."""

    ERROR = ("error", "Error")
    WARNING = ("warning", "Warning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem that a check detected: the field and the reason. The question stays in the dataset."""

    check: Check
    field: str
    reason: str


class Need(Choice):
    """What a check needs. The label is the reason why a question without it was not checked."""

    OPTIONS = ("options", "no options")
    REPORT = ("report", "no report")
    BOXES = ("boxes", "no boxes")
    RESULT = ("result", "newer than the last run")


#: The settings of a check, by name. A change of settings means that all questions are checked again.
Settings = Mapping[str, int | float | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDeclaration:
    """A check.

    Attributes:
        check: the id of the check.
        version: increases whenever the check may give another result for the same question and settings.
        group: the kind of check.
        severity: the severity of the problems that it reports.
        description: what a question that passes has, as a sentence for the user.
        needs: what a question must have to be checked, in the order in which it is reported as missing.
        error_kinds: the kinds of error in verdicts that the check is meant to detect; for its measurement.
        on_by_default: whether the check is switched on in a new dataset.
    """

    check: Check
    version: int
    group: CheckGroup
    severity: Severity
    description: str
    needs: tuple[Need, ...] = ()
    error_kinds: frozenset[ErrorKind] = frozenset()
    on_by_default: bool = True


def _structural(check: Check, description: str) -> CheckDeclaration:
    return CheckDeclaration(
        check=check, version=1, group=CheckGroup.STRUCTURE, severity=Severity.ERROR, description=description
    )


def _screen(
    check: Check, description: str, *error_kinds: ErrorKind, needs: tuple[Need, ...] = ()
) -> CheckDeclaration:
    return CheckDeclaration(
        check=check,
        version=1,
        group=CheckGroup.WORDING,
        severity=Severity.WARNING,
        description=description,
        needs=needs,
        error_kinds=frozenset(error_kinds),
    )


#: The declarations of all checks, in the order of :class:`Check`.
CHECKS: Mapping[Check, CheckDeclaration] = {
    declaration.check: declaration
    for declaration in (
        _structural(Check.SCHEMA, "Choice questions have the number of options of their format."),
        _structural(Check.TYPES, "Text fields contain text, not a converted list, object or missing value."),
        _structural(
            Check.FORMAT,
            "Options are distinct and have no letter prefix, the explanation is long enough, and the stem "
            "contains neither options nor key.",
        ),
        _structural(
            Check.COMPLETENESS, "Explanation, difficulty, category, task and box labels are present."
        ),
        _screen(
            Check.COMPARISON,
            "The question does not compare with an earlier exam, which is not shown.",
            ErrorKind.COMPARISON,
        ),
        _screen(
            Check.REPORT_REFERENCE,
            "The question does not refer to the text of the report (GEMeX, rule 3).",
            ErrorKind.WORDING,
            ErrorKind.NOT_ANSWERABLE,
        ),
        _screen(
            Check.SEVERAL_RIGHT,
            "No other option follows from the key or is supported by the report as well.",
            ErrorKind.SEVERAL_CORRECT,
            needs=(Need.OPTIONS,),
        ),
        _screen(
            Check.NOT_IN_REPORT,
            "The report names the findings that the question takes as present, and does not negate them.",
            ErrorKind.NOT_IN_REPORT,
            ErrorKind.WRONG_KEY,
            ErrorKind.EXAM_MISMATCH,
            needs=(Need.REPORT,),
        ),
        _screen(
            Check.SIDE,
            "Stem, key, explanation, labels and boxes agree on side and height.",
            ErrorKind.WRONG_LOCATION,
            ErrorKind.BOX_WRONG,
            ErrorKind.EXPLANATION,
        ),
        _screen(
            Check.ANSWER_REVEALED,
            "The stem does not contain the words by which the key differs from the other options.",
            ErrorKind.ANSWER_REVEALED,
        ),
        CheckDeclaration(
            check=Check.DUPLICATE,
            version=1,
            group=CheckGroup.DATASET,
            severity=Severity.WARNING,
            description="No other question of the exam asks the same and is kept instead.",
            on_by_default=False,
        ),
        CheckDeclaration(
            check=Check.CONTRADICTION,
            version=1,
            group=CheckGroup.DATASET,
            severity=Severity.ERROR,
            description="No other question of the exam asks the same with another answer key.",
            on_by_default=False,
        ),
    )
}
#: The checks that an import runs on each new question.
CHECKS_ON_IMPORT = tuple(
    check for check, declaration in CHECKS.items() if declaration.group is CheckGroup.STRUCTURE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one check for one question: passed, a problem, or not checked with the reason.

    Raises:
        ValueError: there is a problem although the question was not checked.
    """

    check: Check
    problem: Problem | None = None
    not_checked: Need | None = None

    def __post_init__(self) -> None:
        if self.problem is not None and self.not_checked is not None:
            raise ValueError("a question that was not checked has no problem")

    @property
    def passed(self) -> bool:
        """Whether the question was checked and has no problem."""
        return self.problem is None and self.not_checked is None
