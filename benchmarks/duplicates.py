"""Searches near-duplicates among 696,000 questions with planted duplicates and twins (two processes).

Targets: at least 99 % of exact and edited duplicates found, no twin merged, at most 15 minutes and 3 GB on
two cores. The recall of paraphrases is printed; the lexical embedding is not expected to find all. For
comparison, the paper's rule (cosine above .9 alone), plain numpy with the same rule, and, where installed,
MinHash of `datasketch` and `semhash` are run. `semhash` gets the lexical vectors, because its own
embedding would have to be downloaded.

Run ``python -m benchmarks.duplicates [QUESTIONS] [--seed N] [--dataset-scope] [--workers N]``. With
``--embedding-url URL --embedding-model NAME`` similarity is that of a model at an endpoint for embeddings.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, groupby

import numpy as np

from benchmarks.duplicate_questions import DUPLICATES, KINDS, TEST, TUNING, TWINS, Planted, QuestionSource
from domain.duplicates import ComparedQuestion
from domain.language_models import DataUse, Endpoint
from language_models.embeddings import EndpointEmbedder
from parallel.executors import open_executor
from quality.duplicates.meaning import Outcome, similarity_text
from quality.duplicates.search import Pair, SearchSettings, find_pairs_in_exams, find_similar_wordings
from quality.duplicates.vectors import LexicalEmbedder

QUESTIONS = 696_000
#: The backend of `semhash` that compares all vectors.
_EXACT_BACKEND = "basic"
#: The number of questions for the other tools.
COMPARED = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", nargs="?", type=int, default=QUESTIONS)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--tuning", action="store_true", help="the sentences of the development")
    parser.add_argument("--dataset-scope", action="store_true", help="also compare the wordings of all exams")
    parser.add_argument("--workers", default="2")
    parser.add_argument("--embedding-url", metavar="URL", help="an endpoint for embeddings, up to /v1")
    parser.add_argument("--embedding-model", metavar="NAME", default="embeddings")
    args = parser.parse_args()
    sentences = TUNING if args.tuning else TEST
    print(f"Load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.")
    source = QuestionSource(args.questions, seed=args.seed, sentences=sentences)
    settings = SearchSettings()
    if args.embedding_url:
        endpoint = Endpoint(
            name="benchmark", url=args.embedding_url, model=args.embedding_model, data_use=DataUse.LOCAL
        )
        settings = replace(settings, embedder=EndpointEmbedder(endpoint=endpoint))
    print(f"Similarity: {settings.embedder.name}.")
    started = time.perf_counter()
    with open_executor(args.workers) as executor:
        result = find_pairs_in_exams(source, settings=settings, executor=executor)
    seconds = time.perf_counter() - started
    print(f"Within exams: {result.questions:,} questions in {seconds:,.0f} s, {_describe_memory()}.")
    _print_recall(result.pairs, source.planted)
    print(
        "Paper's rule (cosine above .9), pairs by outcome of our rules:", _format_counts(result.paper_pairs)
    )
    if args.dataset_scope:
        _search_wordings(
            QuestionSource(args.questions, seed=args.seed, sentences=sentences), settings, args.workers
        )
    small_source = QuestionSource(min(COMPARED, args.questions), seed=args.seed, sentences=sentences)
    questions = list(small_source)
    _compare_with_numpy(questions, small_source.planted, settings)
    _compare_with_minhash(questions, small_source.planted)
    _compare_with_semhash(questions, small_source.planted)


def _search_wordings(source: QuestionSource, settings: SearchSettings, workers: str) -> None:
    started = time.perf_counter()
    with open_executor(workers) as executor:
        result, _ = find_similar_wordings(
            (("planted", question) for question in source), settings=settings, executor=executor
        )
    print(
        f"Across exams: {result.questions:,} questions with {result.wordings:,} wordings, "
        f"{len(result.pairs):,} pairs in {time.perf_counter() - started:,.0f} s, {_describe_memory()}."
    )


def _print_recall(pairs: Iterable[Pair], planted: Iterable[Planted]) -> None:
    """Print how many pairs of each kind were found, and the number of wrong merges."""
    outcomes = {(pair.first, pair.second): pair.outcome for pair in pairs}
    kinds = {(plant.first, plant.second): plant.kind for plant in planted}
    totals = Counter(kinds.values())
    for kind in KINDS:
        expected = Outcome.CONTRADICTION if kind == "contradiction" else Outcome.DUPLICATE
        detected = sum(
            outcomes.get(pair) is expected for pair, planted_kind in kinds.items() if planted_kind == kind
        )
        label = "merged" if kind in TWINS else "found"
        print(f"  {kind}: {detected:,} of {totals[kind]:,} {label} ({detected / max(1, totals[kind]):.2%})")
    wrong_count = sum(
        outcome is Outcome.DUPLICATE and kinds.get(pair) not in DUPLICATES
        for pair, outcome in outcomes.items()
    )
    print(f"  wrong merges in total, planted or not: {wrong_count:,}")


def _compare_with_numpy(
    questions: list[ComparedQuestion], planted: list[Planted], settings: SearchSettings
) -> None:
    """Compare all questions of each exam by dense vectors, with the paper's rule."""
    started = time.perf_counter()
    embedder = settings.embedder
    if isinstance(embedder, LexicalEmbedder):
        embedder = LexicalEmbedder(dimensions=1 << 12)
    merged = set()
    for _, group in _group_by_exam(questions):
        vectors = embedder.embed([similarity_text(question) for question in group])
        dense = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
        cosines = dense @ dense.T
        for a, b in combinations(range(len(group)), 2):
            if cosines[a, b] > settings.paper_threshold:
                merged.add((group[a].number, group[b].number))
    _print_tool("numpy, cosine above .9", merged, planted, len(questions), time.perf_counter() - started)


def _compare_with_minhash(questions: list[ComparedQuestion], planted: list[Planted]) -> None:
    if importlib.util.find_spec("datasketch") is None:
        print("datasketch is not installed.")
        return
    from datasketch import MinHash, MinHashLSH  # type: ignore[import-not-found] # installed only by hand # noqa: PLC0415 - as above

    started = time.perf_counter()
    merged = set()
    for _, group in _group_by_exam(questions):
        index = MinHashLSH(threshold=0.8, num_perm=128)
        for question in group:
            minhash = MinHash(num_perm=128)
            text = similarity_text(question)
            minhash.update_batch([text[i : i + 4].encode() for i in range(len(text) - 3)])
            merged |= {(number, question.number) for number in index.query(minhash)}
            index.insert(question.number, minhash)
    _print_tool(
        "datasketch MinHash, Jaccard .8", merged, planted, len(questions), time.perf_counter() - started
    )


def _compare_with_semhash(questions: list[ComparedQuestion], planted: list[Planted]) -> None:
    if importlib.util.find_spec("semhash") is None:
        print("semhash is not installed.")
        return
    from semhash import SemHash  # type: ignore[import-not-found] # installed only by hand # noqa: PLC0415 - as above

    started = time.perf_counter()
    merged = set()
    embedder = LexicalEmbedder(dimensions=1 << 12)
    for _, group in _group_by_exam(questions):
        records = [{"text": similarity_text(question), "number": str(question.number)} for question in group]
        vectors = embedder.embed([record["text"] for record in records])
        dense = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
        index = SemHash.from_embeddings(
            dense, records, model=None, columns=["text"], ann_backend=_EXACT_BACKEND
        )
        for removed in index.self_deduplicate(threshold=SearchSettings().paper_threshold).filtered:
            for kept, _ in removed.duplicates:
                first, second = sorted((int(removed.record["number"]), int(kept["number"])))
                merged.add((first, second))
    _print_tool("semhash, cosine above .9", merged, planted, len(questions), time.perf_counter() - started)


def _group_by_exam(questions: list[ComparedQuestion]) -> Iterator[tuple[int, list[ComparedQuestion]]]:
    for exam, group in groupby(questions, key=lambda question: question.exam):
        yield exam, list(group)


def _print_tool(
    name: str, merged: set[tuple[int, int]], planted: list[Planted], questions: int, seconds: float
) -> None:
    kinds = {(plant.first, plant.second): plant.kind for plant in planted}
    totals = Counter(kinds.values())
    hits = Counter(kind for pair, kind in kinds.items() if pair in merged)
    shares = ", ".join(f"{kind} {hits[kind] / max(1, totals[kind]):.1%}" for kind in KINDS)
    other_count = len(merged - kinds.keys())
    print(f"{name}, {questions:,} questions in {seconds:.1f} s: {shares}; other pairs {other_count:,}")


def _format_counts(counts: Counter[Outcome]) -> str:
    return ", ".join(f"{outcome.value} {count:,}" for outcome, count in counts.most_common())


def _describe_memory() -> str:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    largest_child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return f"{own / 1e6:.2f} GB here, at most {largest_child / 1e6:.2f} GB in each process"


if __name__ == "__main__":
    main()
