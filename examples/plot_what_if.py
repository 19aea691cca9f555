"""
What would change it?
=====================

From a table that everybody knows to sentences about one patient: what the model looks at, why this prediction, and
the least change that would lower it.
"""

# %%
# The diabetes table
# ------------------
#
# 442 patients, ten columns, and how far the disease had gone a year later. Few pieces predict as well as the mean of
# many functions here.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from pldc import DCRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X[["age", "sex", "bmi", "bp", "s3", "s5"]]
model = DCRegressor(n_pieces=2).fit(X, y)
print(model)

# %%
# Why is this patient at risk?
# ----------------------------
#
# The contributions lead from the mean patient to this one, along a straight line; they add up exactly.

patient = X.loc[[int(model.predict(X).argmax())]]
why = model.explain(patient, method="path")
print(why)

# %%
# The least change
# ----------------
#
# Below 200, say. Age and sex stay; the body mass index stays above 20. Distances are in standard deviations, and the
# answer is proved to be the nearest one.

change = model.counterfactual(patient.iloc[0], threshold=200, fixed=["age", "sex"], bounds={"bmi": (20, None)})
print(change)

# %%
# How far is it to other values?
# ------------------------------
#
# The least change against the threshold. The body mass index moves alone until it is at its bound; then s5, a measure
# of blood fat, moves too. It is a statement about the model and not about medicine: nobody says that the disease would
# follow.

start = model.predict(patient)[0]
thresholds = np.linspace(start - 5, 150, 12)
moved = [
    model.counterfactual(patient.iloc[0], threshold=float(t), fixed=["age", "sex"], bounds={"bmi": (20, None)})
    for t in thresholds
]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.barh(why.features, why.contributions[0])
left.set(title="from the mean patient to this one")
for name in ("bmi", "bp", "s3", "s5"):
    right.plot(thresholds, [each.changes.get(name, 0.0) / X[name].std() for each in moved], "o-", label=name)
right.axhline(0, color="0.8", lw=0.8)
right.set(xlabel="prediction asked for", ylabel="change (standard deviations)", title="The least change")
right.legend()
plt.show()
