"""Near-duplicate points: solve with each cluster merged into one point, then answer the original problem.

Points a distance r apart, r far below the spread of the data, need multipliers of size λ / r, which double precision
cannot carry beside the others. Merged they do no harm: slopes are bounded, so their values differ by about r, and what
the merged answer proves about the original problem is loose by a share of about r / λ. The certificate decides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from pldc.function.max_affine import IntArray
from pldc.problem.certificate import split
from pldc.problem.program import Problem, Solution


def clusters(problem: Problem, radius: float) -> IntArray:
    """Give each point a representative at most `radius` away in ℓ_∞ (itself, for a representative)."""
    tree = cKDTree(problem.X)
    rep = np.arange(len(problem.X))
    pairs = tree.query_pairs(radius, p=np.inf, output_type="ndarray")
    for i, j in pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]:
        if rep[i] == i and rep[j] == j:
            rep[j] = i
    return rep


def coarsen(problem: Problem, rep: IntArray) -> Problem:
    """Return the problem in which every observation sits at the representative of its point."""
    heads, index = np.unique(rep, return_inverse=True)
    return replace(problem, X=problem.X[heads], node=index[problem.node])


def refine(problem: Problem, rep: IntArray, coarse: Problem, solution: Solution) -> Solution:
    """Carry a solution of the coarse problem, and its multipliers, over to the original one."""
    heads, index = np.unique(rep, return_inverse=True)
    step = problem.X - problem.X[rep]
    slopes = solution.slopes[:, index]
    values = solution.values[:, index] + np.einsum("pik,ik->pi", slopes, step)
    n = len(problem.X)
    flows = np.zeros((len(problem.signs), n, n))
    flows[:, heads[:, None], heads[None, :]] = solution.multipliers
    # What each observation asks of its own point comes from the representative, along a very short edge.
    div = (solution.multipliers.sum(axis=1) - solution.multipliers.sum(axis=2)) * problem.signs[:, None]
    omega = problem.at_nodes(split(coarse, div.mean(axis=0)))
    member = np.flatnonzero(rep != np.arange(n))
    for p, sign in enumerate(problem.signs):
        flows[p, rep[member], member] += np.maximum(sign * omega[member], 0.0)
        flows[p, member, rep[member]] += np.maximum(-sign * omega[member], 0.0)
    return replace(solution, values=values, slopes=slopes, multipliers=flows)
