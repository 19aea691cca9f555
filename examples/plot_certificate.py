"""
How far from the best possible?
===============================

The program of the paper comes with a proof: no difference of convex functions has a lower objective than the lower
bound. The same bound judges any other function.
"""

# %%
# Along λ
# -------
#
# The larger λ, the smoother the fit. The objective that was reached lies on the bound for every λ: the gap is a ten
# thousandth or less.

import matplotlib.pyplot as plt
import numpy as np

import pldc

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (100, 2))
truth = np.abs(X[:, 0]) - np.abs(X[:, 1])
y = truth + 0.2 * rng.standard_normal(100)

lams = np.geomspace(1, 0.003, 9)
path = pldc.DCRegressor().path(X, y, lams=lams)
uppers = np.array([c.upper for c in path.certificates])
lowers = np.array([c.lower for c in path.certificates])
print(f"largest relative gap: {max(c.gap for c in path.certificates):.1e}")

# %%
# A function of few pieces beside the bound
# -----------------------------------------
#
# It was found by descent, for another objective, and nothing was proved of it. ``pldc.certify`` puts it beside the best
# possible at each λ. The gap is not its error: it says how much is left to gain *in this objective*.

few = pldc.DCRegressor(n_pieces=3).fit(X, y)
beside = [pldc.certify(few.function_, X, y, lam=float(lam)) for lam in lams]

# %%
# What the errors are, on the true surface:

grid = rng.uniform(-1, 1, (4000, 2))
target = np.abs(grid[:, 0]) - np.abs(grid[:, 1])
fits = [pldc.DCRegressor(n_pieces="rows", lam=float(lam)).fit(X, y) for lam in lams]
errors = [np.mean((fit.predict(grid) - target) ** 2) for fit in fits]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.loglog(lams, uppers, "o-", label="the program: reached")
left.loglog(lams, lowers, "k_", markersize=14, label="no function is below")
left.loglog(lams, [each.upper for each in beside], "s--", label="few pieces")
left.set(xlabel="λ", title="objective")
left.legend()
right.loglog(lams, errors, "o-", label="the program")
right.axhline(np.mean((few.predict(grid) - target) ** 2), ls="--", color="C2", label="few pieces")
right.set(xlabel="λ", title="mean squared error against the truth")
right.legend()
plt.show()

# %%
# The best λ for prediction lies in the middle, and the smallest objective says nothing about it. That is what
# cross-validation is for (``lam="cv"``, the default of the program).
