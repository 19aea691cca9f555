"""Products with a table that lies on a torch device; parameters, values and gradients travel, the table does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pldc.compact.objective import Table
from pldc.function.device import torch_on
from pldc.function.max_affine import Array

DEVICE_ROWS = 1 << 16  # rows of a block: a device is fast on large products alone
DEVICE_TILE = 1 << 25  # numbers of S in a tile


class DeviceTable(Table):
    """A table on a device.

    Parameters
    ----------
    make, size, n, dtype, keep
        As for :class:`Table`.
    device : str
        Such as "cuda" or "cpu".
    """

    tile = DEVICE_TILE

    def __init__(self, make: Callable[[slice, Any], Array], size: int, n: int, dtype: Any, keep: bool, device: str):
        self.torch, self.device = torch_on(device)
        super().__init__(make, size, n, dtype, keep, DEVICE_ROWS)

    def columns(self, rows: slice) -> Any:
        """Columns and ones of some rows, on the device."""
        return self._put(super().columns(rows))

    def block(self, k: int) -> Any:
        """Columns and ones of block k."""
        return self.kept[k] if self.kept else self.columns(self.rows[k])

    def highest(self, pieces: Array, k: int) -> tuple[Array, Any]:
        """Multiply and take maxima on the device."""
        phi = self.block(k)
        S = (self._put(pieces.reshape(-1, self.size)) @ phi).reshape(*pieces.shape[:3], phi.shape[1])
        top = S.amax(dim=2)
        return top.cpu().numpy(), (S, top, phi)

    def pulled(self, pull: Array, state: Any) -> Array:
        """Add up on the device."""
        S, top, phi = state
        S.eq_(top[:, :, None]).mul_(self._put(pull)[:, :, None])
        gradient = (S.reshape(-1, S.shape[-1]) @ phi.T).cpu().numpy()
        return np.asarray(gradient.reshape(*S.shape[:3], self.size))

    def _put(self, a: Array) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(a)).to(self.device)
