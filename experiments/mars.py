"""Multivariate adaptive regression splines (Friedman 1991), piecewise linear: a rival of the studies.

Forward: pairs of hinges, each times a term that is there already, are added greedily by the residual sum of squares;
all knots of a term and a feature are tried in one product. Backward: terms are deleted one by one, and the subset with
the least generalised cross-validation score is kept. The one package for Python that still installs does the same a
hundred times slower (docs/decisions/0016).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

MOST_KNOTS = 60  # for one term and one feature
SMALL = 1e-9  # squared share of a column that must be new


class Factor(NamedTuple):
    """One factor of a term: max(sign · (x_feature − knot), 0), or x_feature − knot for sign 0."""

    feature: int
    sign: int
    knot: float

    def at(self, X: np.ndarray) -> np.ndarray:
        """Values at the rows of X."""
        z = X[:, self.feature] - self.knot
        return z if self.sign == 0 else np.maximum(self.sign * z, 0.0)


class Mars(RegressorMixin, BaseEstimator):
    """MARS with `max_degree` factors a term at most; `penalty` None is 2 for one factor, 3 for more.

    With `linear` a factor may be a line, and knots come as near the ends as the rows demand; without it, too few rows
    for knots away from the ends leave a constant, as in the toolbox of the paper's authors.
    """

    def __init__(
        self,
        max_degree: int = 1,
        max_terms: int | None = None,
        penalty: float | None = None,
        linear: bool = True,
    ):
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.penalty = penalty
        self.linear = linear

    def fit(self, X: np.ndarray, y: np.ndarray) -> Mars:
        """Grow, prune, and fit the terms that are left."""
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        self.center_, self.scale_ = X.mean(axis=0), np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        Z = (X - self.center_) / self.scale_
        most = self.max_terms or min(200, max(20, 2 * X.shape[1])) + 1
        terms = self._grow(Z, y, most)
        self.terms_, self.weights_ = self._prune(columns(terms, Z), y, terms)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Evaluate the sum of the terms."""
        Z = (np.asarray(X, dtype=float) - self.center_) / self.scale_
        return columns(self.terms_, Z) @ self.weights_

    def _grow(self, X: np.ndarray, y: np.ndarray, most: int) -> list[tuple[Factor, ...]]:
        n, d = X.shape
        most = min(most, n - 1)
        terms: list[tuple[Factor, ...]] = [()]
        Q = np.full((n, 1), 1 / np.sqrt(n))
        residual = y - y.mean()
        total = residual @ residual
        while len(terms) + 2 <= most and residual @ residual > 1e-6 * total:
            best, gain = None, 1e-4 * total if len(terms) > 1 else 0.0
            for term in terms:
                if len(term) >= self.max_degree:
                    continue
                parent = columns([term], X)[:, 0]
                for k in {*range(d)} - {factor.feature for factor in term}:
                    found, knot = best_knot(parent, X[:, k], Q, residual, d, self.linear)
                    if found > gain:
                        best, gain = (term, k, knot), found
            if best is None:
                break
            term, k, knot = best
            signs = (0,) if knot is None else (1, -1)
            new = [(*term, Factor(k, sign, 0.0 if knot is None else knot)) for sign in signs]
            for one, column in zip(new, columns(new, X).T, strict=True):
                rest = column - Q @ (Q.T @ column)
                rest -= Q @ (Q.T @ rest)
                if rest @ rest > SMALL * (column @ column):
                    Q = np.column_stack([Q, rest / np.sqrt(rest @ rest)])
                    terms.append(one)
            residual = y - Q @ (Q.T @ y)
        return terms

    def _prune(
        self, B: np.ndarray, y: np.ndarray, terms: list[tuple[Factor, ...]]
    ) -> tuple[list[tuple[Factor, ...]], np.ndarray]:
        penalty = self.penalty if self.penalty is not None else (2.0 if self.max_degree == 1 else 3.0)
        n, kept = len(y), list(range(len(terms)))
        best, chosen = np.inf, kept
        while kept:
            R = np.linalg.qr(np.column_stack([B[:, kept], y]), mode="r")
            G, size = R[:-1, :-1], len(kept)
            inverse = np.linalg.pinv(G)
            weights = inverse @ R[:-1, -1]
            rss = float(np.sum((y - B[:, kept] @ weights) ** 2))
            effective = size + penalty * (size - 1) / 2
            score = rss / (1 - effective / n) ** 2 if effective < n else np.inf
            if score <= best:
                best, chosen = score, list(kept)
            if size == 1:
                break
            rise = weights**2 / np.maximum((inverse**2).sum(axis=1), 1e-300)  # of the residual, without the term
            kept.pop(1 + int(np.argmin(rise[1:])))
        return [terms[k] for k in chosen], np.linalg.lstsq(B[:, chosen], y, rcond=None)[0]


def columns(terms: list[tuple[Factor, ...]], X: np.ndarray) -> np.ndarray:
    """Values of the terms, (n, terms)."""
    out = np.ones((len(X), len(terms)))
    for k, term in enumerate(terms):
        for factor in term:
            out[:, k] *= factor.at(X)
    return out


def best_knot(
    parent: np.ndarray, x: np.ndarray, Q: np.ndarray, residual: np.ndarray, d: int, linear: bool = True
) -> tuple[float, float | None]:
    """Return the fall of the residual sum of squares by the best pair of hinges, and its knot; None: a line will do."""
    line = parent * x
    new = line - Q @ (Q.T @ line)
    size = new @ new
    gain = 0.0
    if size > SMALL * (line @ line):
        new /= np.sqrt(size)
        gain = float((new @ residual) ** 2)
        Q = np.column_stack([Q, new])
    active = np.sort(x[parent > 0] if (parent > 0).any() and parent.min() >= 0 else x[parent != 0])
    count = len(active)
    span = int(max(1, -np.log2(-np.log(0.95) / (d * max(count, 1))) / 2.5))
    end = int(max(1, 3 - np.log2(0.05 / d)))
    if linear:
        end = min(end, max(count // 2 - 1, 0))
    inner = np.unique(active[end : max(count - end, end) : span])
    if not len(inner):
        return (gain if linear else 0.0), None
    if len(inner) > MOST_KNOTS:
        inner = inner[np.linspace(0, len(inner) - 1, MOST_KNOTS).astype(int)]
    H = parent[:, None] * np.maximum(x[:, None] - inner, 0.0)
    rest = H - Q @ (Q.T @ H)
    norm = (rest**2).sum(axis=0)
    gains = np.where(norm > SMALL * (H**2).sum(axis=0), (residual @ rest) ** 2 / np.maximum(norm, 1e-300), 0.0)
    at = int(gains.argmax())
    if linear and not gains[at] > 1e-6 * gain:
        return gain, None
    return gain + float(gains[at]), float(inner[at])
