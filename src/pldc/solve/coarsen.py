"""Near-duplicate points: solve with each cluster merged into one point, then answer the original problem.

Points a distance r apart, r far below the spread of the data, need multipliers of size λ / r, which double precision
cannot carry beside the others. Merged they do no harm: slopes are bounded, so their values differ by about r, and what
the merged answer proves about the original problem is loose by a share of about r / λ. The certificate decides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial import cKDTree

from pldc.function.max_affine import IntArray
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
    mu = [coo_array(flow) for flow in solution.multipliers]
    # What each observation asks of its own point comes from the representative, along a very short edge.
    div = np.array([np.asarray(flow.sum(axis=0)) - np.asarray(flow.sum(axis=1)) for flow in mu])
    omega = problem.at_nodes(coarse.loss.split(coarse, (problem.signs[:, None] * div).mean(axis=0)))
    member = np.flatnonzero(rep != np.arange(n))
    flows = []
    for flow, sign in zip(mu, problem.signs, strict=True):
        to, back = np.maximum(sign * omega[member], 0.0), np.maximum(-sign * omega[member], 0.0)
        j = np.concatenate([heads[flow.row], rep[member], member])
        i = np.concatenate([heads[flow.col], member, rep[member]])
        flows.append(csr_array((np.concatenate([flow.data, to, back]), (j, i)), shape=(n, n)))
    return replace(solution, values=values, slopes=slopes, multipliers=flows)
