"""
Few pieces
==========

Fit a surface, replace the fit by one function of few pieces, read all of it in a table, and see what that costs.
"""

# %%
# A roof
# ------
#
# Noisy heights of a roof with four sides, cut off at the top, and a third feature that does not matter. The default
# fit is a mean of many small functions: it predicts well, but has too many pieces to be read.

import matplotlib.pyplot as plt
import numpy as np

from pldc import DCRegressor
from pldc.view import plot_regions, plot_simplification

rng = np.random.default_rng(0)
names = ["east", "north", "colour"]


def roof(X):
    return np.minimum(2 - 2 * np.maximum(np.abs(X[:, 0]), np.abs(X[:, 1])), 1)


X = rng.uniform(-1, 1, (200, 3))
y = roof(X) + 0.1 * rng.standard_normal(len(X))
model = DCRegressor().fit(X, y)
print("{} − {} pieces".format(*model.function_.n_pieces))

# %%
# How many pieces?
# ----------------
#
# ``simplify`` learns one function of at most so many pieces from the model and the rows together, and does so in every
# fold of the cross-validation too. So the score tells what is lost at rows that were left out. ``fidelity_`` is the R²
# to the larger model.

few = [model.simplify(X, y, n_pieces=k) for k in (2, 4, 6)]
for simple in few:
    print(simple.simplification_)

# %%
# The error falls until there are enough pieces. Marked is the smallest number whose error is within 10 % of the best.
# (With ``plot_simplification(model, X, y)`` the figure does the simplifying.)

plot_simplification(few, figure=plt.figure(figsize=(9, 4), layout="constrained"))
plt.show()

# %%
# All of the function
# -------------------
#
# Few pieces fit into a table. A line is a region where the function is linear, with the rows in it and the slope of
# each feature: an almost flat top, four sides with slopes of about 2, a sliver of few rows, and next to nothing for
# the colour.

simple = few[-1]
f = simple.function_
print(f)
print(f.regions(X).to_text(names, most=8))

# %%
# Seen from above, at a colour of zero, the sides meet along the diagonals.

flat = f.compose([[1, 0], [0, 1], [0, 0]])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot_regions(flat, X[:, :2], names=("east", "north"), ax=left)
line = np.linspace(-1, 1, 200)
along = np.column_stack([line, np.zeros_like(line), np.zeros_like(line)])
right.plot(line, roof(along), "--", color="0.4", label="truth")
right.plot(line, model.predict(along), color="C1", label="larger model")
right.plot(line, simple.predict(along), color="C0", label="few pieces")
right.set(xlabel="east", ylabel="height", title="Along the middle")
right.legend()
plt.show()

# %%
# Reading a prediction
# --------------------
#
# ``explain`` gives the linear function that rules at a row. The last line says how far from the row it does, in
# standard deviations of the features: this far one may ask "what if", and the answer is a product. Next to a kink the
# slopes are means over a neighbourhood, and the table says so.

print(simple.explain([[0.7, 0.1, 0.0], [0.02, 0.52, 0.0]]))

# %%
# A function of few pieces is not the best possible one of its kind, and comes with no certificate. ``pldc.certify``
# bounds what could be gained at a given ``lam``; ``DCRegressor(n_pieces="rows")`` solves the convex program itself.
