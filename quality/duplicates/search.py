"""The search for near-duplicates, contradictions and leaks among any number of questions.

There are three scopes. Within an exam, all pairs of its questions are compared. Only such pairs are ever
marked, because the same stem on another exam is repetition, not a duplicate. Within a dataset and across
datasets, wordings are compared: each different text once, with the number of its questions.

All comparisons are exact. Across exams only wordings with the same signature are compared, which loses
nothing: questions with another signature are never duplicates.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, groupby, islice, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from domain.duplicates import ComparedQuestion
from domain.errors import InvalidValue
from parallel.executors import map_in_order
from quality.duplicates.meaning import Outcome, compare_questions, signature, similarity_text
from quality.duplicates.vectors import Embedder, LexicalEmbedder, cosines_of_pairs, find_similar_rows
from quality.duplicates.wording import normalise

#: The approximate number of questions in one part of the work.
PART_SIZE = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How similar questions must be for their meanings to be compared.

    ``similarity = text_weight * cosine + structure_weight * structure``, where ``structure`` is the share of
    equal word pairs of two stems (Jaccard index). ReXVQA states a weight for the text only (its equation 3)
    and mentions structural features without a formula, so the default is the cosine alone.

    Attributes:
        embedder: computes the vectors. A threshold is valid only for the embedder it was chosen with.
        threshold: the lowest similarity of a candidate.
        text_weight: the paper's lambda.
        structure_weight: the weight of the structural term.
        paper_threshold: the threshold of the paper's rule, which is counted for comparison.

    Raises:
        InvalidValue: a threshold is outside 0 to 1, or a weight is negative.
    """

    embedder: Embedder = field(default_factory=LexicalEmbedder)
    threshold: float = 0.5
    text_weight: float = 1.0
    structure_weight: float = 0.0
    paper_threshold: float = 0.9

    def __post_init__(self) -> None:
        for name in ("threshold", "paper_threshold"):
            if not 0 < getattr(self, name) <= 1:
                raise InvalidValue(name, f"must be above 0 and at most 1, not {getattr(self, name):g}")
        if self.text_weight < 0 or self.structure_weight < 0 or self.text_weight + self.structure_weight == 0:
            raise InvalidValue("weights", "must not be negative, and not both 0")


class Pair(NamedTuple):
    """Two compared questions by number, the smaller first, with their similarity and the outcome."""

    first: int
    second: int
    similarity: float
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """The result of one part of the work.

    ``pairs`` contains duplicates and contradictions. ``differences`` counts the other candidates by what
    differs in them. ``paper_pairs`` counts the pairs above the paper's threshold by outcome.
    """

    pairs: tuple[Pair, ...]
    differences: Counter[Outcome]
    paper_pairs: Counter[Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(PartResult):
    """The result of a search among ``questions`` questions with ``wordings`` different texts or keys."""

    questions: int
    wordings: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Questions with the same text, format and key: the first of them, and their number by dataset."""

    question: ComparedQuestion
    counts: dict[str, int]


def find_pairs_in_exams(
    questions: Iterable[ComparedQuestion],
    *,
    settings: SearchSettings,
    executor: Executor,
    progress: Callable[[int], None] = lambda _: None,
) -> SearchResult:
    """Compare all pairs of questions of the same exam.

    Args:
        questions: the questions, grouped by exam. They are not all kept in memory.
        settings: how similar questions must be.
        executor: where to compute.
        progress: called with the number of compared questions.
    """
    sizes: list[int] = []
    pairs: list[Pair] = []
    differences: Counter[Outcome] = Counter()
    paper_pairs: Counter[Outcome] = Counter()
    done = 0
    parts = _split_by_exam(questions, sizes)
    for number, result in enumerate(map_in_order(executor, partial(_compare_exams, settings), parts)):
        pairs += result.pairs
        differences += result.differences
        paper_pairs += result.paper_pairs
        done += sizes[number]
        progress(done)
    return SearchResult(
        pairs=tuple(sorted(pairs)), differences=differences, paper_pairs=paper_pairs, questions=done
    )


def find_similar_wordings(
    questions: Iterable[tuple[str, ComparedQuestion]],
    *,
    settings: SearchSettings,
    executor: Executor,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[SearchResult, dict[int, Wording]]:
    """Compare all wordings of one or several datasets.

    Args:
        questions: (name of the dataset, question), in any order.
        settings: how similar wordings must be.
        executor: where to compute.
        progress: called with the number of compared wordings.

    Returns:
        The pairs of wordings by the numbers of their first questions, and the wordings by these numbers.
        Only wordings with the same signature are candidates.
    """
    wordings, count = _collect_wordings(questions, executor)
    blocks: defaultdict[bytes, list[ComparedQuestion]] = defaultdict(list)
    for signature_hash, wording in wordings.values():
        blocks[signature_hash].append(wording.question)
    sizes: list[int] = []
    pairs: list[Pair] = []
    differences: Counter[Outcome] = Counter()
    done = 0
    parts = _pack_blocks(blocks.values(), sizes)
    for number, result in enumerate(map_in_order(executor, partial(_compare_blocks, settings), parts)):
        pairs += result.pairs
        differences += result.differences
        done += sizes[number]
        progress(done)
    result = SearchResult(
        pairs=tuple(sorted(pairs)),
        differences=differences,
        paper_pairs=Counter(),
        questions=count,
        wordings=len(wordings),
    )
    return result, {wording.question.number: wording for _, wording in wordings.values()}


def compute_similarities(
    questions: Sequence[ComparedQuestion],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    *,
    settings: SearchSettings,
) -> NDArray[np.float32]:
    """Return the similarity of each pair of questions, shape (pairs,)."""
    vectors = settings.embedder.embed([similarity_text(question) for question in questions])
    similarities = settings.text_weight * cosines_of_pairs(vectors, first, second)
    if settings.structure_weight:
        word_pairs = [_list_word_pairs(question.stem) for question in questions]
        similarities += settings.structure_weight * np.array(
            [_compute_jaccard(word_pairs[a], word_pairs[b]) for a, b in zip(first, second, strict=True)],
            dtype=np.float32,
        )
    return np.asarray(np.minimum(similarities, 1), dtype=np.float32)


def _split_by_exam(
    questions: Iterable[ComparedQuestion], sizes: list[int]
) -> Iterator[list[list[ComparedQuestion]]]:
    """Yield parts of whole exams, and append the number of questions of each part to ``sizes``."""
    part: list[list[ComparedQuestion]] = []
    size = 0
    for _, group in groupby(questions, key=lambda question: question.exam):
        exam = list(group)
        part.append(exam)
        size += len(exam)
        if size >= PART_SIZE:
            sizes.append(size)
            yield part
            part, size = [], 0
    if part:
        sizes.append(size)
        yield part


def _compare_exams(settings: SearchSettings, exams: list[list[ComparedQuestion]]) -> PartResult:
    """Compare all pairs of each exam."""
    questions = [question for exam in exams for question in exam]
    index_pairs: list[tuple[int, int]] = []
    start = 0
    for exam in exams:
        index_pairs += combinations(range(start, start + len(exam)), 2)
        start += len(exam)
    if not index_pairs:
        return PartResult(pairs=(), differences=Counter(), paper_pairs=Counter())
    first, second = np.array(index_pairs, dtype=np.intp).T
    similarities = compute_similarities(questions, first, second, settings=settings)
    is_candidate = similarities >= min(settings.threshold, settings.paper_threshold)
    return _compare_candidates(
        questions, first[is_candidate], second[is_candidate], similarities[is_candidate], settings
    )


def _compare_blocks(settings: SearchSettings, blocks: list[list[ComparedQuestion]]) -> PartResult:
    """Compare all pairs of wordings inside each block."""
    results = []
    for questions in blocks:
        vectors = settings.embedder.embed([similarity_text(question) for question in questions])
        min_cosine = settings.threshold if not settings.structure_weight else 0.0
        first, second, similarities = find_similar_rows(vectors, threshold=min_cosine)
        if settings.structure_weight or settings.text_weight != 1:
            similarities = compute_similarities(questions, first, second, settings=settings)
        is_candidate = similarities >= settings.threshold
        results.append(
            _compare_candidates(
                questions, first[is_candidate], second[is_candidate], similarities[is_candidate], settings
            )
        )
    return PartResult(
        pairs=tuple(pair for result in results for pair in result.pairs),
        differences=sum((result.differences for result in results), Counter()),
        paper_pairs=Counter(),
    )


def _compare_candidates(
    questions: Sequence[ComparedQuestion],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    similarities: NDArray[np.float32],
    settings: SearchSettings,
) -> PartResult:
    pairs = []
    differences: Counter[Outcome] = Counter()
    paper_pairs: Counter[Outcome] = Counter()
    for a, b, similarity in zip(first.tolist(), second.tolist(), similarities.tolist(), strict=True):
        outcome = compare_questions(questions[a], questions[b])
        if similarity > settings.paper_threshold:
            paper_pairs[outcome] += 1
        if similarity < settings.threshold:
            continue
        if outcome in (Outcome.DUPLICATE, Outcome.CONTRADICTION):
            numbers = sorted((questions[a].number, questions[b].number))
            pairs.append(Pair(numbers[0], numbers[1], round(similarity, 4), outcome))
        else:
            differences[outcome] += 1
    return PartResult(pairs=tuple(sorted(pairs)), differences=differences, paper_pairs=paper_pairs)


def _collect_wordings(
    questions: Iterable[tuple[str, ComparedQuestion]], executor: Executor
) -> tuple[dict[bytes, tuple[bytes, Wording]], int]:
    """Return {hash of the wording: (hash of its signature, wording)} and the number of questions."""
    wordings: dict[bytes, tuple[bytes, Wording]] = {}
    count = 0
    waiting: deque[list[tuple[str, ComparedQuestion]]] = deque()
    for digests in map_in_order(executor, _digest_part, _split(questions, waiting)):
        for (dataset, question), (wording_hash, signature_hash) in zip(
            waiting.popleft(), digests, strict=True
        ):
            count += 1
            if wording_hash not in wordings:
                wordings[wording_hash] = signature_hash, Wording(question=question, counts={dataset: 1})
            else:
                counts = wordings[wording_hash][1].counts
                counts[dataset] = counts.get(dataset, 0) + 1
    return wordings, count


def _split(
    questions: Iterable[tuple[str, ComparedQuestion]], waiting: deque[list[tuple[str, ComparedQuestion]]]
) -> Iterator[list[ComparedQuestion]]:
    """Yield parts of the questions; ``waiting`` keeps them with their datasets until their result arrives."""
    remaining = iter(questions)
    while part := list(islice(remaining, PART_SIZE)):
        waiting.append(part)
        yield [question for _, question in part]


def _digest_part(questions: list[ComparedQuestion]) -> list[tuple[bytes, bytes]]:
    return [(_digest(_build_wording_key(question)), _digest(signature(question))) for question in questions]


def _build_wording_key(question: ComparedQuestion) -> tuple[object, ...]:
    key = (
        normalise(question.answer)
        if isinstance(question.answer, str)
        else sorted(normalise(question.options[index]) for index in question.keyed_options)
    )
    return question.format.value, similarity_text(question), key


def _digest(value: object) -> bytes:
    return hashlib.blake2b(repr(value).encode(), digest_size=16).digest()


def _pack_blocks(
    blocks: Iterable[list[ComparedQuestion]], sizes: list[int]
) -> Iterator[list[list[ComparedQuestion]]]:
    """Yield parts made of blocks of at least two wordings, and append the size of each part to ``sizes``."""
    part: list[list[ComparedQuestion]] = []
    size = 0
    for block in blocks:
        if len(block) < 2:
            continue
        part.append(block)
        size += len(block)
        if size >= PART_SIZE:
            sizes.append(size)
            yield part
            part, size = [], 0
    if part:
        sizes.append(size)
        yield part


def _list_word_pairs(stem: str) -> frozenset[tuple[str, str]]:
    words = ["", *normalise(stem).split(), ""]
    return frozenset(pairwise(words))


def _compute_jaccard(first: frozenset[tuple[str, str]], second: frozenset[tuple[str, str]]) -> float:
    return len(first & second) / len(first | second)
