"""Vectors of texts. Two texts are candidates for duplicates if the cosine of their vectors is high.

An :class:`Embedder` computes one unit vector per text. The default counts groups of letters. It needs no
model, runs anywhere, and does not recognise that two differently worded sentences mean the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, find

Vectors = csr_array | NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors. It is sent to other processes, so it must be picklable."""

    @property
    def name(self) -> str:
        """The name under which thresholds are stored: the kind of embedding with its settings."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector (norm 1) per text, shape (texts, dimensions), dense or sparse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalEmbedder:
    """Counts of the groups of letters inside words, hashed, with square roots against long repetitions.

    The weights do not depend on the dataset, so a threshold holds for all datasets, and questions can be
    compared in parts.

    Attributes:
        shortest: letters of the shortest group.
        longest: letters of the longest group.
        dimensions: length of the vectors.
    """

    shortest: int = 3
    longest: int = 4
    dimensions: int = 1 << 18

    @property
    def name(self) -> str:
        """The name with the lengths of the groups."""
        return f"lexical {self.shortest}-{self.longest}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return sparse vectors, shape (texts, dimensions)."""
        from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415 - takes a second
        from sklearn.preprocessing import normalize  # noqa: PLC0415 - takes a second

        vectorizer = HashingVectorizer(
            analyzer="char_wb",
            ngram_range=(self.shortest, self.longest),
            n_features=self.dimensions,
            alternate_sign=False,
            norm=None,
            dtype=np.float32,
        )
        counts = vectorizer.transform(texts)
        counts.data **= 0.5
        return csr_array(normalize(counts, copy=False))


def cosines_of_pairs(
    vectors: Vectors, first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the cosine of each pair of rows, shape (pairs,)."""
    if isinstance(vectors, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", vectors[first], vectors[second]), dtype=np.float32)
    return np.asarray(vectors[first].multiply(vectors[second]).sum(axis=1), dtype=np.float32).ravel()


def find_similar_rows(
    vectors: Vectors, *, threshold: float, rows_at_once: int = 1024
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """Return all pairs of rows (first < second) whose cosine is above 0 and at least ``threshold``."""
    firsts, seconds, cosines = [], [], []
    row_count = vectors.shape[0]
    for start in range(0, row_count, rows_at_once):
        rows, columns, values = find(vectors[start : start + rows_at_once] @ vectors[start:].T)
        is_kept = (values >= threshold) & (columns > rows)
        firsts.append(rows[is_kept].astype(np.intp) + start)
        seconds.append(columns[is_kept].astype(np.intp) + start)
        cosines.append(values[is_kept].astype(np.float32))
    if not firsts:
        empty = np.empty(0, dtype=np.intp)
        return empty, empty, np.empty(0, dtype=np.float32)
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(cosines)
