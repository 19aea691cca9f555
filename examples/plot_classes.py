"""
Three classes on a map
======================

The iris table that everybody knows: which class where, how sure, and why; then the same in so few pieces that the
borders can be written down.
"""

# %%
# The default, and few pieces
# ---------------------------
#
# Two columns of iris. ``n_pieces=2`` is a function of two pieces in each part for each class.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from pldc import DCClassifier
from pldc.view import plot_classes

table = load_iris(as_frame=True)
X = table.data[["petal length (cm)", "petal width (cm)"]]
y = table.target_names[table.target]

model = DCClassifier().fit(X, y)
few = model.simplify(X, y, n_pieces=2)
print(few.simplification_)

# %%
# Probabilities
# -------------
#
# To the left the probability of the leading class in the whole model: near the border of versicolor and virginica it
# is no more than a guess, and where there are no flowers the model goes on as it was. To the right the few pieces:
# thick lines are borders, thin ones bends. Crosses are flowers on the wrong side.

lengths, widths = np.linspace(0.8, 7.2, 160), np.linspace(0, 2.7, 160)
mesh = pd.DataFrame(np.stack(np.meshgrid(lengths, widths), axis=-1).reshape(-1, 2), columns=X.columns)
sure = model.predict_proba(mesh).max(axis=1).reshape(160, 160)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
drawn = left.contourf(lengths, widths, sure, np.linspace(1 / 3, 1, 9), cmap="Greys")
for name, colour in zip(model.classes_, ("C0", "C1", "C2"), strict=True):
    left.plot(*X[y == name].to_numpy().T, ".", color=colour, label=name)
left.set(xlabel=X.columns[0], ylabel=X.columns[1], title="How sure is the whole model?")
left.legend(loc="lower right")
figure.colorbar(drawn, ax=left, format="%.2f")
plot_classes(few, X, y, ax=right)
plt.show()

# %%
# Why this class?
# ---------------
#
# The margin between the leading class and the runner-up, and what each column adds to it, for a flower at the border.

closest = int(np.abs(np.sort(model.predict_proba(X))[:, -1] - 0.5).argmin())
print(few.explain(X.iloc[[closest]]))
