"""Evaluations of models on a release: the conditions in which a model answers, and what each case shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.errors import InvalidValue
from domain.exams import Radiograph
from domain.questions import Answer


class Condition(StrEnum):
    """What a model is shown.

    AS_GIVEN: the question with the radiographs of its exam.
    NO_IMAGE: the question alone.
    OTHER_IMAGE: the question with the radiographs of another patient, with the same views.
    SHUFFLED: as given, with the options in another order.
    PARAPHRASED: as given, with the stem in other words.
    """

    AS_GIVEN = "as given"
    NO_IMAGE = "no image"
    OTHER_IMAGE = "other image"
    SHUFFLED = "options shuffled"
    PARAPHRASED = "paraphrased"

    @property
    def shows_images(self) -> bool:
        """Whether the model gets radiographs."""
        return self is not Condition.NO_IMAGE


class ImageSize(StrEnum):
    """The size of the PNG files that a model gets: all pixels, or a quarter of each side."""

    FULL = "full"
    QUARTER = "quarter"

    @property
    def label(self) -> str:
        """The size on screen."""
        return "full size" if self is ImageSize.FULL else "1/4 of width and height"


class AnsweredBy(StrEnum):
    """How the answers of an evaluation are obtained."""

    ENDPOINT = "endpoint"
    COMMAND = "command"
    FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedExam:
    """An exam as a model may see it, without clinical information and report.

    ``number`` is its id in the database and ``id`` the one in the file. ``patient`` is a pseudonym. The
    radiographs are in the order of the file.
    """

    number: int
    id: str
    patient: str | None
    radiographs: tuple[Radiograph, ...]

    @property
    def cluster(self) -> str:
        """The unit of resampling: the patient, or the exam if the patient is not stated."""
        patient = (self.patient or "").strip().casefold()
        return f"patient {patient}" if patient else f"exam {self.id}"

    @property
    def views(self) -> tuple[str, ...]:
        """The views of the radiographs, in order."""
        return tuple(radiograph.view.value for radiograph in self.radiographs)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationCase:
    """One question in one condition.

    Attributes:
        question_row_id: the id of the question in the database.
        permutation: the options in the order shown, as indices into the options of the release; None for the
            order of the release.
        other_exam: the id of the exam whose radiographs are shown instead of the question's; None for its
            own.
        stem: the stem shown instead of the question's; None for its own.

    Raises:
        InvalidValue: the permutation does not contain each index once.
    """

    question_row_id: int
    permutation: tuple[int, ...] | None = None
    other_exam: int | None = None
    stem: str | None = None

    def __post_init__(self) -> None:
        if self.permutation is not None and sorted(self.permutation) != list(range(len(self.permutation))):
            raise InvalidValue("permutation", f"{self.permutation} must contain each index once")

    def to_release_order(self, answer: Answer | None) -> Answer | None:
        """Convert the indices of an answer from the order shown to the order of the release.

        >>> EvaluationCase(question_row_id=1, permutation=(2, 0, 1)).to_release_order((0, 1))
        (0, 2)
        """
        if self.permutation is None or answer is None or isinstance(answer, str):
            return answer
        return tuple(sorted(self.permutation[index] for index in answer))

    def to_shown_order(self, answer: Answer) -> Answer:
        """Convert the indices of an answer from the order of the release to the order shown.

        >>> EvaluationCase(question_row_id=1, permutation=(2, 0, 1)).to_shown_order((0, 2))
        (0, 1)
        """
        if self.permutation is None or isinstance(answer, str):
            return answer
        return tuple(sorted(self.permutation.index(index) for index in answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A plan: one model on one split of a release, in one or more conditions.

    Attributes:
        id: the id in the database.
        name: unique.
        dataset: the dataset of the release.
        release: the name of the release.
        release_id: the id of the release in the database.
        split: "public" or "private".
        answered_by: how the answers are obtained.
        model: the name under which the endpoint's model answers, or the name given for a command or files.
        is_test_model: whether it is the small test model, whose answers say nothing about quality.
        prompt: the version of the prompt, such as "evaluation@1"; None for commands and files.
        image_size: the size of the radiographs.
        seed: determines the exams of OTHER_IMAGE and the orders of options of SHUFFLED.
        created_at: when the plan was made.
    """

    id: int
    name: str
    dataset: str
    release: str
    release_id: int
    split: str
    answered_by: AnsweredBy
    model: str
    is_test_model: bool
    prompt: str | None
    image_size: ImageSize
    seed: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRun:
    """One condition of an evaluation.

    Attributes:
        id: the id in the database.
        evaluation_id: the evaluation.
        condition: the condition.
        model_id: the id of the model whose predictions are the answers.
        model_run: the name of the run of requests; None if no endpoint is asked.
        cases: the number of questions.
        excluded: the number of questions of the split that have no case, by reason.
        predictions: the number of stored answers, including those that could not be extracted.
    """

    id: int
    evaluation_id: int
    condition: Condition
    model_id: int
    model_run: str | None
    cases: int
    excluded: dict[str, int]
    predictions: int

    @property
    def is_finished(self) -> bool:
        """Whether each case has a stored answer."""
        return self.predictions == self.cases


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumnVersion:
    """An external score with the version of the tool that computed it; ``id`` is its id in the database."""

    id: int
    name: str
    version: str
