"""
Splines, regions and the global optimum
=======================================

With one feature the fit is a spline with bends at few places. With two features its regions can be drawn, and
its highest point found exactly.
"""

# %%
# The L1 spline
# -------------
#
# With a free linear term, the penalty is half the total variation of the slope. Below, the fit of the model
# and, through the same points, the program of the L1 spline solved on its own with SciPy: they are the same curve.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog

from pldc import DCRegressor, Seminorm
from pldc.view import plot_regions

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 1, 120))
y = np.sin(9 * x) + np.abs(x - 0.6) + 0.2 * rng.standard_normal(len(x))
lam = 0.02

model = DCRegressor(
    n_pieces="rows",
    loss="absolute",
    lam=lam,
    penalty=Seminorm(free_linear=True),
    standardize=False,
    clip=False,
)
model.fit(x[:, None], y)
print(model.solver_, "certified gap", f"{model.certificate_.gap:.1e}")

n = len(x)
# min mean |f − y| + λ/2 Σ |bend|, as a linear program in (f, residuals, bends)
slope = (np.eye(n)[1:] - np.eye(n)[:-1]) / np.diff(x)[:, None]
bend = np.diff(slope, axis=0)
cost = np.concatenate([np.zeros(n), np.full(n, 1 / n), np.full(n - 2, lam / 2)])
rows = np.block(
    [
        [np.eye(n), -np.eye(n), np.zeros((n, n - 2))],
        [-np.eye(n), -np.eye(n), np.zeros((n, n - 2))],
        [bend, np.zeros((n - 2, n)), -np.eye(n - 2)],
        [-bend, np.zeros((n - 2, n)), -np.eye(n - 2)],
    ]
)
spline = linprog(cost, A_ub=rows, b_ub=np.concatenate([y, -y, np.zeros(2 * (n - 2))]), bounds=(None, None))
print(f"objectives: {model.certificate_.upper:.6f} and {spline.fun:.6f}")

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(x, y, ".", color="0.7", label="data")
ax.plot(x, model.predict(x[:, None]), lw=3, alpha=0.5, label="DCRegressor, free linear term")
ax.plot(x, spline.x[:n], "k--", lw=1, label="L1 spline")
ax.legend()
plt.show()

# %%
# Regions, and the highest point
# ------------------------------

X = rng.uniform(-1, 1, size=(200, 2))
z = np.sin(3 * X[:, 0]) - 2 * np.abs(X[:, 1] - 0.3 * X[:, 0]) + 0.1 * rng.standard_normal(len(X))
surface = DCRegressor(n_pieces="rows", lam=0.01).fit(X, z)
f = surface.function_.prune(X, tol=1e-3)
top = f.maximize(bounds=[(-1, 1), (-1, 1)])
print(f.regions(X).to_text(["x1", "x2"], most=6))
print(f"highest point {top.x.round(3)} with value {top.fun:.3f}, proved by {top.n_programs} linear programs")

fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
plot_regions(f, X, ("x1", "x2"), ax=ax)
ax.plot(*top.x, "k*", markersize=14)
plt.show()
