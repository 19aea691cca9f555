"""The module behind `to_torch`; imported by it alone, since it needs PyTorch."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from pldc.export.learned import Learned, pieces, ramps


class Group(nn.Module):
    """The terms of equal hinges."""

    source: Tensor
    start: Tensor
    width: Tensor

    def __init__(self, known: Learned, number: int):
        super().__init__()
        hinges, terms = known.groups()[number]
        source, start, width = zip(*ramps(hinges), strict=True) if hinges is not None else ([], [], [])
        self.register_buffer("source", torch.tensor(source, dtype=torch.long))
        self.register_buffer("start", torch.tensor(start, dtype=torch.float64))
        self.register_buffer("width", torch.tensor(width, dtype=torch.float64))
        self.functions = [function for function, _ in terms]
        parts = [pieces(term) for _, term in terms]
        self.plus, self.minus = (
            nn.ParameterList([nn.Parameter(torch.tensor(part, dtype=torch.float64)) for part in both])
            for both in zip(*parts, strict=True)
        )

    def forward(self, x: Tensor) -> list[Tensor]:
        """Return the value of each term at features less the centre."""
        rise = torch.clamp((x[:, self.source] - self.start) / self.width, 0.0, 1.0)
        z = torch.cat([x, rise], dim=1)
        return [largest(z, plus) - largest(z, minus) for plus, minus in zip(self.plus, self.minus, strict=True)]


def largest(z: Tensor, pieces: Tensor) -> Tensor:
    """Return the largest piece at each row: slopes and, last, the offset."""
    return torch.amax(z @ pieces[:, :-1].T + pieces[:, -1], dim=1)


class PiecewiseLinear(nn.Module):
    """A fitted model: a sum of maxima of affine pieces less others, of features and of ramps between knots.

    Attributes
    ----------
    groups : ModuleList
        Their `plus` and `minus` are the pieces of each term, slopes and offset, around the means of the features.
    classes : list or None
        Labels.
    levels : tuple of float or None
        Of several quantiles.
    temperature : float or None
    """

    center: Tensor
    fill: Tensor

    def __init__(self, known: Learned, dtype: str):
        super().__init__()
        self.single = dtype == "single"
        groups = [Group(known, k) for k in range(len(known.groups()))]
        self.groups, self.functions = nn.ModuleList(groups), [group.functions for group in groups]
        self.count, self.classes, self.temperature = len(known.functions), known.classes, known.temperature
        self.low, self.high, self.levels = known.low, known.high, known.levels
        fills = [getattr(f, "fill", np.nan) for f in known.features] if known.plain else [np.nan] * len(known.center)
        self.register_buffer("center", torch.tensor(known.center.tolist(), dtype=torch.float64))
        self.register_buffer("fill", torch.tensor(fills, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        """Return predictions (n,) of a regression, (n, m) of several quantiles, or scores (n, m)."""
        return self._outside(self._values(x))

    def _outside(self, values: Tensor) -> Tensor:
        return values.float() if self.single else values

    def _values(self, x: Tensor) -> Tensor:
        if not isinstance(x, Tensor):
            raise TypeError(
                f"x must be a tensor of rows, got {type(x).__name__}: torch.as_tensor makes one of an array."
            )
        if x.ndim != 2 or x.shape[1] != len(self.center):
            wanted = f"(n, {len(self.center)})"
            raise ValueError(f"x must be a tensor of rows, of shape {wanted}; it has shape {tuple(x.shape)}.")
        x = x.to(self.center.dtype)  # double, also between inputs and outputs that are single
        x = torch.where(torch.isnan(x), self.fill, x) - self.center
        out: list[Tensor] = [torch.zeros(len(x), dtype=x.dtype, device=x.device) for _ in range(self.count)]
        for functions, group in zip(self.functions, self.groups, strict=True):
            for function, value in zip(functions, group(x), strict=True):
                out[function] = out[function] + value
        values = torch.stack(out, dim=1)
        if self.classes is not None:
            return values
        ordered = values[:, 0] if self.levels is None else torch.sort(values, dim=1).values
        return torch.clamp(ordered, self.low, self.high)

    def probabilities(self, x: Tensor) -> Tensor:
        """Return the probability of each class, (n, m)."""
        if self.temperature is None:
            raise ValueError("The scores of this model were not calibrated: they give no probabilities.")
        return self._outside(torch.softmax(self.temperature * self._values(x), dim=1))

    def predict(self, x: Tensor) -> Tensor:
        """Return predictions, or the places of the classes with the highest score."""
        return self(x) if self.classes is None else self._values(x).argmax(dim=1)
