"""Describes the events of a question's history, with the same texts on screen and in the terminal."""

from __future__ import annotations

from typing import Any

from browsing.bulk_actions import BulkAction, describe_search
from domain.adjudications import Adjudication
from domain.batches import AssignmentState
from domain.corrections import Correction, list_changes
from domain.history import QuestionEvent
from domain.image_display import ImageDisplay
from domain.provenance import CallReference, Evidence, Provenance
from domain.questions import Question, Source, format_answer
from domain.ratings import RATINGS
from domain.verdicts import Decision, ErrorKind, Verdict

_DISPLAY_TEXTS = {
    ImageDisplay.DRAWN: "the radiograph was displayed",
    ImageDisplay.CONFIRMED: "confirmed without seeing the radiograph",
    ImageDisplay.NO_IMAGE: "the workspace had no image of the exam",
}
_DECISION_TEXTS = {Decision.ACCEPT: "accepted", Decision.REVISE: "revised", Decision.REJECT: "rejected"}


def describe_event(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    """Describe an event in one line, followed by lines with details.

    Args:
        event: an event that :func:`browsing.service.history.load_history` returned.
        question: the imported version of the question.
    """
    return _DESCRIBERS[event.kind](event, question)


def describe_origin(provenance: Provenance, source: Source) -> str:
    """Describe in one line what wrote a question from which record."""
    version = f"version {source.version}" if (source.version or "").isdigit() else source.version
    generator = " ".join(part for part in (source.generator, version) if part)
    record = f"from record {provenance.record}" + (f" of {provenance.source}" if provenance.source else "")
    return f"written by {generator} {record}" if generator else f"written {record}"


def describe_evidence(evidence: Evidence) -> str:
    """Describe a fact on which a question is based: its text, and the finding and region that follow."""
    subject = (evidence.finding or "").replace("_", " ")
    conclusion = {True: f"{subject} present", False: f"{subject} absent", None: subject}[evidence.present]
    conclusions = ", ".join(part for part in (conclusion, evidence.region) if part)
    return f"{evidence.kind.value}: {evidence.text}" + (f" → {conclusions}" if conclusions else "")


def describe_call(call: CallReference) -> str:
    """Describe a used reply of a model: its stage, prompt and model."""
    parts = (call.stage, call.prompt and f"prompt {call.prompt}", call.model and f"model {call.model}")
    return ", ".join(part for part in parts if part)


def _describe_import(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    problems = [f"check {problem}" for problem in event.details["problems"]]
    return (
        f"imported from {event.container} ({event.details['format']}) into {event.details['dataset']}",
        problems or ["no problems found by the structural checks"],
    )


def _describe_draw(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    probability = event.details["inclusion_probability"]
    return (
        f"drawn into batch {event.container}",
        [f"stratum {event.details['stratum']}, inclusion probability {probability:.4g}"],
    )


def _describe_assignment(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    state = AssignmentState(event.details["state"])
    return f"assigned to {event.details['to']} in batch {event.container}", [f"current status: {state.value}"]


def _describe_own_answer(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    answer = event.details["answer"]
    answer_label = "cannot determine" if answer is None else _format_answer(answer, question)
    return f"answered before seeing the key, in batch {event.container}", [
        f"{answer_label}, confidence {event.details['confidence']} of 5",
        *_describe_display(event.details["image"]),
    ]


def _describe_skip(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    return f"skipped in batch {event.container}", [event.details["why"]]


def _describe_verdict(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    verdict: Verdict = event.details["verdict"]
    opinion = verdict.opinion
    revision_text = f", revision {verdict.revision}" if verdict.revision > 1 else ""
    details = []
    kinds = [kind.label for kind in ErrorKind if kind in opinion.errors]
    if kinds:
        details.append(f"errors: {', '.join(kinds)}")
    details += _describe_changes(question, opinion.correction)
    rating_texts = [
        f"{rating.name} {value}"
        for rating in RATINGS
        if (value := getattr(opinion.ratings, rating.id)) is not None
    ]
    if rating_texts:
        details.append(f"ratings: {', '.join(rating_texts)}")
    details += _describe_display(verdict.image)
    details += [text for text in (opinion.comment, verdict.why) if text]
    return f"{_DECISION_TEXTS[verdict.decision]} in batch {event.container}{revision_text}", details


def _describe_comment(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    return f"commented to {event.details['to']} in batch {event.container}", [event.details["text"]]


def _describe_adjudication(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    adjudication: Adjudication = event.details["adjudication"]
    revision_text = f", revision {adjudication.revision}" if adjudication.revision > 1 else ""
    line = f"adjudicated in batch {event.container}{revision_text}: {adjudication.decision.value}"
    return line, [
        *_describe_changes(question, adjudication.correction),
        adjudication.reason,
        *_describe_display(adjudication.image),
    ]


def _describe_release(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    split = event.details["side"]
    return f"in release {event.container}", [] if split == "public" else [f"split: {split}"]


def _describe_bulk_action(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    number = event.details["number"]
    action_text = (
        "rejected by"
        if event.details["action"] == BulkAction.REJECT
        else f"queued into batch {event.container} by"
    )
    search_text = f"matched by a search: {describe_search(event.details['search'])}"
    return f"{action_text} bulk action {number}", [event.details["reason"], search_text]


def _describe_corrected_boxes(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    before, after = (_format_value("boxes", event.details[key], question) for key in ("before", "after"))
    return f"boxes changed from {event.container}", [f"boxes: {before} → {after}", event.details["reason"]]


def _describe_converted_boxes(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    before, after = (_format_value("boxes", event.details[key], question) for key in ("before", "after"))
    return f"boxes converted to pixels of the images from {event.container}", [f"boxes: {before} → {after}"]


def _describe_undone_bulk_action(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    return f"bulk action {event.details['number']} was undone", [event.details["reason"]]


def _describe_display(image: ImageDisplay | None) -> list[str]:
    """Describe whether the radiographs were on screen; empty if this was not recorded."""
    return [] if image is None else [_DISPLAY_TEXTS[image]]


def _describe_changes(question: Question, correction: Correction) -> list[str]:
    return [
        f"{change.field}: {_format_value(change.field, change.before, question)} → "
        f"{_format_value(change.field, change.after, question)}"
        for change in list_changes(question, correction)
    ]


def _format_answer(answer: list[int] | str, question: Question) -> str:
    return format_answer(answer if isinstance(answer, str) else tuple(answer), question.options)


def _format_value(field: str, value: Any, question: Question) -> str:  # noqa: ANN401 - a field of any type
    if field == "answer" and not isinstance(value, str) and all(i < len(question.options) for i in value):
        return format_answer(value, question.options)
    if field == "boxes":
        return ", ".join(f"{box.describe()} on {box.radiograph}" for box in value) or "none"
    if field == "options":
        return " | ".join(value)
    return str(value) if value not in (None, "", ()) else "none"


_DESCRIBERS = {
    "imported": _describe_import,
    "boxes corrected": _describe_corrected_boxes,
    "boxes converted": _describe_converted_boxes,
    "drawn": _describe_draw,
    "assigned": _describe_assignment,
    "own answer": _describe_own_answer,
    "skipped": _describe_skip,
    "verdict": _describe_verdict,
    "comment": _describe_comment,
    "adjudication": _describe_adjudication,
    "released": _describe_release,
    "bulk action": _describe_bulk_action,
    "bulk action undone": _describe_undone_bulk_action,
}
