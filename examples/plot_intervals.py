"""
Intervals that follow the noise
===============================

How far off may a prediction be? The intervals come from errors at rows that were left out, and are wide where these
were large.
"""

# %%
# Noise that grows
# ----------------
#
# A curve whose noise is six times as large to the right as to the left.

import matplotlib.pyplot as plt
import numpy as np

from pldc import DCRegressor, Quantile

rng = np.random.default_rng(0)


def draw(n):
    x = np.sort(rng.uniform(0, 1, n))
    return x[:, None], np.sin(6 * x) + (0.1 + 0.5 * x) * rng.standard_normal(n)


X, y = draw(400)
model = DCRegressor().fit(X, y)
grid = np.linspace(0, 1, 300)[:, None]
low, high = model.predict_interval(grid, coverage=0.9)

# %%
# Another way: quantiles
# ----------------------
#
# Three quantiles, fitted for themselves. They never cross. Intervals are calibrated at rows that were left out,
# quantiles are not; quantiles may lean to one side, these intervals do not.

levels = DCRegressor(loss=Quantile([0.05, 0.5, 0.95])).fit(X, y)
below, middle, above = levels.predict(grid).T

figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
for axis, ends, centre, title in zip(
    axes, ((low, high), (below, above)), (model.predict(grid), middle), ("predict_interval", "quantiles"), strict=True
):
    axis.plot(X, y, ".", color="0.7", markersize=3)
    axis.fill_between(grid[:, 0], *ends, alpha=0.3, label="90 %")
    axis.plot(grid, centre, label="mean" if title == "predict_interval" else "median")
    axis.set(xlabel="x", title=title)
    axis.legend()
plt.show()

# %%
# How many of new rows do they hold?
# ----------------------------------
#
# In all, and in each fifth of the axis: the second is harder.

X_new, y_new = draw(20000)
fifth = np.minimum((5 * X_new[:, 0]).astype(int), 4)
for name, (a, b) in {
    "intervals": model.predict_interval(X_new, coverage=0.9),
    "quantiles": tuple(levels.predict(X_new)[:, [0, 2]].T),
}.items():
    inside = (a <= y_new) & (y_new <= b)
    parts = " ".join(f"{inside[fifth == k].mean():.2f}" for k in range(5))
    print(f"{name}: {inside.mean():.3f} in all; by fifths {parts}")
