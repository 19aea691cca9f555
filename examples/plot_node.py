"""
Predict in Node
===============

The model becomes one ES module without dependencies, for browsers and servers. Where there is no Node, the module is
written all the same, and only the last step is left out.
"""

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

from pldc import DCRegressor
from pldc.export import to_js

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (150, 1))
y = np.maximum(np.abs(X[:, 0]), 0.3) + 0.03 * rng.standard_normal(150)
model = DCRegressor(n_pieces=3).fit(X, y)

module = to_js(model)
print(f"{len(module)} characters, of which these make the prediction:")
print(module[module.index("export function predict") :])

# %%
# A script reads rows and prints predictions, as a server would.
script = """
import { predict } from "./model.mjs";
console.log(JSON.stringify(JSON.parse(process.argv[2]).map(predict)));
"""
grid = np.linspace(-1.2, 1.2, 200)[:, None]
figure, axis = plt.subplots(figsize=(5, 3.5))
axis.scatter(X, y, s=8, color="0.7", label="data")
axis.plot(grid, model.predict(grid), lw=4, alpha=0.4, label="Python")
if shutil.which("node") is None:
    print("There is no Node on this machine.")
else:
    with TemporaryDirectory() as folder:
        Path(folder, "model.mjs").write_text(module, encoding="utf-8")
        Path(folder, "main.mjs").write_text(script, encoding="utf-8")
        command = ["node", "main.mjs", json.dumps(grid.tolist())]
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    found = np.array(json.loads(answer))
    print("largest difference:", np.abs(found - model.predict(grid)).max())
    axis.plot(grid, found, "k--", lw=1, label="Node")
axis.legend()
figure.tight_layout()
