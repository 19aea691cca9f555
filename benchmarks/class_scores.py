"""How good probabilities of classes are: log loss, Brier score, and whether confidence is what it says."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.stats import binom

CLIP = 1e-15  # probabilities are cut to [CLIP, 1 − CLIP] for the log loss: a zero costs 34.5
BINS = 15  # of equal width, of the confidence


def spread_over(P: np.ndarray, known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return probabilities for all classes, zero for those that a fit has not seen; rows sum to one."""
    out = np.zeros((len(P), len(classes)))
    out[:, np.searchsorted(classes, known)] = P
    return out / out.sum(axis=1, keepdims=True)


def log_loss(P: np.ndarray, label: np.ndarray) -> float:
    """Return the mean of −log p of the class that it was."""
    own = P[np.arange(len(label)), label]
    return float(-np.log(np.clip(own, CLIP, 1.0 - CLIP)).mean())


def brier(P: np.ndarray, label: np.ndarray) -> float:
    """Return the mean squared distance to the vertex of the class that it was, summed over classes (0 to 2)."""
    return float(((P - np.eye(P.shape[1])[label]) ** 2).sum(axis=1).mean())


def binned(P: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return of each bin of the confidence, the highest probability: rows, sum of confidence, rows that were right."""
    confidence, right = P.max(axis=1), P.argmax(axis=1) == label
    at = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return np.array([np.bincount(at, weights, BINS) for weights in (np.ones(len(label)), confidence, right)]).T


def calibration_error(bins: np.ndarray) -> float:
    """Return the expected calibration error: |share that was right − mean confidence| of the bins, by their rows."""
    rows, confidence, right = bins.T
    return float(np.abs(right - confidence).sum() / rows.sum())


def chance_error(bins: np.ndarray) -> float:
    """Return the calibration error to expect where every row is right with the mean confidence of its bin.

    In a bin of n rows the number that is right is then binomial, and its mean distance to the middle is not zero.
    """
    total = 0.0
    for n, confidence, _ in bins[bins[:, 0] > 0]:
        k = np.arange(n + 1)
        total += float(binom.pmf(k, n, min(confidence / n, 1.0)) @ np.abs(k - confidence))
    return total / float(bins[:, 0].sum())


def written(bins: np.ndarray) -> str:
    """Return the bins as text: rows, confidence and right of each that is not empty, after its number."""
    return "; ".join(f"{k} {n:.0f} {c:.4f} {r:.0f}" for k, (n, c, r) in enumerate(bins) if n)


def read_bins(texts: Iterable[str]) -> np.ndarray:
    """Return the sum of bins that were written."""
    bins = np.zeros((BINS, 3))
    for text in texts:
        for part in text.split("; "):
            number, *values = part.split()
            bins[int(number)] += [float(v) for v in values]
    return bins
