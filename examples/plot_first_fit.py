"""
A first fit
===========

Fit a noisy curve and a noisy surface, see how close each fit is to the best possible one, and read a
prediction.
"""

# %%
# A curve
# -------
#
# One hundred noisy values of a wave with a kink at zero. ``n_pieces="rows"`` is the convex program, which allows a
# piece for every row. The main number to choose is ``lam``: the smaller it is, the more closely the fit follows the
# data.

import matplotlib.pyplot as plt
import numpy as np

from pldc import DCRegressor

rng = np.random.default_rng(0)


def wave(x):
    return np.sin(3 * x) + 0.5 * np.abs(x)


x = np.sort(rng.uniform(-2, 2, 100))
y = wave(x) + 0.2 * rng.standard_normal(len(x))
curve = DCRegressor(n_pieces="rows", lam=0.005).fit(x[:, None], y)

# %%
# The fit comes with a proof of its quality. No function of the class has an objective below ``lower``; the
# one that was found has the objective ``upper``. Both belong to the program in standardised units.

print(curve.certificate_)

# %%
# The fitted function is a difference of two convex functions, each the maximum of affine pieces, and each can
# be called by itself. Where the curve bends upwards the plus part bends; where it bends downwards the minus
# part does. Both parts may share any common convex term, which cancels.

f = curve.function_
print(f)
grid = np.linspace(-2, 2, 400)[:, None]

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(x, y, ".", color="0.6", label="data")
left.plot(grid, wave(grid), "--", color="0.4", label="truth")
left.plot(grid, curve.predict(grid), color="C0", label="fit")
left.legend()
left.set(xlabel="x", ylabel="y", title="Data and fit")
right.plot(grid, f.plus(grid), color="C1", label="plus")
right.plot(grid, f.minus(grid), color="C2", label="minus")
right.legend()
right.set(xlabel="x", title="The two convex parts")
plt.show()

# %%
# A surface
# ---------
#
# The same in two dimensions: a saddle with sharp edges. The plane falls into polygons, and the fit is
# affine on each of them.


def saddle(X):
    return np.abs(X[:, 0]) - np.abs(X[:, 1]) + 0.5 * X[:, 0] * X[:, 1]


X = rng.uniform(-1, 1, (150, 2))
z = saddle(X) + 0.1 * rng.standard_normal(len(X))
surface = DCRegressor(n_pieces="rows", lam=0.01).fit(X, z)
print(surface.certificate_)

axis = np.linspace(-1, 1, 81)
first, second = np.meshgrid(axis, axis)
mesh = np.column_stack([first.ravel(), second.ravel()])
panels = {"truth": saddle(mesh), "fit": surface.predict(mesh)}
low, high = min(v.min() for v in panels.values()), max(v.max() for v in panels.values())

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, (title, values) in zip(axes, panels.items(), strict=True):
    drawn = ax.contourf(first, second, values.reshape(first.shape), np.linspace(low, high, 16))
    ax.plot(*X.T, ".", color="white", markersize=2)
    ax.set(xlabel="x0", title=title)
axes[0].set_ylabel("x1")
fig.colorbar(drawn, ax=axes, format="%.1f")
plt.show()

# %%
# Reading a prediction
# --------------------
#
# Around any point the fit is one affine function. ``explain`` shows it: the slope in each feature, what
# that slope contributes on the way from the mean of the data to this row, and the value of the same affine
# function at the mean (the intercept). The intercept and the contributions add up to the prediction.

print(surface.explain([[0.6, -0.3]]))
