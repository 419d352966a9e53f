"""Which question of each pair of duplicates is marked for removal, and when marking is refused.

Of two duplicates of an exam, the question with the longer explanation stays. If both are equally long, the
question that was imported first stays. A question is marked only as a duplicate of a question that stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from domain.errors import InvalidValue, Refused
from quality.duplicates.meaning import Outcome
from quality.duplicates.search import Pair
from terminology.taxonomy import NamedField, NameMapping

#: A share is compared with the limit if its group has at least this many questions.
SMALLEST_GROUP = 20
DEFAULT_LIMIT = 0.2


class KeepRule(StrEnum):
    """Which of two duplicates stays."""

    LONGEST_EXPLANATION = "longest-explanation"
    FIRST = "first"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A question that is marked as a duplicate of ``kept``."""

    question: int
    kept: int
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupShare:
    """The questions of a task, category or controlled category, and how many of them are marked.

    ``name`` is "" for the whole dataset.
    """

    kind: str
    name: str
    questions: int
    marked: int

    @property
    def share(self) -> float:
        """The share of marked questions; 0 if there are no questions."""
        return self.marked / self.questions if self.questions else 0.0


def choose_marks(
    pairs: Iterable[Pair],
    *,
    explanation_lengths: Mapping[int, int],
    rule: KeepRule = KeepRule.LONGEST_EXPLANATION,
) -> list[Mark]:
    """Choose the questions to mark.

    Args:
        pairs: pairs of the same exam; only duplicates are used.
        explanation_lengths: characters of the explanation by row id of the question.
        rule: which of two duplicates stays.

    Returns:
        One mark per question, by number. Each names the kept question that is most similar.
    """
    partners: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    for pair in pairs:
        if pair.outcome is Outcome.DUPLICATE:
            partners[pair.first].append((pair.similarity, pair.second))
            partners[pair.second].append((pair.similarity, pair.first))
    is_by_length = rule is KeepRule.LONGEST_EXPLANATION
    order = sorted(
        partners, key=lambda number: (-explanation_lengths.get(number, 0) if is_by_length else 0, number)
    )
    kept: set[int] = set()
    marks = []
    for number in order:
        candidates = [(similarity, -partner) for similarity, partner in partners[number] if partner in kept]
        if candidates:
            similarity, partner = max(candidates)
            marks.append(Mark(question=number, kept=-partner, similarity=similarity))
        else:
            kept.add(number)
    return sorted(marks, key=lambda mark: mark.question)


def count_shares(
    marks: Sequence[Mark],
    *,
    sizes: Mapping[tuple[str, str], int],
    groups: Mapping[int, tuple[str, str]],
    mapping: NameMapping | None = None,
) -> list[GroupShare]:
    """Count the marked questions of the dataset, of each task, category and controlled category.

    Args:
        marks: the marks.
        sizes: the number of questions by (task, category).
        groups: task and category of each marked question.
        mapping: the controlled names of categories; None for the names of the taxonomy.
    """
    mapping = mapping or NameMapping()
    kinds: dict[str, Callable[[tuple[str, str]], str]] = {
        "task": lambda group: group[0],
        "category": lambda group: group[1],
        "controlled category": lambda group: mapping.find_controlled(NamedField.CATEGORY, group[1]),
    }
    marked = Counter(groups[mark.question] for mark in marks)
    shares = [GroupShare(kind="all", name="", questions=sum(sizes.values()), marked=len(marks))]
    for kind, get_name in kinds.items():
        totals: Counter[str] = Counter()
        marked_counts: Counter[str] = Counter()
        for group, size in sizes.items():
            totals[get_name(group)] += size
            marked_counts[get_name(group)] += marked[group]
        shares += [
            GroupShare(kind=kind, name=name, questions=totals[name], marked=marked_counts[name])
            for name in sorted(totals)
        ]
    return shares


def require_below_limit(shares: Iterable[GroupShare], *, limit: float = DEFAULT_LIMIT) -> None:
    """Refuse to mark more than a share of the dataset, of a task or of a category.

    Groups with fewer than 20 questions have no limit of their own.

    Raises:
        Refused: a share is above the limit; the message names the group.
        InvalidValue: the limit is outside 0 to 1.
    """
    if not 0 <= limit <= 1:
        raise InvalidValue("limit", f"must be between 0 and 1, not {limit:g}")
    for share in shares:
        if share.questions >= SMALLEST_GROUP and share.share > limit:
            name = (
                "the dataset" if share.kind == "all" else f"{share.kind} {share.name or 'without a name'!r}"
            )
            raise Refused(
                f"{share.marked:,} of {share.questions:,} questions of {name} would be marked "
                f"({share.share:.1%}), more than the limit of {limit:.0%}. Look at the pairs, then raise the "
                "limit or the threshold."
            )
