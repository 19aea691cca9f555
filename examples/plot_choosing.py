"""
Theory against cross-validation
===============================

The surface of the paper's first figure at a hundred points, fitted with the weight that the theory asks for and with
the one that cross-validation finds; then what happens in between.
"""

# %%
# The theory guards against the worst case. Its weight, 24 M times the maximum discrepancy, leaves nothing of the
# surface; with 12 M set to one, as in the figure of the paper, twice the discrepancy remains, and still smooths a lot.

import matplotlib.pyplot as plt
import numpy as np

from pldc import DCRegressor
from pldc.select.discrepancy import discrepancy


def surface(X):
    first, second = 3 * np.pi * X.T
    return np.sin(first) + np.cos(second) + 3 * np.log(np.abs(first + second) + 1)


X = np.random.default_rng(0).uniform(size=(100, 2))
y = surface(X)

srm = DCRegressor(n_pieces="rows", lam="srm").fit(X, y)
found = discrepancy((X - X.mean(axis=0)) / X.std(axis=0), penalty="componentwise", n_splits=2)
twice = DCRegressor(n_pieces="rows", lam=2 * found.value).fit(X, y)
cv = DCRegressor(n_pieces="rows").fit(X, y)
for name, model in (("srm", srm), ("2 D̂", twice), ("cv", cv)):
    print(f"{name:4} lam = {model.lam_:8.4f}, seminorm = {model.seminorm_:.3f}")

# %%
# The surface, and both panels of the paper's figure: twice the discrepancy, and cross-validation.
axis = np.linspace(0, 1, 81)
first, second = np.meshgrid(axis, axis)
mesh = np.column_stack([first.ravel(), second.ravel()])
panels = {"the surface": surface(mesh), "lam = 2 D̂": twice.predict(mesh), "lam by cross-validation": cv.predict(mesh)}
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained", subplot_kw={"projection": "3d"})
for ax, (title, values) in zip(axes, panels.items(), strict=True):
    ax.plot_surface(first, second, values.reshape(first.shape), cmap="viridis", alpha=0.8)
    ax.scatter(*X.T, y, color="black", s=6)
    ax.set(xlabel="x0", ylabel="x1", title=title)
plt.show()

# %%
# Loss and seminorm along the path (``pldc.view.plot_path`` draws them with the number of pieces).
path = DCRegressor().path(X, y, np.geomspace(2 * found.value, found.value / 256, 10))
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.loglog(path.lams, path.losses, marker="o")
left.set(xlabel="lam", title="mean loss")
right.loglog(path.lams, np.maximum(path.seminorms, 1e-3), marker="o")
right.set(xlabel="lam", title="seminorm")
plt.show()
