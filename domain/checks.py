"""The automatic checks of questions: their declarations and results. docs/checks.md describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from domain.verdicts import ErrorKind
from domain.vocabulary import Choice


class Check(Choice):
    """The checks.

    The first four are the structural validators v1 to v4 of ReXVQA, domain specificity, cognitive depth and
    clinical alignment its content validators c1 to c3 (section 3.3.2 of its paper).
    """

    SCHEMA = ("schema", "Schema")
    TYPES = ("types", "Types")
    FORMAT = ("format", "Format")
    COMPLETENESS = ("completeness", "Completeness")
    COMPARISON = ("comparison", "Comparison with a prior")
    REPORT_REFERENCE = ("reference to the report", "Reference to the report")
    SEVERAL_RIGHT = ("several right answers", "Several right answers")
    NOT_IN_REPORT = ("not in the report", "Not in the report")
    SIDE = ("side or height", "Side or level")
    ANSWER_REVEALED = ("answer revealed", "Answer revealed")
    DOMAIN_SPECIFICITY = ("domain specificity", "Domain specificity")
    COGNITIVE_DEPTH = ("cognitive depth", "Cognitive depth")
    CLINICAL_ALIGNMENT = ("clinical alignment", "Clinical alignment")
    DIFFICULTY = ("difficulty", "Difficulty")
    DUPLICATE = ("duplicate", "Near-duplicates")
    CONTRADICTION = ("contradiction", "Contradicting keys")
    PATIENT_DATA = ("patient data", "Patient data")
    DATA_USE = ("data use", "Terms of data use")
    TEXT_ONLY = ("text only", "Key revealed by the text")


class CheckGroup(Choice):
    """The kinds of checks. A question passes the structural checks before the others mean anything."""

    STRUCTURE = ("structure", "Structure")
    WORDING = ("wording", "Rule-based")
    MODELS = ("models", "Language models")
    DATASET = ("dataset", "Whole dataset")
    COMPLIANCE = ("compliance", "Compliance")


class Severity(Choice):
    """How certain a problem is. A warning asks a person to look; an error is wrong by definition."""

    ERROR = ("error", "Error")
    WARNING = ("warning", "Warning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem that a check detected: the field and the reason. The question stays in the dataset.

    The field of a check by a jury is the item to which the judges answered no.
    """

    check: Check
    field: str
    reason: str


class Need(Choice):
    """What a check needs. The label is the reason why a question without it was not checked."""

    OPTIONS = ("options", "no options")
    REPORT = ("report", "no report")
    BOXES = ("boxes", "no boxes")
    DIFFICULTY = ("difficulty", "no difficulty stated")
    REPLIES = ("replies", "fewer than two usable replies")
    OTHER_FAMILIES = ("other families", "written by a family of the jury")
    MAJORITY = ("majority", "judges disagree or lack evidence")
    RESULT = ("result", "newer than the last run")
    ONE_ANSWER = ("one answer", "no single answer to choose")
    ORIGIN = ("origin", "no model run of this workspace")
    JURY = ("jury", "not judged by a jury")


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
        needs: what a question must have to be checked, in the order of reports about missing data.
        error_kinds: the kinds of error in verdicts that the check is meant to detect; for its measurement.
        flag: the yes/no field of verdicts that reviewers answer with "no" where the check should report a
            problem; None if there is none.
        on_by_default: whether the check is switched on in a new dataset.
    """

    check: Check
    version: int
    group: CheckGroup
    severity: Severity
    description: str
    needs: tuple[Need, ...] = ()
    error_kinds: frozenset[ErrorKind] = frozenset()
    flag: str | None = None
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


def _jury_check(
    check: Check,
    description: str,
    *error_kinds: ErrorKind,
    needs: tuple[Need, ...] = (),
    flag: str | None = None,
) -> CheckDeclaration:
    return CheckDeclaration(
        check=check,
        version=1,
        group=CheckGroup.MODELS,
        severity=Severity.WARNING,
        description=description,
        needs=needs,
        error_kinds=frozenset(error_kinds),
        flag=flag,
        on_by_default=False,
    )


def _compliance(
    check: Check, severity: Severity, description: str, *, version: int = 1, needs: tuple[Need, ...] = ()
) -> CheckDeclaration:
    return CheckDeclaration(
        check=check,
        version=version,
        group=CheckGroup.COMPLIANCE,
        severity=severity,
        description=description,
        needs=needs,
        on_by_default=False,
    )


#: The declarations of all checks, in the order of :class:`Check`.
CHECKS: Mapping[Check, CheckDeclaration] = {
    declaration.check: declaration
    for declaration in (
        _structural(Check.SCHEMA, "Choice questions must have as many options as their format requires."),
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
        _jury_check(
            Check.DOMAIN_SPECIFICITY,
            "The question tests radiology: it needs training and the radiograph, and no search engine "
            "answers it (ReXVQA, c1).",
            flag="domain_specific",
        ),
        _jury_check(
            Check.COGNITIVE_DEPTH,
            "The question needs interpretation and reasoning, not only recall (ReXVQA, c2).",
            flag="cognitive_depth",
        ),
        _jury_check(
            Check.CLINICAL_ALIGNMENT,
            "Key and explanation agree with the report, with each other, and with accepted practice "
            "(ReXVQA, c3).",
            ErrorKind.NOT_CLINICALLY_VALID,
            ErrorKind.WRONG_KEY,
            ErrorKind.SEVERAL_CORRECT,
            ErrorKind.NONE_CORRECT,
            ErrorKind.EXPLANATION,
            ErrorKind.NOT_IN_REPORT,
        ),
        _jury_check(
            Check.DIFFICULTY,
            "The stated difficulty is the one that the judges choose.",
            needs=(Need.DIFFICULTY,),
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
        _compliance(
            Check.PATIENT_DATA,
            Severity.ERROR,
            "The text contains nothing that may identify a patient.",
            version=2,
        ),
        _compliance(
            Check.DATA_USE,
            Severity.ERROR,
            "The models that wrote the question were allowed to see the dataset.",
            needs=(Need.ORIGIN,),
        ),
        _compliance(
            Check.TEXT_ONLY,
            Severity.WARNING,
            "A plain classifier does not find the key from the text alone.",
            needs=(Need.ONE_ANSWER,),
        ),
    )
}
#: The checks that juries of language models make.
JURY_CHECKS = tuple(check for check, declaration in CHECKS.items() if declaration.group is CheckGroup.MODELS)
#: The checks that an import runs on each new question.
CHECKS_ON_IMPORT = tuple(
    check for check, declaration in CHECKS.items() if declaration.group is CheckGroup.STRUCTURE
)
#: The checks that read boxes or images, which can arrive after the question.
CHECKS_OF_BOXES = (Check.COMPLETENESS, Check.SIDE)


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
