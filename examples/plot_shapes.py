"""
Shapes and quantiles
====================

What is known about the function can be imposed: convex, concave or monotone. The loss decides what is
followed: the mean of y, its median or another quantile.
"""

# %%
# Convex and concave
# ------------------
#
# ``shape="convex"`` keeps the plus part alone, ``shape="concave"`` the minus part alone. On data from a
# convex function the convex fit can afford a small ``lam``, since the shape itself holds back the noise;
# the unrestricted fit with the same ``lam`` follows more of it. A concave fit of the same data is little
# more than a line.

import matplotlib.pyplot as plt
import numpy as np

from pldc import DCRegressor, Quantile

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(-1, 1, 120))
X = x[:, None]
grid = np.linspace(-1, 1, 400)[:, None]

bowl = np.maximum(x**2, 1.5 * x - 0.4) + 0.15 * rng.standard_normal(len(x))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(x, bowl, ".", color="0.7", label="data")
for shape in ("dc", "convex", "concave"):
    model = DCRegressor(n_pieces="rows", lam=1e-3, shape=shape).fit(X, bowl)
    print(f"{shape:8}  certified gap {model.certificate_.gap:.1e}")
    ax.plot(grid, model.predict(grid), label=shape)
ax.legend()
ax.set(xlabel="x", ylabel="y", title="One sample, three shapes")
plt.show()

# %%
# Monotone: a dose and its response
# ---------------------------------
#
# ``monotone`` gives each feature a sign: 1 for a function that does not decrease in it, −1 for one that does not
# increase, 0 for a free one. A response to a dose is level, then steep, then level again: an S. The free fit follows
# the noise and falls somewhere; the monotone one cannot.
#
# (These are the default fits, of few pieces. The program imposes the sign on the slopes of each convex part, which
# excludes an S.)

patients = np.random.default_rng(1)
dose = np.sort(patients.uniform(0, 10, 60))
response = 1 / (1 + np.exp(-2 * (dose - 5))) + 0.4 * patients.standard_normal(len(dose))
doses = np.linspace(0, 10, 300)[:, None]
free = DCRegressor(random_state=0).fit(dose[:, None], response)
rising = DCRegressor(random_state=0, monotone=[1]).fit(dose[:, None], response)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(dose, response, ".", color="0.7", label="data")
ax.plot(doses, 1 / (1 + np.exp(-2 * (doses - 5))), "--", color="0.4", label="truth")
ax.plot(doses, free.predict(doses), label="free")
ax.plot(doses, rising.predict(doses), label="monotone=[1]")
ax.legend()
ax.set(xlabel="dose", ylabel="response", title="With and without a sign")
plt.show()

print(f"smallest slope of the free fit      {free.function_.gradient(doses).min():8.4f}")
print(f"smallest slope of the monotone fit  {rising.function_.gradient(doses).min():8.4f}")

# %%
# Quantiles
# ---------
#
# The noise grows from left to right, and three quantiles of the program follow its spread, each with its certificate.
# About the asked share of the data lies below each. Fitted one by one, as here, they may cross; with
# ``Quantile([0.1, 0.5, 0.9])`` they do not.

x = np.linspace(-1, 1, 80)
X = x[:, None]
fan = np.sin(3 * x) + (0.1 + 0.3 * (x + 1)) * rng.standard_normal(len(x))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(x, fan, ".", color="0.7", label="data")
for level in (0.1, 0.5, 0.9):
    model = DCRegressor(n_pieces="rows", loss=Quantile(level), lam=0.05).fit(X, fan)
    below = np.mean(fan < model.predict(X))
    print(f"quantile {level}: {below:.2f} of the data below, certified gap {model.certificate_.gap:.1e}")
    ax.plot(grid, model.predict(grid), label=f"quantile {level}")
ax.legend()
ax.set(xlabel="x", ylabel="y", title="A fan of quantiles")
plt.show()
