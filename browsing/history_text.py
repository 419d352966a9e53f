"""Texts for the events of a question's history, the same on screen and in the terminal."""

from __future__ import annotations

from typing import Any

from browsing.applying import Step, said
from domain.adjudications import Adjudication
from domain.batches import AssignmentState
from domain.corrections import Correction, changes
from domain.history import QuestionEvent
from domain.image_display import ImageDisplay
from domain.questions import Question, answer_text
from domain.ratings import RATINGS
from domain.verdicts import Decision, ErrorKind, Verdict

_DISPLAYED = {
    ImageDisplay.DRAWN: "the radiograph was on screen",
    ImageDisplay.CONFIRMED: "confirmed: without seeing the radiograph",
    ImageDisplay.NO_IMAGE: "no image of the exam was in the workspace",
}
_DECIDED = {Decision.ACCEPT: "accepted it", Decision.REVISE: "corrected it", Decision.REJECT: "rejected it"}


def told(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    """Describe an event: one line, and the details below it.

    Args:
        event: of :func:`browsing.service.telling.history`.
        question: the machine's version.
    """
    return _TELL[event.what](event, question)


def _imported(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    problems = [f"check {each}" for each in event.more["problems"]]
    return (
        f"imported from {event.place} ({event.more['format']}) into {event.more['dataset']}",
        problems or ["the structural checks found nothing"],
    )


def _drawn(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    probability = event.more["inclusion_probability"]
    return (
        f"drawn into batch {event.place}",
        [f"stratum {event.more['stratum']}, inclusion probability {probability:.4g}"],
    )


def _assigned(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    state = AssignmentState(event.more["state"])
    return f"assigned to {event.more['to']} in batch {event.place}", [f"now {state.value}"]


def _own_answer(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    answer = event.more["answer"]
    said = "cannot determine" if answer is None else _answer(answer, question)
    return f"answered before seeing the key, in batch {event.place}", [
        f"{said}, confidence {event.more['confidence']} of 5",
        *_displayed(event.more["image"]),
    ]


def _skipped(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    return f"put it aside in batch {event.place}", [event.more["why"]]


def _verdict(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    verdict: Verdict = event.more["verdict"]
    opinion = verdict.opinion
    again = f", revision {verdict.revision}" if verdict.revision > 1 else ""
    details = []
    kinds = [kind.label for kind in ErrorKind if kind in opinion.errors]
    if kinds:
        details.append(f"errors: {', '.join(kinds)}")
    details += _changes(question, opinion.correction)
    rated = [
        f"{each.name} {value}" for each in RATINGS if (value := getattr(opinion.ratings, each.id)) is not None
    ]
    if rated:
        details.append(f"ratings: {', '.join(rated)}")
    details += _displayed(verdict.image)
    details += [text for text in (opinion.comment, verdict.why) if text]
    return f"{_DECIDED[verdict.decision]} in batch {event.place}{again}", details


def _adjudication(event: QuestionEvent, question: Question) -> tuple[str, list[str]]:
    settled: Adjudication = event.more["adjudication"]
    again = f", revision {settled.revision}" if settled.revision > 1 else ""
    line = f"settled the dispute in batch {event.place}{again}: {settled.decision.value}"
    return line, [*_changes(question, settled.correction), settled.reason, *_displayed(settled.image)]


def _released(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    side = event.more["side"]
    return f"in release {event.place}", ["on the private side"] if side == "private" else []


def _rule(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    number = event.more["rule"]
    done = "rejected by" if event.more["step"] == Step.REJECT else f"queued into batch {event.place} by"
    found = f"found with many others by a search: {said(event.more['search'])}"
    return f"{done} rule {number}", [event.more["reason"], found]


def _taken_back(event: QuestionEvent, _: Question) -> tuple[str, list[str]]:
    return f"rule {event.more['rule']} was taken back", [event.more["reason"]]


def _displayed(image: ImageDisplay | None) -> list[str]:
    """Text on whether the radiographs were on screen; empty if that was not recorded."""
    return [] if image is None else [_DISPLAYED[image]]


def _changes(question: Question, correction: Correction) -> list[str]:
    return [
        f"{change.field}: {_plain(change.field, change.before, question)} → "
        f"{_plain(change.field, change.after, question)}"
        for change in changes(question, correction)
    ]


def _answer(answer: list[int] | str, question: Question) -> str:
    return answer_text(answer if isinstance(answer, str) else tuple(answer), question.options)


def _plain(field: str, value: Any, question: Question) -> str:  # noqa: ANN401 - a field of any type
    if field == "answer" and not isinstance(value, str) and all(i < len(question.options) for i in value):
        return answer_text(value, question.options)
    if field == "boxes":
        return f"{len(value)} box{'' if len(value) == 1 else 'es'}"
    if field == "options":
        return " | ".join(value)
    return str(value) if value not in (None, "", ()) else "none"


_TELL = {
    "imported": _imported,
    "drawn": _drawn,
    "assigned": _assigned,
    "own answer": _own_answer,
    "skipped": _skipped,
    "verdict": _verdict,
    "adjudication": _adjudication,
    "released": _released,
    "rule": _rule,
    "rule taken back": _taken_back,
}
