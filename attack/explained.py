"""Mutants that no test can see, each with the reason: (file, line as it is, change) → why."""

from __future__ import annotations

# ruff: noqa: E501 (lines of the code as they are)
EXPLAINED: dict[tuple[str, str, str], str] = {
    (
        "problem/losses/classes.py",
        "residual = 10.0",
        "10.0 → 20.0",
    ): "a hint for the step of a solver: any number of that order does",
    (
        "problem/losses/classes.py",
        "if np.abs(lack).max(initial=0.0) <= 1e-15 * T.sum():",
        "np.abs(lack).max(initial=0.0) <= 1e-15 * T.sum() → np.abs(lack).max(initial=0.0) < 1e-15 * T.sum()",
    ): "equality is rounding: one round more changes nothing",
    (
        "problem/losses/poisson.py",
        "above = y / np.where(omega < 1.0, 1.0 - omega, 1.0)",
        "1.0 → 2.0",
    ): "stands in where ω is one or more, which is in the domain only where y is zero: zero either way",
    (
        "problem/losses/poisson.py",
        "above = np.where(b > 0, 0.5 * (b + root), 2.0 * step * y / np.where(b > 0, 1.0, root - b))",
        "b > 0 → b >= 0",
    ): "both formulas agree at b = 0",
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
    (
        "compact/search.py",
        "folds = zip(values, splits, strict=True)",
        "True → False",
    ): "both have an entry for each fold: a length that differs is a fault elsewhere",
    (
        "compact/search.py",
        "if now - self.told > 2.0:",
        "now - self.told > 2.0 → now - self.told >= 2.0",
    ): "how often the log is told: to the nanosecond no clock does",
    (
        "export/learned.py",
        "return list(zip(hinges.source.tolist(), hinges.start.tolist(), hinges.width.tolist(), strict=True))",
        "True → False",
    ): "the three arrays of hinges are made together, an entry a ramp",
    (
        "export/solvers.py",
        "for place, given in zip(form.inputs, inputs, strict=True):",
        "True → False",
    ): "another number of inputs is refused before",
    (
        "export/sql.py",
        "twice = [name for name, same in zip(names, alike, strict=True) if alike.count(same) > 1]",
        "True → False",
    ): "one is made from the other, name by name",
}
