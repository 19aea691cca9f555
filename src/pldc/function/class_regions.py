"""Which class wins where: the rows of a table grouped by winner, runner-up and the affine margin between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np
from numpy.typing import ArrayLike

from pldc.function.explain_classes import ranked
from pldc.function.max_affine import Array
from pldc.function.numbers import shortened
from pldc.function.pldc import PLDC
from pldc.function.regions import LONGEST_NAME, Regions, group
from pldc.function.term import LocalModel

FEW_REGIONS, ALONE = 20, 0.5  # more regions than these, and than this share of the rows, are hardly to be read


@dataclass(frozen=True, eq=False)
class ClassRegions:
    """The regions that hold the rows of a table, the fullest first: in each, one class leads another by one plane.

    Attributes
    ----------
    winner, runner_up : arrays of shape (r,)
        The classes with the highest and the second highest score.
    margin : array of shape (r,)
        Mean over the rows of a region of the score of the one less that of the other.
    narrowest : array of shape (r,)
        The smallest margin of a row.
    regions : Regions
        Rows, ranges, and the plane of the margin: its `slope` and `intercept`.
    """

    winner: np.ndarray
    runner_up: np.ndarray
    margin: Array
    narrowest: Array
    regions: Regions

    def __len__(self) -> int:
        return len(self.regions)

    def columns(self, feature_names: Sequence[str] | None = None) -> dict[str, Array]:
        """Return the table by columns, one row a region, as ``pandas.DataFrame`` and ``polars.DataFrame`` take it.

        Who wins, and who is second; the mean and the smallest margin; and what :meth:`Regions.columns` says of the
        rows, and of the margin as a function: its slopes, and its value at the typical row.
        """
        head: dict[str, Array] = {"class": self.winner, "runner-up": self.runner_up}
        head |= {"mean margin": self.margin, "smallest margin": self.narrowest}
        rest = self.regions.columns(feature_names)
        return head | {"typical margin" if name == "value" else name: column for name, column in rest.items()}

    def to_text(self, feature_names: Sequence[str] | None = None, most: int = 10, width: int = 79) -> str:
        """Return the fullest regions as plain text: margins at their typical rows, and slopes of the margin."""
        names = [str(label) for label in (*self.winner, *self.runner_up)]
        short = {name: shortened(name, LONGEST_NAME) for name in names}
        also = {
            head: np.array([short[str(label)] for label in column], dtype=object)
            for head, column in (("class", self.winner), ("runner-up", self.runner_up))
        }
        lines = [self.regions.to_text(feature_names, most, width, also, value="margin")]
        said = ["margin: the score of the class less that of the runner-up, at the typical row of the region"]
        if len(self) > max(FEW_REGIONS, ALONE * self.regions.count.sum()):
            said.append("nearly every row has a region of its own: model.simplify(X, y) first gives fewer")
        for text in said:
            lines += wrap(text, max(width, 20), subsequent_indent="  ")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()


def class_regions(functions: Sequence[PLDC], X: ArrayLike, classes: np.ndarray) -> ClassRegions:
    """Group the rows of `X` by the class that wins, the runner-up, and the pieces of both that rule there.

    Parameters
    ----------
    functions : sequence of PLDC
        The scores.
    X : array of shape (n, d)
    classes : array
        The label of each score.
    """
    functions, labels, points, first, second, lead = ranked(functions, X, classes)
    at, local = np.arange(len(points)), [f.local(points) for f in functions]
    slope, intercept = np.array([own.slope for own in local]), np.array([own.intercept for own in local])
    keys = [_key(f, own, points) for f, own in zip(functions, local, strict=True)]
    widest = max(key.shape[1] for key in keys)
    key = np.array([np.pad(k, ((0, 0), (0, widest - k.shape[1]))) for k in keys])
    found = group(
        points,
        np.column_stack([first, second, key[first, at], key[second, at]]),
        slope[first, at] - slope[second, at],
        intercept[first, at] - intercept[second, at],
        lambda at: lead[at],
    )
    one = np.unique(found.of_row, return_index=True)[1]  # a row of each region
    narrowest = np.full(len(found), np.inf)
    np.minimum.at(narrowest, found.of_row, lead)
    return ClassRegions(
        winner=labels[first[one]],
        runner_up=labels[second[one]],
        margin=np.bincount(found.of_row, weights=lead) / found.count,
        narrowest=narrowest,
        regions=found,
    )


def _key(f: PLDC, local: LocalModel, points: Array) -> Array:
    """Numbers that are equal where one affine function rules: active pieces, and cells between knots."""
    cells = [term.hinges.cells(points - f.origin) for term in f.centred if term.hinges is not None]
    return np.column_stack([local.plus, local.minus, *cells])
