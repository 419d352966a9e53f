"""BLEU-1 and ROUGE-L against sacrebleu, its command line, and rouge-score."""

import json
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.text_overlap import bleu1, count_bleu, describe_bleu, rouge_l

WORDS = [
    "the", "The", "heart", "is", "enlarged", "no", "No", "pleural", "effusion", "on", "left", "right", "side",
    "1.2-cm", "granuloma,", "opacity.", "“base”", "A:", "(B)", "R/L", "50%", "",
]  # fmt: skip


def make_texts(n, seed=1, *, longest=14):
    draw = random.Random(seed)  # noqa: S311 - the same cases in each run
    return [" ".join(draw.choices(WORDS, k=draw.randint(0, longest))) for _ in range(n)]


def compute(candidates, references, clusters=None):
    counts = [count_bleu(*pair) for pair in zip(candidates, references, strict=True)]
    common = np.array([count.common for count in counts])
    candidate = np.array([count.candidate for count in counts])
    reference = np.array([count.reference for count in counts])
    numbers = np.arange(len(counts)) if clusters is None else np.asarray(clusters)
    return bleu1(common, candidate, reference, numbers)


@pytest.mark.parametrize(("longest", "reference_length"), [(14, 14), (6, 14), (14, 6)])
def test_bleu_equals_that_of_sacrebleu(longest, reference_length):
    from sacrebleu.metrics.bleu import BLEU

    candidates = make_texts(300, longest=longest)
    references = make_texts(300, seed=2, longest=reference_length)
    metric = BLEU(max_ngram_order=1)
    expected = metric.corpus_score(candidates, [references])
    assert 100 * compute(candidates, references).estimate == pytest.approx(expected.score, rel=1e-12)
    assert f"BLEU-1|{metric.get_signature()}" == describe_bleu()


@pytest.mark.full
def test_bleu_equals_that_of_the_command_line_of_sacrebleu(tmp_path):
    # The command prints the precision of single words and the brevity penalty; BLEU-1 is their product.
    candidates, references = make_texts(200, longest=9), make_texts(200, seed=2)
    candidates, references = zip(
        *[pair for pair in zip(candidates, references, strict=True) if all(map(str.strip, pair))], strict=True
    )
    (tmp_path / "candidates").write_text("\n".join(candidates) + "\n", encoding="utf-8")
    (tmp_path / "references").write_text("\n".join(references) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "references", "-i", "candidates", "-w", "6"]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    verbose = json.loads(output)["verbose_score"]  # "52.1/3.2/0.1/0.0 (BP = 0.61 ratio = …)"
    precision, penalty = float(verbose.split("/")[0]), float(verbose.split("BP = ")[1].split()[0])
    assert penalty < 1
    estimate = compute(candidates, references).estimate
    assert 100 * estimate == pytest.approx(precision * penalty, abs=0.2)
    assert 100 * estimate / penalty == pytest.approx(precision, rel=2e-3)


@pytest.mark.slow
def test_the_interval_of_bleu_is_near_that_of_the_jackknife_by_patient():
    candidates, references = make_texts(400, longest=10), make_texts(400, seed=2)
    clusters = np.arange(400) // 4
    result = compute(candidates, references, clusters)
    pairs = list(zip(candidates, references, strict=True))
    logs = []
    for left_out_cluster in range(100):
        kept = [pair for pair, cluster in zip(pairs, clusters, strict=True) if cluster != left_out_cluster]
        logs.append(np.log(compute(*zip(*kept, strict=True)).estimate))
    standard_error = np.sqrt(99 / 100 * np.sum((np.array(logs) - np.mean(logs)) ** 2))
    half_width = 1.984 * standard_error  # Student's t with 99 degrees of freedom
    assert np.log(result.high / result.estimate) == pytest.approx(half_width, rel=0.03)
    assert np.log(result.estimate / result.low) == pytest.approx(half_width, rel=0.03)


def test_a_corpus_without_a_common_word_has_a_bleu_of_0_and_no_interval():
    result = compute(["a b", ""], ["c d", "e"])
    assert (result.estimate, result.low, result.note) == (0, None, "no interval: no word in common")
    assert compute([], []).estimate is None
    assert compute(["a"], ["a"]).note == "no interval: one patient or exam only"


@pytest.mark.full
def test_rouge_l_equals_that_of_rouge_score():
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    for candidate, reference in zip(make_texts(500), make_texts(500, seed=2), strict=True):
        expected = scorer.score(reference, candidate)["rougeL"].fmeasure
        assert rouge_l(candidate, reference) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_rouge_l_equals_that_of_a_plain_table_of_common_subsequences(first, second):
    lengths = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, left in enumerate(first):
        for j, right in enumerate(second):
            lengths[i + 1][j + 1] = (
                lengths[i][j] + 1 if left == right else max(lengths[i][j + 1], lengths[i + 1][j])
            )
    total = len(first) + len(second)
    expected = 2 * lengths[-1][-1] / total if total else 0.0  # F of precision and recall
    assert rouge_l(" ".join(first), " ".join(second)) == pytest.approx(expected)
