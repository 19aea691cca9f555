"""
Score a table inside SQLite
===========================

The model becomes one SELECT statement: the rows never leave the database, and no Python runs when it is used.
"""

import sqlite3

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from pldc import DCRegressor
from pldc.export import to_sql

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = DCRegressor(n_pieces=4).fit(X, y)
print(model.function_, "with a cross-validated score of", round(model.simplification_.score, 3))

# %%
# A database of patients, such as one that exists already. Columns are found by their names.
base = sqlite3.connect(":memory:")
base.execute(f"CREATE TABLE patients (id INTEGER PRIMARY KEY, {', '.join(X.columns)})")
base.executemany(f"INSERT INTO patients VALUES (?{', ?' * X.shape[1]})", X.reset_index().values.tolist())

# %%
# The statement is text: it can be stored as a view, and read.
statement = to_sql(model, "patients", keep=["id"])
base.execute(f"CREATE VIEW progression AS {statement}")
print(f"{len(statement)} characters; it ends in …{statement[-100:]}")

# %%
# Now the database answers by itself: who is expected to get worst?
worst = base.execute(
    "SELECT id, age, bmi, prediction FROM progression JOIN patients USING (id) ORDER BY prediction DESC LIMIT 3"
).fetchall()
for row in worst:
    print("patient {}: age {:.0f}, body mass index {:.1f}, prediction {:.0f}".format(*row))

# %%
# The same numbers as in Python, to rounding.
scored = np.array(base.execute("SELECT prediction FROM progression ORDER BY id").fetchall())[:, 0]
print("largest difference:", np.abs(scored - model.predict(X)).max())

figure, axis = plt.subplots(figsize=(4.5, 4.5))
axis.scatter(model.predict(X), scored, s=10)
axis.set(xlabel="predict, in Python", ylabel="prediction, in SQLite", title="one model, two homes")
figure.tight_layout()
