"""
Categories and missing cells
============================

A table as it comes: text, numbers with gaps, many levels. It goes into the fit as it is.
"""

# %%
# Used cars
# ---------
#
# Made up: what a car is sold for, by age, distance, fuel and one of forty models. A fifth of the distances is missing,
# and not by chance: they are missing where they are high.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pldc import DCRegressor

rng = np.random.default_rng(0)
n = 600
worth = 12 + 10 * rng.random(40)  # thousands of euros, of each model when new
model_of = rng.choice(40, n, p=rng.dirichlet(np.full(40, 2.0)))
age = rng.uniform(0, 15, n)
km = age * rng.gamma(6, 2.5, n)
fuel = rng.choice(["petrol", "diesel", "electric"], n, p=[0.5, 0.35, 0.15])
price = worth[model_of] * np.exp(-0.12 * age) * np.maximum(1 - 0.003 * km, 0.4)
price = price + 1.5 * (fuel == "diesel") - 0.25 * age * (fuel == "electric") + 0.5 * rng.standard_normal(n)
cars = pd.DataFrame({"age": age, "1000 km": km, "fuel": fuel, "model": [f"M{k:02}" for k in model_of]})
hidden = rng.random(n) < np.where(km > 120, 0.5, 0.1)
cars.loc[hidden, "1000 km"] = np.nan
print(cars.head())

# %%
# Fit it
# ------
#
# A missing distance is the median, and a feature of its own says that it is missing. Fuels become features that are 0
# or 1. A model stands for the mean price of other cars of that model, drawn towards the mean of all.

train, test = slice(0, 400), slice(400, None)
model = DCRegressor().fit(cars[train], price[train])
print("features:", *model.model_.columns.feature_names, sep="\n  ")
print(f"R² at new cars: {model.score(cars[test], price[test]):.2f}")

# %%
# What matters, and how
# ---------------------
#
# Importance is of columns, however many features a column has become. ``curve`` of a category has a mean for each
# level.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
left.barh(cars.columns, model.feature_importances_)
left.set(title="importance (thousand euros)")
for kind in ("petrol", "diesel", "electric"):
    curve = model.curve("age", cars[cars["fuel"] == kind])
    middle.plot(curve.x, curve.y, label=kind)
middle.set(xlabel="age (years)", title="mean price by age")
middle.legend()
levels = model.curve("fuel", cars)
right.bar(levels.levels, levels.y)
right.set(title="mean price, if all had this fuel")
plt.show()

# %%
# New levels and new gaps are no errors: a model that was never seen has the mean of all.

new = pd.DataFrame({"age": [3.0, 3.0], "1000 km": [40.0, np.nan], "fuel": ["petrol", None], "model": ["M03", "M99"]})
print(model.predict(new).round(2))
