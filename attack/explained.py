"""Mutants that no test can see, each with the reason: (file, line as it is, change) → why."""

from __future__ import annotations

# ruff: noqa: E501 (lines of the code as they are)
EXPLAINED: dict[tuple[str, str, str], str] = {
    (
        "problem/losses/classes.py",
        "near = self.nearest(np.nan_to_num(share / w, nan=0.0, posinf=0.0, neginf=0.0), y, w)",
        "0.0 → 1.0",
    ): "stands in for what is no number; whatever is in the domain proves a bound",
    (
        "problem/losses/classes.py",
        "residual = 10.0",
        "10.0 → 20.0",
    ): "a hint for the step of a solver: any number of that order does",
    (
        "problem/losses/classes.py",
        "move, length = np.log(np.maximum(p @ weight, TINY) / wanted), 1.0",
        "1.0 → 2.0",
    ): "the length of a step that is taken where Newton's fails; the iteration ends in the same place",
    (
        "problem/losses/classes.py",
        "if np.abs(lack).max(initial=0.0) <= 1e-15 * T.sum():",
        "np.abs(lack).max(initial=0.0) <= 1e-15 * T.sum() → np.abs(lack).max(initial=0.0) < 1e-15 * T.sum()",
    ): "equality is rounding: one round more changes nothing",
    (
        "problem/losses/classes.py",
        "theta = theta * np.clip(1.0 + pi[label] - pi[:, None], 0.0, 2.0)",
        "2.0 → 4.0",
    ): "limits a factor near one, from which a balance is found in a few rounds either way",
    (
        "problem/losses/classes.py",
        "worse = after > value + 1e-14 * (1.0 + np.abs(value) + step * largest)",
        "after > value + 1e-14 * (1.0 + np.abs(value) + step * lar… → after >= value + 1e-14 * (1.0 + np.abs(value) + step * la…",
    ): "equality is rounding",
    (
        "problem/losses/poisson.py",
        "above = y / np.where(omega < 1.0, 1.0 - omega, 1.0)",
        "1.0 → 2.0",
    ): "stands in where ω is one or more, which is in the domain only where y is zero: zero either way",
    (
        "problem/penalties.py",
        "return slopes.transpose(1, 0, 2).reshape(1, slopes.shape[1], -1)",
        "1 → 2",
    ): "NumPy takes any negative length for the one that is not said",
    (
        "problem/repair.py",
        "return bool((np.diff(slope) >= 0).all() and max(lacks) <= tolerance(phi) * max(1.0, len(x) / 100.0))",
        "tolerance(phi) * max(1.0, len(x) / 100.0) → tolerance(phi) / max(1.0, len(x) / 100.0)",
    ): "how much rounding a short cut allows; without it all pairs are looked at, with the same answer",
    (
        "problem/losses/poisson.py",
        "above = np.where(b > 0, 0.5 * (b + root), 2.0 * step * y / np.where(b > 0, 1.0, root - b))",
        "b > 0 → b >= 0",
    ): "both formulas agree at b = 0",
    (
        "problem/losses/residual.py",
        "floor = self.softness or max(1e-9 * float(np.ptp(y)) / max(self.down, self.up), np.finfo(float).tiny)",
        "1e-09 * float(np.ptp(y)) / max(self.down, self.up) → 1e-09 * float(np.ptp(y)) * max(self.down, self.up)",
    ): "a floor that only keeps a division from overflow",
    (
        "problem/losses/values.py",
        "low = data.at_nodes(share(mid)) < omega",
        "data.at_nodes(share(mid)) < omega → data.at_nodes(share(mid)) <= omega",
    ): "the two ends of a bisection, at the root itself",
    (
        "problem/penalties.py",
        "if k > 0 or near is None:",
        "0 → 1",
    ): "Newton's method on a convex function: a second step back is followed by one ahead",
    (
        "problem/repair.py",
        "lengths = squares + squares[rows[J], None] - 2.0 * X[rows[J]] @ X.T",
        "2.0 → 4.0",
    ): "the order in which violated constraints are looked at; what is left is repaired afterwards",
    ("problem/repair.py", "left = v[at, k] > limit", "v[at, k] > limit → v[at, k] >= limit"): "equality is rounding",
    (
        "problem/units.py",
        "return np.where(constant, X[0], center), np.where(constant, 1.0, spread)",
        "0 → 1",
    ): "a constant column has the same value in every row",
    (
        "select/discrepancy.py",
        "if np.abs(points).max(initial=0.0) > LARGEST:",
        "0.0 → 1.0",
    ): "the largest of a table that is not empty, beside a limit of 1e152",
    (
        "select/lam.py",
        "found = discrepancy(Z, penalty=recipe.penalty.name, n_splits=1, tol=0.2, max_rows=ROWS_FOR_A_SCALE, random_state=0)",
        "0.2 → 0.4",
    ): "the accuracy of a scale: any near value does",
    (
        "select/search.py",
        "lams = [lam * RATIO**e for e in range(AT_ONCE, -1, -1)]",
        "1 → 2",
    ): "one λ more to come from: the fit at the last is the one that counts",
    (
        "compact/descent.py",
        "parabola = -slope * length**2 / (2.0 * (value - f - length * slope))",
        "-slope * length ** 2 / (2.0 * (value - f - length * slope)) → -slope * length ** 2 * (2.0 * (value - f - length * slope))",
    ): "the length of a trial step, cut to its limits; one that is too long is shortened again",
    (
        "compact/descent.py",
        "parabola = -slope * length**2 / (2.0 * (value - f - length * slope))",
        "2 → 3",
    ): "the length of a trial step, cut to its limits; one that is too long is shortened again",
    ("compact/descent.py", "trials[stuck] = 0", "0 → 1"): "how many trials are left after a restart: one of twenty",
    (
        "compact/members.py",
        "self.rise = self.begin = np.zeros((0, 1))",
        "0 → 1",
    ): "an empty stand-in that is replaced, or multiplied by nothing",
    (
        "compact/members.py",
        "while sizes[-1] * GROWTH < n:",
        "sizes[-1] * GROWTH < n → sizes[-1] * GROWTH <= n",
    ): "at equality the last two stages are the same rows",
    (
        "compact/search.py",
        "some = slice(0, 10_000)",
        "10000 → 10001",
    ): "how many rows a first guess is made of: any near value does",
    (
        "select/folds.py",
        "keys = [*mean.T[::-1].round(DIGITS), size.round(DIGITS), -(weight / weight.max()).round(DIGITS)]",
        "weight.max → weight.min",
    ): "the unit in which weights are rounded: their order is the same",
}
