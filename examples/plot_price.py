"""
The best price
==============

Learn from a shop's days how demand falls with the price, and set the price of a day whose weather is known: demand is
piecewise linear in the price, so the best price has a formula on each piece, and nothing is searched.
"""

# %%
# Days of a shop
# --------------
#
# Ice cream sold, the price and the temperature of each day. The law is made up: few buy above three euros, and warm
# days forgive a higher price. Sales are counts, so the loss is that of Poisson; and demand does not rise with the
# price, which the model is told.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pldc import DCRegressor

rng = np.random.default_rng(0)
n = 300
table = pd.DataFrame({"price": rng.uniform(1, 5, n), "temperature": rng.uniform(12, 34, n)})


def demand(days):
    reach = 2 + 0.06 * (days["temperature"] - 12)
    return (20 + 4 * days["temperature"]) / (1 + np.exp(2.2 * (days["price"] - reach)))


sold = rng.poisson(demand(table))
model = DCRegressor(loss="poisson", monotone={"price": -1, "temperature": 1}).fit(table, sold)
print(model)

# %%
# One day
# -------
#
# ``curve`` has the demand of one row along one column, with all its kinks: linear in between, exactly. On a piece from
# (p, q) to (p', q') the revenue is a parabola, so its highest point is known.


def best_price(temperature):
    """The price of the largest revenue, and the revenue."""
    day = pd.DataFrame({"price": [2.0], "temperature": [float(temperature)]})
    curve = model.curve("price", day, between=(1.0, 5.0))
    left, right, low, high = curve.x[:-1], curve.x[1:], curve.y[:-1], curve.y[1:]
    keep = right > left
    left, right, low, high = left[keep], right[keep], low[keep], high[keep]
    slope = (high - low) / (right - left)
    with np.errstate(divide="ignore", invalid="ignore"):
        top = np.where(slope < 0, (left - low / slope) / 2, right)  # of p (low + slope (p − left))
    price = np.clip(top, left, right)
    revenue = price * (low + slope * (price - left))
    return price[revenue.argmax()], revenue.max()


grid = np.linspace(1, 5, 400)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for temperature, colour in ((15, "C0"), (23, "C1"), (31, "C3")):
    days = pd.DataFrame({"price": grid, "temperature": float(temperature)})
    left.plot(grid, model.predict(days), color=colour, label=f"{temperature} °C")
    left.plot(grid, demand(days), "--", color=colour, lw=1)
    right.plot(grid, grid * model.predict(days), color=colour)
    right.plot(grid, grid * demand(days), "--", color=colour, lw=1)
    right.plot(*best_price(temperature), "*", color=colour, markersize=14)
left.set(xlabel="price (euros)", ylabel="sold in a day", title="Demand (dashed: the law)")
right.set(xlabel="price (euros)", ylabel="euros a day", title="Revenue, and its highest point")
left.legend()
plt.show()

# %%
# A rule for the season
# ---------------------
#
# The best price of each temperature, and what it earns under the law: beside the best fixed price, and beside what
# somebody who knows the law would earn.

fixed = grid[np.argmax([(p * demand(table.assign(price=p))).mean() for p in grid])]
print("temperature  price  earned  fixed price  knowing the law")
for temperature in (15, 19, 23, 27, 31):
    price, _ = best_price(temperature)
    days = pd.DataFrame({"price": grid, "temperature": float(temperature)})
    here = pd.DataFrame({"price": [price, fixed], "temperature": float(temperature)})
    earned = here["price"] * demand(here)
    print(f"{temperature:8} °C {price:6.2f} {earned[0]:7.1f} {earned[1]:12.1f} {(grid * demand(days)).max():16.1f}")
