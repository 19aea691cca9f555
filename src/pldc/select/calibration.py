"""Probabilities from scores: one temperature, fitted where the folds did not look."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from pldc.function.max_affine import Array
from pldc.problem.losses import softmax
from pldc.problem.recipe import Rows, rows_in
from pldc.select.folds import distinct

TEMPERATURES = (-5.0, 4.0)  # logarithms


def calibrate(scores: Array, rows: Rows, prior: float = 0.0) -> float:
    """Return the temperature for which softmax(temperature · scores) predicts the labels of the rows best.

    One number: the order of the classes stays that of the scores. The likelihood is that of smoothed labels, as if one
    row more had been seen, of all m classes alike: of n rows, each is of its class with probability (n + 1/m) / (n + 1)
    and of any other with 1/m / (n + 1). So rows that are all right do not make it certain. A weight counts as so many
    rows, unless weights are so small that the number of distinct rows of equal weight that would tell as much is
    larger. `prior` pulls towards one, as so many rows would: for scores that are logarithms of probabilities already.
    """
    m, label, share = len(scores), rows.y.astype(np.intp), rows.weight / rows.weight.sum()
    n = rows_in(distinct(rows, True)[0].weight)
    target = np.full(scores.shape, 1.0 / m / (n + 1.0))
    target[label, np.arange(len(label))] = (n + 1.0 / m) / (n + 1.0)

    def loss(log_temperature: float) -> float:
        p = softmax(np.exp(log_temperature) * scores)
        return prior / n * log_temperature**2 - float(share @ (target * np.log(np.maximum(p, 1e-300))).sum(axis=0))

    return float(np.exp(minimize_scalar(loss, bounds=TEMPERATURES, method="bounded").x))
