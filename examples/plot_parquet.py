"""
A table from Parquet, with bounded memory
=========================================

The table stays in its file. A sample is fitted, then all rows in a few passes; neither needs the whole table in
memory.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pldc import DCRegressor

rng = np.random.default_rng(0)


def block(n):
    """A block of taxi rides: kilometres, hour, rain; minutes."""
    km, hour, rain = rng.gamma(2, 2.5, n), rng.uniform(0, 24, n), (rng.random(n) < 0.2) * 1.0
    rush = np.exp(-(((hour - 8.5) / 1.5) ** 2)) + np.exp(-(((hour - 17.5) / 2) ** 2))
    minutes = 3 + km * (1.8 + 1.6 * rush + 0.4 * rain) + np.sqrt(km) * rng.standard_normal(n)
    return pa.table({"km": km, "hour": hour, "rain": rain, "minutes": minutes})


folder = TemporaryDirectory()
path = Path(folder.name, "rides.parquet")
with pq.ParquetWriter(path, block(1).schema) as file:
    for _ in range(20):
        file.write_table(block(10_000))
print(f"{path.stat().st_size / 1e6:.1f} MB on disk, {pq.read_metadata(path).num_rows} rows")

# %%
# ``max_memory`` sets the size of the sample. A table of this size would fit into memory; a small bound makes sure that
# it is not loaded.

start = process_time()
model = DCRegressor(max_memory="30MB").fit(path, "minutes")
print(f"{process_time() - start:.1f} seconds of processor time")

# %%
# Beside the law: the default learns from all rows that rides are slow at half past eight.

hours = np.linspace(0, 24, 200)
figure, axis = plt.subplots(figsize=(8, 4.2), layout="constrained")
for km, colour in ((3.0, "C0"), (8.0, "C1"), (15.0, "C2")):
    rush = np.exp(-(((hours - 8.5) / 1.5) ** 2)) + np.exp(-(((hours - 17.5) / 2) ** 2))
    rows = np.column_stack([np.full(200, km), hours, np.zeros(200)])
    axis.plot(hours, model.function_(rows), color=colour, label=f"{km:.0f} km")
    axis.plot(hours, 3 + km * (1.8 + 1.6 * rush), "--", color=colour, lw=1)
axis.set(xlabel="hour of the day", ylabel="minutes", title="Rides without rain (dashed: the law)")
axis.legend()
plt.show()

# %%
# Predictions stream as well: block by block, as one array.

print(model.predict(path)[:5].round(1))
folder.cleanup()
