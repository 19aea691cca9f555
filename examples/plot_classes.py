"""
Regions of three classes
========================

One difference of convex functions for each class: the regions, and behind them the pieces of which the highest score is
made. Inside a piece the score is linear; the borders of classes are straight there.
"""

import matplotlib.pyplot as plt
import numpy as np

from pldc import Auto, DCClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2))
radius = np.sqrt((X**2).sum(axis=1)) + 0.15 * rng.normal(size=120)
y = np.digitize(radius, [0.8, 1.5])

model = DCClassifier(lam=0.003, solver=Auto(tol=0.05)).fit(X, y)
print(f"certified gap {model.certificate_.gap:.3f}, errors on these rows {1 - model.score(X, y):.3f}")

# %%
# The class is the colour; lines divide the pieces of the winning score.
grid = np.stack(np.meshgrid(np.linspace(-3, 3, 240), np.linspace(-3, 3, 240)), axis=-1)
points = grid.reshape(-1, 2)
label = model.predict(points)
slope = np.array([f.gradient(points) for f in model.functions_])[label, np.arange(len(points))]
_, piece = np.unique(slope.round(6), axis=0, return_inverse=True)
piece = piece.reshape(grid.shape[:2])

figure, axis = plt.subplots(figsize=(5, 5))
axis.contourf(grid[..., 0], grid[..., 1], label.reshape(grid.shape[:2]), levels=[-0.5, 0.5, 1.5, 2.5], alpha=0.35)
edge = (np.diff(piece, axis=0, prepend=piece[:1]) != 0) | (np.diff(piece, axis=1, prepend=piece[:, :1]) != 0)
axis.contour(grid[..., 0], grid[..., 1], edge, levels=[0.5], colors="0.4", linewidths=0.4)
axis.scatter(*X.T, c=y, s=14, edgecolors="k", linewidths=0.3)
axis.set(xlabel="x0", ylabel="x1", title="three classes")
figure.tight_layout()

# %%
# Why the first row is of its class and not of the next best one:
print(model.explain(X[:1]))
