"""Probabilities from scores: one temperature, fitted where the folds did not look."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from pldc.function.max_affine import Array
from pldc.problem.losses import softmax
from pldc.problem.recipe import Rows, rows_in
from pldc.select.folds import distinct

TEMPERATURES = (-5.0, 4.0)  # logarithms
ROUNDS, CLOSE = 50, 1e-6  # of the search for levels: at most, and the logarithm of what may be missing of a share
DIGITS = 8  # of what is added to scores


def calibrate(scores: Array, rows: Rows, prior: float = 0.0, shares: Array | None = None) -> tuple[float, Array]:
    """Return the temperature for which softmax(temperature · scores) predicts the labels of the rows best, and levels.

    One number: the order of the classes stays that of the scores. The likelihood is that of smoothed labels, as if one
    row more had been seen, of all m classes alike: of n rows, each is of its class with probability (n + 1/m) / (n + 1)
    and of any other with 1/m / (n + 1). So rows that are all right do not make it certain. A weight counts as so many
    rows, unless weights are so small that the number of distinct rows of equal weight that would tell as much is
    larger. `prior` pulls towards one, as so many rows would: for scores that are logarithms of probabilities already.

    Of such scores, give the `shares` of the classes among all rows. Levels (m,) are then to be added to the scores, so
    that the mean probability of a class is between its share and what it is without a temperature, of which each is off
    by chance in its own way. A temperature of 0.8 alone would make a class of one row in a thousand four times as
    likely. Of other scores, levels are zero.
    """
    m, label, share = len(scores), rows.y.astype(np.intp), rows.weight / rows.weight.sum()
    n = rows_in(distinct(rows, True)[0].weight)
    target = np.full(scores.shape, 1.0 / m / (n + 1.0))
    target[label, np.arange(len(label))] = (n + 1.0 / m) / (n + 1.0)
    known, tiny = np.zeros((m, 1)), np.finfo(float).tiny
    mean = np.ones(m) if shares is None else np.sqrt(np.maximum(softmax(scores) @ share, tiny) * shares)

    def chances(temperature: float) -> Array:
        p = softmax(temperature * scores + known)
        for _ in range(0 if shares is None else ROUNDS):
            missing = np.log(mean / np.maximum(p @ share, tiny))
            if np.ptp(missing) < CLOSE:
                break
            known[:, 0] += missing - missing[0]
            p = softmax(temperature * scores + known)
        return p

    def loss(log_temperature: float) -> float:
        p = chances(float(np.exp(log_temperature)))
        return prior / n * log_temperature**2 - float(share @ (target * np.log(np.maximum(p, 1e-300))).sum(axis=0))

    temperature = float(np.exp(minimize_scalar(loss, bounds=TEMPERATURES, method="bounded").x))
    chances(temperature)
    return temperature, np.round(known[:, 0] / temperature, DIGITS)
