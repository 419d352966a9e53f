"""Drafts, which are questions before the selection, and the writer that builds the drafts of one exam."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from domain.boxes import LabelledBox
from domain.provenance import Evidence
from domain.questions import Answer
from domain.vocabulary import AnswerFormat, Difficulty, Task
from generation.templates.exam_facts import ExamFacts, PresentFinding
from terminology.findings import FindingTerm, load_findings

#: The number of options of a choice question, as in ReXVQA.
OPTION_COUNT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question without id.

    ``template`` is the name of its template. ``findings`` are those that it asks about, including those of
    the distractors, and ``evidence`` is the evidence for them.
    """

    template: str
    task: Task
    format: AnswerFormat
    stem: str
    answer: Answer
    explanation: str
    findings: tuple[str, ...]
    options: tuple[str, ...] = ()
    boxes: tuple[LabelledBox, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    category: str
    subcategory: str

    @property
    def difficulty(self) -> Difficulty:
        """The tier, by format and task only, because a template does not know how hard the image is."""
        if self.format is AnswerFormat.CLOSED:
            return Difficulty.EASY
        is_hard = self.task is Task.DIFFERENTIAL or self.format is AnswerFormat.MULTIPLE
        return Difficulty.HARD if is_hard else Difficulty.MEDIUM


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftWriter:
    """Writes drafts of one exam. ``not_built`` counts questions for which facts are missing, by reason."""

    facts: ExamFacts
    random: random.Random
    not_built: Counter[str] = field(default_factory=Counter)

    def is_present(self, name: str) -> bool | None:
        """Whether a finding is present; None if it is not known."""
        if name in self.facts.present:
            return True
        return False if name in self.facts.absent else None

    def list_absent(self, *, without: Sequence[str] = ()) -> list[FindingTerm]:
        """List the ruled-out findings in random order, one per group.

        Args:
            without: findings whose groups are left out.
        """
        terms = load_findings()
        groups = {terms[name].group for name in without}
        names = sorted(self.facts.absent)
        self.random.shuffle(names)
        chosen = []
        for name in names:
            if terms[name].group not in groups:
                groups.add(terms[name].group)
                chosen.append(terms[name])
        return chosen

    def list_present(self) -> list[PresentFinding]:
        """List the present findings in random order, one per group."""
        names = sorted(self.facts.present)
        self.random.shuffle(names)
        by_group = {load_findings()[name].group: self.facts.present[name] for name in names}
        return list(by_group.values())

    def state(self, name: str) -> str:
        """Return the true statement on a known finding, without a full stop."""
        term = load_findings()[name]
        return term.present if self.is_present(name) else term.absent

    def state_wrongly(self, name: str) -> str:
        """Return the false statement on a known finding, without a full stop."""
        term = load_findings()[name]
        return term.absent if self.is_present(name) else term.present

    def explain(self, *names: str, others: Sequence[str] = ()) -> str:
        """Explain known findings: what each looks like, and whether it is present.

        For ``others``, the explanation states only whether they are present.
        """
        terms = load_findings()
        sentences = [f"{terms[name].sign} {self.state(name)}." for name in names]
        return " ".join([*sentences, *(f"{self.state(name)}." for name in others)])

    def write(
        self,
        template: str,
        task: Task,
        format_: AnswerFormat,
        stem: str,
        answer: Answer,
        *,
        findings: Sequence[str],
        options: Sequence[str] = (),
        explanation: str = "",
        category: tuple[str, str] | None = None,
        evidence: Sequence[Evidence] = (),
    ) -> Draft:
        """Write a draft. The first finding gives the category by default; present ones give the boxes.

        ``evidence`` is added to that of the findings.
        """
        term = load_findings()[findings[0]]
        boxes = (
            box for name in findings if name in self.facts.present for box in self.facts.present[name].boxes
        )
        return Draft(
            template=template,
            task=task,
            format=format_,
            stem=stem,
            answer=answer,
            explanation=explanation or self.explain(*findings),
            findings=tuple(findings),
            options=tuple(options),
            boxes=tuple(dict.fromkeys(boxes)),
            evidence=tuple(
                dict.fromkeys([*evidence, *(e for name in findings for e in self.facts.list_evidence(name))])
            ),
            category=category[0] if category else term.category,
            subcategory=category[1] if category else term.subcategory,
        )

    def write_choice(
        self,
        template: str,
        task: Task,
        stem: str,
        right: Sequence[str],
        wrong: Sequence[str],
        *,
        findings: Sequence[str],
        multiple: bool = False,
        explanation: str = "",
        category: tuple[str, str] | None = None,
        evidence: Sequence[Evidence] = (),
    ) -> Draft | None:
        """Write a question with four options in random order. With fewer options, count this and return None.

        Args:
            template: the name of the template.
            task: the task.
            stem: the question.
            right: the correct options.
            wrong: the distractors; the first ones are used, as many as needed.
            findings: the findings that it asks about.
            multiple: whether several options may be chosen.
            explanation: the explanation; by default that of the findings.
            category: category and subcategory; by default those of the first finding.
            evidence: further evidence, besides that of the findings.
        """
        wrong = list(wrong)[: OPTION_COUNT - len(right)]
        options = [*right, *wrong]
        if len(options) < OPTION_COUNT or len(set(options)) < OPTION_COUNT:
            self.not_built[f"{template}: fewer than {OPTION_COUNT - 1} distractors are ruled out"] += 1
            return None
        self.random.shuffle(options)
        return self.write(
            template,
            task,
            AnswerFormat.MULTIPLE if multiple else AnswerFormat.SINGLE,
            stem,
            tuple(sorted(options.index(option) for option in right)),
            findings=findings,
            options=options,
            explanation=explanation,
            category=category,
            evidence=evidence,
        )
