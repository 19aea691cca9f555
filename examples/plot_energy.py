"""
What a degree costs
===================

A year of a building's electricity against the weather: a model of few pieces finds the regimes by itself, and its
slopes are the answer to "what does one degree cost?".
"""

# %%
# A year of days
# --------------
#
# The table is made up by the physics of a house. Below 15 °C it is heated, and wind makes the heating work harder;
# above 22 °C it is cooled; on working days there are machines. The model is told nothing of this.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pldc import DCRegressor

rng = np.random.default_rng(0)
days = 365
season = np.cos(2 * np.pi * (np.arange(days) - 20) / 365)
weather = pd.DataFrame(
    {
        "temperature": 13 - 11 * season + 4 * rng.standard_normal(days),  # °C, mean of the day
        "wind": rng.gamma(4, 1, days),  # m/s
        "working day": (np.arange(days) % 7 < 5).astype(float),
    }
)


def kilowatt_hours(table):
    cold = np.maximum(15 - table["temperature"], 0)
    warm = np.maximum(table["temperature"] - 22, 0)
    return 40 + 60 * table["working day"] + 9 * cold * (1 + 0.05 * table["wind"]) + 14 * warm


used = kilowatt_hours(weather) + 8 * rng.standard_normal(days)

# %%
# Three pieces
# ------------
#
# The score is cross-validated. Each region has one linear function; the slope of the temperature is what a degree
# costs there.

model = DCRegressor(n_pieces=3).fit(weather, used)
print(model.simplification_)
print(model.region_table(weather))

# %%
# The regimes as curves
# ---------------------
#
# On a calm and on a windy working day. The kinks were found: near 15 and 22 degrees. Between them the line is level:
# nothing is heated or cooled. Three pieces have one slope for all cold days: wind lifts the line, where by the law it
# also tilts it. On the coldest days predictions are cut to the largest target of the training (``clip``).

degrees = np.linspace(weather["temperature"].min(), weather["temperature"].max(), 300)
figure, axis = plt.subplots(figsize=(8, 4.5), layout="constrained")
shown = weather["working day"] == 1
axis.scatter(weather["temperature"][shown], used[shown], s=10, color="0.7", label="working days")
for wind, colour in ((1.5, "C0"), (7.0, "C3")):
    row = pd.DataFrame({"temperature": degrees, "wind": wind, "working day": 1.0})
    axis.plot(degrees, model.predict(row), color=colour, label=f"wind of {wind} m/s")
    axis.plot(degrees, kilowatt_hours(row), "--", color=colour, lw=1, label="the law behind it")
axis.set(xlabel="temperature (°C)", ylabel="kWh a day", title="Heating, nothing, cooling")
axis.legend()
plt.show()

# %%
# What a degree costs
# -------------------
#
# Slopes at three days, in kWh a degree. The law says −9 (1 + 0.05 × wind), 0 and 14.

three = pd.DataFrame({"temperature": [0.0, 18.5, 28.0], "wind": [4.0, 4.0, 4.0], "working day": [1.0, 1.0, 1.0]})
for row, slope in zip(three["temperature"], model.function_.gradient(three.to_numpy())[:, 0], strict=True):
    print(f"at {row:4.1f} °C: {slope:6.1f} kWh a degree")

# %%
# Suppose the thermostat is turned down by one degree, which acts like a day that is one degree warmer outside. What it
# saves in a year, by the model and by the law; summers are left alone.

warmer = weather.assign(temperature=weather["temperature"] + (weather["temperature"] < 14))
saved = (model.predict(weather) - model.predict(warmer)).sum()
truth = (kilowatt_hours(weather) - kilowatt_hours(warmer)).sum()
print(f"saved in a year: {saved:.0f} kWh by the model, {truth:.0f} by the law")
