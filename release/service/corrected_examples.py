"""Makes in-context examples for the next prompt version from the questions that experts corrected."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from domain.errors import InvalidValue, NotFound
from domain.gold import Excluded
from domain.people import Action, Person, require
from domain.provenance import CallReference
from domain.questions import Question
from generation.corrected_replies import correct_reply
from language_models import service as models
from language_models.prompts import parse_prompt
from release.service.inputs import load_drawn_batches, load_outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedExamples:
    """The numbers of examples that were added and that existed already (``known``).

    ``unusable`` names the exams of replies that could not become examples, with reasons.
    """

    prompt: str
    added: int
    known: int
    unusable: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _JudgedReply:
    exam: str
    questions: dict[str, Question]
    is_corrected: bool = False


def add_corrected_examples(
    db: Session, *, by: Person, prompt: str, dataset: str, now: datetime
) -> CorrectedExamples:
    """Make examples from the replies of a prompt version in which experts corrected or rejected a question.

    An example has the variables of the request, and the reply with the corrections applied, without rejected
    questions and without questions that nobody judged. :func:`language_models.service.export_examples` adds
    the examples to a prompt version.

    Args:
        db: a session that can write.
        by: the acting person.
        prompt: the version whose replies are used, such as gemex-questions@1.
        dataset: the dataset with the questions.
        now: the current time.

    Raises:
        NotFound: there is no such dataset or version.
        Refused: the dataset has no batch.
    """
    require(by, Action.RUN_MODELS)
    version = models.load_prompt(db, by=by, label=prompt)
    parsed = parse_prompt(version.content)
    replies = _collect_replies(db, version.label, dataset)
    existing = {
        (example.exam, example.reply) for example in models.list_examples(db, by=by, prompt=version.name)
    }
    added = known = 0
    unusable = []
    for call, judged_reply in replies.items():
        try:
            if call.run is None or call.request is None:
                raise NotFound("The origin names no model run.")
            variables, output = models.load_exchange(
                db, by=by, name=call.run, custom_id=call.request, template=parsed.user
            )
            reply = correct_reply(output, judged_reply.questions)
            if (judged_reply.exam, reply) in existing:
                known += 1
                continue
            models.save_example(
                db,
                by=by,
                prompt=version.name,
                dataset=dataset,
                exam=judged_reply.exam,
                variables=variables,
                reply=reply,
                radiographs=(),
                now=now,
            )
            added += 1
        except (InvalidValue, NotFound) as error:
            unusable.append(f"{judged_reply.exam}: {error}")
    return CorrectedExamples(prompt=version.label, added=added, known=known, unusable=tuple(unusable))


def _collect_replies(db: Session, label: str, dataset: str) -> dict[CallReference, _JudgedReply]:
    """Return the replies of a prompt version with a corrected or rejected question, and their questions."""
    _, drawn_batches = load_drawn_batches(db, dataset, None)
    replies: dict[CallReference, _JudgedReply] = {}
    for outcome in load_outcomes(db, [drawn_batch.batch for drawn_batch in drawn_batches], with_report=False):
        origin = outcome.judged.provenance
        if origin is None or not origin.calls or origin.calls[-1].prompt != label:
            continue
        judged_reply = replies.setdefault(
            origin.calls[-1], _JudgedReply(exam=outcome.judged.exam.id, questions={})
        )
        if isinstance(outcome, Excluded):
            judged_reply.is_corrected = True
            continue
        judged_reply.questions[outcome.judged.question.stem] = outcome.question
        judged_reply.is_corrected |= bool(outcome.changes)
    return {
        call: judged_reply
        for call, judged_reply in replies.items()
        if judged_reply.is_corrected and judged_reply.questions
    }
