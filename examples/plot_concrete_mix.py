"""
The cheapest concrete of 60 MPa
===============================

Learn the strength of concrete from tests of mixes, then choose the cheapest mix that is strong enough: the optimum of
the learned function is exact, and three ways to find it agree.
"""

# %%
# Tests of mixes
# --------------
#
# With the environment variable ``PLDC_DATA`` set, these are the thousand tests of the UCI repository (I.-C. Yeh, 1998).
# Without it, they are made up: a law in which strength falls with the ratio of water to binder, and noise.

import highspy
import matplotlib.pyplot as plt
import numpy as np
import pyomo.environ as pyo

from pldc import PLDC, DCRegressor
from pldc.export import add_to_highs, add_to_pyomo, to_milp

NAMES = ["cement", "slag", "fly ash", "water", "superplasticizer", "coarse aggregate", "fine aggregate", "age"]


def made_up(count=1000, seed=0):
    rng = np.random.default_rng(seed)
    low, high = [100, 0, 0, 120, 0, 800, 600, 1], [540, 360, 200, 250, 32, 1150, 1000, 365]
    X = rng.uniform(low, high, size=(count, 8))
    X[:, 7] = rng.choice([1, 3, 7, 14, 28, 56, 90, 180, 365], count)
    binder = X[:, 0] + 0.9 * X[:, 1] + 0.5 * X[:, 2]
    ratio = X[:, 3] * (1 - 0.006 * X[:, 4]) / binder
    strength = 105 * np.exp(-1.5 * ratio) * np.minimum(1.1, 0.35 + 0.19 * np.log(X[:, 7]))
    return X, strength + 3 * rng.standard_normal(count)


try:
    from experiments.data import load

    X, y = load("concrete").X, load("concrete").y
except (ImportError, RuntimeError):  # no folder of data sets here
    X, y = made_up()

# %%
# A function of few pieces
# ------------------------
#
# One function of 6 − 6 pieces, learned from 300 of the tests. What that costs in accuracy is cross-validated.

rows = np.random.default_rng(0).permutation(len(y))[:300]
model = DCRegressor(n_pieces=6).fit(X[rows], y[rows])
print(model.simplification_)
others = np.setdiff1d(np.arange(len(y)), rows)
print(f"R² at the other tests: {model.score(X[others], y[others]):.2f}")

# %%
# What a mix costs, and what it may be
# ------------------------------------
#
# Prices of a kilogram, in euros. Strength is asked for after 28 days; each ingredient stays where most tests are, and a
# cubic metre weighs from 2250 to 2450 kg.

price = np.array([0.11, 0.06, 0.05, 0.001, 2.0, 0.012, 0.011, 0.0])
box = np.quantile(X, [0.05, 0.95], axis=0).T
box[7] = 28
parts = np.array([1.0] * 7 + [0.0])
lightest, heaviest, wanted = 2250.0, 2450.0, 60.0

# %%
# One linear program a piece
# --------------------------
#
# The strength is ``plus − minus``. It reaches 60 where some piece of ``plus`` exceeds all pieces of ``minus`` by 60:
# for each piece that is a polytope. The cheapest point of each is a linear program, and the cheapest of all is the
# answer.

f, cost = model.function_, PLDC.affine(price)
found = []
for slope, offset in zip(f.plus.slopes, f.plus.offsets, strict=True):
    A = np.vstack([f.minus.slopes - slope, parts, -parts])
    b = np.concatenate([offset - f.minus.offsets - wanted, [heaviest, -lightest]])
    found.append(cost.minimize(box, A_ub=A, b_ub=b))
best = min(found, key=lambda each: each.fun)
print(f"{best.fun:.4f} euros, {f(best.x[None])[0]:.2f} MPa")
for name, amount in zip(NAMES, best.x, strict=True):
    print(f"{name:>18}  {amount:7.1f}")

# %%
# In a model of HiGHS
# -------------------
#
# ``to_milp`` writes the function as linear rows and binaries; ``add_to_highs`` adds it to a model, and returns its
# value as one more variable. Only a lower limit is set on it, so ``"<="`` suffices: binaries for the pieces of one
# part.

form = to_milp(f, box, relation="<=")
print(f"{form.n_binaries} binaries")


def cheapest(strength):
    """The least cost of a mix of so much strength, and the mix."""
    highs = highspy.Highs()
    highs.silent()
    x = [highs.addVariable(lb=low, ub=high) for low, high in box]
    value = add_to_highs(highs, form, x)
    highs.addConstr(value >= strength)
    weight = sum(x[1:7], start=1.0 * x[0])
    highs.addConstr(weight >= lightest)
    highs.addConstr(weight <= heaviest)
    highs.minimize(sum(p * v for p, v in zip(price, x, strict=True)))
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return np.nan, np.full(8, np.nan)  # no mix is so strong
    return highs.getObjectiveValue(), np.array([highs.val(v) for v in x])


print(f"{cheapest(wanted)[0]:.4f} euros")

# %%
# In a model of Pyomo
# -------------------
#
# The same rows, in a block of a Pyomo model; any of its solvers will do.

mix = pyo.ConcreteModel()
mix.x = pyo.Var(range(8))
mix.strength = pyo.Block()
value = add_to_pyomo(mix.strength, form, [mix.x[k] for k in range(8)])
mix.strong = pyo.Constraint(expr=value >= wanted)
mix.weight = pyo.Constraint(expr=(lightest, sum(mix.x[k] for k in range(7)), heaviest))
mix.cost = pyo.Objective(expr=sum(price[k] * mix.x[k] for k in range(8)))
pyo.SolverFactory("appsi_highs").solve(mix)
print(f"{pyo.value(mix.cost):.4f} euros")
assert np.allclose([best.fun, pyo.value(mix.cost)], cheapest(wanted)[0], rtol=1e-5)

# %%
# What strength costs
# -------------------
#
# The same model for other strengths: the price of each further MPa, and what the mixes are made of.

strengths = np.arange(30, 76, 3)
solved = [cheapest(float(strength)) for strength in strengths]
costs, mixes = np.array([c for c, _ in solved]), np.array([x for _, x in solved])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(strengths, costs, "o-")
left.set(xlabel="strength asked for (MPa)", ylabel="least cost (euros a cubic metre)", title="What strength costs")
right.stackplot(strengths, mixes[:, :5].T, labels=NAMES[:5])
right.set(xlabel="strength asked for (MPa)", ylabel="kilograms a cubic metre", title="Binders, water, superplasticizer")
right.legend(loc="lower left")
plt.show()

# %%
# An optimum lies where a model promises most, so look at it with care, and test the mix. Errors at rows left out say
# what to expect.

low, high = model.predict_interval(best.x[None], coverage=0.9)
print(f"90 % interval at the optimum: {low[0]:.1f} to {high[0]:.1f} MPa")
