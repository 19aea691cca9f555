"""What each feature contributes to f(x) − f(reference): its slopes added up along the straight way between the two."""

from __future__ import annotations

import numpy as np

from pldc.function.max_affine import Array
from pldc.function.pldc import PLDC
from pldc.function.segments import straight, stretches
from pldc.function.term import MOST_NUMBERS, Term, blocks


def path_contributions(function: PLDC, start: Array, stop: Array) -> Array:
    """Integrate the slope along each feature on the way from one point to another, exactly.

    They are known as integrated gradients. The function is linear between breakpoints, which are all found, so that no
    step size is to be chosen and the contributions add up to f(stop) − f(start) but for rounding.

    Parameters
    ----------
    function : PLDC
    start, stop : arrays of shape (n, d)

    Returns
    -------
    array of shape (n, d)
    """
    out, start, stop = np.zeros(start.shape), start - function.origin, stop - function.origin
    for term in function.centred:
        for piece in straight(term, start, stop):
            step, change = piece.stop - piece.start, np.zeros(piece.start.shape)
            for part, sign in zip(term.parts, (1.0, -1.0), strict=True):
                found = stretches(part, piece.start, piece.stop)
                share = np.zeros((len(step), part.n_pieces))  # of the way, on which each piece rules
                np.add.at(share, (found.segment, found.piece), found.end - found.begin)
                change += sign * (share @ part.slopes) * step
            np.add.at(out, piece.owner, _by_feature(term, change))
    return out


def _by_feature(term: Term, columns: Array) -> Array:
    """Add up what the columns of a term contribute, feature by feature."""
    if term.hinges is None:
        return columns
    d = term.n_features
    return np.asarray(columns[:, :d] + term.hinges.fold(columns[:, d:]))


def mean_path_contributions(function: PLDC, points: Array, references: Array) -> Array:
    """Contributions of the features at each point, (n, d): means over the ways from all references, (m, d)."""
    n, m, d = len(points), len(references), points.shape[1]
    out = np.empty((n, d))
    for rows in blocks(n, max(1, MOST_NUMBERS // (m * d))):
        stop = np.repeat(points[rows], m, axis=0)
        start = np.tile(references, (len(points[rows]), 1))
        out[rows] = path_contributions(function, start, stop).reshape(-1, m, d).mean(axis=1)
    return out
